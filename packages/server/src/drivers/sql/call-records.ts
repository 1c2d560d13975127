import { crc32 } from 'node:zlib'
import { type Selectable, sql } from 'kysely'
import type { CallHead, CallStore, CallWrite, StoredCall } from '../../documents/call-store.port.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { batches } from './blob-refs.ts'
import { CallTallies } from './call-tallies.ts'
import type { CommitQueue } from './commit-queue.ts'
import { compiledOnce } from './compiled-query.ts'
import type { Database, Engine } from './engine.ts'
import { readingWith } from './reading.ts'
import { grantState, isAsWritten, withChecksum } from './row-checksums.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Connection, Tables, Writer } from './tables.ts'

/** Limits of the call records of one document. `DEFAULT_UNDO_BYTES`: the limit for one workspace when the configuration sets none. [AG-67] */
const DOCUMENT_CALLS = 500
const DOCUMENT_BYTES = 16 * 1_048_576
export const DEFAULT_UNDO_BYTES = 64 * 1_048_576
/** Bytes that a row counts in addition to its record. */
const ROW_BYTES = 300
/** Maximum number of records that one write removes because of the limit of its workspace. */
const MOST_DROPPED = 100

type Row = Selectable<Tables['call_records']>
type Sized = Pick<Row, 'key' | 'version' | 'workspace_id' | 'size_bytes'>
type DocumentOfCalls = Pick<DocumentHead, 'key' | 'workspaceId'>

/** Whether the document has records of all these calls and none of the calls was undone. */
export async function areUndoable(db: Connection, key: number, callIds: readonly string[]): Promise<boolean> {
  if (callIds.length === 0) return true
  const rows = await db
    .selectFrom('call_records')
    .select('version')
    .where('key', '=', key)
    .where('call', 'in', callIds)
    .where('undone_by', 'is', null)
    .execute()
  return rows.length === callIds.length
}

interface Made extends DocumentOfCalls {
  readonly version: number
  readonly nowMs: number
}

interface Bounds {
  /** Maximum bytes of the call records of one workspace. */
  readonly undoBytes: number
  readonly tallies: CallTallies
}

const insertRow = compiledOnce((db, row: Row) =>
  db.insertInto('call_records').values({
    key: row.key,
    version: row.version,
    call: row.call,
    workspace_id: row.workspace_id,
    at_ms: row.at_ms,
    sub: row.sub,
    client: row.client,
    caller: row.caller,
    tool: row.tool,
    changed: row.changed,
    removed: row.removed,
    size_bytes: row.size_bytes,
    undone_by: row.undone_by,
    answer: row.answer,
    record_crc32: row.record_crc32,
    record: row.record,
    crc32: row.crc32,
  }),
)
const newestRows = compiledOnce(
  (db, { key, skipped, limit }: { readonly key: number; readonly skipped: number; readonly limit: number }) =>
    db
      .selectFrom('call_records')
      .select(['version', 'size_bytes'])
      .where('key', '=', key)
      .orderBy('version', 'desc')
      .limit(limit)
      .offset(skipped),
)
const bytesAdded = compiledOnce((db, { workspace, bytes }: { readonly workspace: string; readonly bytes: number }) =>
  db
    .insertInto('call_bytes')
    .values({ workspace_id: workspace, bytes })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ bytes: sql<number>`call_bytes.bytes + ${bytes}` }))
    .returning('bytes'),
)

