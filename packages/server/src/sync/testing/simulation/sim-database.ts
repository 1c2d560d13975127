import { RelayError } from '../../../kernel/errors.ts'
import type { DocumentStore, DocumentWrite } from '../../../documents/document-store.port.ts'
import type { ChangeFeed } from '../../../feed/change-feed.port.ts'
import type { Told } from '../../../drivers/sql/feed-writing.ts'
import type { RecoveryStore } from '../../../recovery/recovery-store.port.ts'
import { fencedStores } from '../fenced-stores.ts'
import { MemoryOwnership } from '../memory-ownership.ts'
import type { Incarnation, Ownership } from '../../ownership.port.ts'
import type { UpdateLog } from '../../update-log.port.ts'
import { memoryDocuments, memoryRecovery } from './memory-documents.ts'
import { MemoryFeed } from './memory-feed.ts'
import { MemoryTables } from './memory-store.ts'
import { memoryUpdates } from './memory-updates.ts'
import { Oracle } from './oracle.ts'
import type { Choices, Process, Schedule } from './schedule.ts'
import type { Sabotage } from './sabotage.ts'

/** The longest time that a statement takes to the database, and its answer back, in ms. */
const WAY_MS = 2
const COMMIT_MS = 3
/** One commit in ten waits up to this long for the disk. */
const SLOW_COMMIT_MS = 80
/** A statement fails after this time without an answer. */
const GIVEN_UP_MS = 3_000

/** The only database of a simulation, with tables, owners, the feed and the locks of transactions. Its clock is the clock of the schedule. */
export class SimDatabase {
  readonly tables: MemoryTables
  readonly ownership: MemoryOwnership
  readonly feed: MemoryFeed
  readonly oracle: Oracle
  readonly choices: Choices
  readonly schedule: Schedule
  /** The time at which the lock of each row ends, in ms. */
  readonly #locks = new Map<string, number>()

  constructor(schedule: Schedule, choices: Choices) {
    this.schedule = schedule
    this.choices = choices
    this.tables = new MemoryTables(choices.random())
    const nowMs = (): number => schedule.nowMs
    this.feed = new MemoryFeed(nowMs)
    this.ownership = new MemoryOwnership({
      clock: { nowMs, monotonicMs: nowMs },
      lastSeq: async (key) => this.tables.byKey.get(key)?.head.lastSeq ?? null,
    })
    this.oracle = new Oracle({ ownerOf: (key) => this.ownership.ownerOf(key), nowMs })
  }

  /**
   * Loses at most `records` records at the end of every log, but none that a body or a snapshot contains. Also loses the tenures in which
   * nothing was written.
   */
  loseTails(records: number): void {
    for (const document of this.tables.all()) {
      const { lastSeq, coveredSeq, key } = document.head
      const left = Math.max(lastSeq - records, coveredSeq, document.snapshots.at(-1)?.throughSeq ?? 0)
      document.records = document.records.filter(({ seq }) => seq <= left)
      document.head = { ...document.head, lastSeq: left }
      this.oracle.lostAfter(key, left)
      const tenure = this.ownership.ownerOf(key)
      if (tenure === null || tenure.epoch <= this.oracle.log(key).lastEpoch) continue
      this.oracle.note(`lost the acquisition of ${key} by ${tenure.owner} in ${tenure.epoch}`)
      this.ownership.loseAcquisition(key)
    }
  }

