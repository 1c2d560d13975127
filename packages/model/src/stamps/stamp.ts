import { murmur3 } from './murmur3.ts'

/** A stamp: four characters that stand for the content of a block or shape. Stamps are computed when printed and never stored. [AG-1] */
export type Stamp = string

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'
const utf8 = new TextEncoder()

/** The 32-bit hash of a text. A stamp is the upper 20 bits of such a hash. [AG-2, AG-66] */
export function hashOfText(text: string): number {
  return murmur3(utf8.encode(text))
}

/** Returns the stamp of a canonical text: the upper 20 bits of its hash, 5 bits for each character. [AG-2] */
export function stampOfText(text: string): Stamp {
  return stampOfHash(hashOfText(text))
}

export function stampOfHash(hash: number): Stamp {
  const bits = hash >>> 12
  return [15, 10, 5, 0].map((shift) => LETTERS[(bits >>> shift) & 31]).join('')
}

/** An id as a call names it: with the stamp that the caller saw, or without. */
export interface StampedId {
  readonly id: string
  readonly stamp: Stamp
}

/** Splits a text at its last `#` into id and stamp; `null` when no stamp follows the `#`. Upper case counts as lower case. [AG-6] */
export function readStampedId(text: string): StampedId | null {
  const at = text.lastIndexOf('#')
  const stamp = text.slice(at + 1).toLowerCase()
  if (at <= 0 || stamp.length !== 4 || [...stamp].some((letter) => !LETTERS.includes(letter))) return null
  return { id: text.slice(0, at), stamp }
}

/** Writes `id#stamp`. [AG-1] */
export function stampedId(id: string, stamp: Stamp): string {
  return `${id}#${stamp}`
}
