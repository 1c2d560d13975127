import { sql } from 'kysely'
import type { DocumentHead, DocumentRecord, DocumentState, DocumentStore } from '../../documents/document-store.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { bodyChecksum } from './checksum.ts'
import type { CommitQueue } from './commit-queue.ts'
import { compiledOnce } from './compiled-query.ts'
import { removeDocument } from './document-remove.ts'
import { DamagedDocumentError, headOf, readState, selectHeads } from './document-rows.ts'
import type { LongBody } from './long-bodies.ts'
import { type Capturing, lookAhead, mayKeepLongBody } from './recovery-capture.ts'
import { writeDocument } from './document-write.ts'
import type { Database, Engine } from './engine.ts'
import { tellingRun } from './feed-writing.ts'
import { purgeFormerClients, readFormerClients } from './former-clients.ts'
import { readableHeads, sqlHeadLists } from './head-lists.ts'
import { rememberingList } from './head-memory.ts'
import { giveLineages, withoutLineage } from './lineage.ts'
import { lineageGiver } from './lineage-reading.ts'
import { documentBytes, overQuota } from './quota.ts'
import { readingWith } from './reading.ts'
import { purgeRemembered, rememberedWrite } from './remembered-writes.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Connection } from './tables.ts'

const recordRow = compiledOnce((db, { workspaceId, id }: { readonly workspaceId: string; readonly id: string }) =>
  selectHeads(db)
    .leftJoin('bodies', 'bodies.key', 'documents.key')
    .select(['bodies.body', 'bodies.crc32 as body_crc32'])
    .where('documents.workspace_id', '=', workspaceId)
    .where('documents.id', '=', id),
)

/** Opens the port `DocumentStore`. `run` runs the calls of which other nodes are notified; without it no node is notified. */
export function sqlDocuments(
  database: Database,
  queue: CommitQueue,
  log: Logger,
  capturing: Capturing,
  run = tellingRun(queue, database.engine, null),
): DocumentStore {
  const { engine, reader } = database
  const reading = readingWith(log)
  const given = lineageGiver(queue, capturing.random, log)
  return {
    state: (ref) => given(() => reading(() => readState(reader, ref)), headsOfState),
    read(ref) {
      const read = async (): Promise<DocumentRecord | null> => {
        const [row] = await recordRow(reader, { workspaceId: storedText(ref.workspaceId), id: ref.id })
        if (row === undefined) return null
        if (row.body === null || bodyChecksum(row.key, row.body) !== row.body_crc32) {
          throw new DamagedDocumentError('body', 'its body does not have its checksum', ref)
        }
        return { head: headOf(row), body: row.body }
      }
      return given(
        () => reading(read),
        (record) => (record === null ? [] : [record.head]),
      )
    },
    write(write) {
      const store = (seen: LongBody | null) =>
        run(weightOf(write.set.body?.bytes), (writer, tell) => writeDocument(writer, engine, write, seen, capturing, tell))
      return mayKeepLongBody(write) ? lookAhead(reader, write, capturing).then(store) : store(null)
    },
    overQuota: (growth) => reading(() => overQuota(reader, growth)),
    remove: (ref, key, deletedAtMs, actor = '', only = undefined) =>
      run(0, async (writer, tell) => {
        await engine.lockDocument(writer, ref)
        return removeDocument(writer, engine, { ref, key, deletedAtMs, actor, successor: null, only }, tell)
      }),
    async heads(workspaceId, ids) {
      const read = async (): Promise<readonly DocumentHead[]> => {
        const rows = await selectHeads(reader)
          .where('documents.workspace_id', '=', storedText(workspaceId))
          .where('documents.id', 'in', ids)
          .execute()
        return rows.map(headOf)
      }
      return given(
        () => reading(read),
        (heads) => heads,
      )
    },
    list: rememberingList(sqlHeadLists(database, given, log)),
    referencing(workspaceId, hash) {
      const read = async (): Promise<readonly DocumentHead[]> => {
        const rows = await selectHeads(reader)
          .innerJoin('blob_refs', 'blob_refs.key', 'documents.key')
          .where('blob_refs.hash', '=', hash)
          .where('documents.workspace_id', '=', storedText(workspaceId))
          .orderBy('documents.updated_at_ms', 'desc')
          .orderBy('documents.id')
          .execute()
        return rows.flatMap((row) => readableHeads(row, log)).map(({ head }) => head)
      }
      return given(
        () => reading(read),
        (heads) => heads,
      )
    },
    formerClients: (ref, nowMs) => reading(() => readFormerClients(reader, ref, nowMs)),
    async giveLineages(afterKey, limit) {
      const { keys, lastKey, more } = await reading(() => withoutLineage(reader, afterKey, limit))
      if (keys.length === 0) return { lastKey, more }
      // While another node runs this job, this node keeps its position and tries again later.
      return queue.job('lineages', { lastKey: afterKey, more: false }, async (writer) => {
        await giveLineages(writer, keys, capturing.random)
        return { lastKey, more }
      })
    },
    purgeFormerClients: (beforeMs, limit) =>
      queue.job('former clients', 0, (writer) => purgeFormerClients(writer, beforeMs, limit)),
    usedBytes: (workspaceId) => reading(() => documentBytes(reader, workspaceId)),
    purgeTombstones: (beforeMs, limit) =>
      queue.job('tombstones', 0, async (writer) => {
        const result = await writer
          .deleteFrom('tombstones')
          .where(
            sql<boolean>`(workspace_id, id) in (select workspace_id, id from tombstones where deleted_at_ms < ${beforeMs} order by deleted_at_ms limit ${limit})`,
          )
          .executeTakeFirst()
        return Number(result.numDeletedRows)
      }),
    remembered: (workspaceId, request) => reading(() => rememberedWrite(reader, workspaceId, request)),
    purgeRemembered: (beforeMs, limit) => queue.job('request ids', 0, (writer) => purgeRemembered(writer, beforeMs, limit)),
    behind: (afterKey, limit) => reading(() => readBehind(reader, engine, afterKey, limit)),
  }
}

