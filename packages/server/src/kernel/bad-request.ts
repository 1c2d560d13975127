import { RelayError } from './errors.ts'

/** Makes a BAD_REQUEST about one member of a request. */
export function badRequest(field: string, message: string, details: Readonly<Record<string, unknown>> = {}): RelayError {
  return new RelayError('BAD_REQUEST', message, { field, ...details })
}

/**
 * Returns the members of a JSON object, without inherited ones. Throws BAD_REQUEST when `json` (the body, or its member `field`) is not an
 * object.
 */
export function readMembers(json: unknown, field = 'body'): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw badRequest(field, field === 'body' ? 'The body is a JSON object.' : `The member ${field} is a JSON object.`)
  }
  return Object.assign(Object.create(null) as Record<string, unknown>, json)
}

const MAX_USER_ID_BYTES = 256

/** Reads a user id in the form that a token may carry: opaque text of 1 to 256 bytes, without NUL. [AUTH-4] */
export function readUserId(value: unknown, field: string): string {
  const isUserId = typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= MAX_USER_ID_BYTES
  if (isUserId && !value.includes('\0')) return value
  const message = `The member ${field} is a user id of 1 to ${MAX_USER_ID_BYTES} bytes without NUL.`
  throw badRequest(field, message, { limit: MAX_USER_ID_BYTES })
}

/** Most characters of a user's name in a share list, so that a PUT can save every list that the relay writes. [BODY-13] */
export const MAX_USER_NAME_CHARACTERS = 200

/** Reads a name that is shown beside a user id: text of at most 200 characters; `null` when none is given. */
export function readUserName(value: unknown, field: string): string | null {
  if (value === null || (typeof value === 'string' && fitsUserName(value))) return value
  const message = `The member ${field} is text of at most ${MAX_USER_NAME_CHARACTERS} characters.`
  throw badRequest(field, message, { limit: MAX_USER_NAME_CHARACTERS })
}

export function fitsUserName(name: string): boolean {
  return Array.from(name).length <= MAX_USER_NAME_CHARACTERS
}
