import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  type Compilable,
  type CompiledQuery,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  sql,
} from 'kysely'
import { makeFolder } from '../../kernel/folders.ts'
import { systemRandom } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import type { Database, Engine, Fault, OpenTransaction, OwnNode } from './engine.ts'
import type { StepTypes } from './migrations/0013-seats.ts'
import { NO_NODES } from './no-nodes.ts'
import { flatNumbers, type NumberRows } from './number-rows.ts'
import { Checkpoints } from './sqlite-checkpoints.ts'
import { SqliteLog } from './sqlite-log.ts'
import { flushLeftLog, keepDamagedLog, sqliteLosses, unreadTailOf } from './sqlite-losses.ts'
import { StoreInUseError } from './store-in-use.ts'
import { type StoreLoss, StoreLossError } from './store-loss.ts'
import { removeMark } from './store-mark.ts'
import type { Connection, Tables, Writer } from './tables.ts'

export interface SqliteOptions {
  /** NORMAL loses acknowledged records in a power cut. It exists only so that the fault tests can be shown to fail. [D2, D-11] */
  readonly synchronous: 'FULL' | 'NORMAL'
  /**
   * Handling of a store that has visibly lost acknowledged writes. `refuse` (the default) leaves it as it is. `accept` opens the rest. `replace`
   * ignores the mark of a former store, for a restore into an empty place. [CFG-11]
   */
  readonly onLoss?: 'refuse' | 'accept' | 'replace'
  /** Present for one of several nodes. [LIFE-26] */
  readonly node?: OwnNode
}

const BUSY_TIMEOUT_MS = 5000
const FULL_CHECK_BYTES = 64 << 20
const CACHED_STATEMENTS = 200

/**
 * Opens the file for this process alone and creates it when missing. `onLoss` says how a store that has lost acknowledged writes is handled.
 *
 * @throws Error naming the file when another process uses it, it is damaged, it has lost writes, or it cannot be opened
 */
export function openSqlite(path: string, options: SqliteOptions, log: Logger): Database {
  makeFolder(dirname(path), 0o777)
  const lock = lockStore(path)
  try {
    const losses = admitLosses(path, options)
    warnOfTail(path, log)
    flushLeftLog(path)
    const writer = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
    writer.exec(`pragma journal_mode = wal; pragma synchronous = ${options.synchronous}; pragma wal_autocheckpoint = 0`)
    checkIntegrity(writer, path)
    // The log starts empty, so that a later check cannot take bytes of an earlier process for lost writes.
    writer.exec('pragma wal_checkpoint(truncate)')
    const reader = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    reader.exec('pragma query_only = on')
    const writerKysely = new DirectSqlite(adapter(writer))
    const readerKysely = new DirectSqlite(adapter(reader))
    const isBroken = (error: unknown) => sqliteFault(error) === 'broken'
    const checkpoints = new Checkpoints({ db: writer, path, random: systemRandom, timers: systemTimers, log, isBroken })
    return {
      engine: sqliteEngine(writer, options.node),
      writer: writerKysely,
      begin: transactions(writer, writerKysely, checkpoints),
      appendAtOnce: null,
      reader: readerKysely,
      readNumbers: numbersFrom(reader),
      changedBeside: besideOf(writer),
      losses,
      mark: async () => checkpoints.start(),
      unmark: async () => removeMark(path),
      occupy: async () => undefined,
      nodes: () => NO_NODES,
      async close() {
        reader.close()
        try {
          checkpoints.end()
          writer.exec('pragma wal_checkpoint(truncate)')
        } finally {
          writer.close()
          lock.close()
        }
      },
    }
  } catch (error) {
    lock.close()
    if (error instanceof StoreLossError) throw error
    const code = (errorCode(error) ?? 0) & 0xff
    const damaged = DAMAGE_CODES.has(code) ? 'it is damaged: ' : ''
    throw new Error(`cannot open the store ${path}: ${damaged}${messageOf(error)}`, { cause: error })
  }
}

/** Opens a file that another process uses, for a short transaction. That process stays responsible for the log and its checkpoints. [CFG-11] */
export function openSqliteBeside(path: string): Database {
  const writer = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
  writer.exec('pragma synchronous = FULL; pragma wal_autocheckpoint = 0')
  const kysely: Connection = new DirectSqlite(adapter(writer))
  return {
    engine: sqliteEngine(writer),
    writer: kysely,
    appendAtOnce: null,
    async begin() {
      // Takes the write lock at once, so that rows that the transaction has read still hold when it writes.
      writer.exec('begin immediate')
      return {
        writer: kysely as Writer,
        commit: async () => writer.exec('commit'),
        rollback: async () => writer.exec('rollback'),
      }
    },
    reader: kysely,
    readNumbers: numbersFrom(writer),
    changedBeside: besideOf(writer),
    losses: [],
    mark: async () => undefined,
    unmark: async () => undefined,
    occupy: async () => undefined,
    nodes: () => NO_NODES,
    close: async () => writer.close(),
  }
}

