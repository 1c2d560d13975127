import { RelayError } from '../../../kernel/errors.ts'
import {
  type AppendOutcome,
  type AppendRecord,
  REMOVALS_LOADED_MS,
  type Snapshot,
  type UpdateLog,
} from '../../update-log.port.ts'
import type { MemoryTables, StoredDocument } from './memory-store.ts'

const REMOVALS_KEPT = 1_000
const REMOVALS_BYTES = 4 * 1024 * 1024

/**
 * Returns the update log over tables in memory. It makes the same comparisons as the SQL statements, except that of the owner, which
 * `fencedStores` adds.
 */
export function memoryUpdates(tables: MemoryTables): UpdateLog {
  return {
    async append(records) {
      const runs = new Map<number, Run>()
      return records.map((record) => appendOne(tables, runs, record))
    },
    async load(key) {
      const document = tables.byKey.get(key)
      if (document === undefined) return { kind: 'gone' }
      const snapshot = document.snapshots.at(-1) ?? null
      const records = document.records.filter(({ seq }) => seq > (snapshot?.throughSeq ?? 0))
      const newestMs = Math.max(...document.removals.map(({ atMs }) => atMs))
      const removals = document.removals.filter(({ atMs }) => newestMs - atMs <= REMOVALS_LOADED_MS).map(({ text }) => text)
      return { kind: 'loaded', snapshot, records, removals }
    },
    async after(key, seq) {
      return tables.byKey.get(key)?.records.filter((record) => record.seq > seq) ?? []
    },
    async compact(key, snapshot) {
      const document = tables.byKey.get(key)
      if (document === undefined) return 'gone'
      if (snapshot.throughSeq > document.head.lastSeq)
        throw new RelayError('INTERNAL', `a snapshot through ${snapshot.throughSeq} of a log that ends before`)
      const previous = document.snapshots.at(-1)
      if (previous !== undefined && previous.throughSeq >= snapshot.throughSeq) return 'stale'
      document.snapshots = [...(previous === undefined ? [] : [previous]), copied(snapshot)]
      document.records = document.records.filter(({ seq }) => seq > (previous?.throughSeq ?? 0))
      return 'stored'
    },
    async rebuild(key, { lastSeq, update, stateVector }) {
      const document = tables.byKey.get(key)
      if (document === undefined) return 'gone'
      if (document.head.lastSeq !== lastSeq) return 'conflict'
      const throughSeq = lastSeq + 1
      document.records = []
      document.removals = []
      document.snapshots = [copied({ update, stateVector, throughSeq })]
      const covered = { lastSeq: throughSeq, coveredSeq: throughSeq, bodyAhead: false }
      document.head = { ...document.head, ...covered, lineage: tables.newLineage() }
      return 'rebuilt'
    },
    async purgeRemovals(beforeMs, limit) {
      let purged = 0
      for (const document of tables.all()) {
        document.removals = document.removals.filter(({ atMs }) => {
          const isPurged = atMs < beforeMs && purged < limit
          if (isPurged) purged++
          return !isPurged
        })
      }
      return purged
    },
  }
}

function copied({ update, stateVector, throughSeq }: Snapshot): Snapshot {
  return { update: update.slice(), stateVector: stateVector.slice(), throughSeq }
}

/** Consecutive records of one document in one call. Either all of them are stored or none. */
interface Run {
  readonly nextSeq: number
  readonly failure: AppendOutcome | null
}

function appendOne(tables: MemoryTables, runs: Map<number, Run>, record: AppendRecord): AppendOutcome {
  const { key, afterSeq, catchUp } = record
  const document = tables.byKey.get(key)
  if (document === undefined) return { kind: 'gone' }
  const run = catchUp === undefined ? runs.get(key) : undefined
  const failure = run?.nextSeq === afterSeq ? run.failure : refusalOf(document, record)
  if (catchUp === undefined) runs.set(key, { nextSeq: afterSeq + 1, failure })
  else runs.delete(key)
  if (failure !== null) return failure
  addRecord(document, record)
  if (catchUp !== undefined) document.head = { ...document.head, bodyAhead: false }
  return { kind: 'appended', seq: document.head.lastSeq }
}

function refusalOf({ head }: StoredDocument, { afterSeq, catchUp }: AppendRecord): AppendOutcome | null {
  const isSound = head.lastSeq === afterSeq && (catchUp === undefined || catchUp.version === head.version)
  return isSound ? null : { kind: 'conflict' }
}

/** Adds a record at the end of the log. */
export function addRecord(
  document: StoredDocument,
  { actor, atMs, update, removals }: Pick<AppendRecord, 'actor' | 'atMs' | 'update' | 'removals'>,
): void {
  const seq = document.head.lastSeq + 1
  document.records.push({ seq, actor, atMs, update: update.slice() })
  document.head = { ...document.head, lastSeq: seq }
  if (removals === undefined) return
  document.removals = [...document.removals, { atMs, text: removals }].slice(-REMOVALS_KEPT)
  let bytes = 0
  const from = document.removals.findLastIndex(({ text }) => (bytes += text.length) > REMOVALS_BYTES)
  document.removals = document.removals.slice(from + 1)
}
