import { sql } from 'kysely'
import type { Engine } from './engine.ts'
import { storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'

/** A document whose references change. */
interface Referrer {
  readonly key: number
  readonly workspaceId: string
}

/** Well below the number of parameters either engine takes. */
const BATCH = 1000

/** Holds for a grant that a stored body of its workspace references. */
export const REFERENCED = sql<boolean>`exists (
  select 1 from blob_refs join documents on documents.key = blob_refs.key
  where blob_refs.hash = blob_grants.hash and documents.workspace_id = blob_grants.workspace_id)`

/**
 * Makes `references` (sorted, each once) those of a document's stored body. A blob that gets a reference is metered and not released; one
 * that loses its last one in the workspace may be released from `nowMs` on, after the grace. [BLOB-2, BLOB-15, BLOB-16]
 */
export async function replaceReferences(
  writer: Writer,
  engine: Engine,
  { key, workspaceId }: Referrer,
  references: readonly string[],
  nowMs: number,
): Promise<void> {
  const rows = await writer.selectFrom('blob_refs').select('hash').where('key', '=', key).execute()
  const before = new Set(rows.map(({ hash }) => hash))
  const after = new Set(references)
  const added = references.filter((hash) => !before.has(hash))
  const gone = [...before].filter((hash) => !after.has(hash))
  if (added.length === 0 && gone.length === 0) return
  // So that no release on another node decides between the look and the commit.
  await engine.lockWorkspace(writer, workspaceId)
  for (const hashes of batches(added)) {
    await writer
      .insertInto('blob_refs')
      .values(hashes.map((hash) => ({ key, hash })))
      .execute()
    await writer
      .updateTable('blob_grants')
      .set({ metered: 1, unreferenced_at_ms: null })
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

/** Removes what the stored body of a document references, before the document itself goes. [LIFE-23, BLOB-15] */
export function dropReferences(writer: Writer, engine: Engine, document: Referrer, nowMs: number): Promise<void> {
  return replaceReferences(writer, engine, document, [], nowMs)
}

/** Bytes of blobs that a write would meter again: held for recovery points alone until now. [BLOB-16] */
export async function bytesMeteredAnew(writer: Writer, workspaceId: string, references: readonly string[]): Promise<number> {
  let bytes = 0
  for (const hashes of batches(references)) {
    const row = await writer
      .selectFrom('blob_grants')
      .select((e) => e.fn.sum<number | null>('size_bytes').as('total'))
      .where('workspace_id', '=', storedText(workspaceId))
      .where('hash', 'in', hashes)
      .where('metered', '=', 0)
      .executeTakeFirst()
    bytes += row?.total ?? 0
  }
  return bytes
}

async function markUnreferenced(writer: Writer, workspaceId: string, hashes: readonly string[], nowMs: number): Promise<void> {
  await writer
    .updateTable('blob_grants')
    .set({ unreferenced_at_ms: nowMs })
    .where('workspace_id', '=', storedText(workspaceId))
    .where('hash', 'in', hashes)
    .where(sql<boolean>`not ${REFERENCED}`)
    .execute()
}

export function* batches<T>(items: readonly T[]): Generator<T[]> {
  for (let from = 0; from < items.length; from += BATCH) yield items.slice(from, from + BATCH)
}