/** Returns the losses that the caller accepts; throws on other losses. A damaged log is copied before anything can overwrite it. */
function admitLosses(path: string, { onLoss = 'refuse' }: SqliteOptions): readonly StoreLoss[] {
  const losses = sqliteLosses(path)
  if (onLoss === 'accept') {
    return losses.map((loss) => {
      if (loss.kind !== 'log') return loss
      return { ...loss, detail: `${loss.detail}; the damaged log is kept as ${keepDamagedLog(path)}` }
    })
  }
  const counted = onLoss === 'replace' ? losses.filter(({ kind }) => kind === 'log') : losses
  if (counted.length > 0) throw new StoreLossError(path, counted)
  return []
}

/** Warns of an unreadable end of the log. Opening the store removes these bytes, so they can be reported only now. */
function warnOfTail(path: string, log: Logger): void {
  const tail = unreadTailOf(path)
  if (tail === null) return
  log.warn(
    'storage.log_tail',
    'The end of the write-ahead log is not a whole transaction and is left out. A crash or a power cut within a write leaves such an end, and ' +
      'nobody was told that this write was saved. Without one it means that bytes of the last saved write were damaged or cut off.',
    { file: `${path}-wal`, ...tail },
  )
}

/**
 * Begins and ends transactions. There is one connection, so a transaction is a state of that connection. Kysely's own transactions would cost as much
 * as a small commit.
 */
function transactions(db: DatabaseSync, kysely: Kysely<Tables>, checkpoints: Checkpoints): Database['begin'] {
  const [begin, commit, rollback] = ['begin', 'commit', 'rollback'].map((text) => db.prepare(text)) as [
    StatementSync,
    StatementSync,
    StatementSync,
  ]
  const open: OpenTransaction = {
    writer: kysely as Writer,
    async commit() {
      checkpoints.beforeCommit()
      commit.run()
      checkpoints.afterCommit()
    },
    rollback: async () => void rollback.run(),
  }
  return async () => {
    begin.run()
    return open
  }
}

/** Tells Kysely that SQLite can roll back changes of the schema. */
export class TransactionalSqlite extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl(): boolean {
        return true
      }
    })()
  }
}

/**
 * Runs compiled queries directly on the connection. Kysely would first acquire the connection for each query, which takes as long as a short query.
 * Each statement of node:sqlite ends before its call returns, so no query has to wait for another.
 */
class DirectSqlite extends Kysely<Tables> {
  readonly #database: SqliteDatabase

  constructor(database: SqliteDatabase) {
    super({ dialect: new TransactionalSqlite({ database }) })
    this.#database = database
  }

  override async executeQuery<R>(query: CompiledQuery<R> | Compilable<R>): Promise<QueryResult<R>> {
    const { sql: text, parameters } = 'compile' in query ? query.compile() : query
    const statement = this.#database.prepare(text)
    if (statement.reader) return { rows: statement.all(parameters) as R[] }
    statement.run(parameters)
    return { rows: [] }
  }
}

