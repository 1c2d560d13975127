import type { Clock } from '../kernel/clock.ts'
import type { BlobLedger, StagedUpload } from './blob-ledger.port.ts'
import type { BlobStore, DirectTransfer } from './blob-store.port.ts'

/** Items of one batch. Each batch is one short transaction, so that no edit waits for it. [LIFE-30] */
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
  /** Stores the edits of a document; later edits of it wait for `quietMs` from the call on. */
  readonly settle: (document: { readonly workspaceId: string; readonly id: string }, quietMs: number) => Promise<void>
  readonly clock: Clock
  /** How long in ms a blob that no document references is kept; 0 releases it at once. [CFG-8] */
  readonly graceMs: number
}

/** What could not be removed in the round that runs, and stands at the heads of the two lists: how much of each, and why. */
interface Passed {
  readonly staged: number
  readonly struck: number
  readonly failure: Error | null
}

const NOTHING: Passed = { staged: 0, struck: 0, failure: null }

/**
 * Makes the function that removes one batch of everything that nobody needs any more: expired staged objects, grants without a reference,
 * bytes without a grant. It returns whether there is more in this round. Bytes that cannot be removed keep nothing else from being
 * removed: the batches after them pass them over, the last batch of the round throws the first failure, and the next round tries them
 * again. [BLOB-12, BLOB-15]
 */
export function createBlobCollector(deps: CollectorDeps): () => Promise<boolean> {
  let passed = NOTHING
  return async () => {
    const before = passed
    // A round that ends early, because the ledger fails, is followed by one from the beginning.
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
   * Takes the item off the list. Only after its removal: a crash in between then leaves a row that is found again, and not an object
   * that nothing names.
   */
  forget(item: T): Promise<void>
}

interface Removed {
  readonly failures: readonly Error[]
  readonly hasMore: boolean
}

/** Removes each item of a batch, whatever happens to the ones before it, as long as the store answers at all. */
async function removeEach<T>({ store }: CollectorDeps, { list, remove, forget }: Removal<T>, skip: number): Promise<Removed> {
  const failures: Error[] = []
  const items = await list(skip)
  for (const item of items) {
    try {
      await remove(item)
    } catch (error) {
      failures.push(error instanceof Error ? error : new Error(String(error)))
      // Each call to a store that is gone takes long.
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
 * Removes objects that no row of the ledger names: written by a URL whose upload was finalised or refused before, or
 * left by a process that ended while it received. Their age identifies them. Returns whether there is more. [BLOB-3,
 * BLOB-12]
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
  // Once in a round, with its last batch: it lists everything that was received and tries each failure again.
  const [cleared] = await Promise.allSettled([store.clearAbandoned()])
  for (const each of [staged, cleared]) if (each.status === 'rejected') throw each.reason
  return false
}

/**
 * An edit that is not stored in a body yet may reference any blob of its workspace, and a busy workspace always has
 * such an edit. So all its documents are settled and hold back edits for a moment. A document that is edited again
 * before the release, or cannot be stored, delays the release of its workspace until the next run.
 */
async function releaseUnreferenced({ ledger, clock, graceMs, settle }: CollectorDeps): Promise<number> {
  const nowMs = clock.nowMs()
  const beforeMs = Math.max(0, nowMs - graceMs)
  await settleBatch({ ledger, settle }, beforeMs)
  return ledger.releaseUnreferenced(beforeMs, BATCH, nowMs)
}

/** Settles up to a batch of documents. Those that cannot be stored stay at the head of the list and are passed over. */
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

/**
 * Strikes orphans. An upload on any node may have used a hash again since it was listed; the ledger then leaves its object
 * as it is. [Q6, R-7]
 */
async function strikeOrphans({ ledger, clock }: CollectorDeps): Promise<number> {
  const orphans = await ledger.orphans(BATCH)
  for (const hash of orphans) await ledger.strike(hash, clock.nowMs())
  return orphans.length
}

/**
 * No grant can name a struck object, and no upload uses its name again, so its removal may be late or happen twice. [BLOB-24]
 */
function struckObjects({ store, ledger, clock }: CollectorDeps): Removal<string> {
  return {
    list: (skip) => ledger.struck(clock.nowMs(), BATCH, skip),
    remove: (object) => store.remove(object),
    forget: (object) => ledger.forget(object),
  }
}
