import { Socket } from 'node:net'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { at } from '../../kernel/at.ts'
import { systemClock } from '../../kernel/clock.ts'
import { newId, systemRandom } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import type { Database, Engine, Fault, OwnNode } from './engine.ts'
import { LOCK_SEEDS } from './lock-seeds.ts'
import { flatNumbers } from './number-rows.ts'
import { appendsAtOnce, postgresAppends } from './postgres-append.ts'
import { PostgresNodes } from './postgres-nodes.ts'
import { lockStoreForSteps } from './postgres-occupants.ts'
import { Place } from './postgres-place.ts'
import { storedText } from './stored-text.ts'
import type { Tables, Writer } from './tables.ts'

const BYTEA = 17
const INT8 = 20
const NUMERIC = 1700
/** Name of the row in `store_facts` with the last transaction of a process that is not the relay of the store. */
const CHANGED_BESIDE = 'changed_beside'
const POOL_SIZE = 4
const CONNECT_AGAIN_MS = 500

interface PoolTimes {
  readonly connectMs: number
  /** A connection is closed after this time without a byte in either direction; `null` leaves it to the operating system to notice a lost server. */
  readonly silenceMs: number | null
  /** Unused connections are closed after this time, which is shorter than `silenceMs`. */
  readonly idleMs: number
}

const POOL_TIMES: PoolTimes = { connectMs: 5_000, silenceMs: 10_000, idleMs: 5_000 }
/** A tool waits for checks of whole tables, and sends nothing within a transaction while it decodes a document or flushes a file. [OPS-9, OPS-11] */
const TOOL_TIMES: PoolTimes = { ...POOL_TIMES, silenceMs: null }
/** Limits for the heartbeats of nodes: one of several nodes has to notice the end of an outage within a second or two. */
const NODE_BEAT_TIMES: PoolTimes = { connectMs: 2_000, silenceMs: 3_000, idleMs: 2_500 }

/** Makes a commit wait for its flush, whatever the default of the server is. [D2] */
const SETTINGS_SQL =
  "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')"
/**
 * The server ends a transaction of a node that is idle for 3 s. Otherwise its locks would keep the next owner of a document waiting while this
 * process is paused. No statement waits longer than 5 s for a lock. [LIFE-26]
 */
const NODE_SETTINGS_SQL = `
  with limits as (select set_config('idle_in_transaction_session_timeout', '3s', false), set_config('lock_timeout', '5s', false))
  select * from limits left join (${SETTINGS_SQL}) as flushed on true`

export interface PostgresOptions {
  /** Maximum number of connections. */
  readonly connections?: number
  /** Present for one of several nodes, which do not claim the store. [LIFE-26] */
  readonly node?: OwnNode
  /** Whether this process is a tool beside the relays. No client waits for a tool. */
  readonly isTool?: boolean
}

/**
 * Connects to the primary and waits for it up to `waitMs`. Refuses a server in recovery, because it would return outdated data.
 *
 * @throws Error naming the server and why it cannot be used
 */
export async function openPostgres(
  url: string,
  waitMs: number,
  log: Logger,
  { connections = POOL_SIZE, node, isTool = false }: PostgresOptions = {},
): Promise<Database> {
  const holder = newId('relay-', 16, systemRandom)
  const settings = node === undefined ? SETTINGS_SQL : NODE_SETTINGS_SQL
  const { pool, db } = openPool(url, connections, holder, settings, log, isTool ? TOOL_TIMES : POOL_TIMES)
  try {
    await refuseStandby(db, waitMs, log)
  } catch (error) {
    await db.destroy()
    throw new Error(`cannot use the database server at ${new URL(url).host}: ${reasonOf(error)}`, { cause: error })
  }
  const { db: beats } = openPool(url, 1, holder, settings, log, node === undefined ? POOL_TIMES : NODE_BEAT_TIMES)
  let place: Place | null = null
  let nodes: PostgresNodes | null = null
  const placed = (): Place => {
    if (place === null) throw new Error('a relay appends only after it has taken its place')
    return place
  }
  return {
    engine: postgresEngine(node),
    writer: db,
    async begin() {
      const writer = await db.startTransaction().execute()
      try {
        await place?.hold(writer)
      } catch (error) {
        await writer.rollback().execute()
        throw error
      }
      const isBeside = place === null && node === undefined
      return {
        writer,
        async commit() {
          if (isBeside) await noteBeside(writer)
          await writer.commit().execute()
        },
        rollback: () => writer.rollback().execute(),
      }
    },
    // A tool also notes its change, in another statement of the transaction.
    appendAtOnce: isTool ? null : appendsAtOnce(pool, node ?? { inc: null }, node === undefined ? placed : null),
    reader: db,
    async readNumbers({ sql: text, parameters }) {
      const { rows } = await pool.query<(number | null)[]>({ text, values: [...parameters], rowMode: 'array' })
      return flatNumbers(rows)
    },
    async changedBeside() {
      const row = await db.selectFrom('store_facts').select('value').where('name', '=', CHANGED_BESIDE).executeTakeFirst()
      return row?.value ?? ''
    },
    losses: [],
    mark: async () => undefined,
    unmark: async () => undefined,
    async occupy({ onLost, onLoss }) {
      const taken = new Place({ db, beats, holder, connectionsOf, timers: systemTimers, log, onLost, onLoss })
      await taken.take()
      place = taken
    },
    nodes({ onLoss }) {
      const told = { own: node ?? { inc: null }, timers: systemTimers, clock: systemClock, log, onLoss }
      return (nodes ??= new PostgresNodes({ db, beats, connectionsOf, ...told }))
    },
    async close() {
      await place?.leave()
      await nodes?.close()
      await Promise.all([beats.destroy(), db.destroy()])
    },
  }
}