/** Locks the store by an open transaction on a separate file. The operating system releases the lock when the process ends in any way. */
function lockStore(path: string): DatabaseSync {
  let lock: DatabaseSync
  try {
    lock = new DatabaseSync(`${path}.lock`)
  } catch (error) {
    throw new Error(`cannot open ${path}.lock: ${messageOf(error)}; may this user write there?`, { cause: error })
  }
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if (errorCode(error) === SQLITE_BUSY) throw new StoreInUseError(`the store ${path} is in use by another process`)
    throw new Error(`cannot lock the store ${path}: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Checks the database. The quick check does not check index entries. A small store gets the full check, which takes some tenths of a second at most.
 */
function checkIntegrity(db: DatabaseSync, path: string): void {
  const check = statSync(path).size <= FULL_CHECK_BYTES ? 'integrity_check' : 'quick_check'
  const rows = db.prepare(`pragma ${check}(5)`).all()
  const problems = rows.map((row) => String(row[check])).filter((problem) => problem !== 'ok')
  if (problems.length > 0) throw new Error(`it is damaged (${problems.join('; ')}); nothing was changed`)
}

/** Returns a function whose result changes when another connection commits. Commits of this connection leave the number unchanged. */
function besideOf(writer: DatabaseSync): Database['changedBeside'] {
  const statement = writer.prepare('pragma data_version')
  return async () => String(statement.get()?.['data_version'])
}

function numbersFrom(db: DatabaseSync): Database['readNumbers'] {
  const kept = new Map<string, StatementSync>()
  return async ({ sql: text, parameters }) => {
    let statement = kept.get(text)
    if (statement === undefined) {
      statement = db.prepare(text)
      statement.setReturnArrays(true)
      kept.set(text, statement)
    }
    return flatNumbers(statement.all(...(parameters as SQLInputValue[])) as unknown as NumberRows)
  }
}

/** Adapts the database for Kysely, which prepares a statement for every query. Statements are cached, so that each text is parsed only once. */
export function adapter(db: DatabaseSync): SqliteDatabase {
  const kept = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    close: () => db.close(),
    prepare(text) {
      const found = kept.get(text)
      if (found !== undefined) return found
      const statement = db.prepare(text)
      const wrapped = {
        reader: statement.columns().length > 0,
        all: (parameters: readonly unknown[]) => statement.all(...(parameters as SQLInputValue[])),
        run: (parameters: readonly unknown[]) => statement.run(...(parameters as SQLInputValue[])),
        iterate: (parameters: readonly unknown[]) => statement.iterate(...(parameters as SQLInputValue[])),
      }
      if (kept.size >= CACHED_STATEMENTS) kept.clear()
      kept.set(text, wrapped)
      return wrapped
    },
  }
}

export const SQLITE_TYPES: StepTypes = {
  identity: sql`integer primary key autoincrement`,
  text: sql`text`,
  blob: sql`blob`,
  recentApart: true,
  unlogged: sql``,
}

const ADVANCE = 'update log_heads set last_seq = last_seq + ? where key = ? and last_seq = ?'

function sqliteEngine(db: DatabaseSync, node: OwnNode = { inc: null }): Engine {
  // Prepared on first use, because the migration creates the tables.
  let advance: StatementSync | undefined
  let advanceOwned: StatementSync | undefined
  let identity: StatementSync | undefined
  const log = new SqliteLog(db)
  return {
    columnTypes: SQLITE_TYPES,
    soleProcess: true,
    node,
    nowMs: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
    // Does nothing, because the process that opened the file is the only writer.
    async lockStore() {},
    async lockDocument() {},
    async lockWorkspace() {},
    async lockBlobs() {},
    async lockSeats() {},
    async advanceLogs(_writer, advances) {
      advance ??= db.prepare(ADVANCE)
      const moved = new Set<number>()
      for (const { key, afterSeq, count, epoch } of advances) {
        const result =
          epoch === undefined
            ? advance.run(count, key, afterSeq)
            : (advanceOwned ??= db.prepare(`${ADVANCE} and owner = ? and epoch = ?`)).run(count, key, afterSeq, node.inc, epoch)
        if (Number(result.changes) === 1) moved.add(key)
      }
      return moved
    },
    insertUpdates: (writer, rows) => log.insertUpdates(writer, rows),
    async nextIdentity(_writer, table) {
      identity ??= db.prepare('select seq + 1 as next from sqlite_sequence where name = ?')
      return Number(identity.get(table)?.['next'] ?? 1)
    },
    async continueAbove(_writer, table, column, last) {
      const stored = Number(db.prepare(`select coalesce(max("${column}"), 0) as last from "${table}"`).get()?.['last'])
      db.prepare('delete from sqlite_sequence where name = ?').run(table)
      db.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, Math.max(last, stored))
    },
    tryJob: async () => true,
    async identityMoment(_db, table) {
      const row = db
        .prepare(
          `select coalesce((select seq from sqlite_sequence where name = ?), 0) as last, cast(unixepoch('subsec') * 1000 as integer) as now`,
        )
        .get(table)
      // Only one transaction writes at a time. So when a row is committed, no transaction with a lower identity value is open.
      return { lastId: Number(row?.['last']), nowMs: Number(row?.['now']), openSinceMs: null }
    },
    faultOf: sqliteFault,
  }
}

const SQLITE_BUSY = 5
const SQLITE_IOERR = 10
/** The codes CORRUPT and NOTADB. */
const DAMAGE_CODES = new Set([11, 26])
/** The codes READONLY, FULL and CANTOPEN. */
const STORAGE_CODES = new Set([8, 13, 14])
/** IOERR_FSYNC and IOERR_DIR_FSYNC: a lost flush. The kernel reports it only once and then treats the pages as clean. */
const FSYNC_CODES = new Set([SQLITE_IOERR | (4 << 8), SQLITE_IOERR | (5 << 8)])

function sqliteFault(error: unknown): Fault {
  const code = errorCode(error)
  if (code === null) return 'operation'
  if (FSYNC_CODES.has(code)) return 'broken'
  if ((code & 0xff) === SQLITE_BUSY) return 'lost-race'
  if ((code & 0xff) === SQLITE_IOERR) return 'write-error'
  if (DAMAGE_CODES.has(code & 0xff)) return 'damage'
  return STORAGE_CODES.has(code & 0xff) ? 'storage' : 'operation'
}

function errorCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null
  return typeof error.errcode === 'number' ? error.errcode : null
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
