import { RelayError } from '../../kernel/errors.ts'
import type { AppendOutcome, AppendRecord, Snapshot, UpdateLog } from '../../sync/update-log.port.ts'
import { snapshotChecksum, updateChecksum } from './checksum.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database, Engine } from './engine.ts'
import { loadLog, recordsAfter } from './log-reading.ts'
import { readingWith } from './reading.ts'
import { headFlags } from './row-checksums.ts'
import { storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'

export function sqlUpdates({ engine, reader }: Database, queue: CommitQueue, log: Logger): UpdateLog {
  const reading = readingWith(log)
  return {
    append: (records) => (records.length === 0 ? Promise.resolve([]) : queue.append(records)),
    load: (key) =>
      reading(async () => {
        const loaded = await loadLog(reader, key)
        if (loaded.kind === 'damaged') {
          const { detail, safeThroughSeq } = loaded
          log.error('storage.log-damaged', 'the log of a document is damaged', { key, detail, safeThroughSeq })
        }
        return loaded
      }),
    after: (key, seq) => reading(() => recordsAfter(reader, key, seq)),
    compact: (key, snapshot) =>
      queue.run(snapshot.update.byteLength, async (writer) => {
        await engine.lockDocument(writer, { key })
        return compactLog(writer, key, snapshot)
      }),
    rebuild: (key, update, stateVector, detail) =>
      queue.run(update.byteLength, async (writer) => {
        await engine.lockDocument(writer, { key })
        return rebuildLog(writer, key, { update, stateVector }, detail)
      }),
  }
}

/** Appends in the order given; the cost is that of the records. [LIFE-7] */
export async function appendTo(writer: Writer, engine: Engine, records: readonly AppendRecord[]): Promise<AppendOutcome[]> {
  const outcomes: AppendOutcome[] = []
  let from = 0
  for (let i = 0; i <= records.length; i++) {
    const record = records[i]
    if (record !== undefined && record.catchUp === undefined) continue
    if (i > from) await appendBulk(writer, engine, records.slice(from, i), outcomes)
    if (record !== undefined) outcomes.push(await appendCatchUp(writer, engine, record))
    from = i + 1
  }
  return outcomes
}

async function appendBulk(
  writer: Writer,
  engine: Engine,
  records: readonly AppendRecord[],
  outcomes: AppendOutcome[],
): Promise<void> {
  const counts = new Map<number, number>()
  for (const { key } of records) counts.set(key, (counts.get(key) ?? 0) + 1)
  // In one order everywhere, so that two processes do not wait for each other.
  const keys = [...counts.keys()].sort((a, b) => a - b)
  const lastSeqs = await engine.advanceLogs(
    writer,
    keys,
    keys.map((key) => counts.get(key) ?? 0),
  )
  const next = new Map<number, number>()
  for (const [key, last] of lastSeqs) next.set(key, last - (counts.get(key) ?? 0) + 1)
  const rows = {
    keys: [] as number[],
    seqs: [] as number[],
    actors: [] as string[],
    timesMs: [] as number[],
    checksums: [] as number[],
    updates: [] as Uint8Array[],
  }
  for (const { key, actor, atMs, update } of records) {
    const seq = next.get(key)
    if (seq === undefined) {
      outcomes.push({ kind: 'gone' })
      continue
    }
    next.set(key, seq + 1)
    rows.keys.push(key)
    rows.seqs.push(seq)
    rows.actors.push(storedText(actor))
    rows.timesMs.push(atMs)
    rows.checksums.push(updateChecksum(key, seq, actor, atMs, update))
    rows.updates.push(update)
    outcomes.push({ kind: 'appended', seq })
  }
  if (rows.keys.length > 0) await engine.insertUpdates(writer, rows)
}

async function appendCatchUp(writer: Writer, engine: Engine, record: AppendRecord): Promise<AppendOutcome> {
  const { key, catchUp } = record
  await engine.lockDocument(writer, { key })
  const row = await writer
    .selectFrom('documents')
    .innerJoin('log_heads', 'log_heads.key', 'documents.key')
    .select(['documents.version', 'log_heads.last_seq', 'log_heads.covered_seq'])
    .where('documents.key', '=', key)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'gone' }
  if (row.last_seq !== catchUp?.lastSeq || row.version !== catchUp.version) return { kind: 'conflict' }
  const outcomes: AppendOutcome[] = []
  await appendBulk(writer, engine, [record], outcomes)
  await writer
    .updateTable('log_heads')
    .set(headFlags(key, row.covered_seq, 0))
    .where('key', '=', key)
    .execute()
  return outcomes[0] ?? { kind: 'gone' }
}

