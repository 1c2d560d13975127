import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Kysely, SqliteAdapter, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import { at } from '../../kernel/at.ts'
import { makeFolder } from '../../kernel/folders.ts'
import { systemRandom } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import type { Database, Engine, Fault, OpenTransaction, UpdateColumns } from './engine.ts'
import { Checkpoints } from './sqlite-checkpoints.ts'
import { flushLeftLog, keepDamagedLog, sqliteLosses, unreadTailOf } from './sqlite-losses.ts'
import { StoreInUseError } from './store-in-use.ts'
import { type StoreLoss, StoreLossError } from './store-loss.ts'
import { removeMark } from './store-mark.ts'
import type { Tables, Writer } from './tables.ts'

export interface SqliteOptions {
  /** NORMAL loses acknowledged records in a power cut; it exists so that the fault tests can be seen to fail. [D2, D-11] */
  readonly synchronous: 'FULL' | 'NORMAL'
  /**
   * What becomes of a store that shows the loss of acknowledged writes: `refuse` (the default) leaves it as it is, `accept` opens it with what
   * is left, `replace` takes no notice of the mark of a former store, for a restore into an empty place. [CFG-11]
   */
  readonly onLoss?: 'refuse' | 'accept' | 'replace'
}

const BUSY_TIMEOUT_MS = 5000
const FULL_CHECK_BYTES = 64 << 20
const CACHED_STATEMENTS = 200

/**
 * Opens the file, made when missing, for this process alone. A store that has lost acknowledged writes is left as it is, see `onLoss`.
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
    // A log that begins anew holds nothing of an earlier process that a later look could take for lost.
    writer.exec('pragma wal_checkpoint(truncate)')
    const reader = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    reader.exec('pragma query_only = on')
    const writerKysely = new Kysely<Tables>({ dialect: new TransactionalSqlite({ database: adapter(writer) }) })
    const readerKysely = new Kysely<Tables>({ dialect: new TransactionalSqlite({ database: adapter(reader) }) })
    const isBroken = (error: unknown) => sqliteFault(error) === 'broken'
    const checkpoints = new Checkpoints({ db: writer, path, random: systemRandom, timers: systemTimers, log, isBroken })
    return {
      engine: sqliteEngine(writer),
      writer: writerKysely,
      begin: transactions(writer, writerKysely, checkpoints),
      reader: readerKysely,
      losses,
      mark: async () => checkpoints.start(),
      unmark: async () => removeMark(path),
      occupy: async () => undefined,
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

/** Opens a file that another process has, for a short transaction beside it; that process keeps the log and its checkpoints. [CFG-11] */
export function openSqliteBeside(path: string): Database {
  const writer = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
  writer.exec('pragma synchronous = FULL; pragma wal_autocheckpoint = 0')
  const kysely = new Kysely<Tables>({ dialect: new TransactionalSqlite({ database: adapter(writer) }) })
  return {
    engine: sqliteEngine(writer),
    writer: kysely,
    async begin() {
      // What it reads must still hold when it writes.
      writer.exec('begin immediate')
      return {
        writer: kysely as Writer,
        commit: async () => writer.exec('commit'),
        rollback: async () => writer.exec('rollback'),
      }
    },
    reader: kysely,
    losses: [],
    mark: async () => undefined,
    unmark: async () => undefined,
    occupy: async () => undefined,
    close: async () => writer.close(),
  }
}

/** Answers the losses that the caller accepts; a damaged log is copied before anything can overwrite it. */
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

/** Opening the store takes these bytes away, so this is the only moment at which anybody learns of them. */
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

/** On the one connection there is, a transaction is a state of it. Going through Kysely's own costs as much as a small commit. */
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

/** SQLite can undo changes of the schema; Kysely does not count on it unless told. */
export class TransactionalSqlite extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl(): boolean {
        return true
      }
    })()
  }
}

/** A transaction held on a file of its own: the operating system ends it with the process, however that ends. */
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

/** The quick check passes over the entries of indexes; a small store gets the full one, which costs some tenths of a second at most. */
function checkIntegrity(db: DatabaseSync, path: string): void {
  const check = statSync(path).size <= FULL_CHECK_BYTES ? 'integrity_check' : 'quick_check'
  const rows = db.prepare(`pragma ${check}(5)`).all()
  const problems = rows.map((row) => String(row[check])).filter((problem) => problem !== 'ok')
  if (problems.length > 0) throw new Error(`it is damaged (${problems.join('; ')}); nothing was changed`)
}

/** Kysely prepares each statement anew; by keeping them, the parser runs once per text. */
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

function sqliteEngine(db: DatabaseSync): Engine {
  // Prepared at first use, as the tables come with the migration.
  let advance: StatementSync | undefined
  let insert: StatementSync | undefined
  let identity: StatementSync | undefined
  return {
    columnTypes: { identity: sql`integer primary key autoincrement`, text: sql`text`, blob: sql`blob` },
    soleProcess: true,
    // That process has one writer.
    async lockStore() {},
    async lockDocument() {},
    async lockWorkspace() {},
    async lockBlobs() {},
    async advanceLogs(_writer, advances) {
      advance ??= db.prepare('update log_heads set last_seq = last_seq + ? where key = ? and last_seq = ?')
      const moved = new Set<number>()
      for (const { key, afterSeq, count } of advances) {
        if (Number(advance.run(count, key, afterSeq).changes) === 1) moved.add(key)
      }
      return moved
    },
    async insertUpdates(_writer, rows: UpdateColumns) {
      insert ??= db.prepare('insert into updates (key, seq, actor, at_ms, crc32, bytes) values (?, ?, ?, ?, ?, ?)')
      const { keys, seqs, actors, timesMs, checksums } = rows
      for (const [i, update] of rows.updates.entries()) {
        insert.run(at(keys, i), at(seqs, i), at(actors, i), at(timesMs, i), at(checksums, i), update)
      }
    },
    async nextIdentity(_writer, table) {
      identity ??= db.prepare('select seq + 1 as next from sqlite_sequence where name = ?')
      return Number(identity.get(table)?.['next'] ?? 1)
    },
    async continueAbove(_writer, table, column, last) {
      const stored = Number(db.prepare(`select coalesce(max("${column}"), 0) as last from "${table}"`).get()?.['last'])
      db.prepare('delete from sqlite_sequence where name = ?').run(table)
      db.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, Math.max(last, stored))
    },
    faultOf: sqliteFault,
  }
}

const SQLITE_BUSY = 5
const SQLITE_IOERR = 10
/** CORRUPT, NOTADB. */
const DAMAGE_CODES = new Set([11, 26])
/** READONLY, CORRUPT, FULL, CANTOPEN, NOTADB. */
const STORAGE_CODES = new Set([8, 11, 13, 14, 26])
/** IOERR_FSYNC and IOERR_DIR_FSYNC: the kernel reports such a loss once and then calls the pages clean. */
const FSYNC_CODES = new Set([SQLITE_IOERR | (4 << 8), SQLITE_IOERR | (5 << 8)])

function sqliteFault(error: unknown): Fault {
  const code = errorCode(error)
  if (code === null) return 'operation'
  if (FSYNC_CODES.has(code)) return 'broken'
  if ((code & 0xff) === SQLITE_BUSY) return 'lost-race'
  if ((code & 0xff) === SQLITE_IOERR) return 'write-error'
  return STORAGE_CODES.has(code & 0xff) ? 'storage' : 'operation'
}

function errorCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null
  return typeof error.errcode === 'number' ? error.errcode : null
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
