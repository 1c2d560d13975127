import type { Admission, BlobGrant, GrantOutcome, GrantRequest, Reservation } from '../../blobs/blob-ledger.port.ts'
import { makeValid } from './blob-objects.ts'
import { REFERENCED } from './blob-refs.ts'
import type { Engine } from './engine.ts'
import { uploadGrowth } from './quota.ts'
import { DamagedRowError, grantState, isAsWritten, withChecksum } from './row-checksums.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

/**
 * Returns the grant of a workspace, metered or not.
 *
 * @throws DamagedRowError
 */
export async function findGrant(db: Connection, workspaceId: string, hash: string): Promise<BlobGrant | null> {
  const found = await lookUp(db, workspaceId, hash)
  if (found === 'damaged') throw new DamagedRowError(`what this workspace holds of the blob ${hash}`)
  return found
}

/** Returns the grant of the workspace, for an upload; `null` also for a damaged row, which the upload may replace. */
async function intactGrant(db: Connection, workspaceId: string, hash: string): Promise<BlobGrant | null> {
  const found = await lookUp(db, workspaceId, hash)
  return found === 'damaged' ? null : found
}

async function lookUp(db: Connection, workspaceId: string, hash: string): Promise<BlobGrant | null | 'damaged'> {
  const row = await db
    .selectFrom('blob_grants')
    .leftJoin('blob_objects', (join) =>
      join.onRef('blob_objects.hash', '=', 'blob_grants.hash').on('blob_objects.state', '=', 'valid'),
    )
    .selectAll('blob_grants')
    .select('blob_objects.object')
    .where('blob_grants.workspace_id', '=', storedText(workspaceId))
    .where('blob_grants.hash', '=', hash)
    .executeTakeFirst()
  if (row === undefined) return null
  if (!isAsWritten('blob_grants', row)) return 'damaged'
  const { size_bytes: sizeBytes, mime_type: mimeType, created_at_ms: createdAtMs, object } = row
  return { workspaceId, hash, sizeBytes, mimeType: originalText(mimeType), createdAtMs, object: object ?? hash }
}

/** Reserves a place and quota for an upload. All other reservations count against the quota too. [REST-12, Q2, BLOB-14] */
export async function reserve(
  writer: Writer,
  engine: Engine,
  reservation: Reservation,
  { quotaBytes, nowMs }: { readonly quotaBytes: number | null; readonly nowMs: number },
): Promise<Admission> {
  const { id, workspaceId, hash, bytes, upload } = reservation
  await engine.lockWorkspace(writer, workspaceId)
  if (upload.kind === 'stream' && upload.most !== null && (await otherStreams(writer, reservation, nowMs)) >= upload.most)
    return { kind: 'too-many' }
  const held = hash === null ? null : await intactGrant(writer, workspaceId, hash)
  if (held !== null) {
    await delayRelease(writer, held, nowMs)
    if (upload.kind === 'presigned' && reservation.heals !== true) return { kind: 'held', grant: held }
  }
  if (held !== null && upload.kind === 'stream') {
    // The workspace holds a blob of this size already, so the reservation adds nothing to its usage.
    await record(writer, engine, { ...reservation, bytes: held.sizeBytes })
    return { kind: 'held', grant: held }
  }
  if (quotaBytes !== null && bytes > (held?.sizeBytes ?? 0)) {
    const growth = await uploadGrowth(writer, { workspaceId, id, hash, bytes, kind: upload.kind }, nowMs)
    if (isOver(growth, quotaBytes)) return { kind: 'over-quota', ...growth }
  }
  await record(writer, engine, reservation)
  return { kind: 'admitted' }
}

/** Writes the row of a reservation, or replaces it. The caller holds the lock of the workspace. */
async function record(
  writer: Writer,
  engine: Engine,
  { id, workspaceId, hash, bytes, expiresAtMs, upload }: Reservation,
): Promise<void> {
  if (hash !== null) await engine.lockBlobs(writer, [hash])
  const staged = upload.kind === 'presigned' ? upload : null
  const row = withChecksum('blob_uploads', {
    id,
    workspace_id: storedText(workspaceId),
    hash,
    bytes,
    kind: upload.kind,
    sub: staged === null ? null : storedText(staged.sub),
    expires_at_ms: expiresAtMs,
    remove_at_ms: staged?.removeAtMs ?? null,
  })
  await writer
    .insertInto('blob_uploads')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}

