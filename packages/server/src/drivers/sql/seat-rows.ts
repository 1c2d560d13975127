import { sql } from 'kysely'
import type { SeatOutcome, Seats } from '../../access/seats.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { Incarnation } from '../../sync/ownership.port.ts'
import type { Database, OwnNode } from './engine.ts'
import { NOW_MS } from './postgres-occupants.ts'
import { readingWith } from './reading.ts'
import { answerWishes, needsCount, type SeatCount, seatKey, type SeatRow, type SeatWish } from './seat-book.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

/** Time between two checks that the rows of this node still exist. */
const LOOK_MS = 1_000
/** A wish waits at most this long until every living node has written its seats. The table is read again every `AGAIN_MS`. */
const LATER_MS = 2_000
const AGAIN_MS = 50
/** Maximum number of wishes in one transaction, and of rows in one statement. */
const MOST_WISHES = 500
/** The rows of ended nodes are removed at every 60th check. */
const LOOKS_PER_SWEEP = 60
/** The row that shows that a node has written its seats; no workspace has this id. */
const MARK = { workspaceId: '', connectionId: '' }

export interface SeatRowsOptions {
  readonly database: Database
  /** This node. While it has no incarnation, no connection gets a seat. */
  readonly own: OwnNode
  readonly clock: Clock
  /** Timers that do not keep the process alive. */
  readonly timers: Timers
  readonly log: Logger
}

interface Waiting {
  readonly wish: SeatWish
  readonly sinceMs: number
  resolve(outcome: SeatOutcome): void
  reject(error: Error): void
}

/**
 * The seats of several nodes, as rows of PostgreSQL. The seats of a node count while its lease lasts. Wishes that arrive together share a
 * transaction, which locks their workspaces, counts, decides and writes. The table is unlogged, so no seat waits for a disk. When a crash or a
 * failover of the server has emptied the table, each node writes its own seats again. Until every living node has done so, no seat with a limit is
 * given. Calls reject with UNAVAILABLE when that takes longer than 2 s, and while the database does not answer. [WS-15, WS-17]
 */
export class SeatRows implements AsyncDisposable {
  readonly #options: SeatRowsOptions
  /** The committed seats of this node. */
  readonly #held = new Map<string, SeatRow>()
  /** Seats whose rows may differ from `#held`, because a commit failed or its outcome is unknown. */
  readonly #unsure = new Map<string, Pick<SeatRow, 'workspaceId' | 'connectionId'>>()
  #writtenAs: Incarnation | null = null
  #waiting: Waiting[] = []
  #running: Promise<void> | null = null
  #looks = 0
  #cancelAgain: () => void = () => undefined
  #cancelLook: () => void = () => undefined
  #isClosed = false

  constructor(options: SeatRowsOptions) {
    this.#options = options
    this.#lookLater()
  }