/** Stores a call in the transaction of its write, marks the calls that it undid, and removes records beyond the limits. [AG-66, AG-67] */
export async function recordCall(
  writer: Writer,
  engine: Engine,
  call: CallWrite,
  made: Made,
  { undoBytes, tallies }: Bounds,
): Promise<void> {
  const { key, version, nowMs, workspaceId } = made
  const workspace = storedText(workspaceId)
  const size = ROW_BYTES + (call.record?.byteLength ?? 0) + (call.answer?.length ?? 0)
  const { record } = call
  const row = {
    key,
    version,
    call: call.callId,
    workspace_id: workspace,
    at_ms: nowMs,
    sub: storedText(call.sub),
    client: call.client === null ? null : storedText(call.client),
    caller: call.caller,
    tool: call.tool,
    changed: call.changed,
    removed: call.removed,
    size_bytes: size,
    undone_by: null,
    answer: call.answer === null ? null : storedText(call.answer),
    record_crc32: record === null ? null : crc32(record),
    record,
  }
  await insertRow(writer, withChecksum('call_records', row))
  for (const hashes of batches([...call.blobReferences])) {
    await writer
      .insertInto('call_refs')
      .values(hashes.map((hash) => ({ key, version, hash })))
      .execute()
  }
  for (const undone of await rowsOf(writer, key, call.undoes)) {
    const { crc32: _, ...columns } = { ...undone, undone_by: call.callId }
    const marked = withChecksum('call_records', { ...columns, record: null })
    await writer
      .updateTable('call_records')
      .set({ undone_by: call.callId, crc32: marked.crc32 })
      .where('key', '=', key)
      .where('version', '=', undone.version)
      .execute()
  }
  const usedBytes = await addBytes(writer, workspace, size)
  // Tallies lack the calls of other processes that write to the store, so they are used only without such processes.
  const trusted = engine.soleProcess ? tallies : new CallTallies()
  const beyond = await beyondDocument(writer, { key, workspace_id: workspace, size_bytes: size }, trusted)
  const leftBytes = (await dropRows(writer, engine, beyond, nowMs)) ?? usedBytes
  await dropRows(writer, engine, await beyondWorkspace(writer, workspace, leftBytes - undoBytes, version), nowMs)
}

/** Returns the records of a document beyond its limits after a record of `size_bytes` was added; never the newest record. */
async function beyondDocument(
  db: Connection,
  { key, workspace_id, size_bytes }: Omit<Sized, 'version'>,
  tallies: CallTallies,
): Promise<readonly Sized[]> {
  const before = tallies.of(key)
  const most = before && { count: before.count + 1, bytes: before.bytes + size_bytes }
  if (most && most.count <= DOCUMENT_CALLS && most.bytes <= DOCUMENT_BYTES) {
    tallies.set(key, most)
    return []
  }
  // While the tally shows that the bytes are within their limit, only records beyond the maximum number are read.
  const skipped = most && most.bytes <= DOCUMENT_BYTES ? DOCUMENT_CALLS : 0
  const rows = await newestRows(db, { key, skipped, limit: DOCUMENT_CALLS + MOST_DROPPED - skipped })
  let bytes = 0
  const beyond = rows.filter((row, index) => {
    bytes += row.size_bytes
    return skipped + index >= DOCUMENT_CALLS || bytes > DOCUMENT_BYTES
  })
  const beyondBytes = beyond.reduce((sum, row) => sum + row.size_bytes, 0)
  if (skipped === 0 && beyond.length === 0) tallies.set(key, { count: rows.length, bytes })
  // The transaction may be rolled back, so that the records stay. So the tally does not decrease here.
  else if (before !== null && most !== null)
    tallies.set(key, {
      count: Math.max(before.count, most.count - beyond.length),
      bytes: Math.max(before.bytes, most.bytes - beyondBytes),
    })
  return beyond.map((row) => ({ ...row, key, workspace_id }))
}

async function beyondWorkspace(
  db: Connection,
  workspace: string,
  excessBytes: number,
  newest: number,
): Promise<readonly Sized[]> {
  let excess = excessBytes
  if (excess <= 0) return []
  const rows = await oldest(db).where('workspace_id', '=', workspace).where('version', '<>', newest).limit(MOST_DROPPED).execute()
  return rows.filter((row) => {
    const isDropped = excess > 0
    excess -= row.size_bytes
    return isDropped
  })
}

function oldest(db: Connection) {
  return db
    .selectFrom('call_records')
    .select(['key', 'version', 'workspace_id', 'size_bytes'])
    .orderBy('at_ms')
    .orderBy('key')
    .orderBy('version')
}

/** Adds to the bytes of all records of the workspace and returns the sum. */
async function addBytes(writer: Writer, workspace: string, bytes: number): Promise<number> {
  const [row] = await bytesAdded(writer, { workspace, bytes })
  return Number(row?.bytes ?? 0)
}

/**
 * Removes records. Starts the grace period of blobs that only these records referenced. [BLOB-15, BLOB-16] Returns the bytes of all remaining records
 * of the workspace of the last row; `null` when `rows` is empty.
 */
