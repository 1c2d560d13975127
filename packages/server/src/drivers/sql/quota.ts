import type { DocumentGrowth, DocumentHead, DocumentWrite, OverQuota } from '../../documents/document-store.port.ts'
import { bytesMeteredAnew } from './blob-refs.ts'
import type { Engine } from './engine.ts'
import { storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

/** Sum of the stored body sizes. */
export async function documentBytes(db: Connection, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('documents')
    .select((e) => e.fn.sum<number | null>('size_bytes').as('total'))
    .where('workspace_id', '=', storedText(workspaceId))
    .executeTakeFirst()
  return row?.total ?? 0
}

/** Sum of the metered grants. */
export async function blobBytes(db: Connection, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('blob_grants')
    .select((e) => e.fn.sum<number | null>('size_bytes').as('total'))
    .where('workspace_id', '=', storedText(workspaceId))
    .where('metered', '=', 1)
    .executeTakeFirst()
  return row?.total ?? 0
}

/**
 * What counts against the quota of a workspace: documents, metered blobs, and what uploads under way have reserved. [Q1, Q2]
 * `exceptReservation` is the caller's own, which its write replaces.
 */
export async function countedBytes(
  db: Connection,
  workspaceId: string,
  nowMs: number,
  exceptReservation: string | null = null,
): Promise<number> {
  const reserved = await db
    .selectFrom('blob_uploads')
    .select((e) => e.fn.sum<number | null>('bytes').as('total'))
    .where('workspace_id', '=', storedText(workspaceId))
    .where('expires_at_ms', '>', nowMs)
    .where('id', '!=', exceptReservation ?? '')
    .executeTakeFirst()
  return (await documentBytes(db, workspaceId)) + (await blobBytes(db, workspaceId)) + (reserved?.total ?? 0)
}

/**
 * The refusal of a save that grows and lands above the quota of its writer, `null` when it may be stored. Compared under the lock of the
 * workspace, which is held until the write is committed. [LIFE-16, BLOB-14, Q3]
 */
export async function refuseGrowth(
  writer: Writer,
  engine: Engine,
  { ref: { workspaceId }, set, log, quotaBytes, nowMs }: DocumentWrite,
  head: DocumentHead | null,
): Promise<OverQuota | null> {
  const grownBytes = growthOf({ set, log }, head)
  if (quotaBytes === null || grownBytes <= 0) return null
  await engine.lockWorkspace(writer, workspaceId)
  const blobReferences = set.body?.blobReferences ?? []
  return overQuota(writer, { workspaceId, grownBytes, blobReferences, quotaBytes, nowMs })
}

/** Whether a growth lands above the quota of its writer. */
export async function overQuota(db: Connection, growth: DocumentGrowth): Promise<OverQuota | null> {
  const { workspaceId, grownBytes, quotaBytes, nowMs } = growth
  if (quotaBytes === null || grownBytes <= 0) return null
  const usedBytes = await countedBytes(db, workspaceId, nowMs)
  const addedBytes = grownBytes + (await bytesMeteredAnew(db, workspaceId, growth.blobReferences))
  return usedBytes + addedBytes > quotaBytes ? { kind: 'over-quota', usedBytes, addedBytes } : null
}

function growthOf({ set, log }: Pick<DocumentWrite, 'set' | 'log'>, head: DocumentHead | null): number {
  if (set.body !== undefined) return set.body.bytes.byteLength - (head?.sizeBytes ?? 0)
  return log.kind === 'live' ? (log.bodyLater?.grownBytes ?? 0) : 0
}
