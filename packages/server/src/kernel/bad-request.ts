import { RelayError } from './errors.ts'

/** BAD_REQUEST about one member of a request. */
export function badRequest(field: string, message: string, details: Readonly<Record<string, unknown>> = {}): RelayError {
  return new RelayError('BAD_REQUEST', message, { field, ...details })
}

/** The members of a JSON object, its own only: it may have one named like one of Object's. Throws BAD_REQUEST when `json`, which is the body or `field` of it, is none. */
export function readMembers(json: unknown, field = 'body'): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw badRequest(field, field === 'body' ? 'The body is a JSON object.' : `The member ${field} is a JSON object.`)
  }
  return Object.assign(Object.create(null) as Record<string, unknown>, json)
}

const MAX_USER_ID_BYTES = 256

/** A user id as a token may carry it: opaque text of 1 to 256 bytes, without NUL. [AUTH-4] */
export function readUserId(value: unknown, field: string): string {
  const isUserId = typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= MAX_USER_ID_BYTES
  if (isUserId && !value.includes('\0')) return value
  const message = `The member ${field} is a user id of 1 to ${MAX_USER_ID_BYTES} bytes without NUL.`
  throw badRequest(field, message, { limit: MAX_USER_ID_BYTES })
}
