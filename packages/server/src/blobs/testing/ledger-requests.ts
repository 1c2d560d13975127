import { createHash, randomUUID } from 'node:crypto'
import { systemRandom } from '../../kernel/ids.ts'
import type { BlobLedger, GrantOutcome, GrantRequest, Reservation } from '../blob-ledger.port.ts'
import { newObject } from '../blob-store.port.ts'

/** Returns a hash that differs for each text. */
export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

export const newHash = () => hashOf(randomUUID())

export const aGrant = (workspaceId: string, hash: string, more: Partial<GrantRequest> = {}): GrantRequest => ({
  reservationId: null,
  workspaceId,
  hash,
  object: newObject(hash, systemRandom),
  replacedUntilMs: 1000,
  sizeBytes: 100,
  mimeType: 'image/png',
  sub: 'ada',
  provenance: null,
  quotaBytes: null,
  nowMs: 1000,
  ...more,
})

/** Grants a blob as an upload does, with an object that is announced for this request only. */
export async function granted(ledger: Pick<BlobLedger, 'announce' | 'grant'>, request: GrantRequest): Promise<GrantOutcome> {
  const object = newObject(request.hash, systemRandom)
  await ledger.announce(object, request.nowMs + 600_000)
  return ledger.grant({ ...request, object })
}

export const aStream = (workspaceId: string, hash: string | null, more: Partial<Reservation> = {}): Reservation => ({
  id: `up-${randomUUID()}`,
  workspaceId,
  hash,
  bytes: 100,
  expiresAtMs: 5000,
  upload: { kind: 'stream', most: null },
  ...more,
})

export const aPresigned = (workspaceId: string, hash: string, more: Partial<Reservation> = {}): Reservation =>
  aStream(workspaceId, hash, { upload: { kind: 'presigned', sub: 'ada', removeAtMs: 9000 }, ...more })
