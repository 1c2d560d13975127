import { sql } from 'kysely'
import { compiledOnce } from './compiled-query.ts'
import type { Engine } from './engine.ts'
import { grantState } from './row-checksums.ts'
import { storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

/** A document whose references change. */
interface Referrer {
  readonly key: number
  readonly workspaceId: string
}

/** Number of hashes in one statement; both engines accept far more parameters. */
const BATCH = 1000
/** Above this number only references to blobs of the workspace are stored. A real document has far fewer. */
const MAX_ROWS = 20_000

/** True for a grant that a stored body of its workspace references. */
export const REFERENCED = sql<boolean>`exists (
  select 1 from blob_refs join documents on documents.key = blob_refs.key
  where blob_refs.hash = blob_grants.hash and documents.workspace_id = blob_grants.workspace_id)`

const referencesOf = compiledOnce((db, { key }: { readonly key: number }) =>
  db.selectFrom('blob_refs').select('hash').where('key', '=', key),
)

/**
 * Replaces the references of a document's stored body by `references` (sorted, each once). A blob that gets a reference counts in the quota and is
 * not released. A blob that loses its last reference in the workspace may be released after the grace period, which starts at `nowMs`. [BLOB-2,
 * BLOB-15, BLOB-16]
 */
export async function replaceReferences(
  writer: Writer,
  engine: Engine,
  { key, workspaceId }: Referrer,
  references: readonly string[],
  nowMs: number,
): Promise<void> {
  const rows = await referencesOf(writer, { key })
  const before = new Set(rows.map(({ hash }) => hash))
  const wanted = await kept(writer, workspaceId, references)
  const after = new Set(wanted)
  const added = wanted.filter((hash) => !before.has(hash))
  const gone = [...before].filter((hash) => !after.has(hash))
  if (added.length === 0 && gone.length === 0) return
  // Locks the workspace, so that no other node runs a release between this read and the commit.
  await engine.lockWorkspace(writer, workspaceId)
  for (const hashes of batches(added)) {
    await writer
      .insertInto('blob_refs')
      .values(hashes.map((hash) => ({ key, hash })))
      .execute()
    await writer
      .updateTable('blob_grants')
      .set(grantState({ metered: 1, unreferenced_at_ms: null }))
      .where('workspace_id', '=', storedText(workspaceId))
      .where('hash', 'in', hashes)
      .where((e) => e.or([e('metered', '=', 0), e('unreferenced_at_ms', 'is not', null)]))
      .execute()
  }
  for (const hashes of batches(gone)) {
    await writer.deleteFrom('blob_refs').where('key', '=', key).where('hash', 'in', hashes).execute()
    await markUnreferenced(writer, workspaceId, hashes, nowMs)
  }
}

/** Removes the references of a document's stored body. Called before the document itself is removed. [LIFE-23, BLOB-15] */
export function dropReferences(writer: Writer, engine: Engine, document: Referrer, nowMs: number): Promise<void> {
  return replaceReferences(writer, engine, document, [], nowMs)
}

/** Returns the sum of the sizes of blobs that a write makes count again, because so far only recovery points held them. [BLOB-16] */
export async function bytesMeteredAnew(db: Connection, workspaceId: string, references: readonly string[]): Promise<number> {
  const rows = await db
    .selectFrom('blob_grants')
    .select(['hash', 'size_bytes'])
    .where('workspace_id', '=', storedText(workspaceId))
    .where('metered', '=', 0)
    .execute()
  if (rows.length === 0) return 0
  const referenced = new Set(references)
  return rows.reduce((bytes, row) => (referenced.has(row.hash) ? bytes + row.size_bytes : bytes), 0)
}

/**
 * Returns the references to store. Of too many references only those to blobs of the workspace are kept, which limits the cost of a body that
 * consists of references.
 */
async function kept(writer: Writer, workspaceId: string, references: readonly string[]): Promise<readonly string[]> {
  if (references.length <= MAX_ROWS) return references
  const rows = await writer.selectFrom('blob_grants').select('hash').where('workspace_id', '=', storedText(workspaceId)).execute()
  const held = new Set(rows.map(({ hash }) => hash))
  return references.filter((hash) => held.has(hash))
}

async function markUnreferenced(writer: Writer, workspaceId: string, hashes: readonly string[], nowMs: number): Promise<void> {
  await writer
    .updateTable('blob_grants')
    .set(grantState({ unreferenced_at_ms: nowMs }))
    .where('workspace_id', '=', storedText(workspaceId))
    .where('hash', 'in', hashes)
    .where(sql<boolean>`not ${REFERENCED}`)
    .execute()
}

export function* batches<T>(items: readonly T[]): Generator<T[]> {
  for (let from = 0; from < items.length; from += BATCH) yield items.slice(from, from + BATCH)
}
