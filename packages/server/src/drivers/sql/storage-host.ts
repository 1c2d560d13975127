import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import { sqlBlobLedger } from './blob-ledger.ts'
import { CommitQueue, type CommitStats } from './commit-queue.ts'
import { openDatabase } from './database.ts'
import { openLongBodies } from './long-bodies.ts'
import { sqlDocuments } from './documents.ts'
import { type HeadLists, sqlHeadLists } from './head-lists.ts'
import { type RecoveryRing, sqlRecovery } from './recovery.ts'
import { sqlRegistries } from './registries.ts'
import { sqlShareLinks } from './share-links.ts'
import { answers } from './migrations/migrate.ts'
import { sqlRevocations } from './revocations.ts'
import { readingWith } from './reading.ts'
import { type StoreTotals, storeTotals } from './store-totals.ts'
import type { Writer } from './tables.ts'
import type { TestHooks } from './test-hooks.ts'
import { appendTo, sqlUpdates } from './updates.ts'
import type { Stores } from './stores.ts'

export interface StorageHostOptions {
  /** `sqlite:<path>` or `postgres://…` */
  readonly url: string
  readonly commitDelayMs: number
  readonly serverWaitMs?: number
  readonly recovery: RecoveryRing
  readonly log: Logger
  readonly clock: Clock
  readonly hooks: TestHooks
  readonly onFatal: (error: Error) => void
}

/** The ports on one database, in the thread that runs the SQL. */
export interface StorageHost extends Stores, AsyncDisposable {
  readonly heads: HeadLists
  /** Resolves when the store can be read and written. After a failed commit it tries one, so that recovery shows. [LIFE-6, OPS-2] */
  ping(): Promise<void>
  stats(): CommitStats
  totals(): Promise<StoreTotals>
}

/** @throws Error with a sentence for the operator */
export async function openStorageHost(options: StorageHostOptions): Promise<StorageHost> {
  const { url, commitDelayMs, serverWaitMs = 0, recovery, log, clock, hooks, onFatal } = options
  const database = await openDatabase(url, { ...hooks, serverWaitMs }, log)
  const queue = new CommitQueue({
    database,
    commitDelayMs,
    clock,
    log,
    onFatal,
    ackBeforeCommit: hooks.ackBeforeCommit,
    commitHoldMs: hooks.commitHoldMs,
    answerHoldMs: hooks.answerHoldMs,
    appendAll: (writer, records) => appendTo(writer, database.engine, records),
  })
  const longBodies = openLongBodies(database.reader)
  const capturing = { engine: database.engine, ring: recovery, longBodies, log }
  return {
    documents: sqlDocuments(database, queue, log, capturing),
    heads: sqlHeadLists(database.reader, log),
    updates: sqlUpdates(database, queue, log),
    revocations: sqlRevocations(database, queue, log),
    recovery: sqlRecovery(database, queue, log, capturing),
    blobs: sqlBlobLedger(database, queue, log),
    registries: sqlRegistries(database, queue, log),
    shareLinks: sqlShareLinks(database, queue, log),
    async ping() {
      if (!queue.healthy) await queue.run(PROBE_BYTES, (writer) => probe(writer, clock.nowMs()))
      await answers(database.reader).catch((error: unknown) => {
        throw new RelayError('UNAVAILABLE', `the store cannot be read: ${error instanceof Error ? error.message : String(error)}`)
      })
    },
    stats: () => queue.stats(),
    totals: () => readingWith(log)(() => storeTotals(database.reader)),
    async [Symbol.asyncDispose]() {
      await longBodies[Symbol.asyncDispose]()
      await queue.close()
      await database.close()
    },
  }
}

/** About what a usual write takes, so that a disk with a page left does not count as well. */
const PROBE_BYTES = 16 * 1024

/** Other bytes each time: SQLite does not write a row that stays as it is. */
async function probe(writer: Writer, nowMs: number): Promise<void> {
  const value = String(nowMs).padEnd(PROBE_BYTES, '.')
  await writer
    .insertInto('store_facts')
    .values({ name: 'probe', value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
