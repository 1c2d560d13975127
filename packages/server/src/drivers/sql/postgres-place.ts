import { type Kysely, sql } from 'kysely'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import { StoreInUseError } from './store-in-use.ts'
import type { StoreLoss } from './store-loss.ts'
import type { Connection, Tables, Writer } from './tables.ts'

/** The row of the relay that uses a store. */
export interface PlaceRow {
  /** A random text, another one for each start. */
  readonly holder: string
  /** Grows by one a second while the holder lives and reaches the database. */
  readonly beat: number
}

export const BEAT_MS = 1000
/**
 * A holder whose beat stood still for this long while it was watched has ended. A new relay replaces a killed one
 * within 3 s.
 */
export const ABANDONED_MS = 2500
const LOOK_MS = 200
/** The name of the only place: one relay at a time. */
const PLACE = 'relay'

/**
 * Decides whether a starting relay may take the place, from the row `first` and, `watchedMs` later, the row `now`. Only
 * the movement of the beat counts, and no clock of another machine.
 */
export function judgePlace(
  first: PlaceRow | null,
  now: PlaceRow | null,
  watchedMs: number,
): 'free' | 'in use' | 'abandoned' | 'watch on' {
  if (now === null) return 'free'
  if (first !== null && (first.holder !== now.holder || first.beat !== now.beat)) return 'in use'
  return watchedMs >= ABANDONED_MS ? 'abandoned' : 'watch on'
}

/** Another relay has taken the place of this one, which must not write any more. */
export class PlaceLostError extends Error {
  constructor() {
    super('another relay has taken the place of this one on the database, as its heartbeat stood still')
    this.name = 'PlaceLostError'
  }
}

export interface PlaceOptions {
  /** For the statements of start and end. */
  readonly db: Kysely<Tables>
  /** A separate connection, so that the heartbeat never waits for a commit or a long read. */
  readonly beats: Kysely<Tables>
  readonly holder: string
  /** The name of a holder's connections in `pg_stat_activity`. */
  readonly connectionsOf: (holder: string) => string
  readonly timers: Timers
  readonly log: Logger
  /** Called once when another relay has taken the place. */
  readonly onLost: (error: Error) => void
  /** Called when the database came back without commits that it had confirmed. [LIFE-5] */
  readonly onLoss: (loss: StoreLoss) => void
}

/**
 * The place of the one relay that uses a PostgreSQL store: taken at the start, kept by a heartbeat, compared in every
 * transaction. [CFG-10]
 */
export class Place {
  readonly #options: PlaceOptions
  #beat = 0
  #cancel: () => void = () => undefined
  #beating: Promise<void> | null = null
  #state: 'held' | 'lost' | 'left' = 'left'

  constructor(options: PlaceOptions) {
    this.#options = options
  }

  /**
   * Takes the place, also from a relay that ended without leaving it. Resolves within 3 s.
   *
   * @throws Error when another relay lives there
   */
  async take(): Promise<void> {
    const { db, holder } = this.#options
    await watchPlace(db, async (row) => {
      if (row === null) return insertRow(db, holder)
      await this.#endConnectionsOf(row.holder)
      return db.transaction().execute(async (writer) => {
        await sql`set local lock_timeout = '2s'`.execute(writer)
        const gone = await writer
          .deleteFrom('instances')
          .where('holder', '=', row.holder)
          .where('beat', '=', row.beat)
          .executeTakeFirst()
        return gone.numDeletedRows > 0n && (await insertRow(writer, holder))
      })
    })
    this.#beat = 1
    this.#state = 'held'
    this.#again()
  }

  /**
   * Locks the row against a relay that wants the place, until the transaction ends. Every writing transaction calls
   * this first: a relay that was paused and lost its place finds the row gone and writes nothing.
   *
   * @throws PlaceLostError
   */
  async hold(writer: Writer): Promise<void> {
    const held = await sql`select 1 from instances where holder = ${this.#options.holder} for key share`.execute(writer)
    if (held.rows.length > 0) return
    // The heartbeat distinguishes a place that was taken from a row that the database lost.
    void this.#beatNow()
    throw new PlaceLostError()
  }

