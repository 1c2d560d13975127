import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import { freeDocuments } from './free-documents.ts'
import { wasOfSeveral } from './migrations/migrate.ts'
import {
  endConnections,
  lastHolder,
  nodeOccupants,
  noteHolder,
  NOW_MS,
  type Occupant,
  occupying,
  PLACE,
  placeOccupants,
  removeEnded,
  takeFromEnded,
} from './postgres-occupants.ts'
import { StoreInUseError } from './store-in-use.ts'
import type { StoreLoss } from './store-loss.ts'
import type { Connection, Tables, Writer } from './tables.ts'

export const BEAT_MS = 1000
/** A holder whose beat has not changed for this long while it was watched has ended. So a new relay replaces a killed one within 3 s. */
export const ABANDONED_MS = 2500

/** Another relay has taken the place of this one, which must not write any more. */
export class PlaceLostError extends Error {
  constructor() {
    super('another relay has taken the place of this one on the database, as its heartbeat stood still')
    this.name = 'PlaceLostError'
  }
}

/** The query that locks the place of a holder. It finds no row when another relay has taken the place. `holder` is a parameter, such as `$1`. */
export const heldPlace = (holder: string): string => `select 1 from instances where holder = ${holder} for key share`

export interface PlaceOptions {
  /** The connections for the statements at the start and the end. */
  readonly db: Kysely<Tables>
  /** A separate connection, so that the heartbeat never waits for a commit or a long read. */
  readonly beats: Kysely<Tables>
  readonly holder: string
  /** Returns the name of a holder's connections in `pg_stat_activity`. */
  readonly connectionsOf: (holder: string) => string
  readonly timers: Timers
  readonly log: Logger
  /** Called once when another relay has taken the place. */
  readonly onLost: (error: Error) => void
  /** Called when the database has lost commits that it had confirmed. [LIFE-5] */
  readonly onLoss: (loss: StoreLoss) => void
}

/**
 * The place of the one relay that uses a PostgreSQL store: taken at the start, kept by a heartbeat, compared in every
 * transaction. [CFG-10]
 */
export class Place {
  readonly #options: PlaceOptions
  #beat = 0
  /** The process that occupied the store before this one. */
  #former: string | null = null
  #cancel: () => void = () => undefined
  #beating: Promise<void> | null = null
  #state: 'held' | 'lost' | 'left' = 'left'

  constructor(options: PlaceOptions) {
    this.#options = options
  }

  /**
   * Takes the place, also from a relay that has ended without leaving it. Resolves within 3 s.
   *
   * @throws Error when another relay or one of several nodes uses the store
   */
  async take(): Promise<void> {
    const { db } = this.#options
    const isTaken = await takeFromEnded({
      read: () => everybody(db),
      take: (ended) => this.#takeFrom(ended),
      patienceMs: ABANDONED_MS,
    })
    if (isTaken === null) throw new StoreInUseError(IN_USE)
    this.#beat = 1
    this.#state = 'held'
    this.#again()
  }

  /**
   * Locks the row until the transaction ends, against a relay that wants the place. Every writing transaction calls this first: a relay that was
   * paused and lost its place finds its row gone and writes nothing.
   *
   * @throws PlaceLostError
   */
  async hold(writer: Writer): Promise<void> {
    const held = await writer.executeQuery(CompiledQuery.raw(heldPlace('$1'), [this.holder]))
    if (held.rows.length === 0) throw this.lost()
  }

  /** The name of this process in the row of its place. */
  get holder(): string {
    return this.#options.holder
  }

  /** Returns the error for a transaction that has not found the row of this place. */
  lost(): PlaceLostError {
    // The heartbeat distinguishes a place that was taken from a row that the database lost.
    void this.#beatNow()
    return new PlaceLostError()
  }

  /** Gives up the place, so that the next relay need not wait for it. */
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
      // An unreachable database does not end the place: commits fail, but the row stays.
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
    if ((await occupying(beats, (writer) => this.#takeBack(writer))) !== null) {
      this.#tellLoss(`the row of this relay, written ${this.#beat} heartbeats ago or later, is gone`)
      this.#beat = 1
      return
    }
    this.#state = 'lost'
    onLost(new PlaceLostError())
  }

  /**
   * Inserts the row again after the database has lost it. Returns `null` when another process has the place or had it meanwhile: the data that this
   * relay remembers of the store, such as revocations, is outdated then. When the database came back without its last commits, it still names this
   * relay or the one before it. [AUTH-14, LIFE-5]
   */
  async #takeBack(writer: Writer): Promise<true | null> {
    const { holder } = this.#options
    const last = await lastHolder(writer)
    if (last !== null && last !== holder && last !== this.#former) return null
    const inserted = await insertRow(writer, holder)
    if (inserted !== null) await noteHolder(writer, holder)
    return inserted
  }

  #tellLoss(what: string): void {
    const { log, onLoss } = this.#options
    const detail = `the database server came back without commits that it had confirmed: ${what}`
    log.error('storage.tail_lost', 'The database lost acknowledged writes; clients that hold them send them again.', { detail })
    onLoss({ kind: 'tail', detail })
  }

  /** Takes the place of ended processes. Returns `null` when another process has taken the place meanwhile. */
  async #takeFrom(ended: readonly Occupant[]): Promise<true | null> {
    const { db, holder, connectionsOf } = this.#options
    for (const one of ended) await endConnections(db, connectionsOf(one.holder))
    return occupying(db, async (writer) => {
      if (!(await removeEnded(writer, ended)) || (await everybody(writer)).length > 0) return null
      if (await wasOfSeveral(writer)) await freeDocuments(writer)
      const inserted = await insertRow(writer, holder)
      if (inserted !== null) this.#former = await noteHolder(writer, holder)
      return inserted
    })
  }
}

const IN_USE =
  'the database is in use by another process: a relay whose heartbeat moves. A relay with [cluster] single_node uses a postgres: store alone; stop that one first'

/** Returns the rows of all processes that use the store, alone or together. */
async function everybody(db: Connection): Promise<readonly Occupant[]> {
  return [...(await placeOccupants(db)), ...(await nodeOccupants(db))]
}

/** Called before work that needs the store alone. @throws Error when a relay uses the database */
export async function refuseBesideRelay(db: Connection): Promise<void> {
  const tables = (await db.introspection.getTables()).map(({ name }) => name)
  const read = async (): Promise<readonly Occupant[]> => [
    ...(tables.includes('instances') ? await placeOccupants(db) : []),
    ...(tables.includes('nodes') ? await nodeOccupants(db) : []),
  ]
  const isAlone = await takeFromEnded({ read, take: async () => true, patienceMs: ABANDONED_MS })
  if (isAlone === null) throw new StoreInUseError(IN_USE)
}

/** Inserts the row of a single relay. Returns `null` when the place is not free. */
async function insertRow(writer: Writer, holder: string): Promise<true | null> {
  const { rows } = await sql`
    insert into instances (holder, place, beat, at_ms) select ${holder}, ${PLACE}, 1, ${NOW_MS} where not exists (select 1 from nodes)
    on conflict do nothing returning beat`.execute(writer)
  return rows.length > 0 ? true : null
}
