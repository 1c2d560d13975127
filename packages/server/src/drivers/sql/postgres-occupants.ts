import { sql } from 'kysely'
import { LOCK_SEEDS } from './lock-seeds.ts'
import { fact, setFact } from './migrations/migrate.ts'
import type { Connection, Writer } from './tables.ts'

/** A process that uses the store, as its row shows it. */
export interface Occupant {
  /** Identifies one start of a process. */
  readonly holder: string
  /** Grows by one a second while the process lives and reaches the database. */
  readonly beat: number
}

/** The key of the row of the relay that uses the store alone, in the table `instances`. */
export const PLACE = 'relay'

const LOOK_MS = 200

/**
 * Decides whether processes live, from their rows `first` and their rows `now`, which were read `watchedMs` later. Only a change of `beat` counts,
 * and no clock of another machine. A process whose beat has not changed for `patienceMs` has ended.
 */
export function judgeOccupants(
  first: readonly Occupant[],
  now: readonly Occupant[],
  watchedMs: number,
  patienceMs: number,
): 'free' | 'in use' | 'abandoned' | 'watch on' {
  if (now.length === 0) return 'free'
  const isStill = (row: Occupant): boolean => first.some(({ holder, beat }) => holder === row.holder && beat === row.beat)
  if (watchedMs > 0 && !now.every(isStill)) return 'in use'
  return watchedMs >= patienceMs ? 'abandoned' : 'watch on'
}

export interface Watching<T> {
  /** Reads the rows of all processes that must have ended before `take`. */
  readonly read: () => Promise<readonly Occupant[]>
  /** Called with the rows of ended processes. Returns `null` when it was too late, because the rows have changed since. */
  readonly take: (ended: readonly Occupant[]) => Promise<T | null>
  readonly patienceMs: number
}

/**
 * Watches until it is clear whether one of the processes lives. Returns `null` when one does, else the result of `take`, which may be called several
 * times.
 */
export async function takeFromEnded<T>({ read, take, patienceMs }: Watching<T>): Promise<T | null> {
  let first = await read()
  let watchedMs = 0
  for (;;) {
    const now = watchedMs === 0 ? first : await read()
    switch (judgeOccupants(first, now, watchedMs, patienceMs)) {
      case 'in use':
        return null
      case 'free':
      case 'abandoned': {
        const taken = await take(now)
        if (taken !== null) return taken
        first = await read()
        watchedMs = 0
        break
      }
      case 'watch on':
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
        watchedMs += LOOK_MS
    }
  }
}

/** Returns the row of the relay that uses the store alone; empty when there is none. */
export async function placeOccupants(db: Connection): Promise<readonly Occupant[]> {
  return db.selectFrom('instances').select(['holder', 'beat']).where('place', '=', PLACE).execute()
}

/** Returns the rows of the nodes that use the store together; with `nodeId`, only rows of that node. */
export async function nodeOccupants(db: Connection, nodeId?: string): Promise<readonly Occupant[]> {
  const rows = await db
    .selectFrom('nodes')
    .select(['inc', 'beat'])
    .$if(nodeId !== undefined, (all) => all.where('node_id', '=', nodeId ?? ''))
    .execute()
  return rows.map(({ inc, beat }) => ({ holder: holderOf(inc), beat }))
}

export function holderOf(inc: number): string {
  return `node ${inc}`
}

function incOf(holder: string): number | null {
  const inc = /^node (\d+)$/.exec(holder)?.[1]
  return inc === undefined ? null : Number(inc)
}

/**
 * Removes the rows of ended processes from both tables. Returns `false` when one of the rows has changed or was removed since it was read; the caller
 * then has to roll back.
 */
export async function removeEnded(writer: Writer, ended: readonly Occupant[]): Promise<boolean> {
  for (const { holder, beat } of ended) {
    const inc = incOf(holder)
    const gone =
      inc === null
        ? await writer.deleteFrom('instances').where('holder', '=', holder).where('beat', '=', beat).executeTakeFirst()
        : await writer.deleteFrom('nodes').where('inc', '=', inc).where('beat', '=', beat).executeTakeFirst()
    if (gone.numDeletedRows === 0n) return false
  }
  return true
}

/** Name of the fact that names the process which became an occupant last. */
const LAST_HOLDER = 'last-holder'

/** Records that this process has become an occupant. Returns the occupant before it, `null` when none is known. */
export async function noteHolder(writer: Writer, holder: string): Promise<string | null> {
  const former = await lastHolder(writer)
  await setFact(writer, LAST_HOLDER, holder)
  return former
}

export function lastHolder(db: Connection): Promise<string | null> {
  return fact(db, LAST_HOLDER, ['store_facts'])
}

/** Locks the store until the transaction ends, so that no other process prepares it or becomes an occupant. */
export async function lockStore(writer: Writer): Promise<void> {
  // The wait has no limit, because another node may take longer than `lock_timeout` to prepare the store.
  await sql`set local lock_timeout = 0`.execute(writer)
  await sql`select pg_advisory_xact_lock(hashtextextended('store', ${sql.lit(LOCK_SEEDS.store)}))`.execute(writer)
}

/** Like `lockStore`, for a process that prepares the store: on a busy machine its transaction may be idle longer between two steps. */
export async function lockStoreForSteps(writer: Writer): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = '30s'`.execute(writer)
  await lockStore(writer)
}

/** Runs `work` in a transaction during which no other process becomes an occupant. Commits unless `work` returns `null`. */
export async function occupying<T>(db: Connection, work: (writer: Writer) => Promise<T | null>): Promise<T | null> {
  const transaction = await db.startTransaction().execute()
  try {
    await lockStore(transaction)
    await sql`set local lock_timeout = '2s'`.execute(transaction)
    const done = await work(transaction)
    await (done === null ? transaction.rollback() : transaction.commit()).execute()
    return done
  } catch (error) {
    await transaction
      .rollback()
      .execute()
      .catch(() => undefined)
    throw error
  }
}

/**
 * Ends the connections with this name in `pg_stat_activity`. A paused process may hold locks in an open transaction, which ends with its connection.
 */
export async function endConnections(db: Connection, name: string): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = ${name}`.execute(db)
}

/** The time of the database in ms since 1970. */
export const NOW_MS = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
