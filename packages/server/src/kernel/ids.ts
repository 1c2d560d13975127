import { randomBytes, randomInt } from 'node:crypto'

/** Randomness as a parameter, so that tests can replay. */
export interface Random {
  bytes(count: number): Uint8Array
  /** Uniform integer in [from, to). */
  integer(from: number, to: number): number
}

export const systemRandom: Random = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  integer: (from, to) => randomInt(from, to),
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Returns `prefix` followed by `length` random letters and digits. */
export function newId(prefix: string, length: number, random: Random): string {
  let id = prefix
  for (let i = 0; i < length; i++) id += ALPHABET[random.integer(0, ALPHABET.length)]
  return id
}