  /** Gives up the place, so that the next relay need not wait. */
  async leave(): Promise<void> {
    const wasHeld = this.#state === 'held'
    this.#state = 'left'
    this.#cancel()
    await this.#beating
    if (!wasHeld) return
    const { db, holder, log } = this.#options
    await db
      .deleteFrom('instances')
      .where('holder', '=', holder)
      .execute()
      .catch((error: unknown) =>
        log.warn(
          'storage.place_not_left',
          'The row in the table instances could not be removed; the next relay on this database waits some seconds.',
          { error },
        ),
      )
  }

  #again(): void {
    this.#cancel = this.#options.timers.after(BEAT_MS, () => void this.#beatNow())
  }

  #beatNow(): Promise<void> {
    this.#cancel()
    this.#beating ??= this.#move()
      // An unreachable database ends nothing: commits fail, and the row stays.
      .catch(() => undefined)
      .finally(() => {
        this.#beating = null
        if (this.#state === 'held') this.#again()
      })
    return this.#beating
  }

  async #move(): Promise<void> {
    const { beats, holder, onLost } = this.#options
    const { rows } = await sql<{ beat: number }>`
      update instances set beat = beat + 1, at_ms = ${NOW_MS} where holder = ${holder} returning beat`.execute(beats)
    const beat = rows[0]?.beat
    if (beat !== undefined) {
      if (beat <= this.#beat) this.#tellLoss(`its heartbeat went back from ${this.#beat} to ${beat - 1}`)
      this.#beat = beat
      return
    }
    if (await insertRow(beats, holder)) {
      this.#tellLoss(`the row of this relay, written ${this.#beat} heartbeats ago or later, is gone`)
      this.#beat = 1
      return
    }
    this.#state = 'lost'
    onLost(new PlaceLostError())
  }

  #tellLoss(what: string): void {
    const { log, onLoss } = this.#options
    const detail = `the database server came back without commits that it had confirmed: ${what}`
    log.error('storage.tail_lost', 'The database lost acknowledged writes; clients that hold them send them again.', { detail })
    onLoss({ kind: 'tail', detail })
  }

  /**
   * A paused process may hold the row in an open transaction; the server ends that transaction with its connections.
   */
  async #endConnectionsOf(holder: string): Promise<void> {
    const { db, connectionsOf } = this.#options
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = ${connectionsOf(holder)}`.execute(db)
  }
}

/**
 * Watches the row until it is clear whether a relay lives there, then calls `take` with the current row; starts again
 * when `take` came too late.
 *
 * @throws Error when another relay lives there
 */
async function watchPlace(db: Connection, take: (row: PlaceRow | null) => Promise<boolean>): Promise<void> {
  let first = await readRow(db)
  let watchedMs = 0
  for (;;) {
    const now = await readRow(db)
    switch (judgePlace(first, now, watchedMs)) {
      case 'in use':
        throw new StoreInUseError(
          'the database is in use by another process: a relay whose heartbeat moves. One relay at a time uses a postgres: store; stop that one first',
        )
      case 'free':
      case 'abandoned':
        if (await take(now)) return
        first = await readRow(db)
        watchedMs = 0
        break
      case 'watch on':
        first ??= now
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
        watchedMs += LOOK_MS
    }
  }
}

/** @throws Error when a relay uses the database; called before work that needs the store alone */
export async function refuseBesideRelay(db: Connection): Promise<void> {
  if (!(await db.introspection.getTables()).some(({ name }) => name === 'instances')) return
  await watchPlace(db, async () => true)
}

const NOW_MS = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`

async function readRow(db: Connection): Promise<PlaceRow | null> {
  const row = await db.selectFrom('instances').select(['holder', 'beat']).where('place', '=', PLACE).executeTakeFirst()
  return row ?? null
}

/** Returns whether the place was free. */
async function insertRow(db: Connection, holder: string): Promise<boolean> {
  const { rows } = await sql`
    insert into instances (holder, place, beat, at_ms) values (${holder}, ${PLACE}, 1, ${NOW_MS})
    on conflict do nothing returning beat`.execute(db)
  return rows.length > 0
}
