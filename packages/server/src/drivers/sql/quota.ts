import { sql } from 'kysely'
import {
  type DocumentGrowth,
  type DocumentHead,
  type DocumentWrite,
  type OverQuota,
  bodyBytes,
  sharedBytes,
} from '../../documents/document-store.port.ts'
import { bytesMeteredAnew } from './blob-refs.ts'
import type { Engine } from './engine.ts'
import { storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

/** Returns the sum of the document sizes of a workspace, or of all workspaces for `null`: stored bodies and share lists. [BODY-14] */
export async function documentBytes(db: Connection, workspaceId: string | null): Promise<number> {
  const documents = () => {
    const query = db.selectFrom('documents')
    return workspaceId === null ? query : query.where('workspace_id', '=', storedText(workspaceId))
  }
  const bodies = await documents()
    .select((e) => e.fn.sum<number | null>('size_bytes').as('total'))
    .executeTakeFirst()
  const shared = await documents()
    .select((e) => e.fn.sum<number | null>(e.fn('octet_length', ['shared_with'])).as('total'))
    // The condition means that the list is not `[]`. It is written exactly as in the index, so that the index serves the query.
    .where(sql<boolean>`octet_length(shared_with) > 2`)
    .executeTakeFirst()
  return (bodies?.total ?? 0) + (shared?.total ?? 0)
}

/** Returns the sum of the sizes of the metered blobs of a workspace. */
export async function blobBytes(db: Connection, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('blob_grants')
    .select((e) => e.fn.sum<number | null>('size_bytes').as('total'))
    .where('workspace_id', '=', storedText(workspaceId))
    .where('metered', '=', 1)
    .executeTakeFirst()
  return row?.total ?? 0
}

/** Returns everything that counts against the quota of a workspace: documents, blobs, and reservations of running uploads. [Q1, Q2] */
export async function countedBytes(db: Connection, workspaceId: string, nowMs: number): Promise<number> {
  const { others } = await reservedBytes(db, { workspaceId, id: null, hash: null }, nowMs)
  return (await documentBytes(db, workspaceId)) + (await blobBytes(db, workspaceId)) + others
}

/** The facts of an upload that matter for the quota. */
export interface CountedUpload {
  readonly workspaceId: string
  /** Id of the upload's own reservation, which this upload replaces. */
  readonly id: string | null
  readonly hash: string | null
  readonly bytes: number
  readonly kind: 'stream' | 'presigned' | 'grant'
}

/**
 * Returns the bytes that already count, and how much an upload adds. The relay stores a hash once: while an upload URL for the same hash is open, a
 * POST adds only the bytes by which it is larger. Upload URLs add up, because each is an object of its own in the store. [Q2]
 */
export async function uploadGrowth(
  db: Connection,
  upload: CountedUpload,
  nowMs: number,
): Promise<{ readonly usedBytes: number; readonly addedBytes: number }> {
  const { workspaceId, bytes, kind } = upload
  const stored = (await documentBytes(db, workspaceId)) + (await blobBytes(db, workspaceId))
  const { others, streams, tickets } = await reservedBytes(db, upload, nowMs)
  const before = Math.max(streams, tickets)
  const after = kind === 'presigned' ? Math.max(streams, tickets + bytes) : Math.max(streams, tickets, bytes)
  return kind === 'grant'
    ? { usedBytes: stored + others + (await oddTickets(db, upload, nowMs)), addedBytes: bytes }
    : { usedBytes: stored + others + before, addedBytes: after - before }
}

/** Returns the bytes of upload URLs of the hash that announce another size. These count in addition to the blob. */
async function oddTickets(db: Connection, { workspaceId, id, hash, bytes }: CountedUpload, nowMs: number): Promise<number> {
  const row = await openUploads(db, { workspaceId, id }, nowMs)
    .select((e) => e.fn.sum<number | null>('bytes').as('total'))
    .where('hash', '=', hash)
    .where('kind', '=', 'presigned')
    .where('bytes', '!=', bytes)
    .executeTakeFirst()
  return row?.total ?? 0
}

/**
 * Returns reserved bytes. `streams`: the largest upload of the hash through the relay. `tickets`: the sum of its upload URLs. `others`: the
 * reservations for all other hashes.
 */
async function reservedBytes(db: Connection, upload: Pick<CountedUpload, 'workspaceId' | 'id' | 'hash'>, nowMs: number) {
  const same = upload.hash ?? ''
  const row = await db
    .selectFrom(
      openUploads(db, upload, nowMs)
        .select([
          sql<string>`coalesce(hash, id)`.as('content'),
          sql<number>`max(case when kind = 'presigned' then 0 else bytes end)`.as('streams'),
          sql<number>`sum(case when kind = 'presigned' then bytes else 0 end)`.as('tickets'),
        ])
        .groupBy(sql`coalesce(hash, id)`)
        .as('open'),
    )
    .select([
      sql<number | null>`sum(case when content = ${same} then 0 when streams > tickets then streams else tickets end)`.as(
        'others',
      ),
      sql<number | null>`sum(case when content = ${same} then streams else 0 end)`.as('streams'),
      sql<number | null>`sum(case when content = ${same} then tickets else 0 end)`.as('tickets'),
    ])
    .executeTakeFirst()
  return { others: row?.others ?? 0, streams: row?.streams ?? 0, tickets: row?.tickets ?? 0 }
}

/** Selects the open reservations, except the caller's own and those for bytes that the workspace already holds. */
function openUploads(db: Connection, { workspaceId, id }: Pick<CountedUpload, 'workspaceId' | 'id'>, nowMs: number) {
  return db
    .selectFrom('blob_uploads')
    .where('workspace_id', '=', storedText(workspaceId))
    .where('expires_at_ms', '>', nowMs)
    .where('id', '!=', id ?? '')
    .where(NOT_HELD)
}

const NOT_HELD = sql<boolean>`not exists (
  select 1 from blob_grants where blob_grants.workspace_id = blob_uploads.workspace_id and blob_grants.hash = blob_uploads.hash
  and blob_grants.size_bytes = blob_uploads.bytes)`

/**
 * Returns the refusal of a save that grows the document and ends above the quota of its writer; `null` when the save may be stored. Compares under
 * the lock of the workspace, which is held until the commit. [LIFE-16, BLOB-14, Q3]
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

/** Returns the sizes when a growth ends above the quota of its writer; `null` otherwise. */
export async function overQuota(db: Connection, growth: DocumentGrowth): Promise<OverQuota | null> {
  const { workspaceId, grownBytes, quotaBytes, nowMs } = growth
  if (quotaBytes === null || grownBytes <= 0) return null
  const usedBytes = await countedBytes(db, workspaceId, nowMs)
  const addedBytes = grownBytes + (await bytesMeteredAnew(db, workspaceId, growth.blobReferences))
  return usedBytes + addedBytes > quotaBytes ? { kind: 'over-quota', usedBytes, addedBytes } : null
}

function growthOf({ set, log }: Pick<DocumentWrite, 'set' | 'log'>, head: DocumentHead | null): number {
  const before = head?.sharedWith ?? []
  const shared = sharedBytes(set.sharedWith ?? before) - sharedBytes(before)
  if (set.body !== undefined) return shared + set.body.bytes.byteLength - (head === null ? 0 : bodyBytes(head))
  return shared + (log.kind === 'live' ? (log.bodyLater?.grownBytes ?? 0) : 0)
}
