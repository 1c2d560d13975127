import type { Random } from '../kernel/ids.ts'

/** Of a name that a former program gave, the hash is all. */
const OBJECT = /^([0-9a-f]{64})(?:\.[0-9a-f]{8})?$/
const RANDOM_BYTES = 4

/**
 * Makes the name under which one upload stores the bytes of a hash. Each upload has a name of its own, so whoever
 * removes the bytes of another upload cannot meet them, however late the removal arrives. [BLOB-24]
 */
export function newObject(hash: string, random: Random): string {
  return `${hash}.${Buffer.from(random.bytes(RANDOM_BYTES)).toString('hex')}`
}

/** Returns the hash of the bytes that have this name; `null` when it is not the name of a blob's bytes. */
export function hashOfObject(name: string): string | null {
  return OBJECT.exec(name)?.[1] ?? null
}
