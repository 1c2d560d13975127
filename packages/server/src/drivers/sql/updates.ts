import { RelayError } from '../../kernel/errors.ts'
import type { AppendOutcome, AppendRecord, RebuiltLog, Snapshot, UpdateLog } from '../../sync/update-log.port.ts'
import { snapshotChecksum, updateChecksum } from './checksum.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database, Engine, LogAdvance, UpdateColumns } from './engine.ts'
import { keepFormerClients } from './former-clients.ts'
import { lineageColumns, newLineage } from './lineage.ts'
import { loadLog, recordsAfter } from './log-reading.ts'
import { isHeld, type TenureColumns } from './tenure-columns.ts'
import { readingWith } from './reading.ts'
import { keepRemovals, purgeRemovals } from './removals.ts'
import { headFlags } from './row-checksums.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

export function sqlUpdates({ engine, reader }: Database, queue: CommitQueue, log: Logger, random: Random): UpdateLog {
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
    compact: (key, snapshot, epoch) =>
      queue.run(snapshot.update.byteLength, async (writer) => {
        await engine.lockDocument(writer, { key })
        return (await isFenced(writer, engine, key, epoch)) ? 'fenced' : compactLog(writer, key, snapshot)
      }),
    rebuild: (key, rebuilt, epoch) =>
      queue.run(rebuilt.update.byteLength, async (writer) => {
        await engine.lockDocument(writer, { key })
        return (await isFenced(writer, engine, key, epoch)) ? 'fenced' : rebuildLog(writer, key, rebuilt, newLineage(random))
      }),
    purgeRemovals: (beforeMs, limit) => queue.job('removals', 0, (writer) => purgeRemovals(writer, beforeMs, limit)),
  }
}

/**
 * Appends records in the given order. The cost depends only on the records. [LIFE-7] A record is a conflict when its log does not end at its
 * `afterSeq`. Otherwise a record could be stored after a lost one. [LIFE-5]
 */
export async function appendTo(writer: Writer, engine: Engine, records: readonly AppendRecord[]): Promise<AppendOutcome[]> {
  const outcomes: AppendOutcome[] = []
  let from = 0
  for (let i = 0; i <= records.length; i++) {
    const record = records[i]
    if (record !== undefined && record.catchUp === undefined) continue
    for (const runs of roundsOf(records.slice(from, i))) outcomes.push(...(await appendRuns(writer, engine, runs)))
    if (record !== undefined) outcomes.push(await appendCatchUp(writer, engine, record, record.catchUp?.version))
    from = i + 1
  }
  return outcomes
}

/**
 * Splits a list into parts in which the records of each document are consecutive. Usually there is one part. A new part begins at
 * a record that does not follow the previous one of its document, for example after a room was reset, or that names another
 * epoch.
 */
function roundsOf(records: readonly AppendRecord[]): AppendRecord[][] {
  const rounds: AppendRecord[][] = []
  let round: AppendRecord[] = []
  let last = new Map<number, AppendRecord>()
  for (const record of records) {
    const before = last.get(record.key)
    if (before !== undefined && (before.afterSeq + 1 !== record.afterSeq || before.epoch !== record.epoch)) {
      rounds.push(round)
      round = []
      last = new Map()
    }
    round.push(record)
    last.set(record.key, record)
  }
  if (round.length > 0) rounds.push(round)
  return rounds
}

/** Appends records. The records of each document must be consecutive and name the same epoch. */
async function appendRuns(writer: Writer, engine: Engine, records: readonly AppendRecord[]): Promise<AppendOutcome[]> {
  const advances = advancesOf(records)
  const moved = await engine.advanceLogs(writer, advances)
  const unmoved = moved.size === advances.length ? NONE : await tenuresOf(writer, advances)
  const appended = records.filter(({ key }) => moved.has(key))
  if (appended.length > 0) await engine.insertUpdates(writer, columnsOf(appended))
  await keepRemovals(writer, appended)
  return records.map((record) => outcomeOf(record, moved, unmoved, engine))
}

/**
 * Returns the function that appends these records with one statement, which is a transaction of its own. The outcomes are those of `appendTo`.
 * Returns `null` when the database cannot do that, or when one of the records needs more than one statement.
 */
export function appendingAtOnce(
  { engine, appendAtOnce, reader }: Database,
  records: readonly AppendRecord[],
): (() => Promise<AppendOutcome[]>) | null {
  if (appendAtOnce === null) return null
  if (records.some(({ catchUp, removals }) => catchUp !== undefined || removals !== undefined)) return null
  if (roundsOf(records).length > 1) return null
  return async () => {
    const advances = advancesOf(records)
    const moved = await appendAtOnce(advances, columnsOf(records))
    const unmoved = moved.size === advances.length ? NONE : await tenuresOf(reader, advances).catch(unreadOutcomes)
    return records.map((record) => outcomeOf(record, moved, unmoved, engine))
  }
}

/** The records of moved logs are committed by now, so an error of this read must not count as one that the server has undone. */
function unreadOutcomes(error: unknown): never {
  throw new Error('the outcomes of a committed append could not be read', { cause: error })
}

/** The advance of each log, by ascending key: every process locks the logs in this order, so two processes cannot deadlock. */
function advancesOf(records: readonly AppendRecord[]): readonly LogAdvance[] {
  const advances = new Map<number, LogAdvance & { count: number }>()
  for (const { key, afterSeq, epoch } of records) {
    const advance = advances.get(key)
    if (advance !== undefined) advance.count++
    else advances.set(key, epoch === undefined ? { key, afterSeq, count: 1 } : { key, afterSeq, count: 1, epoch })
  }
  return [...advances.values()].sort((a, b) => a.key - b.key)
}

