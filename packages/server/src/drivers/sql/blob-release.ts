import { sql } from 'kysely'
import type { DocumentRef } from '../../documents/document-store.port.ts'
import { strikeArriving, strikeOverdue } from './blob-objects.ts'
import { REFERENCED } from './blob-refs.ts'
import type { Engine } from './engine.ts'
import { grantState } from './row-checksums.ts'
import { originalText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

/** True for a grant that a recovery point or a call record of its workspace references. [BLOB-16, AG-67] */
const RETAINED = sql<boolean>`exists (
  select 1 from point_refs join documents on documents.key = point_refs.key
  where point_refs.hash = blob_grants.hash and documents.workspace_id = blob_grants.workspace_id)
  or exists (
  select 1 from call_refs join documents on documents.key = call_refs.key
  where call_refs.hash = blob_grants.hash and documents.workspace_id = blob_grants.workspace_id)`

interface Round {
  /** Only grants that have had no reference since this time, or for longer, are released. */
  readonly beforeMs: number
  readonly limit: number
  readonly nowMs: number
}

/**
 * Ends grants whose grace period is over, and reservations of streams that have expired. Strikes overdue objects. Returns how many grants it ended.
 * [BLOB-15, BLOB-16, Q2]
 */
export async function releaseUnreferenced(writer: Writer, engine: Engine, round: Round): Promise<number> {
  await endOverdueStreams(writer, engine, round)
  const rows = await writer
    .selectFrom('blob_grants')
    .select('workspace_id')
    .distinct()
    .where('unreferenced_at_ms', '<=', round.beforeMs)
    .execute()
  let released = 0
  for (const { workspace_id } of rows) {
    if (released >= round.limit) break
    released += await releaseIn(writer, engine, workspace_id, { ...round, limit: round.limit - released })
  }
  // Objects are struck last, because a grant locks its workspace before the row of its object.
  await strikeOverdue(writer, round.nowMs, round.limit)
  return released
}

/** Releases blobs of one workspace; `workspace` is the stored text. The check and the change hold the lock that writes of references take. */
async function releaseIn(writer: Writer, engine: Engine, workspace: string, { beforeMs, limit }: Round): Promise<number> {
  await engine.lockWorkspace(writer, originalText(workspace))
  if (await hasEditsToMaterialise(writer, workspace)) return 0
  const due = await writer
    .selectFrom('blob_grants')
    .select((e) => [
      'hash',
      e.case().when(REFERENCED).then(1).else(0).end().as('referenced'),
      e.case().when(RETAINED).then(1).else(0).end().as('retained'),
    ])
    .where('workspace_id', '=', workspace)
    .where('unreferenced_at_ms', '<=', beforeMs)
    .orderBy('unreferenced_at_ms')
    .orderBy('hash')
    .limit(limit)
    .execute()
  const hashes = (of: typeof due) => of.map(({ hash }) => hash)
  const gone = hashes(due.filter((row) => row.referenced === 0 && row.retained === 0))
  await settle(writer, workspace, hashes(due.filter((row) => row.referenced === 1)), 1)
  await settle(writer, workspace, hashes(due.filter((row) => row.referenced === 0 && row.retained === 1)), 0)
  await endGrants(writer, engine, workspace, gone)
  return due.length
}

/** Whether a document of the workspace has live edits that its stored body lacks. Such an edit may reference a blob. */
async function hasEditsToMaterialise(db: Connection, workspace: string): Promise<boolean> {
  return (await behind(db).where('documents.workspace_id', '=', workspace).limit(1).executeTakeFirst()) !== undefined
}

/** Returns documents with unsaved edits because of which grants of their workspace cannot be released. */
export async function unsettled(db: Connection, beforeMs: number, limit: number, skip: number): Promise<readonly DocumentRef[]> {
  const rows = await behind(db)
    .where('documents.workspace_id', 'in', (e) =>
      e.selectFrom('blob_grants').select('blob_grants.workspace_id').where('unreferenced_at_ms', '<=', beforeMs),
    )
    .orderBy('documents.key')
    .limit(limit)
    .offset(skip)
    .execute()
  return rows.map(({ workspace_id, id }) => ({ workspaceId: originalText(workspace_id), id }))
}

function behind(db: Connection) {
  return db
    .selectFrom('documents')
    .innerJoin('log_heads', 'log_heads.key', 'documents.key')
    .select(['documents.workspace_id', 'documents.id'])
    .whereRef('log_heads.last_seq', '>', 'log_heads.covered_seq')
}

async function settle(writer: Writer, workspace: string, hashes: readonly string[], metered: 0 | 1): Promise<void> {
  if (hashes.length === 0) return
  await writer
    .updateTable('blob_grants')
    .set(grantState({ metered, unreferenced_at_ms: null }))
    .where('workspace_id', '=', workspace)
    .where('hash', 'in', hashes)
    .execute()
}

async function endGrants(writer: Writer, engine: Engine, workspace: string, hashes: readonly string[]): Promise<void> {
  if (hashes.length === 0) return
  await engine.lockBlobs(writer, hashes)
  for (const table of ['blob_uploaders', 'blob_grants'] as const) {
    await writer.deleteFrom(table).where('workspace_id', '=', workspace).where('hash', 'in', hashes).execute()
  }
  await makeOrphans(writer, hashes)
}

/** Makes an orphan of each of these hashes that no workspace holds. The caller holds the locks of the hashes. */
async function makeOrphans(writer: Writer, hashes: readonly string[]): Promise<void> {
  const held = await writer.selectFrom('blob_grants').select('hash').distinct().where('hash', 'in', hashes).execute()
  const holding = new Set(held.map(({ hash }) => hash))
  const orphans = hashes.filter((hash) => !holding.has(hash)).map((hash) => ({ hash }))
  if (orphans.length === 0) return
  await writer
    .insertInto('blob_orphans')
    .values(orphans)
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute()
}

/** Ends the reservation of one upload. Its hash may become an orphan, because its bytes may be in the blob store without a holder. */
export async function endUpload(writer: Writer, engine: Engine, id: string): Promise<void> {
  const upload = await writer.selectFrom('blob_uploads').select('hash').where('id', '=', id).executeTakeFirst()
  if (upload === undefined) return
  if (upload.hash !== null) await engine.lockBlobs(writer, [upload.hash])
  await writer.deleteFrom('blob_uploads').where('id', '=', id).execute()
  if (upload.hash !== null) await makeOrphans(writer, [upload.hash])
}

async function endOverdueStreams(writer: Writer, engine: Engine, { nowMs, limit }: Round): Promise<void> {
  const rows = await writer
    .selectFrom('blob_uploads')
    .select('id')
    .where('kind', '=', 'stream')
    .where('expires_at_ms', '<=', nowMs)
    .limit(limit)
    .execute()
  for (const { id } of rows) await endUpload(writer, engine, id)
}

/**
 * Ends all streams and their reservations, because an upload of an ended process is never granted. Called only at the start, on a store that one
 * process uses alone. [Q2]
 */
export async function endAllStreams(writer: Writer, engine: Engine): Promise<void> {
  const rows = await writer.selectFrom('blob_uploads').select('id').where('kind', '=', 'stream').execute()
  for (const { id } of rows) await endUpload(writer, engine, id)
  await strikeArriving(writer)
}
