import { readRfc3339 } from '../kernel/rfc3339.ts'
import type { Revocation } from './revocations.port.ts'

const MAX_JTI_BYTES = 256

/** Reads `{ jti, revoked_at }` of a push or poll; `null` when it is not one. */
export function readRevocation(entry: unknown): Revocation | null {
  if (typeof entry !== 'object' || entry === null) return null
  const { jti, revoked_at: revokedAt } = entry as { jti?: unknown; revoked_at?: unknown }
  if (typeof jti !== 'string' || jti === '' || Buffer.byteLength(jti) > MAX_JTI_BYTES || /\p{Surrogate}|\0/u.test(jti))
    return null
  const revokedAtMs = readTimestamp(revokedAt)
  return revokedAtMs === null ? null : { jti, revokedAtMs }
}

/** Milliseconds of an ISO 8601 date and time with a zone: as RFC 3339, also with a comma before the fraction or no colon in the zone. */
export function readTimestamp(value: unknown): number | null {
  if (typeof value !== 'string') return null
  return readRfc3339(value.replace(',', '.').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
}
