import { createHash } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { INDEX_FORMAT } from './index-rows.ts'

/** Returns the folder of the index files: beside the store, so that no backup contains it. */
export function indexFolder(storePath: string): string {
  return `${storePath}-search`
}

/** Returns the path of the index of one workspace. Each workspace has a file of its own, so that its searches read no words of others. [AG-61] */
export function indexPath(folder: string, workspaceId: string): string {
  return join(folder, `${createHash('sha256').update(workspaceId).digest('hex').slice(0, 32)}.db`)
}

const TABLES = `
  create table facts (name text primary key, value text not null) without rowid;
  create table documents (
    key integer primary key, version integer not null, updated_at_ms integer not null, covered_seq integer not null);
  create table rows (id integer primary key, hash integer not null);
  create virtual table texts using fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii')`

const BUSY_TIMEOUT_MS = 2000
/**
 * Settings of a connection that writes. A power failure may lose the last changes of the index, which then count as missing. The write-ahead log
 * stays small.
 */
const WRITING = `
  pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -8000;
  pragma wal_autocheckpoint = 256; pragma journal_size_limit = 1048576`

/** The opened index of one workspace. */
export class IndexFile {
  readonly db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.db = db
  }

  /** Returns the statement, which is prepared only once. Its rows are arrays. */
  statement(text: string): StatementSync {
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      statement = this.db.prepare(text)
      statement.setReturnArrays(true)
      this.#statements.set(text, statement)
    }
    return statement
  }
}

/** Opens an index for writing. Creates a new index when the file is missing or damaged or has another format. */
export function openToWrite(path: string, workspaceId: string): { readonly file: IndexFile; readonly isNew: boolean } {
  try {
    const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    db.exec(WRITING)
    if (formatOf(db) === INDEX_FORMAT) return { file: new IndexFile(db), isNew: false }
    db.close()
  } catch (error) {
    if (!isDamage(error)) throw error
  }
  removeIndex(path)
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  db.exec(WRITING)
  db.exec(`begin; ${TABLES}; commit`)
  const insert = db.prepare('insert into facts (name, value) values (?, ?)')
  insert.run('workspace', workspaceId)
  // The format is written last, so that a file with only some of its tables has no format.
  insert.run('format', INDEX_FORMAT)
  return { file: new IndexFile(db), isNew: true }
}

/** Opens an index for reading; `null` when there is no readable index. */
export function openToRead(path: string): IndexFile | null {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return null
    const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    db.exec('pragma cache_size = -32000')
    if (formatOf(db) === INDEX_FORMAT) return new IndexFile(db)
    db.close()
    return null
  } catch {
    return null
  }
}

function formatOf(db: DatabaseSync): string | null {
  const hasFacts = db.prepare("select 1 from sqlite_schema where name = 'facts'").get() !== undefined
  const row = hasFacts ? db.prepare("select value from facts where name = 'format'").get() : undefined
  return row === undefined ? null : String(row['value'])
}

/** Names the file at a path; `null` when there is none. An index that was made anew is another file. */
export function identityOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.ino} ${stat.birthtimeMs}`
}

export function workspaceOf(path: string): string | null {
  const file = openToRead(path)
  if (file === null) return null
  const row = file.db.prepare("select value from facts where name = 'workspace'").get()
  file.db.close()
  return row === undefined ? null : String(row['value'])
}

export function removeIndex(path: string): void {
  for (const side of ['', '-wal', '-shm']) rmSync(`${path}${side}`, { force: true })
}

/** The codes ERROR, CORRUPT and NOTADB: tables are missing, or the bytes are not what was written. */
const DAMAGE_CODES: ReadonlySet<number> = new Set([1, 11, 26])

export function isDamage(error: unknown): boolean {
  return (
    error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && DAMAGE_CODES.has(error.errcode & 0xff)
  )
}
