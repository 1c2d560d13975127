import { readRfc3339 } from '../kernel/rfc3339.ts'
import type { Revocation } from './revocations.port.ts'

const MAX_JTI_BYTES = 256

/**
 * Reads `{ jti, revoked_at }` of a push. `null` when no token can have this jti, or when the time cannot be read.
 * [REST-29]
 */
export function readRevocation(entry: unknown): Revocation | null {
  const jti = readJti(entry)
  const revokedAtMs = readTimestamp(memberOf(entry, 'revoked_at'))
  return jti === null || revokedAtMs === null ? null : { jti, revokedAtMs }
}

/**
 * Reads `{ jti, revoked_at }` of a poll. `null` only when no token can have this jti. The time only decides which entry
 * is evicted first, so an entry whose time cannot be read counts as revoked at `nowMs`. [AUTH-14]
 */
export function readPolledRevocation(entry: unknown, nowMs: number): Revocation | null {
  const jti = readJti(entry)
  return jti === null ? null : { jti, revokedAtMs: readTimestamp(memberOf(entry, 'revoked_at')) ?? nowMs }
}

/** Reads a jti that a token may have by AUTH-4. */
function readJti(entry: unknown): string | null {
  const jti = memberOf(entry, 'jti')
  if (typeof jti !== 'string' || jti === '' || Buffer.byteLength(jti) > MAX_JTI_BYTES) return null
  return /\p{Surrogate}|\0/u.test(jti) ? null : jti
}

function memberOf(entry: unknown, name: 'jti' | 'revoked_at'): unknown {
  return typeof entry === 'object' && entry !== null ? (entry as Readonly<Record<string, unknown>>)[name] : undefined
}

const ISO_8601 = /^(\d{4})(-?)(\d\d)\2(\d\d)[T ](\d\d)(?:(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d+))?)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?$/i
const MAX_CHARACTERS = 64

/**
 * Returns the milliseconds of an ISO 8601 date and time in the extended or the basic form, with `T` or a space in
 * between. A time without zone is UTC; absent minutes and seconds are 0. `null` when the text is not such a time or not
 * a day of the calendar.
 */
export function readTimestamp(value: unknown): number | null {
  const match = typeof value === 'string' && value.length <= MAX_CHARACTERS ? ISO_8601.exec(value) : null
  if (match === null) return null
  const [, year, , month, day, hour, , minute = '00', second = '00', fraction, zone = 'Z'] = match
  const offset = /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`
  return readRfc3339(
    `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}${offset}`,
  )
}