  /** Locks rows for `forMs`, beginning when no other transaction has locked any of them. Returns the time of this beginning in ms. */
  lock(rows: readonly string[], forMs: number): number {
    const fromMs = Math.max(this.schedule.nowMs, ...rows.map((row) => this.#locks.get(row) ?? 0))
    for (const row of rows) this.#locks.set(row, fromMs + forMs)
    return fromMs
  }
}

/** The faults of the connections from one process to the database. */
export interface LineFaults {
  /** True while no statement and no answer arrives. */
  isCut: boolean
  /** The number of next commits whose answers are lost. The commits themselves are made. */
  losesAnswers: number
  /** The number of next transactions that are rolled back. */
  rollsBack: number
  /** The delay of each statement and of each answer, in ms. It is added to the usual time. */
  slowMs: number
}

type Lost = 'UNAVAILABLE' | 'NOT_PERSISTED'

interface Transaction<T> {
  readonly rows: readonly string[]
  readonly mayTell: boolean
  readonly run: () => Promise<T>
}

/**
 * The connections of one process to the database. A statement runs when it arrives at the database, even when the process has ended
 * before.
 */
export class DatabaseLine {
  readonly faults: LineFaults = { isCut: false, losesAnswers: 0, rollsBack: 0, slowMs: 0 }
  /** Called after the commit of a row of the feed. */
  onTold: (workspaceId: string, id: number) => void = () => undefined
  readonly #database: SimDatabase
  readonly #process: Process
  readonly #name: string
  /** Commits are made in the order of the calls. */
  #lastCommitMs = 0
  #lastAnswerMs = 0

  constructor(database: SimDatabase, process: Process, name: string) {
    this.#database = database
    this.#process = process
    this.#name = name
  }

  read<T>(run: () => Promise<T>): Promise<T> {
    const { schedule } = this.#database
    return new Promise((resolve, reject) => {
      schedule.after(this.#wayMs(), () => {
        if (this.faults.isCut) return this.#fail(reject, 'UNAVAILABLE', GIVEN_UP_MS)
        void run().then(
          (value) => this.#answer(reject, 'UNAVAILABLE', () => resolve(value)),
          (error: unknown) => this.#answer(reject, 'UNAVAILABLE', () => reject(error)),
        )
      })
    })
  }

  write<T>({ rows, mayTell, run }: Transaction<T>): Promise<T> {
    const { schedule, feed, choices } = this.#database
    const arrivesMs = Math.max(schedule.nowMs + this.#wayMs(), this.#lastCommitMs)
    this.#lastCommitMs = arrivesMs
    return new Promise((resolve, reject) => {
      schedule.after(arrivesMs - schedule.nowMs, () => {
        if (this.faults.isCut) return this.#fail(reject, 'NOT_PERSISTED', GIVEN_UP_MS)
        const commitMs = choices.between(0, choices.percent(10) ? SLOW_COMMIT_MS : COMMIT_MS)
        const beginsMs = this.#database.lock(rows, commitMs)
        this.#lastCommitMs = Math.max(this.#lastCommitMs, beginsMs + commitMs)
        schedule.after(beginsMs - schedule.nowMs, () => {
          const feedId = mayTell ? feed.begin() : null
          schedule.after(commitMs, () => this.#commit(run, feedId, resolve, reject))
        })
      })
    })
  }

  #commit<T>(run: () => Promise<T>, feedId: number | null, resolve: (value: T) => void, reject: (error: unknown) => void): void {
    const { tables, feed } = this.#database
    const { faults } = this
    if (faults.rollsBack > 0) {
      faults.rollsBack--
      if (feedId !== null) feed.end(feedId, null, this.#name)
      return this.#fail(reject, 'UNAVAILABLE', 0)
    }
    let told: Told | null = null
    tables.tell = (change) => {
      told = change
    }
    void run()
      .then(
        (value) => () => resolve(value),
        (error: unknown) => () => reject(error),
      )
      .then((answer) => {
        tables.tell = () => undefined
        if (feedId !== null) feed.end(feedId, told, this.#name)
        if (faults.losesAnswers > 0) {
          faults.losesAnswers--
          return this.#fail(reject, 'NOT_PERSISTED', this.#database.choices.between(0, GIVEN_UP_MS))
        }
        this.#answerInOrder(reject, () => {
          answer()
          const change = told as Told | null
          if (change !== null && feedId !== null)
            this.onTold((change.kind === 'deleted' ? change.before : change.head).workspaceId, feedId)
        })
      })
  }

  /** Sends an answer. The call rejects with the code `lost` when the answer does not arrive. */
  #answer(reject: (error: RelayError) => void, lost: Lost, answer: () => void): void {
    if (this.faults.isCut) this.#fail(reject, lost, GIVEN_UP_MS)
    else this.#process.after(this.#wayMs(), answer)
  }

  /** Answers a commit after the earlier commits, as a single connection does. */
  #answerInOrder(reject: (error: RelayError) => void, answer: () => void): void {
    if (this.faults.isCut) return this.#fail(reject, 'NOT_PERSISTED', GIVEN_UP_MS)
    const { nowMs } = this.#database.schedule
    this.#lastAnswerMs = Math.max(nowMs + this.#wayMs(), this.#lastAnswerMs)
    this.#process.after(this.#lastAnswerMs - nowMs, answer)
  }

  #fail(reject: (error: RelayError) => void, code: Lost, afterMs: number): void {
    this.#process.after(afterMs, () => reject(new RelayError(code, 'the database did not answer')))
  }

  #wayMs(): number {
    return this.#database.choices.between(0, WAY_MS) + this.faults.slowMs
  }
}

