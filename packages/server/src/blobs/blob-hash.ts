import { RelayError } from '../kernel/errors.ts'

const HASH = /^[0-9a-f]{64}$/

/** Throws BAD_ID unless the text is a blob hash. The error names the field and not the value. [BLOB-1] */
export function checkBlobHash(hash: string): void {
  if (HASH.test(hash)) return
  throw new RelayError('BAD_ID', 'A blob hash has 64 lowercase hexadecimal digits.', { field: 'hash' })
}
