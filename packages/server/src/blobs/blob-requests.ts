import { badRequest, readMembers } from '../kernel/bad-request.ts'

/** The body of upload-url. [interface, Endpoints] */
export function readUploadRequest(json: unknown): { readonly sizeBytes: number; readonly mimeType: string | null } {
  const { size, mimeType } = readMembers(json)
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw badRequest('size', `The member size is an integer from 0 to ${Number.MAX_SAFE_INTEGER}.`)
  }
  return { sizeBytes: size, mimeType: readMimeType(mimeType) }
}

/** The body of finalize. */
export function readFinalizeRequest(json: unknown): { readonly mimeType: string | null } {
  return { mimeType: readMimeType(readMembers(json).mimeType) }
}

/** What is text but no usable type is stored as unknown, on every path alike. [BLOB-4] */
function readMimeType(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  throw badRequest('mimeType', 'The member mimeType is text.')
}

/** Content-Length, where there is a usable one. */
export function readDeclaredLength(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : null
}
