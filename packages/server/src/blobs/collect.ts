import type { Clock } from '../kernel/clock.ts'
import type { BlobLedger } from './blob-ledger.port.ts'
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

/**
 * Removes one batch of everything that nobody needs any more: expired staged objects, grants without a reference, bytes
 * without a grant. Returns whether there is more. Bytes that cannot be removed keep nothing else from being removed: the
 * first failure is thrown when there is nothing more that could be. [BLOB-12, BLOB-15]
 */
export async function collectBlobs(deps: CollectorDeps): Promise<boolean> {
  const staged = await removeOverdueUploads(deps)
  const released = await releaseUnreferenced(deps)
  const struck = await strikeOrphans(deps)
  const removed = await removeStruck(deps)
  if (hasMore(staged) || released === BATCH || struck === BATCH || hasMore(removed)) return true
  const [failure] = [...staged.failures, ...removed.failures]
  if (failure !== undefined) throw failure
  return false
}

interface Removed {
  readonly done: number
  readonly failures: readonly Error[]
}

/** What failed stands first in the next batch again, so a batch in which everything failed has nothing behind it that can be reached. */
function hasMore({ done, failures }: Removed): boolean {
  return done > 0 && done + failures.length === BATCH
}

/** Removes each item, whatever happens to the ones before it, as long as the store answers at all. */
async function removeEach<T>(
  { store }: CollectorDeps,
  items: readonly T[],
  remove: (item: T) => Promise<void>,
  forget: (item: T) => Promise<void>,
): Promise<Removed> {
  const failures: Error[] = []
  let done = 0
  for (const item of items) {
    try {
      await remove(item)
    } catch (error) {
      failures.push(error instanceof Error ? error : new Error(String(error)))
      // Each call to a store that is gone takes long.
      if (!(await answers(store))) break
      continue
    }
    await forget(item)
    done++
  }
  return { done, failures }
}

function answers(store: CollectorDeps['store']): Promise<boolean> {
  return store.check().then(
    () => true,
    () => false,
  )
}

/**
 * The object is removed first: a crash in between then leaves a row that is found again, and not an object that nothing
 * names.
 */
async function removeOverdueUploads(deps: CollectorDeps): Promise<Removed> {
  const { store, ledger, clock } = deps
  const overdue = await ledger.overdueStaged(clock.nowMs(), BATCH)
  return removeEach(
    deps,
    overdue,
    async ({ id }) => store.direct?.removeStaged(id),
    ({ id }) => ledger.release(id),
  )
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
  const [cleared] = await Promise.allSettled([store.clearAbandoned()])
  if ((await direct.removeStagedBefore(beforeMs, BATCH)) === BATCH) return true
  if (cleared.status === 'rejected') throw cleared.reason
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
  const unsettled = await ledger.unsettled(beforeMs, BATCH)
  await Promise.allSettled(unsettled.map((document) => settle(document, QUIET_MS)))
  return ledger.releaseUnreferenced(beforeMs, BATCH, nowMs)
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
 * Removes struck objects. No grant can name a struck object, and no upload uses its name again, so the removal may be late
 * or happen twice. [BLOB-24]
 */
async function removeStruck(deps: CollectorDeps): Promise<Removed> {
  const { store, ledger, clock } = deps
  const objects = await ledger.struck(clock.nowMs(), BATCH)
  return removeEach(
    deps,
    objects,
    (object) => store.remove(object),
    (object) => ledger.forget(object),
  )
}
