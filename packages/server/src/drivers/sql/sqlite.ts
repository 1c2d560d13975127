import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Kysely, SqliteAdapter, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import type { Database, Engine, Fault, OpenTransaction, UpdateColumns } from './engine.ts'
import type { Tables, Writer } from './tables.ts'

export interface SqliteOptions {
  /** NORMAL loses acknowledged records in a power cut; it exists so that the fault tests can be seen to fail. [D2, D-11] */
  readonly synchronous: 'FULL' | 'NORMAL'
}

const BUSY_TIMEOUT_MS = 5000
/** 16 MiB of write-ahead log between checkpoints. At SQLite's 4 MiB, appends under load waited two to four times as long at the 99th percentile. */
const CHECKPOINT_PAGES = 4096
const FULL_CHECK_BYTES = 64 << 20
const CACHED_STATEMENTS = 200

/**
 * Opens the file, made when missing, for this process alone.
 *
 * @throws Error naming the file when another process uses it, it is damaged, or it cannot be opened
 */
export function openSqlite(path: string, options: SqliteOptions): Database {
  mkdirSync(dirname(path), { recursive: true })
  const lock = lockStore(path)
  try {
    const writer = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
    writer.exec(
      `pragma journal_mode = wal; pragma synchronous = ${options.synchronous}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    )
    checkIntegrity(writer, path)
    const reader = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    reader.exec('pragma query_only = on')
    const writerKysely = new Kysely<Tables>({ dialect: new TransactionalSqlite({ database: adapter(writer) }) })
    const readerKysely = new Kysely<Tables>({ dialect: new TransactionalSqlite({ database: adapter(reader) }) })
    return {
      engine: sqliteEngine(writer),
      writer: writerKysely,
      begin: transactions(writer, writerKysely),
      reader: readerKysely,
      async close() {
        reader.close()
        try {
          writer.exec('pragma wal_checkpoint(truncate)')
        } finally {
          writer.close()
          lock.close()
        }
      },
    }
  } catch (error) {
    lock.close()
    const code = (errorCode(error) ?? 0) & 0xff
    const damaged = DAMAGE_CODES.has(code) ? 'it is damaged: ' : ''
    throw new Error(`cannot open the store ${path}: ${damaged}${messageOf(error)}`, { cause: error })
  }
}

/** On the one connection there is, a transaction is a state of it. Going through Kysely's own costs as much as a small commit. */
function transactions(db: DatabaseSync, kysely: Kysely<Tables>): Database['begin'] {
  const [begin, commit, rollback] = ['begin', 'commit', 'rollback'].map((text) => db.prepare(text)) as [
    StatementSync,
    StatementSync,
    StatementSync,
  ]
  const open: OpenTransaction = {
    writer: kysely as Writer,
    commit: async () => void commit.run(),
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
    if (errorCode(error) === SQLITE_BUSY) throw new Error(`the store ${path} is in use by another process`)
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
    async advanceLogs(_writer, keys, counts) {
      advance ??= db.prepare('update log_heads set last_seq = last_seq + ? where key = ? returning last_seq')
      const last = new Map<number, number>()
      for (const [i, key] of keys.entries()) {
        const row = advance.get(counts[i] ?? 0, key)
        if (row !== undefined) last.set(key, Number(row.last_seq))
      }
      return last
    },
    async insertUpdates(_writer, rows: UpdateColumns) {
      insert ??= db.prepare('insert into updates (key, seq, actor, at_ms, crc32, bytes) values (?, ?, ?, ?, ?, ?)')
      for (const [i, update] of rows.updates.entries()) {
        insert.run(
          rows.keys[i] ?? 0,
          rows.seqs[i] ?? 0,
          rows.actors[i] ?? '',
          rows.timesMs[i] ?? 0,
          rows.checksums[i] ?? 0,
          update,
        )
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