/** Records a write of this tool or process, so that a relay on the same database notices that its remembered data may be outdated. */
async function noteBeside(writer: Writer): Promise<void> {
  await sql`
    insert into store_facts (name, value) values (${CHANGED_BESIDE}, pg_current_xact_id()::text)
    on conflict (name) do update set value = excluded.value`.execute(writer)
}

function connectionsOf(holder: string): string {
  return `docrelay ${holder}`
}

function openPool(
  url: string,
  size: number,
  holder: string,
  settings: string,
  log: Logger,
  { connectMs, silenceMs, idleMs }: PoolTimes,
): { readonly pool: pg.Pool; readonly db: Kysely<Tables> } {
  const onConnectionLost = (error: Error) => log.warn('storage.connection-lost', error.message)
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: idleMs,
    application_name: connectionsOf(holder),
    types: { getTypeParser: parserOf },
    stream: () => openSocket(silenceMs),
    // The pool awaits this, so no statement runs on a connection without the settings.
    async onConnect(client) {
      // Each client gets its own listener, because the pool does not listen while a client is in use.
      client.on('error', onConnectionLost)
      await client.query(settings)
    },
  })
  pool.on('error', () => undefined)
  return { pool, db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }) }
}

/** After this long without a byte the operating system probes the connection, and closes it some ten seconds later when there is no answer. */
const KEEP_ALIVE_MS = 30_000

/**
 * Makes a socket that is closed when no byte passes for `silenceMs`. Otherwise a query to a server that has vanished would wait for many minutes,
 * until the operating system gives up.
 */
function openSocket(silenceMs: number | null): Socket {
  const socket = new Socket()
  if (silenceMs === null) return socket.setKeepAlive(true, KEEP_ALIVE_MS)
  return socket.setTimeout(silenceMs, () => socket.destroy(new Error(`no answer for ${silenceMs / 1000} s`)))
}

async function refuseStandby(db: Kysely<Tables>, waitMs: number, log: Logger): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += CONNECT_AGAIN_MS) {
    try {
      const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(db)
      if (rows[0]?.standby !== true) return
      throw new Error('the database server is a read-only standby')
    } catch (error) {
      // A wrong password or database name does not change by waiting.
      if (waitedMs >= waitMs || postgresFault(error) === 'operation') throw error
      if (waitedMs === 0) log.warn('storage.waiting', 'The database server does not answer yet.', { reason: reasonOf(error) })
    }
    await new Promise((resolve) => setTimeout(resolve, CONNECT_AGAIN_MS))
  }
}

function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string }
  return message || code || 'no connection'
}

/** Returns the parser of a column type. Integers become numbers, and bytes become arrays that own their buffer. */
function parserOf(oid: number, format?: 'text' | 'binary') {
  const standard = pg.types.getTypeParser(oid, format)
  if (oid === INT8 || oid === NUMERIC) return Number
  return oid === BYTEA ? (text: string) => new Uint8Array(standard(text) as Buffer) : standard
}