function columnsOf(records: readonly AppendRecord[]): UpdateColumns {
  return {
    keys: records.map(({ key }) => key),
    seqs: records.map(({ afterSeq }) => afterSeq + 1),
    actors: records.map(({ actor }) => storedText(actor)),
    timesMs: records.map(({ atMs }) => atMs),
    checksums: records.map(({ key, afterSeq, actor, atMs, update }) => updateChecksum(key, afterSeq + 1, actor, atMs, update)),
    updates: records.map(({ update }) => update),
  }
}

/** `unmoved` has the rows of the logs that did not move, as far as they exist. */
function outcomeOf(
  { key, afterSeq, epoch }: AppendRecord,
  moved: ReadonlySet<number>,
  unmoved: ReadonlyMap<number, TenureColumns>,
  { node }: Engine,
): AppendOutcome {
  if (moved.has(key)) return { kind: 'appended', seq: afterSeq + 1 }
  const row = unmoved.get(key)
  if (row === undefined) return { kind: 'gone' }
  return { kind: epoch === undefined || isHeld(node, epoch, row) ? 'conflict' : 'fenced' }
}

const NONE: ReadonlyMap<number, TenureColumns> = new Map()

async function tenuresOf(db: Connection, logs: readonly { readonly key: number }[]): Promise<ReadonlyMap<number, TenureColumns>> {
  const keys = logs.map(({ key }) => key)
  const rows = await db.selectFrom('log_heads').select(['key', 'owner', 'epoch']).where('key', 'in', keys).execute()
  return new Map(rows.map((row) => [row.key, row]))
}

/** Whether this node no longer owns the document under `epoch`. The caller holds the lock of the document. [LIFE-26] */
async function isFenced(writer: Writer, { node }: Engine, key: number, epoch: number | undefined): Promise<boolean> {
  if (epoch === undefined) return false
  const row = (await tenuresOf(writer, [{ key }])).get(key)
  return row !== undefined && !isHeld(node, epoch, row)
}

async function appendCatchUp(
  writer: Writer,
  engine: Engine,
  record: AppendRecord,
  version: number | undefined,
): Promise<AppendOutcome> {
  const { key, afterSeq } = record
  await engine.lockDocument(writer, { key })
  const row = await writer
    .selectFrom('documents')
    .innerJoin('log_heads', 'log_heads.key', 'documents.key')
    .select(['documents.version', 'log_heads.last_seq', 'log_heads.covered_seq', 'log_heads.owner', 'log_heads.epoch'])
    .where('documents.key', '=', key)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'gone' }
  if (record.epoch !== undefined && !isHeld(engine.node, record.epoch, row)) return { kind: 'fenced' }
  if (row.last_seq !== afterSeq || row.version !== version) return { kind: 'conflict' }
  const [outcome = { kind: 'conflict' as const }] = await appendRuns(writer, engine, [record])
  if (outcome.kind !== 'appended') return outcome
  await writer
    .updateTable('log_heads')
    .set(headFlags(key, row.covered_seq, 0))
    .where('key', '=', key)
    .execute()
  return outcome
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

/** Stores all bytes of a log for later inspection, under the key of a document that stays. [YDOC-11] */
export async function keepAside(writer: Writer, key: number, under: number, detail: string): Promise<void> {
  const updates = await writer.selectFrom('updates').select(['seq', 'bytes']).where('key', '=', key).execute()
  const snapshots = await writer.selectFrom('snapshots').select(['through_seq as seq', 'bytes']).where('key', '=', key).execute()
  const kept = [
    ...snapshots.map((row) => ({ key: under, kind: 'snapshot' as const, detail, ...row })),
    ...updates.map((row) => ({ key: under, kind: 'update' as const, detail, ...row })),
  ]
  for (const row of kept) await writer.insertInto('set_aside').values(row).execute()
}

/**
 * Replaces a log by one snapshot. The snapshot gets a new sequence, so that a process with the old state sees a gap and loads again. `lineage`
 * belongs to the new state; `null` when the new state continues the old history.
 */
export async function rebuildLog(
  writer: Writer,
  key: number,
  rebuilt: RebuiltLog,
  lineage: string | null,
): Promise<'rebuilt' | 'conflict' | 'gone'> {
  const { lastSeq, update, stateVector, detail } = rebuilt
  const head = await writer.selectFrom('log_heads').select('last_seq').where('key', '=', key).executeTakeFirst()
  if (head === undefined) return 'gone'
  if (head.last_seq !== lastSeq) return 'conflict'
  if (lineage !== null) await startAnew(writer, key, lineage, rebuilt.nowMs)
  await keepAside(writer, key, key, detail)
  await writer.deleteFrom('updates').where('key', '=', key).execute()
  await writer.deleteFrom('snapshots').where('key', '=', key).execute()
  await writer.deleteFrom('removals').where('key', '=', key).execute()
  const throughSeq = lastSeq + 1
  await insertSnapshot(writer, key, { update, stateVector, throughSeq })
  await writer
    .updateTable('log_heads')
    .set({ last_seq: throughSeq, ...headFlags(key, throughSeq, 0) })
    .where('key', '=', key)
    .execute()
  return 'rebuilt'
}

/** Ends the lineage of a document. Called before its log is replaced. [WS-61, WS-62] */
async function startAnew(writer: Writer, key: number, lineage: string, nowMs: number): Promise<void> {
  const row = await writer.selectFrom('documents').select(['workspace_id', 'id']).where('key', '=', key).executeTakeFirstOrThrow()
  await keepFormerClients(writer, { workspaceId: originalText(row.workspace_id), id: row.id }, key, nowMs)
  await writer.updateTable('documents').set(lineageColumns(row, lineage)).where('key', '=', key).execute()
}
