import { createHash, randomUUID } from 'node:crypto'
import type { GrantRequest, Reservation } from '../blob-ledger.port.ts'

/** A hash of its own for every text. */
export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

export const newHash = () => hashOf(randomUUID())

export const aGrant = (workspaceId: string, hash: string, more: Partial<GrantRequest> = {}): GrantRequest => ({
  reservationId: null,
  workspaceId,
  hash,
  sizeBytes: 100,
  mimeType: 'image/png',
  sub: 'ada',
  provenance: null,
  quotaBytes: null,
  nowMs: 1000,
  ...more,
})

export const aStream = (workspaceId: string, hash: string | null, more: Partial<Reservation> = {}): Reservation => ({
  id: `up-${randomUUID()}`,
  workspaceId,
  hash,
  bytes: 100,
  expiresAtMs: 5000,
  upload: { kind: 'stream' },
  ...more,
})

export const aPresigned = (workspaceId: string, hash: string, more: Partial<Reservation> = {}): Reservation =>
  aStream(workspaceId, hash, { upload: { kind: 'presigned', sub: 'ada', removeAtMs: 9000 }, ...more })
