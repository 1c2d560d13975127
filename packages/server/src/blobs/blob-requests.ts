import { RelayError } from '../kernel/errors.ts'

/** The body of upload-url. [interface, Endpoints] */
export function readUploadRequest(json: unknown): { readonly sizeBytes: number; readonly mimeType: string | null } {
  const { size, mimeType } = readObject(json)
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw badRequest('size', `The member size is an integer from 0 to ${Number.MAX_SAFE_INTEGER}.`)
  }
  return { sizeBytes: size, mimeType: readMimeType(mimeType) }
}

/** The body of finalize. */
export function readFinalizeRequest(json: unknown): { readonly mimeType: string | null } {
  return { mimeType: readMimeType(readObject(json).mimeType) }
}

/** What is text but no usable type is stored as unknown, on every path alike. [BLOB-4] */
function readMimeType(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  throw badRequest('mimeType', 'The member mimeType is text.')
}

/** Own members only. */
function readObject(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw badRequest('body', 'The body is a JSON object.')
  return Object.assign(Object.create(null) as Record<string, unknown>, json)
}

/** Content-Length, where there is a usable one. */
export function readDeclaredLength(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : null
}

function badRequest(field: string, message: string): RelayError {
  return new RelayError('BAD_REQUEST', message, { field })
}
