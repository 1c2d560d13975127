import type { Clock } from '../kernel/clock.ts'
import type { KeyedQueue } from '../kernel/keyed-queue.ts'
import type { BlobLedger } from './blob-ledger.port.ts'
import type { BlobStore, DirectTransfer } from './blob-store.port.ts'

/** Of one batch; each is one short transaction, so that no edit waits for it. [LIFE-30] */
const BATCH = 50
const DAY_MS = 86_400_000
/** Edits wait for so long at most while what they may reference is released. [LIFE-30] */
const QUIET_MS = 40

export interface CollectorDeps {
  readonly store: Pick<BlobStore, 'remove' | 'direct'>
  readonly ledger: Pick<
    BlobLedger,
    'overdueStaged' | 'release' | 'unsettled' | 'releaseUnreferenced' | 'orphans' | 'forgetOrphan'
  >
  /** Stores what was edited in a document; further edits of it wait for `quietMs` from the call on. */
  readonly settle: (document: { readonly workspaceId: string; readonly id: string }, quietMs: number) => Promise<void>
  /** The same that uploads hold while they keep and grant. */
  readonly locks: KeyedQueue
  readonly clock: Clock
  /** For how long a blob that no document references is kept; 0 is at once. [CFG-8] */
  readonly graceMs: number
}

/**
 * One batch of everything that nobody needs any more: staged objects whose time is over, grants without a reference, bytes without a grant.
 * Answers whether there is more. [BLOB-12, BLOB-15]
 */
export async function collectBlobs(deps: CollectorDeps): Promise<boolean> {
  const staged = await removeOverdueUploads(deps)
  const released = await releaseUnreferenced(deps)
  const removed = await removeOrphans(deps)
  return staged === BATCH || released === BATCH || removed === BATCH
}

/** The object goes first: a crash in between leaves a row that is found again, not an object that nobody knows. */
async function removeOverdueUploads({ store, ledger, clock }: CollectorDeps): Promise<number> {
  const overdue = await ledger.overdueStaged(clock.nowMs(), BATCH)
  for (const { id } of overdue) {
    await store.direct?.removeStaged(id)
    await ledger.release(id)
  }
  return overdue.length
}

/**
 * Objects that nothing in the ledger leads to: put by a URL whose upload had been finalised or refused before, or left by a process that ended
 * while it received. They are found by their age. Answers whether there is more. [BLOB-3, BLOB-12]
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
 * An edit that no body has yet may name any blob of its workspace, and somewhere in a busy one there always is such an edit: all documents
 * are made to stand still for a moment. What is edited again before the release, or cannot be stored, holds up its workspace till the next look.
 */
async function releaseUnreferenced({ ledger, clock, graceMs, settle }: CollectorDeps): Promise<number> {
  const nowMs = clock.nowMs()
  const beforeMs = Math.max(0, nowMs - graceMs)
  const unsettled = await ledger.unsettled(beforeMs, BATCH)
  await Promise.allSettled(unsettled.map((document) => settle(document, QUIET_MS)))
  return ledger.releaseUnreferenced(beforeMs, BATCH, nowMs)
}

/** An upload may have taken the hash up since it was listed, so it is asked for again while no upload of it can be kept. [Q6, R-7] */
async function removeOrphans({ store, ledger, locks }: CollectorDeps): Promise<number> {
  let removed = 0
  for (const hash of await ledger.orphans(BATCH)) {
    await locks.run(hash, async () => {
      if (!(await ledger.orphans(BATCH)).includes(hash)) return
      await store.remove(hash)
      await ledger.forgetOrphan(hash)
      removed += 1
    })
  }
  return removed
}
