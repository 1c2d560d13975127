import type { LoadedLog, LogRecord, Snapshot } from '../../sync/update-log.port.ts'
import { snapshotChecksum, updateChecksum } from './checksum.ts'
import { DamagedDocumentError } from './document-rows.ts'
import { removalsOf } from './removals.ts'
import { originalText } from './stored-text.ts'
import type { Connection } from './tables.ts'

/** Loads a log. Checks every checksum, and that the sequence has no gap up to the head. [LIFE-5] */
export async function loadLog(db: Connection, key: number): Promise<LoadedLog> {
  const first = await tryLoad(db, key)
  // A compaction between two reads looks like damage, so a damaged log is read a second time.
  return first.kind === 'damaged' ? tryLoad(db, key) : first
}

async function tryLoad(db: Connection, key: number): Promise<LoadedLog> {
  const head = await db.selectFrom('log_heads').select('last_seq').where('key', '=', key).executeTakeFirst()
  if (head === undefined) return { kind: 'gone' }
  const { snapshot, damage } = await newestGoodSnapshot(db, key)
  const start = snapshot?.throughSeq ?? 0
  const { records, problem } = await readInOrder(db, key, start)
  const reached = start + records.length
  const missing = reached < head.last_seq ? `records ${reached + 1} to ${head.last_seq} are missing` : null
  const found = problem ?? missing
  if (found === null) return { kind: 'loaded', snapshot, records, removals: await removalsOf(db, key) }
  return { kind: 'damaged', detail: damage === null ? found : `${damage}; ${found}`, safeThroughSeq: reached }
}

async function newestGoodSnapshot(db: Connection, key: number): Promise<{ snapshot: Snapshot | null; damage: string | null }> {
  const rows = await db.selectFrom('snapshots').selectAll().where('key', '=', key).orderBy('through_seq', 'desc').execute()
  let damage: string | null = null
  for (const row of rows) {
    const snapshot = { update: row.bytes, stateVector: row.state_vector, throughSeq: row.through_seq }
    if (snapshotChecksum(key, row.through_seq, row.state_vector, row.bytes) === row.crc32) return { snapshot, damage }
    damage ??= `the snapshot through ${row.through_seq} does not have its checksum`
  }
  return { snapshot: null, damage }
}

async function readInOrder(
  db: Connection,
  key: number,
  start: number,
): Promise<{ records: LogRecord[]; problem: string | null }> {
  const rows = await db.selectFrom('updates').selectAll().where('key', '=', key).where('seq', '>', start).orderBy('seq').execute()
  const records: LogRecord[] = []
  for (const row of rows) {
    const next = start + records.length + 1
    if (row.seq < next) return { records, problem: `record ${row.seq} is there twice` }
    if (row.seq > next) return { records, problem: `record ${next} is missing` }
    const actor = originalText(row.actor)
    if (updateChecksum(key, row.seq, actor, row.at_ms, row.bytes) !== row.crc32) {
      return { records, problem: `record ${row.seq} does not have its checksum` }
    }
    records.push({ seq: row.seq, actor, atMs: row.at_ms, update: row.bytes })
  }
  return { records, problem: null }
}

/** Returns the records above `seq`. When earlier records were compacted away, the first sequence shows it. */
export async function recordsAfter(db: Connection, key: number, seq: number): Promise<readonly LogRecord[]> {
  const first = await db
    .selectFrom('updates')
    .select((e) => e.fn.min<number | null>('seq').as('seq'))
    .where('key', '=', key)
    .where('seq', '>', seq)
    .executeTakeFirst()
  if (first?.seq === null || first?.seq === undefined) return []
  const { records, problem } = await readInOrder(db, key, first.seq - 1)
  if (problem !== null) throw new DamagedDocumentError('log', problem)
  return records
}