/** Returns the number of other streams of the workspace, on all nodes. Streams of a dead node count until their reservation expires. */
async function otherStreams(writer: Writer, { id, workspaceId }: Reservation, nowMs: number): Promise<number> {
  const row = await writer
    .selectFrom('blob_uploads')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', storedText(workspaceId))
    .where('kind', '=', 'stream')
    .where('expires_at_ms', '>', nowMs)
    .where('id', '!=', id)
    .executeTakeFirstOrThrow()
  return row.count
}

/** Grants a workspace a blob whose bytes are in the blob store. A refusal changes nothing. [Q3, Q4, BLOB-14] */
export async function grant(writer: Writer, engine: Engine, request: GrantRequest): Promise<GrantOutcome> {
  const { reservationId, workspaceId, hash, object, sizeBytes, quotaBytes, nowMs } = request
  await engine.lockWorkspace(writer, workspaceId)
  await engine.lockBlobs(writer, [hash])
  const held = await intactGrant(writer, workspaceId, hash)
  if (held === null && quotaBytes !== null && sizeBytes > 0) {
    const upload = { workspaceId, id: reservationId, hash, bytes: sizeBytes, kind: 'grant' } as const
    const growth = await uploadGrowth(writer, upload, nowMs)
    if (isOver(growth, quotaBytes)) return { kind: 'over-quota', ...growth }
  }
  if (!(await makeValid(writer, request))) return { kind: 'struck' }
  if (held === null) await insertGrant(writer, request)
  else await delayRelease(writer, held, nowMs)
  await writer
    .insertInto('blob_uploaders')
    .values(withChecksum('blob_uploaders', { workspace_id: storedText(workspaceId), hash, sub: storedText(request.sub) }))
    .onConflict((conflict) => conflict.columns(['workspace_id', 'hash', 'sub']).doNothing())
    .execute()
  await writer.deleteFrom('blob_orphans').where('hash', '=', hash).execute()
  if (reservationId !== null) await writer.deleteFrom('blob_uploads').where('id', '=', reservationId).execute()
  const { mimeType } = request
  const granted = held ?? { workspaceId, hash, sizeBytes, mimeType, createdAtMs: nowMs }
  return { kind: 'granted', grant: { ...granted, object }, added: held === null }
}

/** Whether an upload ends above the quota. An upload that adds nothing never does. [Q3] */
function isOver(
  { usedBytes, addedBytes }: { readonly usedBytes: number; readonly addedBytes: number },
  quotaBytes: number,
): boolean {
  return addedBytes > 0 && usedBytes + addedBytes > quotaBytes
}

async function insertGrant(writer: Writer, request: GrantRequest): Promise<void> {
  const { workspaceId, hash, sizeBytes, mimeType, provenance, nowMs } = request
  const row = withChecksum('blob_grants', {
    workspace_id: storedText(workspaceId),
    hash,
    size_bytes: sizeBytes,
    mime_type: storedText(mimeType),
    created_at_ms: nowMs,
    metered: 1,
    unreferenced_at_ms: nowMs,
    provenance: provenance === null ? null : JSON.stringify(provenance),
  })
  await writer
    .insertInto('blob_grants')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'hash']).doUpdateSet(row))
    .execute()
  // A body that was stored before the upload may already reference the blob.
  await writer
    .updateTable('blob_grants')
    .set(grantState({ unreferenced_at_ms: null }))
    .where('workspace_id', '=', storedText(workspaceId))
    .where('hash', '=', hash)
    .where(REFERENCED)
    .execute()
}

/** Starts the grace period again, because the caller has just learned that the blob exists and will probably reference it. [BLOB-15] */
async function delayRelease(writer: Writer, { workspaceId, hash }: BlobGrant, nowMs: number): Promise<void> {
  await writer
    .updateTable('blob_grants')
    .set(grantState({ unreferenced_at_ms: nowMs }))
    .where('workspace_id', '=', storedText(workspaceId))
    .where('hash', '=', hash)
    .where('unreferenced_at_ms', '<', nowMs)
    .execute()
}
