import { createPublicKey, type KeyObject } from 'node:crypto'

/** An RSA public key that may verify RS256. */
export type VerificationKey = KeyObject

export interface UsableKeys {
  readonly keys: ReadonlyMap<string, VerificationKey>
  /** Key ids (cut to 64 characters) of the keys that were skipped, for the log. */
  readonly skipped: readonly string[]
}

const MIN_MODULUS_BITS = 2048
/** The cryptographic library cannot verify with a larger key. */
const MAX_MODULUS_BITS = 16384
const MIN_EXPONENT = 65537n
const MAX_KID_BYTES = 256
const BASE64URL = /^[A-Za-z0-9_-]+$/

/**
 * Picks the keys of a JSON Web Key Set that may verify tokens: RSA, for signatures, for RS256, at least 2,048 bits, an
 * odd exponent of at least 65,537, with a key id. When two such keys have the same key id, neither is used. Private
 * members are ignored. [AUTH-3, K13]
 *
 * @returns `null` when `document` is no key set at all.
 */
export function usableKeys(document: unknown): UsableKeys | null {
  if (typeof document !== 'object' || document === null) return null
  const list: unknown = (document as { keys?: unknown }).keys
  if (!Array.isArray(list)) return null

  const keys = new Map<string, VerificationKey>()
  const ambiguous = new Set<string>()
  const skipped: string[] = []
  for (const jwk of list as readonly unknown[]) {
    const usable = typeof jwk === 'object' && jwk !== null ? importKey(jwk as Readonly<Record<string, unknown>>) : null
    if (!usable) skipped.push(nameOf(jwk))
    else if (keys.has(usable.kid)) ambiguous.add(usable.kid)
    else keys.set(usable.kid, usable.key)
  }
  for (const kid of ambiguous) {
    keys.delete(kid)
    skipped.push(kid.slice(0, 64))
  }
  return { keys, skipped }
}

function nameOf(jwk: unknown): string {
  const kid = typeof jwk === 'object' && jwk !== null ? (jwk as { kid?: unknown }).kid : undefined
  return typeof kid === 'string' ? kid.slice(0, 64) : '(no kid)'
}

function importKey(jwk: Readonly<Record<string, unknown>>): { readonly kid: string; readonly key: VerificationKey } | null {
  const { kid, kty, use, alg, key_ops: operations, n, e } = jwk
  if (typeof kid !== 'string' || kid === '' || Buffer.byteLength(kid) > MAX_KID_BYTES || kty !== 'RSA') return null
  if ((use !== undefined && use !== 'sig') || (alg !== undefined && alg !== 'RS256')) return null
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return null
  const modulus = readInteger(n)
  const exponent = readInteger(e)
  if (modulus === null || exponent === null) return null
  const bits = modulus.toString(2).length
  if (bits < MIN_MODULUS_BITS || bits > MAX_MODULUS_BITS || exponent < MIN_EXPONENT || exponent % 2n === 0n) return null
  try {
    return { kid, key: createPublicKey({ key: { kty, n: n as string, e: e as string }, format: 'jwk' }) }
  } catch {
    return null
  }
}

/** Reads a base64url big-endian integer; `null` for other text. Text longer than the largest modulus is not decoded. */
function readInteger(value: unknown): bigint | null {
  if (typeof value !== 'string' || value.length > MAX_MODULUS_BITS / 6 + 4 || !BASE64URL.test(value)) return null
  return BigInt(`0x0${Buffer.from(value, 'base64url').toString('hex')}`)
}
