import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import { newId, type Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { systemTimers, type Timers } from '../../kernel/timers.ts'
import type { NodeRegistry } from '../../nodes/registry.port.ts'
import { keepAcceptedLosses } from './accepted-losses.ts'
import { sqlCalls } from './call-records.ts'
import { sqlBlobLedger } from './blob-ledger.ts'
import { CallTallies } from './call-tallies.ts'
import type { ChangeStamps } from './change-stamps.ts'
import { withCommitFaults, withoutEpochs } from './commit-faults.ts'
import { CommitQueue } from './commit-queue.ts'
import { openDatabase } from './database.ts'
import type { OwnNode } from './engine.ts'
import { lineageGiver } from './lineage-reading.ts'
import { openLongBodies } from './long-bodies.ts'
import { sqlDocuments } from './documents.ts'
import { sqlChangeFeed, sqlRevocationFeed } from './feed-reading.ts'
import { type FeedEntry, tellingRun } from './feed-writing.ts'
import { HeadChanges, noting } from './head-changes.ts'
import { sqlHeadLists } from './head-lists.ts'
import type { HeadLists } from './head-stamps.ts'
import { sqlRecovery } from './recovery.ts'
import type { RecoveryRing } from './recovery-ring.ts'
import { sqlRegistries } from './registries.ts'
import { sqlShareLinks } from './share-links.ts'
import { sqlJobLeases } from './job-leases.ts'
import { NO_SEATS } from './no-seats.ts'
import { answers } from './migrations/migrate.ts'
import { sqlRevocations } from './revocations.ts'
import { sqlOwnership } from './ownership.ts'
import { readingWith } from './reading.ts'
import { Reserve } from './reserve.ts'
import { SeatRows } from './seat-rows.ts'
import type { StoreLoss } from './store-loss.ts'
import { storeTotals } from './store-totals.ts'
import type { Writer } from './tables.ts'
import type { TestHooks } from './test-hooks.ts'
import { appendingAtOnce, appendTo, sqlUpdates } from './updates.ts'
import type { StoreControl, Stores } from './stores.ts'

export interface StorageHostOptions {
  /** `sqlite:<path>` or `postgres://…` */
  readonly url: string
  readonly commitDelayMs: number
  readonly serverWaitMs?: number
  /** Opens a store even when it has lost acknowledged writes; see `SqliteOptions.onLoss`. */
  readonly acceptLoss?: boolean
  /**
   * Called when the store loses acknowledged writes while it is in use. When this is present, the host claims the store as its only relay, unless
   * `node` is present. [CFG-10]
   */
  readonly onLoss?: (loss: StoreLoss) => void
  /**
   * Present for one of several nodes, which do not claim the store. The process registers through `nodes`, which sets `inc`
   * before the first write. [LIFE-26]
   */
  readonly node?: OwnNode
  readonly recovery: RecoveryRing
  readonly log: Logger
  readonly clock: Clock
  /** Timers that keep the process alive until they fire. */
  readonly timers: Timers
  readonly random: Random
  readonly hooks: TestHooks
  /** Moved with each change of a document, for a thread that remembers what it has read. */
  readonly stamps?: ChangeStamps | null
  readonly onFatal: (error: Error) => void
  /** Called after the commit of each write and each removal of a document. */
  readonly onStored?: (document: StoredDocument) => void
  /** Present when several nodes use the store; see `StorageOptions.severalNodes`. Called after the commit of feed rows for other nodes. */
  readonly onTold?: (entries: readonly FeedEntry[]) => void
}

export interface StoredDocument {
  readonly workspaceId: string
  readonly key: number
}

/** The storage ports on one database, in the thread that runs the SQL. */
export interface StorageHost extends Stores, StoreControl, AsyncDisposable {
  /** Losses that were found when the store was opened. [CFG-11] */
  readonly losses: readonly StoreLoss[]
  readonly heads: HeadLists
}

/** Opens the store. @throws Error with a sentence for the operator */
export async function openStorageHost(options: StorageHostOptions): Promise<StorageHost> {
  const {
    url,
    commitDelayMs,
    serverWaitMs = 0,
    acceptLoss = false,
    recovery: ring,
    log,
    clock,
    timers,
    random,
    hooks,
    onFatal,
  } = options
  const changes = new HeadChanges(options.stamps)
  const onLossInUse = (loss: StoreLoss): void => {
    // The store may have gone back to any earlier state, so all remembered changes are useless.
    changes.forget()
    options.onLoss?.(loss)
  }
  const isOneOfSeveral = options.node !== undefined || options.onTold !== undefined
  const occupy = options.onLoss === undefined || isOneOfSeveral ? {} : { occupy: { onLost: onFatal, onLoss: onLossInUse } }
  const ofNode = options.node === undefined ? {} : { node: options.node }
  const onLoss = acceptLoss ? 'accept' : 'refuse'
  const opened = await openDatabase(url, { ...hooks, ...occupy, ...ofNode, serverWaitMs, onLoss }, log)
  const fenced = hooks.appendWithoutEpoch === true ? withoutEpochs(opened) : opened
  const database = hooks.commitFaults === undefined ? fenced : withCommitFaults(fenced, hooks.commitFaults)
  for (const { kind, detail } of database.losses) {
    log.error(
      'storage.loss_accepted',
      'The store has lost acknowledged writes; it is served with what is left, as --accept-loss says.',
      {
        kind,
        detail,
      },
    )
  }
  await keepAcceptedLosses(opened.writer, opened.losses, clock)
  const queue = new CommitQueue({
    database,
    commitDelayMs,
    clock,
    timers,
    log,
    onFatal,
    ackBeforeCommit: hooks.ackBeforeCommit,
    commitHoldMs: hooks.commitHoldMs,
    ...(hooks.isCommitHeld === undefined ? {} : { isCommitHeld: hooks.isCommitHeld }),
    answerHoldMs: hooks.answerHoldMs,
    appendAll: (writer, records) => appendTo(writer, database.engine, records),
    appendingAtOnce: (records) => appendingAtOnce(database, records),
    sharesJobs: options.onTold !== undefined,
  })
  const { onTold } = options
  const origin = newId('store-', 16, random)
  const run = tellingRun(queue, database.engine, onTold === undefined ? null : { origin, onTold })
  const longBodies = openLongBodies(database.reader)
  const capturing = { engine: database.engine, ring, longBodies, log, random, tallies: new CallTallies() }
  // Only a relay on a file keeps a reserve: a tool beside the relay does not need one, and a database server has its own disk.
  const isRelayOnFile = options.onLoss !== undefined && url.startsWith('sqlite:')
  const reserve = isRelayOnFile ? new Reserve({ path: url.slice('sqlite:'.length), timers, log }) : null
  const withSpace = <T>(run: () => Promise<T>): Promise<T> => (reserve === null ? run() : reserve.withSpace(run))
  const { documents, updates, recovery } = noting(changes, {
    documents: sqlDocuments(database, queue, log, capturing, run),
    updates: sqlUpdates(database, queue, log, random),
    recovery: sqlRecovery(database, queue, log, capturing, run),
  })
  const revocations = sqlRevocations(database, queue, log, onTold !== undefined)
  const shareLinks = sqlShareLinks(database, queue, log)
  const seats =
    options.node === undefined ? null : new SeatRows({ database, own: options.node, clock, timers: systemTimers, log })
  const nodes = database.nodes({ onLoss: onLossInUse })
  const register: NodeRegistry['register'] = async (...given) => {
    const registration = await nodes.register(...given)
    if (registration.kind === 'registered') await seats?.written()
    return registration
  }
  return {
    losses: database.losses,
    documents: {
      ...documents,
      async write(write) {
        const outcome = await documents.write(write)
        if (outcome.kind === 'written') options.onStored?.({ workspaceId: write.ref.workspaceId, key: outcome.head.key })
        return outcome
      },
      async remove(ref, key, ...more) {
        const outcome = await withSpace(() => documents.remove(ref, key, ...more))
        options.onStored?.({ workspaceId: ref.workspaceId, key })
        return outcome
      },
    },
    calls: sqlCalls(database, queue, log),
    // When other processes also write, this process does not know all changes, so every list reads the stamps of all its documents.
    heads: sqlHeadLists(database, lineageGiver(queue, random, log), log, isOneOfSeveral ? null : changes),
    updates,
    ownership: sqlOwnership(database.engine, queue),
    revocations: { ...revocations, add: (...given) => withSpace(() => revocations.add(...given)) },
    recovery,
    blobs: sqlBlobLedger(database, queue, log),
    registries: sqlRegistries(database, queue, log),
    shareLinks: { ...shareLinks, revoke: (...given) => withSpace(() => shareLinks.revoke(...given)) },
    nodes: {
      register,
      pulse: (...given) => nodes.pulse(...given),
      drain: (inc) => nodes.drain(inc),
      leave: (inc) => nodes.leave(inc),
    },
    seats: seats?.port ?? NO_SEATS,
    changeFeed: sqlChangeFeed(database, queue, origin, log),
    revocationFeed: sqlRevocationFeed(database, queue, log),
    jobLeases: sqlJobLeases(database, queue),
    async ping() {
      if (!queue.healthy) await queue.run(PROBE_BYTES, (writer) => probe(writer, clock.nowMs()))
      await answers(database.reader).catch((error: unknown) => {
        throw new RelayError('UNAVAILABLE', `the store cannot be read: ${error instanceof Error ? error.message : String(error)}`)
      })
    },
    stats: async () => queue.stats(),
    totals: () => readingWith(log)(() => storeTotals(database.reader)),
    async [Symbol.asyncDispose]() {
      await longBodies[Symbol.asyncDispose]()
      await reserve?.[Symbol.asyncDispose]()
      await seats?.[Symbol.asyncDispose]()
      await queue.close()
      await database.close()
    },
  }
}

/** About the size of a usual write, so that a disk with only one free page does not count as usable. */
const PROBE_BYTES = 16 * 1024

/** Writes a test row. Its bytes differ each time, because SQLite does not write a row that has not changed. */
async function probe(writer: Writer, nowMs: number): Promise<void> {
  const value = String(nowMs).padEnd(PROBE_BYTES, '.')
  await writer
    .insertInto('store_facts')
    .values({ name: 'probe', value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
