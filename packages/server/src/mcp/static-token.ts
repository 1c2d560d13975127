import { chmod, link, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { flushFolder } from '../kernel/durable-files.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import { TOKEN_FILE } from '../kernel/token-file.ts'

/** Random bytes of a token; 24 bytes give 32 characters of base64url. */
const TOKEN_BYTES = 24
const USABLE = /^[A-Za-z0-9_-]{16,128}$/
const OWNER_ONLY = 0o600
const OTHERS = 0o077

/**
 * Returns the static token of this host, and makes it at the first start. On return the token file is durable, and only its owner can read
 * it. Throws a sentence for the operator that names the file and never quotes its content. [MCP-19]
 */
export async function openStaticToken(dataDir: string, random: Random, log: Logger): Promise<string> {
  const file = join(dataDir, TOKEN_FILE)
  const token = (await existing(file)) ?? (await created(dataDir, file, random))
  if (!USABLE.test(token)) {
    throw new Error(
      `${file} must hold 16 to 128 characters of A-Z, a-z, 0-9, _ and -; delete the file and restart, and the relay makes a new token.`,
    )
  }
  if (((await stat(file)).mode & OTHERS) !== 0) {
    log.warn('mcp.token_mode', 'The MCP token could be read by others; its file is now for its owner only.', { file })
    await chmod(file, OWNER_ONLY)
  }
  return token
}

/** Reads the token file; `null` when there is none. Allows a line break at the end, which an editor may have added. */
async function existing(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Writes the token to a temporary file and links it into place. A crash never leaves half a token, and two simultaneous starts use the same
 * token.
 */
async function created(dataDir: string, file: string, random: Random): Promise<string> {
  const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url')
  const aside = newId(`${file}.`, 8, random)
  try {
    await using handle = await open(aside, 'wx', OWNER_ONLY)
    await handle.writeFile(`${token}\n`)
    await handle.sync()
    await link(aside, file)
    await flushFolder(dataDir)
    return token
  } catch (error) {
    const other = (error as NodeJS.ErrnoException).code === 'EEXIST' ? await existing(file) : null
    if (other !== null) return other
    throw new Error(`${file} cannot be created: ${(error as Error).message}`, { cause: error })
  } finally {
    await rm(aside, { force: true })
  }
}