const postgresEngine = (node: OwnNode = { inc: null }): Engine => ({
  soleProcess: false,
  node,
  nowMs: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  columnTypes: {
    identity: sql`bigint generated by default as identity primary key`,
    text: sql`text collate "C"`,
    blob: sql`bytea`,
    recentApart: false,
    unlogged: sql`unlogged`,
  },
  lockStore: lockStoreForSteps,
  async lockDocument(writer, by) {
    const both = writer
      .selectFrom('documents')
      .innerJoin('log_heads', 'log_heads.key', 'documents.key')
      .select('documents.key')
      .forUpdate()
    await ('key' in by
      ? both.where('documents.key', '=', by.key)
      : both.where('documents.workspace_id', '=', storedText(by.workspaceId)).where('documents.id', '=', by.id)
    ).execute()
  },
  async lockWorkspace(writer, workspaceId) {
    const seed = sql.lit(LOCK_SEEDS.workspace)
    await sql`select pg_advisory_xact_lock(hashtextextended(${storedText(workspaceId)}, ${seed}))`.execute(writer)
  },
  async lockBlobs(writer, hashes) {
    // Every process takes the locks in the same order, so that no deadlock can arise.
    for (const hash of [...hashes].sort()) {
      await sql`select pg_advisory_xact_lock(hashtextextended(${hash}, ${sql.lit(LOCK_SEEDS.blob)}))`.execute(writer)
    }
  },
  async lockSeats(writer, workspaceIds) {
    // Every process takes the locks in the same order, so that no deadlock can arise.
    const seed = sql.lit(LOCK_SEEDS.seats)
    await sql`
      select set_config('idle_in_transaction_session_timeout', '1s', true), pg_advisory_xact_lock(hashtextextended(id, ${seed}))
      from unnest(${[...workspaceIds].sort()}::text[]) as asked (id)`.execute(writer)
  },
  ...postgresAppends(node),
  async nextIdentity(writer, table, column) {
    const { rows } = await sql<{ next: number }>`select nextval(pg_get_serial_sequence(${table}, ${column})) as next`.execute(
      writer,
    )
    return at(rows, 0).next
  },
  async continueAbove(writer, table, column, last) {
    await sql`
      select setval(pg_get_serial_sequence(${table}, ${column}), greatest(1, ${last}::bigint, max(${sql.ref(column)})),
        greatest(${last}::bigint, max(${sql.ref(column)})) > 0)
      from ${sql.table(table)}`.execute(writer)
  },
  async tryJob(writer, job) {
    const seed = sql.lit(LOCK_SEEDS.job)
    const { rows } = await sql<{ free: boolean }>`
      select pg_try_advisory_xact_lock(hashtext(${job}), ${seed}) as free`.execute(writer)
    return at(rows, 0).free
  },
  async identityMoment(db, table, asksOpen) {
    // A transaction locks or writes a row of its document before it gets an identity value, so by then it has a `backend_xid`.
    const open = asksOpen
      ? sql`(select (extract(epoch from min(xact_start)) * 1000)::bigint from pg_stat_activity
          where datname = current_database() and backend_xid is not null)`
      : sql`null::bigint`
    const { rows } = await sql<{ last: number | null; now: number; open: number | null }>`
      select pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::regclass) as last,
        (extract(epoch from clock_timestamp()) * 1000)::bigint as now, ${open} as open`.execute(db)
    const { last, now, open: openSinceMs } = at(rows, 0)
    return { lastId: last ?? 0, nowMs: now, openSinceMs }
  },
  faultOf: postgresFault,
})

/** Messages of the library for a lost connection, which has no error code. `no answer for`: see `openSocket`. */
const LOST_CONNECTION =
  /^(Connection terminated|Client (was closed|has encountered a connection error)|timeout (expired|exceeded)|no answer for)/

/**
 * Whether an error means that the server or the connection to it was lost. Class 58, which `postgresFault` counts as a fault of the storage, does not
 * mean this: a file that the server cannot read may be damaged.
 */
export function isServerLost(error: unknown): boolean {
  const code = codeOf(error)
  // Of class 57 only the codes 57P… mean a lost server. Others, as of a statement that a time limit of the role cancelled, do not.
  if (/^(08|53|57P|25P0[34])/.test(code)) return true
  // Error codes of the system, such as ECONNRESET. The codes of Node itself (ERR_…) are faults of the program.
  if (/^E[A-Z]/.test(code) && !code.startsWith('ERR_')) return true
  return error instanceof Error && code === '' && LOST_CONNECTION.test(error.message)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function postgresFault(error: unknown): Fault {
  if (!(error instanceof Error)) return 'operation'
  const code = codeOf(error)
  if (code === '40001' || code === '40P01') return 'lost-race'
  if (code === '55P03') return 'busy'
  // Class XX is an internal error, which a damaged row causes.
  if (code.startsWith('XX')) return 'damage'
  // Classes: 08 connection, 53 resources, 57 server going down, 58 system error. Codes: 25006 read-only server, 25P03 a transaction that the server
  // has ended because it was idle.
  if (/^(08|53|57|58|25006|25P03)/.test(code)) return 'storage'
  // A fault of a statement always has an SQLSTATE. A lost socket has a system error code or none, and an exception of our own has none.
  return /^[0-9A-Z]{5}$/.test(code) ? 'operation' : 'unsaid'
}
