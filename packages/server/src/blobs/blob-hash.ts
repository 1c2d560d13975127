import { RelayError } from '../kernel/errors.ts'

const HASH = /^[0-9a-f]{64}$/

/** Throws BAD_ID, naming the field but not the value. [BLOB-1] */
export function checkBlobHash(hash: string): void {
  if (HASH.test(hash)) return
  throw new RelayError('BAD_ID', 'A blob hash has 64 lowercase hexadecimal digits.', { field: 'hash' })
}
