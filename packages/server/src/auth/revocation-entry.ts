import type { Revocation } from './revocations.port.ts'

const MAX_JTI_BYTES = 256
const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,]\d{1,12})?([Zz]|[+-]\d\d:?\d\d)$/

/** Reads `{ jti, revoked_at }` of a push or poll; `null` when it is not one. */
export function readRevocation(entry: unknown): Revocation | null {
  if (typeof entry !== 'object' || entry === null) return null
  const { jti, revoked_at: revokedAt } = entry as { jti?: unknown; revoked_at?: unknown }
  if (typeof jti !== 'string' || jti === '' || Buffer.byteLength(jti) > MAX_JTI_BYTES || /\p{Surrogate}|\0/u.test(jti))
    return null
  const revokedAtMs = readTimestamp(revokedAt)
  return revokedAtMs === null ? null : { jti, revokedAtMs }
}

/** Milliseconds of an ISO 8601 date and time with a zone; finer digits are cut. `null` when it is not one, or no day of the calendar. */
export function readTimestamp(value: unknown): number | null {
  const match = typeof value === 'string' ? TIMESTAMP.exec(value) : null
  if (!match) return null
  const [text, year, month, day, , , second, zone] = match
  // The engine's own parser rolls 30 February over.
  const daysInMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  if (Number(day) > daysInMonth || Number(second) > 59) return null
  const offset = zone === 'Z' || zone === 'z' ? 'Z' : `${zone?.slice(0, 3)}:${zone?.slice(-2)}`
  const fraction = /[.,](\d{1,3})/.exec(text)?.[1] ?? '0'
  const ms = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0')}${offset}`)
  return Number.isNaN(ms) ? null : ms
}