/** Reads the next `limit` log heads and returns the documents whose stored body lacks records of the log, which are few. [LIFE-30] */
async function readBehind(
  reader: Connection,
  { node, nowMs }: Pick<Engine, 'node' | 'nowMs'>,
  afterKey: number,
  limit: number,
): ReturnType<DocumentStore['behind']> {
  const looked = await reader
    .selectFrom('log_heads')
    .select(['key', 'last_seq', 'covered_seq'])
    .where('key', '>', afterKey)
    .orderBy('key')
    .limit(limit)
    .execute()
  const nextKey = looked.length < limit ? null : (looked.at(-1)?.key ?? null)
  const keys = looked.filter((row) => row.last_seq > row.covered_seq).map(({ key }) => key)
  if (keys.length === 0) return { documents: [], nextKey }
  const rows = await reader
    .selectFrom('documents')
    .select(['key', 'workspace_id', 'id'])
    .where('key', 'in', keys)
    .$if(node.inc !== null, (all) =>
      all.where('key', 'not in', (e) =>
        e
          .selectFrom('log_heads')
          .innerJoin('nodes', 'nodes.inc', 'log_heads.owner')
          .select('log_heads.key')
          .where('log_heads.key', 'in', keys)
          .where('nodes.inc', '!=', node.inc ?? 0)
          .where('nodes.lease_until_ms', '>', nowMs),
      ),
    )
    .orderBy('key')
    .execute()
  return { documents: rows.map(({ key, workspace_id, id }) => ({ key, workspaceId: originalText(workspace_id), id })), nextKey }
}

function headsOfState(state: DocumentState): readonly DocumentHead[] {
  return state.kind === 'document' ? [state.head] : []
}

function weightOf(bytes: Uint8Array | undefined): number {
  return bytes?.byteLength ?? 0
}
