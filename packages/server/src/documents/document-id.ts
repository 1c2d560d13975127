import { RelayError } from '../kernel/errors.ts'

const MAX_ID_BYTES = 256
const MAX_WORKSPACE_ID_BYTES = 64
const FORBIDDEN = /[\p{Cc}/\\]|\.\./u

/** Whether an id may name a document: 1-256 bytes of UTF-8 without `..`, `/`, `\`, NUL or control characters. [BODY-11, X16] */
export function isDocumentId(id: string): boolean {
  return isPathId(id, MAX_ID_BYTES)
}

/** Throws BAD_ID unless the id may name a document. The error names the field and not the value. */
export function checkDocumentId(id: string): void {
  if (isDocumentId(id)) return
  throw new RelayError('BAD_ID', `A document id has 1 to ${MAX_ID_BYTES} bytes without "..", "/", "\\" or control characters.`, {
    field: 'id',
  })
}

/** Throws BAD_ID unless the text may name a workspace. [BODY-11] */
export function checkWorkspaceId(id: string, field: string): void {
  if (isPathId(id, MAX_WORKSPACE_ID_BYTES)) return
  throw new RelayError(
    'BAD_ID',
    `A workspace id has 1 to ${MAX_WORKSPACE_ID_BYTES} bytes without "..", "/", "\\" or control characters.`,
    { field },
  )
}

function isPathId(id: string, maxBytes: number): boolean {
  return id.length > 0 && !FORBIDDEN.test(id) && Buffer.byteLength(id) <= maxBytes
}