async function compactLog(writer: Writer, key: number, snapshot: Snapshot): Promise<'stored' | 'stale' | 'gone'> {
  const head = await writer.selectFrom('log_heads').select('last_seq').where('key', '=', key).executeTakeFirst()
  if (head === undefined) return 'gone'
  if (snapshot.throughSeq > head.last_seq)
    throw new RelayError('INTERNAL', `a snapshot through ${snapshot.throughSeq} of a log that ends at ${head.last_seq}`)
  const stored = await writer
    .selectFrom('snapshots')
    .select('through_seq')
    .where('key', '=', key)
    .orderBy('through_seq', 'desc')
    .execute()
  const previous = stored[0]
  if (previous !== undefined && previous.through_seq >= snapshot.throughSeq) return 'stale'
  await insertSnapshot(writer, key, snapshot)
  if (previous === undefined) return 'stored'
  await writer.deleteFrom('snapshots').where('key', '=', key).where('through_seq', '<', previous.through_seq).execute()
  await writer.deleteFrom('updates').where('key', '=', key).where('seq', '<=', previous.through_seq).execute()
  return 'stored'
}

async function insertSnapshot(writer: Writer, key: number, { update, stateVector, throughSeq }: Snapshot): Promise<void> {
  await writer
    .insertInto('snapshots')
    .values({
      key,
      through_seq: throughSeq,
      crc32: snapshotChecksum(key, throughSeq, stateVector, update),
      state_vector: stateVector,
      bytes: update,
    })
    .execute()
}

/** Keeps all bytes of a log for a person to look at, filed under the key of a document that stays. [YDOC-11] */
export async function keepAside(writer: Writer, key: number, under: number, detail: string): Promise<void> {
  const updates = await writer.selectFrom('updates').select(['seq', 'bytes']).where('key', '=', key).execute()
  const snapshots = await writer.selectFrom('snapshots').select(['through_seq as seq', 'bytes']).where('key', '=', key).execute()
  const kept = [
    ...snapshots.map((row) => ({ key: under, kind: 'snapshot' as const, detail, ...row })),
    ...updates.map((row) => ({ key: under, kind: 'update' as const, detail, ...row })),
  ]
  for (const row of kept) await writer.insertInto('set_aside').values(row).execute()
}

/** The new snapshot takes a sequence of its own: a process that still holds the old state sees a gap and loads anew. */
async function rebuildLog(
  writer: Writer,
  key: number,
  state: { readonly update: Uint8Array; readonly stateVector: Uint8Array },
  detail: string,
): Promise<'rebuilt' | 'gone'> {
  const head = await writer.selectFrom('log_heads').select('last_seq').where('key', '=', key).executeTakeFirst()
  if (head === undefined) return 'gone'
  await keepAside(writer, key, key, detail)
  await writer.deleteFrom('updates').where('key', '=', key).execute()
  await writer.deleteFrom('snapshots').where('key', '=', key).execute()
  const throughSeq = head.last_seq + 1
  await insertSnapshot(writer, key, { ...state, throughSeq })
  await writer
    .updateTable('log_heads')
    .set({ last_seq: throughSeq, ...headFlags(key, throughSeq, 0) })
    .where('key', '=', key)
    .execute()
  return 'rebuilt'
}
