import { badRequest } from '../kernel/bad-request.ts'
import { readRfc3339 } from '../kernel/rfc3339.ts'

const MAX_DAYS = 365
const DAY_MS = 86_400_000

/**
 * Reads the time at which a link ends, as ms since 1970. It must be RFC 3339 with a zone, in the future, and at most 365 days ahead. Throws
 * BAD_REQUEST. [SHARE-1]
 */
export function readExpiry(value: unknown, nowMs: number): number {
  const expiresAtMs = readRfc3339(value)
  if (expiresAtMs === null) {
    throw badRequest('expires_at', 'The member expires_at is a time of RFC 3339 with its zone, as in 2030-01-31T12:00:00Z.')
  }
  if (expiresAtMs <= nowMs) throw badRequest('expires_at', 'The member expires_at is later than now.')
  if (expiresAtMs > nowMs + MAX_DAYS * DAY_MS) {
    throw badRequest('expires_at', `The member expires_at is at most ${MAX_DAYS} days ahead.`, { limit: MAX_DAYS })
  }
  return expiresAtMs
}
