import { type RawBuilder, sql } from 'kysely'
import { RelayError } from '../../kernel/errors.ts'
import { LEASE_MS, SILENT_MS } from '../../nodes/registry.port.ts'
import type { AcquireOutcome, Incarnation, Ownership, Tenure } from '../../sync/ownership.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Engine } from './engine.ts'
import type { Connection, Writer } from './tables.ts'
import { tenureOf } from './tenure-columns.ts'

/** A document that was taken from a silent node is not taken from another silent node for this long. */
const TAKEN_AGAIN_MS = 5_000
/** Takeovers that are older than this are not counted. */
const TAKEOVERS_MS = 600_000

export function sqlOwnership(engine: Engine, queue: CommitQueue): Ownership {
  const run = async <T>(work: (writer: Writer, me: Incarnation) => Promise<T>): Promise<T> => {
    const me = engine.node.inc
    if (me === null) throw new RelayError('UNAVAILABLE', 'this relay is not registered as one of several nodes')
    return queue.run(0, (writer) => work(writer, me))
  }
  return {
    acquire: (key, seen) => run((writer, me) => acquire(writer, engine, { key, me, seen })),
    release: (key, epoch) =>
      run(async (writer, me) => {
        const row = await held(writer, key, { owner: me, epoch }).set({ owner: null }).returning('key').executeTakeFirst()
        return row === undefined ? refusal(writer, key) : forgetTakeovers(writer, key).then(() => 'released' as const)
      }),
    handOver: (key, epoch, to) =>
      run(async (writer, me) => {
        const next = { owner: to, epoch: epoch + 1 }
        const row = await held(writer, key, { owner: me, epoch }).set(next).returning('key').executeTakeFirst()
        return row === undefined ? refusal(writer, key) : forgetTakeovers(writer, key).then(() => next.epoch)
      }),
  }
}

/** Whether the lease of a node is not over. */
export async function isAlive(db: Connection, inc: Incarnation, nowMs: RawBuilder<number>): Promise<boolean> {
  const row = await db
    .selectFrom('nodes')
    .select('inc')
    .where('inc', '=', inc)
    .where('lease_until_ms', '>', nowMs)
    .executeTakeFirst()
  return row !== undefined
}

/** The owner of a document and the facts of the database about it, at one moment. */
export interface Standing {
  readonly by: Tenure
  /** When the lease of the owner ends; `null` when the owner has left, or a newer start of that node has replaced it. */
  readonly leaseUntilMs: number | null
  /** When the document was last taken from a node that had not released it; `null` when that has never happened. */
  readonly takenAtMs: number | null
  readonly nowMs: number
}

/**
 * Decides whether a node may take a document from its owner, and returns why: the owner is silent or has ended. Returns `null` when the node may not.
 * `seen` has the meaning that it has in `Ownership.acquire`. [LIFE-26]
 */
export function mayTake({ by, leaseUntilMs, takenAtMs, nowMs }: Standing, seen: Tenure | undefined): 'silent' | 'ended' | null {
  if (leaseUntilMs === null || leaseUntilMs <= nowMs) return 'ended'
  const isAsSeen = seen?.owner === by.owner && seen.epoch === by.epoch
  const isSilent = leaseUntilMs - LEASE_MS < nowMs - SILENT_MS
  const isTakenAgain = takenAtMs !== null && takenAtMs > nowMs - TAKEN_AGAIN_MS
  return isAsSeen && isSilent && !isTakenAgain ? 'silent' : null
}

interface Acquiring {
  readonly key: number
  readonly me: Incarnation
  readonly seen: Tenure | undefined
}

/** Acquires a free document with one statement. Otherwise decides under the lock of the document, so that no append is running. */
async function acquire(writer: Writer, engine: Engine, { key, me, seen }: Acquiring): Promise<AcquireOutcome> {
  const free = await take(writer, engine, key, me, 'when free')
  if (free !== null) return free
  await engine.lockDocument(writer, { key })
  const row = await writer
    .selectFrom('log_heads')
    .leftJoin('nodes', 'nodes.inc', 'log_heads.owner')
    .leftJoin('takeovers', 'takeovers.key', 'log_heads.key')
    .select(['log_heads.owner', 'log_heads.epoch', 'nodes.lease_until_ms', 'takeovers.times', 'takeovers.taken_at_ms'])
    .select(engine.nowMs.as('now_ms'))
    .where('log_heads.key', '=', key)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'gone' }
  const by = tenureOf(row)
  let taken: 'silent' | 'ended' | null = null
  if (by !== null && by.owner !== me) {
    const { now_ms: nowMs, taken_at_ms: takenAtMs } = row
    taken = mayTake({ by, leaseUntilMs: row.lease_until_ms, takenAtMs, nowMs }, seen)
    if (taken === null) return { kind: 'owned', by }
    const earlier = takenAtMs !== null && takenAtMs > nowMs - TAKEOVERS_MS ? (row.times ?? 0) : 0
    await noteTakeover(writer, by.owner, { key, times: earlier + 1, taken_at_ms: nowMs })
  }
  const acquired = await take(writer, engine, key, me, 'from its owner')
  if (acquired?.kind !== 'acquired') return { kind: 'gone' }
  return taken === null ? acquired : { ...acquired, taken }
}

/** Makes this node the owner. Returns `null` when the document is not free or does not exist. */
async function take(
  writer: Writer,
  { nowMs }: Engine,
  key: number,
  me: Incarnation,
  which: 'when free' | 'from its owner',
): Promise<AcquireOutcome | null> {
  const row = await writer
    .updateTable('log_heads')
    .set({ owner: me, epoch: sql<number>`coalesce(epoch, 0) + 1` })
    .where('key', '=', key)
    // A statement that has waited for a lock on the row compares the owner after the wait.
    .$if(which === 'when free', (all) => all.where((e) => e.or([e('owner', 'is', null), e('owner', '=', me)])))
    .returning((e) => [
      'epoch',
      'last_seq',
      e
        .selectFrom('takeovers')
        .select('times')
        .whereRef('takeovers.key', '=', 'log_heads.key')
        .where('taken_at_ms', '>', sql<number>`${nowMs} - ${sql.lit(TAKEOVERS_MS)}`)
        .as('takeovers'),
    ])
    .executeTakeFirst()
  if (row === undefined) return null
  return { kind: 'acquired', owner: me, epoch: Number(row.epoch), lastSeq: row.last_seq, takeovers: row.takeovers ?? 0 }
}

/** Records a takeover. When the former owner is alive, its next heartbeat returns the raised `robbed`. */
async function noteTakeover(
  writer: Writer,
  from: Incarnation,
  { key, times, taken_at_ms }: { readonly key: number; readonly times: number; readonly taken_at_ms: number },
): Promise<void> {
  await writer
    .insertInto('takeovers')
    .values({ key, times, taken_at_ms })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ times, taken_at_ms }))
    .execute()
  await writer
    .updateTable('nodes')
    .set((e) => ({ robbed: e('robbed', '+', 1) }))
    .where('inc', '=', from)
    .execute()
}

function held(writer: Writer, key: number, { owner, epoch }: Tenure) {
  return writer.updateTable('log_heads').where('key', '=', key).where('owner', '=', owner).where('epoch', '=', epoch)
}

async function forgetTakeovers(writer: Writer, key: number): Promise<void> {
  await writer.deleteFrom('takeovers').where('key', '=', key).execute()
}

async function refusal(db: Connection, key: number): Promise<'fenced' | 'gone'> {
  const row = await db.selectFrom('log_heads').select('key').where('key', '=', key).executeTakeFirst()
  return row === undefined ? 'gone' : 'fenced'
}
