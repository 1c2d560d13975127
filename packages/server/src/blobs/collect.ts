import type { Clock } from '../kernel/clock.ts'
import type { BlobLedger, StagedUpload } from './blob-ledger.port.ts'
import type { BlobStore, DirectTransfer } from './blob-store.port.ts'

/** Items in one batch. Each batch is one short transaction, so that it does not delay edits. [LIFE-30] */
const BATCH = 50
const DAY_MS = 86_400_000
/** Longest time in ms that edits wait while blobs that they may reference are released. [LIFE-30] */
const QUIET_MS = 40

export interface CollectorDeps {
  readonly store: Pick<BlobStore, 'remove' | 'direct' | 'check'>
  readonly ledger: Pick<
    BlobLedger,
    'overdueStaged' | 'release' | 'unsettled' | 'releaseUnreferenced' | 'orphans' | 'strike' | 'struck' | 'forget'
  >
  /** Stores the edits of a document. For `quietMs` from the call on, later edits of the document wait. */
  readonly settle: (document: { readonly workspaceId: string; readonly id: string }, quietMs: number) => Promise<void>
  readonly clock: Clock
  /** How long in ms a blob that no document references is kept; 0 releases it at once. [CFG-8] */
  readonly graceMs: number
}

/** How many items of each list the current round could not remove, and the first failure. These items are at the heads of the lists. */
interface Passed {
  readonly staged: number
  readonly struck: number
  readonly failure: Error | null
}

const NOTHING: Passed = { staged: 0, struck: 0, failure: null }

/**
 * Makes a function that removes one batch of everything that nobody needs any more: expired staged objects, grants without a reference, bytes without
 * a grant. The function returns whether this round has more. Items that cannot be removed do not stop the removal of others: later batches of the
 * round pass over them, the last batch throws the first failure, and the next round tries them again. [BLOB-12, BLOB-15]
 */
export function createBlobCollector(deps: CollectorDeps): () => Promise<boolean> {
  let passed = NOTHING
  return async () => {
    const before = passed
    // When the ledger fails, the round ends early and the next call starts a new one.
    passed = NOTHING
    const staged = await removeEach(deps, overdueUploads(deps), before.staged)
    const released = await releaseUnreferenced(deps)
    const orphans = await strikeOrphans(deps)
    const struck = await removeEach(deps, struckObjects(deps), before.struck)
    const [failure = null] = [before.failure, ...staged.failures, ...struck.failures].filter((each) => each !== null)
    if (staged.hasMore || released === BATCH || orphans === BATCH || struck.hasMore) {
      passed = {
        staged: before.staged + staged.failures.length,
        struck: before.struck + struck.failures.length,
        failure,
      }
      return true
    }
    if (failure !== null) throw failure
    return false
  }
}

/** A list of the ledger whose items are removed from the blob store. */
interface Removal<T> {
  /** Lists a batch, without the first `skip` items. */
  list(skip: number): Promise<readonly T[]>
  remove(item: T): Promise<void>
  /**
   * Takes the item off the list, after its removal. A crash in between then leaves a row that is found again, and not an object that no row names.
   */
  forget(item: T): Promise<void>
}

interface Removed {
  readonly failures: readonly Error[]
  readonly hasMore: boolean
}

/** Removes each item of a batch, also after failures of earlier items. Stops early when the store does not answer. */
async function removeEach<T>({ store }: CollectorDeps, { list, remove, forget }: Removal<T>, skip: number): Promise<Removed> {
  const failures: Error[] = []
  const items = await list(skip)
  for (const item of items) {
    try {
      await remove(item)
    } catch (error) {
      failures.push(error instanceof Error ? error : new Error(String(error)))
      // Stops here, because each call to a store that is gone takes long.
      if (!(await answers(store))) return { failures, hasMore: false }
      continue
    }
    await forget(item)
  }
  return { failures, hasMore: items.length === BATCH }
}

function answers(store: CollectorDeps['store']): Promise<boolean> {
  return store.check().then(
    () => true,
    () => false,
  )
}

function overdueUploads({ store, ledger, clock }: CollectorDeps): Removal<StagedUpload> {
  return {
    list: (skip) => ledger.overdueStaged(clock.nowMs(), BATCH, skip),
    remove: async ({ id }) => store.direct?.removeStaged(id),
    forget: ({ id }) => ledger.release(id),
  }
}

/**
 * Removes objects that no row of the ledger names: objects that were staged after their upload had been finalized or refused, and the remains of
 * uploads whose process ended. Such objects are found by their age. Returns whether there is more. [BLOB-3, BLOB-12]
 */
export async function removeForgottenUploads(
  store: Pick<BlobStore, 'clearAbandoned'>,
  direct: Pick<DirectTransfer, 'removeStagedBefore'>,
  clock: Clock,
  presignTtlSecs: number,
): Promise<boolean> {
  const beforeMs = clock.nowMs() - presignTtlSecs * 1000 - DAY_MS
  const [staged] = await Promise.allSettled([direct.removeStagedBefore(beforeMs, BATCH)])
  if (staged.status === 'fulfilled' && staged.value === BATCH) return true
  // Runs once in a round, with its last batch, because it lists all received bytes and tries each failure again.
  const [cleared] = await Promise.allSettled([store.clearAbandoned()])
  for (const each of [staged, cleared]) if (each.status === 'rejected') throw each.reason
  return false
}

/**
 * Releases unreferenced grants. An edit that no body contains yet may reference any blob of its workspace, and a busy workspace always has such an
 * edit. So all documents of the workspace are settled and hold back further edits for a moment. A document that is edited again before the release,
 * or cannot be stored, delays the release of its workspace until the next run.
 */
async function releaseUnreferenced({ ledger, clock, graceMs, settle }: CollectorDeps): Promise<number> {
  const nowMs = clock.nowMs()
  const beforeMs = Math.max(0, nowMs - graceMs)
  await settleBatch({ ledger, settle }, beforeMs)
  return ledger.releaseUnreferenced(beforeMs, BATCH, nowMs)
}

/** Settles up to a batch of documents. Documents that cannot be stored stay at the head of the list and are passed over. */
async function settleBatch({ ledger, settle }: Pick<CollectorDeps, 'ledger' | 'settle'>, beforeMs: number): Promise<void> {
  let settled = 0
  let failed = 0
  while (settled < BATCH) {
    const documents = await ledger.unsettled(beforeMs, BATCH - settled, failed)
    if (documents.length === 0) return
    for (const { status } of await Promise.allSettled(documents.map((document) => settle(document, QUIET_MS)))) {
      if (status === 'fulfilled') settled++
      else failed++
    }
  }
}

/** Strikes orphans. An upload on any node may have used the hash again since it was listed; then the ledger does not strike its object. [Q6, R-7] */
async function strikeOrphans({ ledger, clock }: CollectorDeps): Promise<number> {
  const orphans = await ledger.orphans(BATCH)
  for (const hash of orphans) await ledger.strike(hash, clock.nowMs())
  return orphans.length
}

/**
 * The struck objects whose bytes are to be removed. No grant can name a struck object, and no upload uses its name again, so its removal may be late
 * or happen twice. [BLOB-24]
 */
function struckObjects({ store, ledger, clock }: CollectorDeps): Removal<string> {
  return {
    list: (skip) => ledger.struck(clock.nowMs(), BATCH, skip),
    remove: (object) => store.remove(object),
    forget: (object) => ledger.forget(object),
  }
}
