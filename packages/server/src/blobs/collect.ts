import type { Clock } from '../kernel/clock.ts'
import type { BlobLedger } from './blob-ledger.port.ts'
import type { BlobStore, DirectTransfer } from './blob-store.port.ts'

/** Items of one batch. Each batch is one short transaction, so that no edit waits for it. [LIFE-30] */
const BATCH = 50
const DAY_MS = 86_400_000
/** Longest time in ms that edits wait while blobs that they may reference are released. [LIFE-30] */
const QUIET_MS = 40

export interface CollectorDeps {
  readonly store: Pick<BlobStore, 'remove' | 'direct'>
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
 * without a grant. Returns whether there is more. [BLOB-12, BLOB-15]
 */
export async function collectBlobs(deps: CollectorDeps): Promise<boolean> {
  const staged = await removeOverdueUploads(deps)
  const released = await releaseUnreferenced(deps)
  const struck = await strikeOrphans(deps)
  const removed = await removeStruck(deps)
  return staged === BATCH || released === BATCH || struck === BATCH || removed === BATCH
}

/**
 * The object is removed first: a crash in between then leaves a row that is found again, and not an object that nothing
 * names.
 */
async function removeOverdueUploads({ store, ledger, clock }: CollectorDeps): Promise<number> {
  const overdue = await ledger.overdueStaged(clock.nowMs(), BATCH)
  for (const { id } of overdue) {
    await store.direct?.removeStaged(id)
    await ledger.release(id)
  }
  return overdue.length
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
  await store.clearAbandoned()
  const beforeMs = clock.nowMs() - presignTtlSecs * 1000 - DAY_MS
  return (await direct.removeStagedBefore(beforeMs, BATCH)) === BATCH
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
async function removeStruck({ store, ledger, clock }: CollectorDeps): Promise<number> {
  const objects = await ledger.struck(clock.nowMs(), BATCH)
  for (const object of objects) {
    await store.remove(object)
    await ledger.forget(object)
  }
  return objects.length
}