async function dropRows(writer: Writer, engine: Engine, rows: readonly Sized[], nowMs: number): Promise<number | null> {
  let leftBytes: number | null = null
  for (const { key, version, workspace_id, size_bytes } of rows) {
    const refs = writer.selectFrom('call_refs').select('hash').where('key', '=', key).where('version', '=', version)
    if ((await refs.limit(1).executeTakeFirst()) !== undefined) {
      // Locks the workspace, so that no other node runs a release between this read and the commit.
      await engine.lockWorkspace(writer, originalText(workspace_id))
      await writer
        .updateTable('blob_grants')
        .set(grantState({ unreferenced_at_ms: nowMs }))
        .where('workspace_id', '=', workspace_id)
        .where('metered', '=', 0)
        .where('unreferenced_at_ms', 'is', null)
        .where('hash', 'in', refs)
        .execute()
      await writer.deleteFrom('call_refs').where('key', '=', key).where('version', '=', version).execute()
    }
    await writer.deleteFrom('call_records').where('key', '=', key).where('version', '=', version).execute()
    leftBytes = await addBytes(writer, workspace_id, -size_bytes)
  }
  return leftBytes
}

/** Removes all call records of a document that is being removed. */
export async function dropCalls(writer: Writer, engine: Engine, { key }: DocumentOfCalls, nowMs: number): Promise<void> {
  const rows = await oldest(writer).where('key', '=', key).execute()
  await dropRows(writer, engine, rows, nowMs)
}

export function sqlCalls({ engine, reader }: Database, queue: CommitQueue, log: Logger): CallStore {
  const reading = readingWith(log)
  return {
    list: (key, { beforeVersion, limit }) =>
      reading(async () => {
        const all = heads(reader).where('key', '=', key)
        const page = beforeVersion === null ? all : all.where('version', '<', beforeVersion)
        return (await page.orderBy('version', 'desc').limit(limit).execute()).map(headOf)
      }),
    read: (key, callIds) =>
      reading(async () => {
        const rows = await rowsOf(reader, key, callIds)
        return rows.map(
          (row): StoredCall => ({
            ...headOf({ ...row, has_record: row.record === null ? 0 : 1 }),
            ...(isWhole(row) ? {} : { hasRecord: false }),
            record: isWhole(row) ? row.record : null,
            answer: row.answer === null ? null : originalText(row.answer),
          }),
        )
      }),
    purge: ({ beforeMs, mostBytes, limit, nowMs }) =>
      queue.job('call records', 0, async (writer) => {
        const expired = await oldest(writer).where('at_ms', '<', beforeMs).limit(limit).execute()
        await dropRows(writer, engine, expired, nowMs)
        let excess = (await totalBytes(writer)) - mostBytes
        if (expired.length === limit || excess <= 0) return expired.length
        const most = await oldest(writer)
          .limit(limit - expired.length)
          .execute()
        const beyond = most.filter(({ size_bytes }) => {
          const isDropped = excess > 0
          excess -= size_bytes
          return isDropped
        })
        await dropRows(writer, engine, beyond, nowMs)
        return expired.length + beyond.length
      }),
    totalBytes: () => reading(() => totalBytes(reader)),
  }
}

async function totalBytes(db: Connection): Promise<number> {
  const row = await db
    .selectFrom('call_bytes')
    .select((e) => e.fn.sum<number | null>('bytes').as('bytes'))
    .executeTakeFirst()
  return Number(row?.bytes ?? 0)
}

function heads(db: Connection) {
  return db
    .selectFrom('call_records')
    .select(['version', 'call', 'at_ms', 'sub', 'client', 'caller', 'tool', 'changed', 'removed', 'undone_by'])
    .select((e) => e.case().when('record_crc32', 'is', null).then(0).else(1).end().as('has_record'))
}

function rowsOf(db: Connection, key: number, callIds: readonly string[]): Promise<readonly Row[]> {
  if (callIds.length === 0) return Promise.resolve([])
  return db
    .selectFrom('call_records')
    .selectAll()
    .where('key', '=', key)
    .where('call', 'in', callIds)
    .orderBy('version', 'desc')
    .execute()
}

/** Whether the row and its record are as they were written. */
export function isWhole(row: Row): boolean {
  const sum = row.record === null ? null : crc32(row.record)
  return isAsWritten('call_records', row) && sum === row.record_crc32
}

type HeadRow = Pick<
  Row,
  'version' | 'call' | 'at_ms' | 'sub' | 'client' | 'caller' | 'tool' | 'changed' | 'removed' | 'undone_by'
>

function headOf(row: HeadRow & { readonly has_record: number }): CallHead {
  return {
    callId: row.call,
    tool: row.tool,
    sub: originalText(row.sub),
    client: row.client === null ? null : originalText(row.client),
    caller: row.caller,
    changed: row.changed,
    removed: row.removed,
    atMs: row.at_ms,
    version: row.version,
    hasRecord: row.has_record === 1,
    undoneBy: row.undone_by,
  }
}
