import { RelayError } from '../kernel/errors.ts'

const MAX_ID_BYTES = 256
const FORBIDDEN = /[\p{Cc}/\\]|\.\./u

/** Whether an id may name a document: 1-256 bytes of UTF-8 without `..`, `/`, `\`, NUL or control characters. [BODY-11, X16] */
export function isDocumentId(id: string): boolean {
  return id.length > 0 && !FORBIDDEN.test(id) && Buffer.byteLength(id) <= MAX_ID_BYTES
}

/** Throws BAD_ID, naming the field but not the value. */
export function checkDocumentId(id: string): void {
  if (isDocumentId(id)) return
  throw new RelayError('BAD_ID', `A document id has 1 to ${MAX_ID_BYTES} bytes without "..", "/", "\\" or control characters.`, {
    field: 'id',
  })
}