export interface LineStores {
  readonly documents: DocumentStore
  readonly updates: UpdateLog
  readonly recovery: Pick<RecoveryStore, 'capture'>
  readonly changeFeed: ChangeFeed
}

/** Returns the stores of one process over its line. `inc` returns the incarnation that makes a call. */
export function lineStores(
  database: SimDatabase,
  line: DatabaseLine,
  name: string,
  inc: () => Incarnation,
  sabotage: Sabotage | null,
): LineStores {
  const { tables, ownership, oracle, feed } = database
  const below = { documents: memoryDocuments(tables), updates: memoryUpdates(tables), recovery: memoryRecovery(tables) }
  const storesOf = (node: Incarnation) => fencedStores(below, ownership, node)
  const rowOf = (key: number): string => `log ${key}`
  const table = feed.of(name)
  const { documents, updates } = storesOf(0)
  return {
    documents: {
      ...documents,
      state: (ref) => line.read(() => documents.state(ref)),
      heads: (...which) => line.read(() => documents.heads(...which)),
      read: (ref) => line.read(() => documents.read(ref)),
      list: (workspaceId) => line.read(() => documents.list(workspaceId)),
      write: (write: DocumentWrite) => {
        const node = inc()
        const key = write.expect.kind === 'document' ? write.expect.key : 0
        return line.write({
          rows: [rowOf(key)],
          mayTell: write.told !== undefined,
          run: async () => {
            const outcome = await storesOf(node).documents.write(write)
            oracle.wrote(node, write, outcome)
            return outcome
          },
        })
      },
    },
    updates: {
      ...updates,
      load: (key) => line.read(() => updates.load(key)),
      after: (key, seq) => line.read(() => updates.after(key, seq)),
      append: (records) => {
        const node = inc()
        return line.write({
          rows: [...new Set(records.map(({ key }) => rowOf(key)))],
          mayTell: false,
          run: async () => {
            const sent = sabotage === 'no-epoch' ? records.map(({ epoch: _epoch, ...record }) => record) : records
            const outcomes = await storesOf(node).updates.append(sent)
            oracle.appended(node, records, outcomes)
            return outcomes
          },
        })
      },
      compact: (key, snapshot, epoch) => {
        const node = inc()
        return line.write({
          rows: [rowOf(key)],
          mayTell: false,
          run: async () => {
            const outcome = await storesOf(node).updates.compact(key, snapshot, epoch)
            if (outcome === 'stored') oracle.compacted(node, key, snapshot, epoch)
            return outcome
          },
        })
      },
    },
    recovery: {
      capture: (key, reason, nowMs, epoch) => {
        const node = inc()
        return line.write({
          rows: [rowOf(key)],
          mayTell: false,
          run: () => storesOf(node).recovery.capture(key, reason, nowMs, epoch),
        })
      },
    },
    changeFeed: {
      begin: () => line.read(() => table.begin()),
      read: (request) => line.read(() => table.read(sabotage === 'feed-by-id' ? { ...request, gaps: [] } : request)),
      purge: (bounds) => table.purge(bounds),
    },
  }
}

/** Returns the port `Ownership` of one process over its line. `inc` returns the incarnation that makes a call. */
export function lineOwnership(database: SimDatabase, line: DatabaseLine, inc: () => Incarnation): Ownership {
  const { ownership, oracle } = database
  const write = <T>(key: number, run: () => Promise<T>): Promise<T> => line.write({ rows: [`log ${key}`], mayTell: false, run })
  return {
    acquire: (key, seen) => {
      const node = inc()
      return write(key, async () => {
        const outcome = await ownership.of(node).acquire(key, seen)
        oracle.note(`acquire of ${key} by ${node}: ${JSON.stringify(outcome)}`)
        return outcome
      })
    },
    release: (key, epoch) => {
      const node = inc()
      return write(key, async () => {
        const outcome = await ownership.of(node).release(key, epoch)
        oracle.note(`release of ${key} by ${node} in ${epoch}: ${outcome}`)
        return outcome
      })
    },
    handOver: (key, epoch, to) => {
      const node = inc()
      return write(key, async () => {
        const outcome = await ownership.of(node).handOver(key, epoch, to)
        oracle.note(`hand-over of ${key} by ${node} to ${to}: ${outcome}`)
        return outcome
      })
    },
  }
}
