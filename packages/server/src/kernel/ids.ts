import { randomBytes, randomInt } from 'node:crypto'

/** Randomness as a parameter, so that tests can replay. */
export interface Random {
  bytes(count: number): Uint8Array
  /** Uniform integer in [from, to). */
  integer(from: number, to: number): number
}

export const systemRandom: Random = pooledRandom(randomBytes)

/** Bytes drawn at a time: a call of the system's generator takes as long for one id as for hundreds. */
const POOL_BYTES = 4096

/** Makes a source of randomness that draws bytes in large amounts. Bytes that were returned are not kept. */
export function pooledRandom(draw: (count: number) => Uint8Array): Random {
  let pool = new Uint8Array(0)
  let at = 0
  return {
    bytes(count) {
      if (count > POOL_BYTES / 8) return new Uint8Array(draw(count))
      if (at + count > pool.length) [pool, at] = [new Uint8Array(draw(POOL_BYTES)), 0]
      const bytes = pool.slice(at, at + count)
      pool.fill(0, at, at + count)
      at += count
      return bytes
    },
    integer: (from, to) => randomInt(from, to),
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Returns `prefix` followed by `length` random letters and digits. */
export function newId(prefix: string, length: number, random: Random): string {
  let id = prefix
  for (let i = 0; i < length; i++) id += ALPHABET[random.integer(0, ALPHABET.length)]
  return id
}
