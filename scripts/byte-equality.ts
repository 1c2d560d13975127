import { expect } from 'vitest'

/**
 * Whether both values are the same bytes in the same class. `undefined` leaves the answer, and the message about the difference, to the
 * comparison of the test runner, which visits every byte as if it were a member of an object: a megabyte takes it a tenth of a second.
 */
export function sameBytes(a: unknown, b: unknown): true | undefined {
  if (!(a instanceof Uint8Array && b instanceof Uint8Array) || a.constructor !== b.constructor) return undefined
  return Buffer.compare(a, b) === 0 ? true : undefined
}

// The runner keeps its list of such functions for the whole process, so this must happen once and not before each test file.
expect.addEqualityTesters([sameBytes])
