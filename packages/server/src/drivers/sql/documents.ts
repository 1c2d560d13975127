import { sql } from 'kysely'
import type { DocumentHead, DocumentRef, DocumentStore, Tombstone } from '../../documents/document-store.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { bodyChecksum } from './checksum.ts'
import type { CommitQueue } from './commit-queue.ts'
import { DamagedDocumentError, type HeadRow, headOf, readState, selectHeads } from './document-rows.ts'
import type { RecoveryRing } from './recovery.ts'
import { sumBytes, writeDocument } from './document-write.ts'
import type { Database } from './engine.ts'
import { readingWith } from './reading.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'

/** Everything that hangs on a document's key, children first. */
const PARTS = ['updates', 'snapshots', 'set_aside', 'recovery_points', 'bodies', 'log_heads'] as const

export function sqlDocuments(
  { engine, reader }: Database,
  queue: CommitQueue,
  log: Logger,
  recovery: RecoveryRing,
): DocumentStore {
  const reading = readingWith(log)
  return {
    state: (ref) => reading(() => readState(reader, ref)),
    read: (ref) =>
      reading(async () => {
        const row = await selectHeads(reader)
          .leftJoin('bodies', 'bodies.key', 'documents.key')
          .select(['bodies.body', 'bodies.crc32 as body_crc32'])
          .where('documents.workspace_id', '=', storedText(ref.workspaceId))
          .where('documents.id', '=', ref.id)
          .executeTakeFirst()
        if (row === undefined) return null
        if (row.body === null || bodyChecksum(row.key, row.body) !== row.body_crc32) {
          throw new DamagedDocumentError('its body does not have its checksum')
        }
        return { head: headOf(row), body: row.body }
      }),
    write: (write) => queue.run(weightOf(write.set.body?.bytes), (writer) => writeDocument(writer, engine, write, recovery)),
    remove: (ref, key, deletedAtMs) =>
      queue.run(0, async (writer) => {
        await engine.lockDocument(writer, ref)
        return removeDocument(writer, ref, key, deletedAtMs)
      }),
    list: (workspaceId) =>
      reading(async () => {
        const rows = await selectHeads(reader)
          .where('documents.workspace_id', '=', storedText(workspaceId))
          .orderBy('documents.updated_at_ms', 'desc')
          .orderBy('documents.id')
          .execute()
        return rows.flatMap((row) => readableHead(row, log))
      }),
    referencing: () => Promise.reject(new Error('not written yet')),
    usedBytes: (workspaceId) => reading(() => sumBytes(reader, workspaceId)),
    purgeTombstones: (beforeMs, limit) =>
      queue.run(0, async (writer) => {
        const result = await writer
          .deleteFrom('tombstones')
          .where(
            sql<boolean>`(workspace_id, id) in (select workspace_id, id from tombstones where deleted_at_ms < ${beforeMs} order by deleted_at_ms limit ${limit})`,
          )
          .executeTakeFirst()
        return Number(result.numDeletedRows)
      }),
  }
}

/** One damaged document does not take the list of its workspace along. */
function readableHead(row: HeadRow, log: Logger): DocumentHead[] {
  try {
    return [headOf(row)]
  } catch (error) {
    log.error('storage.document-damaged', 'a document is left out of a list: its row cannot be trusted', {
      error: String(error),
      key: row.key,
    })
    return []
  }
}

async function removeDocument(writer: Writer, ref: DocumentRef, key: number, deletedAtMs: number) {
  const row = await writer
    .selectFrom('documents')
    .select(['version', 'owner_id'])
    .where('workspace_id', '=', storedText(ref.workspaceId))
    .where('id', '=', ref.id)
    .where('key', '=', key)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'gone' } as const
  for (const table of PARTS) await writer.deleteFrom(table).where('key', '=', key).execute()
  await writer.deleteFrom('documents').where('key', '=', key).execute()
  const stone = { deleted_at_ms: deletedAtMs, last_server_version: row.version, owner_id: row.owner_id }
  await writer
    .insertInto('tombstones')
    .values({ workspace_id: storedText(ref.workspaceId), id: ref.id, ...stone })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doUpdateSet(stone))
    .execute()
  const tombstone: Tombstone = {
    workspaceId: ref.workspaceId,
    id: ref.id,
    deletedAtMs,
    lastServerVersion: row.version,
    ownerId: originalText(row.owner_id),
  }
  return { kind: 'removed', tombstone } as const
}

function weightOf(bytes: Uint8Array | undefined): number {
  return bytes?.byteLength ?? 0
}