  /** The methods of the port, which need no `this`. */
  get port(): Seats {
    const place: Seats['take'] = ({ workspaceId, connectionId, editor }, limits) =>
      this.#submit({ kind: 'place', workspaceId, connectionId, editor, limits })
    return {
      take: place,
      change: place,
      release: async (workspaceId, connectionId) => void (await this.#submit({ kind: 'release', workspaceId, connectionId })),
      connections: async (workspaceId) => (await this.#count(workspaceId)).connections,
      editors: async (workspaceId) => (await this.#count(workspaceId)).editors,
    }
  }

  /** Writes the rows of this node at once after its registration, because other nodes wait for these rows. */
  async written(): Promise<void> {
    await this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#cancelAgain()
    this.#cancelLook()
    await this.#running
    for (const { reject } of this.#waiting.splice(0)) reject(new RelayError('UNAVAILABLE', 'the store is closing'))
  }

  async #count(workspaceId: string): Promise<SeatCount> {
    const { database, log } = this.#options
    const counts = await readingWith(log)(() => countSeats(database.reader, [workspaceId]))
    return counts.get(workspaceId) ?? { connections: 0, editors: 0 }
  }

  #submit(wish: SeatWish): Promise<SeatOutcome> {
    if (this.#isClosed) return Promise.reject(new RelayError('UNAVAILABLE', 'the store is closing'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ wish, sinceMs: this.#options.clock.monotonicMs(), resolve, reject })
      // All wishes of one turn of the event loop share a transaction.
      setImmediate(() => void this.#run())
    })
  }

  #run(): Promise<void> {
    this.#running ??= this.#runBatches().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** Runs batches until all remaining wishes wait for other nodes. */
  async #runBatches(): Promise<void> {
    let later: readonly Waiting[] = []
    do {
      const batch = this.#waiting.splice(0, MOST_WISHES)
      later = refuseReleased([...later, ...(await this.#runBatch(batch))], batch)
    } while (this.#waiting.length > 0)
    this.#waiting.push(...later)
    if (later.length === 0 || this.#isClosed) return
    this.#cancelAgain()
    this.#cancelAgain = this.#options.timers.after(AGAIN_MS, () => void this.#run())
  }

  /** Answers the wishes that can be answered now, and returns the others. */
  async #runBatch(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    const { own, log } = this.#options
    const wishes = batch.map(({ wish }) => wish)
    try {
      if (own.inc === null) throw new RelayError('UNAVAILABLE', 'this node is not registered')
      const { outcomes, changes } = await this.#transact(own.inc, wishes)
      for (const [key, row] of changes) {
        if (row === null) this.#held.delete(key)
        else this.#held.set(key, row)
      }
      return this.#settle(batch, outcomes)
    } catch (error) {
      for (const wish of wishes) {
        const key = seatKey(wish)
        if (wish.kind === 'release') this.#held.delete(key)
        this.#unsure.set(key, wish)
      }
      if (!(error instanceof RelayError)) {
        log.warn('storage.seats_failed', 'seats could not be counted', {
          error: error instanceof Error ? error.message : String(error),
        })
      }
      for (const { reject } of batch) reject(new RelayError('UNAVAILABLE', 'the seats cannot be counted'))
      return []
    }
  }

  #settle(batch: readonly Waiting[], outcomes: readonly (SeatOutcome | 'later')[]): readonly Waiting[] {
    const nowMs = this.#options.clock.monotonicMs()
    return batch.filter(({ sinceMs, resolve, reject }, i) => {
      const outcome = outcomes[i] ?? 'later'
      if (outcome !== 'later') resolve(outcome)
      else if (nowMs - sinceMs >= LATER_MS) reject(new RelayError('UNAVAILABLE', 'the seats of another node are not known'))
      else return true
      return false
    })
  }

  async #transact(inc: Incarnation, wishes: readonly SeatWish[]): Promise<ReturnType<typeof answerWishes>> {
    const { engine, writer: connection } = this.#options.database
    const unsure = new Map(this.#unsure)
    const counted = [...new Set(wishes.filter(needsCount).map(({ workspaceId }) => workspaceId))]
    const answers = await connection.transaction().execute(async (writer) => {
      if (counted.length > 0) await engine.lockSeats(writer, counted.map(storedText))
      const state = await readState(writer, inc)
      if (!state.isAlive) throw new RelayError('UNAVAILABLE', 'the lease of this node is over')
      if (!state.isMarked || this.#writtenAs !== inc) await this.#writeAgain(writer, inc)
      else await this.#repair(writer, inc, unsure)
      const counts = counted.length === 0 ? new Map<string, SeatCount>() : await countSeats(writer, counted)
      const answered = answerWishes(wishes, this.#held, counts, state.unmarked === 0)
      await writeRows(writer, inc, answered.changes)
      return answered
    })
    this.#writtenAs = inc
    for (const key of unsure.keys()) this.#unsure.delete(key)
    return answers
  }

  /** Writes all seats of this node, and the row which shows that they are written. */
  async #writeAgain(writer: Writer, inc: Incarnation): Promise<void> {
    await writer.deleteFrom('seats').where('inc', '=', inc).execute()
    const rows = [...this.#held.entries(), ['', { ...MARK, editor: false }] as const]
    for (let from = 0; from < rows.length; from += MOST_WISHES)
      await writeRows(writer, inc, new Map(rows.slice(from, from + MOST_WISHES)))
  }

  async #repair(
    writer: Writer,
    inc: Incarnation,
    unsure: ReadonlyMap<string, Pick<SeatRow, 'workspaceId' | 'connectionId'>>,
  ): Promise<void> {
    const rows = [...unsure.keys()].map((key) => [key, this.#held.get(key) ?? null] as const)
    if (rows.length > 0) await writeRows(writer, inc, new Map(rows))
  }

  #lookLater(): void {
    this.#cancelLook = this.#options.timers.after(LOOK_MS, () => {
      void this.#look().finally(() => {
        if (!this.#isClosed) this.#lookLater()
      })
    })
  }

  /** Checks the rows of this node and writes missing ones. */
  async #look(): Promise<void> {
    const { own, database } = this.#options
    if (own.inc === null) return
    try {
      const isMarked = this.#writtenAs === own.inc && (await readState(database.reader, own.inc)).isMarked
      if (!isMarked || this.#unsure.size > 0) await this.#run()
      if (++this.#looks % LOOKS_PER_SWEEP === 0) await removeRowsOfEnded(database.writer)
    } catch {
      // The database does not answer; the next check tries again.
    }
  }
}

/** Returns `later` without the wishes whose connection has closed meanwhile. Refuses these wishes, because nobody would release their seats. */
function refuseReleased(later: readonly Waiting[], batch: readonly Waiting[]): readonly Waiting[] {
  const released = new Map(batch.flatMap(({ wish }, i) => (wish.kind === 'release' ? [[seatKey(wish), i] as const] : [])))
  return later.filter((one) => {
    const releasedAt = released.get(seatKey(one.wish))
    if (releasedAt === undefined || releasedAt < batch.indexOf(one)) return true
    one.reject(new RelayError('UNAVAILABLE', 'the connection released its seat'))
    return false
  })
}

interface SeatState {
  readonly isAlive: boolean
  /** Whether the table has the row which shows that this node has written its seats. */
  readonly isMarked: boolean
  /** Number of other living nodes that have not written their seats. */
  readonly unmarked: number
}

const LIVE = sql`(select inc from nodes where lease_until_ms > ${NOW_MS})`

async function readState(db: Connection, inc: Incarnation): Promise<SeatState> {
  const { rows } = await sql<{ alive: number; marked: number; unmarked: number }>`
    select
      (select count(*) from ${LIVE} live where inc = ${inc}) as alive,
      (select count(*) from seats where workspace_id = '' and inc = ${inc}) as marked,
      (select count(*) from ${LIVE} live where inc <> ${inc} and not exists (
        select 1 from seats where workspace_id = '' and seats.inc = live.inc)) as unmarked`.execute(db)
  const [row] = rows
  return { isAlive: row?.alive === 1, isMarked: row?.marked === 1, unmarked: row?.unmarked ?? 0 }
}

async function countSeats(db: Connection, workspaceIds: readonly string[]): Promise<ReadonlyMap<string, SeatCount>> {
  const { rows } = await sql<{ workspace_id: string; connections: number; editors: number }>`
    select workspace_id, count(*) as connections, sum(editor) as editors from seats
    where workspace_id = any(${workspaceIds.map(storedText)}::text[]) and inc in ${LIVE} group by workspace_id`.execute(db)
  return new Map(rows.map(({ workspace_id, connections, editors }) => [originalText(workspace_id), { connections, editors }]))
}

async function writeRows(writer: Writer, inc: Incarnation, changes: ReadonlyMap<string, SeatRow | null>): Promise<void> {
  const kept = [...changes.values()].filter((row) => row !== null)
  if (kept.length > 0) {
    await sql`
      insert into seats (workspace_id, inc, connection, editor)
      select w, ${inc}, c, e from unnest(
        ${kept.map(({ workspaceId }) => storedText(workspaceId))}::text[], ${kept.map(({ connectionId }) => storedText(connectionId))}::text[],
        ${kept.map(({ editor }) => (editor ? 1 : 0))}::bigint[]) as r (w, c, e)
      on conflict (workspace_id, inc, connection) do update set editor = excluded.editor`.execute(writer)
  }
  const gone = [...changes].flatMap(([key, row]) => (row === null ? [JSON.parse(key) as [string, string]] : []))
  if (gone.length > 0) {
    await sql`
      delete from seats using unnest(
        ${gone.map(([workspaceId]) => storedText(workspaceId))}::text[], ${gone.map(([, connectionId]) => storedText(connectionId))}::text[]) as r (w, c)
      where workspace_id = r.w and inc = ${inc} and connection = r.c`.execute(writer)
  }
}

/** Removes the rows of nodes that have ended. Such rows no longer count, and nothing else removes them. */
async function removeRowsOfEnded(db: Connection): Promise<void> {
  await sql`delete from seats where not exists (select 1 from nodes where nodes.inc = seats.inc)`.execute(db)
}
