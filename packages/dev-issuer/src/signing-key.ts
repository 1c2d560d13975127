import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWK } from 'jose'

/** A private RSA key as JWK with kid, alg and use. */
export type SigningKey = JWK & { readonly kid: string; readonly alg: 'RS256'; readonly use: 'sig' }

/**
 * Returns the signing key in `<dataDir>/issuer-key.json`. The first start makes it, so tokens survive a restart. Only the owner can read the
 * file. When two processes start at once, the first writes the key and the other reads it.
 */
export async function openSigningKey(dataDir: string): Promise<SigningKey> {
  const path = join(dataDir, 'issuer-key.json')
  const stored = await readIfThere(path)
  if (stored !== null) return JSON.parse(stored) as SigningKey
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: `dev-${crypto.randomUUID()}`, alg: 'RS256', use: 'sig' } as SigningKey
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  try {
    await writeFile(path, JSON.stringify(key), { flag: 'wx', mode: 0o600 })
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return JSON.parse(await readFile(path, 'utf8')) as SigningKey
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
