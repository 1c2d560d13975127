import { badRequest, readMembers } from '../kernel/bad-request.ts'

/** Reads the body of an upload-url request. [interface, Endpoints] */
export function readUploadRequest(json: unknown): { readonly sizeBytes: number; readonly mimeType: string | null } {
  const { size, mimeType } = readMembers(json)
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw badRequest('size', `The member size is an integer from 0 to ${Number.MAX_SAFE_INTEGER}.`)
  }
  return { sizeBytes: size, mimeType: readMimeType(mimeType) }
}

/** Reads the body of a finalize request. */
export function readFinalizeRequest(json: unknown): { readonly mimeType: string | null } {
  return { mimeType: readMimeType(readMembers(json).mimeType) }
}

/** Accepts any text. On every path, text that is not a usable type is stored as the unknown type. [BLOB-4] */
function readMimeType(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  throw badRequest('mimeType', 'The member mimeType is text.')
}

/** Returns the Content-Length, or `null` when it is absent or unusable. */
export function readDeclaredLength(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : null
}
