import { chownSync, existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import type { Cell, StoreSource } from '../../backup/store-archive.port.ts'
import { acceptedLosses } from './accepted-losses.ts'
import { layoutOf, type TableFacts } from './archive-layout.ts'
import { objectsOf } from './blob-objects.ts'
import { lossByMarkOf, STORE_ID, STORE_MARK } from './sqlite-losses.ts'
import { adapter, TransactionalSqlite } from './sqlite.ts'
import { StoreLossError } from './store-loss.ts'
import type { Connection, Tables } from './tables.ts'

const BUSY_TIMEOUT_MS = 5000

/** A store that is opened only for reading, while another process may use it. */
export interface SqliteReader {
  readonly db: Connection
  readonly file: DatabaseSync
  close(): Promise<void>
}

/**
 * Opens the file for reading, without the lock of the store. Writers are never delayed: in WAL mode a reader sees the last commit before its
 * transaction began, and new commits go to the side file.
 *
 * @throws StoreLossError when the file is missing or empty and the mark beside it says that there was a store
 * @throws Error naming the file when it is missing or not a database
 */
export function openSqliteReader(path: string): SqliteReader {
  const loss = lossByMarkOf(path)
  if (loss?.kind === 'missing') throw new StoreLossError(path, [loss])
  try {
    statSync(path)
    const file = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    file.exec('pragma query_only = on')
    file.prepare('select count(*) from sqlite_schema').get()
    giveSideFiles(path)
    const db = new Kysely<Tables>({ dialect: new TransactionalSqlite({ database: adapter(file) }) })
    return { db, file, close: () => db.destroy() }
  } catch (error) {
    throw new Error(`cannot read the store ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/**
 * Gives the side files to the owner of the store. Reading a store that no process has open creates its side files again. When root creates them, the
 * relay's own user could not open them.
 */
function giveSideFiles(path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(path)
  for (const side of [`${path}-wal`, `${path}-shm`]) {
    if (existsSync(side)) chownSync(side, uid, gid)
  }
}

export function sqliteSource(path: string): StoreSource {
  const { db, file, close } = openSqliteReader(path)
  return {
    async atOneMoment(work) {
      // From its first read on, the transaction sees the commits before that read.
      file.exec('begin')
      try {
        const { layout, others } = await layoutOf(db, async () => tableFacts(file))
        return await work({
          layout,
          others,
          acceptedLosses: await acceptedLosses(db),
          async *rows({ name, columns }) {
            // The mark belongs to the file at this path, not to a copy. A restored store gets its own mark.
            const copied = name === 'store_facts' ? ` where name not in ('${STORE_ID}', '${STORE_MARK}')` : ''
            const statement = file.prepare(`select ${columns.map(quoted).join(', ')} from ${quoted(name)}${copied}`)
            statement.setReturnArrays(true)
            yield* statement.iterate() as unknown as Iterable<readonly Cell[]>
          },
        })
      } finally {
        file.exec('rollback')
      }
    },
    objectOf: objectsOf(db),
    [Symbol.asyncDispose]: close,
  }
}

function tableFacts(file: DatabaseSync): readonly TableFacts[] {
  const tables = file
    .prepare("select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by rowid")
    .all()
  const given = new Map(
    file
      .prepare('select name, seq from sqlite_sequence')
      .all()
      .map(({ name, seq }) => [String(name), Number(seq)]),
  )
  // A copy contains the log as one table, as the view `updates` shows it, so that both engines can restore the copy.
  const copied = tables.filter(({ name }) => name !== 'updates_recent')
  return copied.map(({ name, sql }) => ({
    name: name === 'updates_settled' ? 'updates' : String(name),
    lastIdentity: given.get(String(name)) ?? 0,
    columns: file
      .prepare('select name, type, pk from pragma_table_info(?)')
      .all(String(name))
      .map((column) => ({
        name: String(column['name']),
        isBinary: String(column['type']).toLowerCase() === 'blob',
        isIdentity: column['pk'] === 1 && /\bautoincrement\b/i.test(String(sql)),
      })),
  }))
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
