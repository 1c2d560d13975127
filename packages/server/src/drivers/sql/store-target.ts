import { sql } from 'kysely'
import type { ArchivedTable, Cell, FillState, StoreLayout, StoreTarget } from '../../backup/store-archive.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { connect } from './database.ts'
import type { Database } from './engine.ts'
import { recordObjects } from './blob-objects.ts'
import { applySteps, isUnfinished, MIGRATIONS, RESTORE_MARK, setFact, STORE_FORMAT, tableNames } from './migrations/migrate.ts'
import type { Connection, Writer } from './tables.ts'

/** Maximum number of values in one statement; both engines accept more than ten thousand parameters. */
const STATEMENT_CELLS = 8000
const STATEMENT_BYTES = 1 << 20

/** The newest format and the steps that this program can restore. */
export const KNOWN_STORE = { format: STORE_FORMAT, steps: Object.keys(MIGRATIONS) } as const

/**
 * Opens the store that a `[storage] url` names for a restore.
 *
 * @throws Error with a sentence for the operator, for example when a relay runs on the store
 */
export async function openStoreTarget(url: string, log: Logger): Promise<StoreTarget> {
  const database = await connect(url, { synchronous: 'FULL', onLoss: 'replace' }, log)
  const { engine, writer: db } = database
  return {
    state: await fillState(db),
    async begin() {
      await db.transaction().execute(async (writer) => {
        await engine.lockStore(writer)
        if ((await fillState(writer)) === 'in use') throw new Error('the database is not empty any more')
        const { text } = engine.columnTypes
        await sql`create table if not exists store_facts (name ${text} primary key, value ${text} not null)`.execute(writer)
        await setFact(writer, RESTORE_MARK, 'begun')
      })
      await database.unmark()
    },
    async fill(layout, rows, objects) {
      const written = await db.transaction().execute(async (writer) => {
        const filled = await fill(database, writer, layout, rows)
        await recordObjects(writer, objects)
        return filled
      })
      await database.mark()
      return written
    },
    [Symbol.asyncDispose]: () => database.close(),
  }
}

async function fillState(db: Connection): Promise<FillState> {
  const tables = await tableNames(db)
  if (tables.length === 0) return 'empty'
  return tables.length === 1 && (await isUnfinished(db)) ? 'unfinished' : 'in use'
}

async function fill(
  { engine }: Database,
  writer: Writer,
  { steps, tables }: StoreLayout,
  rows: (table: ArchivedTable) => AsyncIterable<readonly Cell[]>,
): Promise<ReadonlyMap<string, number>> {
  await engine.lockStore(writer)
  if ((await fillState(writer)) !== 'unfinished') throw new Error('the database is not empty any more')
  // The first step creates the table again. The mark disappears with the table, but other processes see that only after the commit.
  await sql`drop table store_facts`.execute(writer)
  await applySteps(writer, engine.columnTypes, steps)
  const written = new Map<string, number>()
  // Former releases also copied tables of other programs in the same database.
  const made = new Set(await tableNames(writer))
  for (const table of referencedFirst(tables.filter(({ name }) => made.has(name)))) {
    written.set(table.name, await writeRows(writer, table, rows(table)))
    if (table.identity !== null) await engine.continueAbove(writer, table.name, table.identity.column, table.identity.last)
  }
  await applySteps(writer, engine.columnTypes, Object.keys(MIGRATIONS))
  return written
}

/**
 * Puts `documents` first, because other tables reference it. A database that was itself restored, for example by pg_restore, lists its tables in any
 * order.
 */
function referencedFirst(tables: readonly ArchivedTable[]): readonly ArchivedTable[] {
  return [...tables.filter(({ name }) => name === 'documents'), ...tables.filter(({ name }) => name !== 'documents')]
}

async function writeRows(
  writer: Writer,
  { name, columns }: ArchivedTable,
  rows: AsyncIterable<readonly Cell[]>,
): Promise<number> {
  const list = sql.join(columns.map((column) => sql.ref(column)))
  const most = Math.max(1, Math.floor(STATEMENT_CELLS / columns.length))
  let batch: (readonly Cell[])[] = []
  let bytes = 0
  let count = 0
  const flush = async () => {
    if (batch.length === 0) return
    const values = sql.join(batch.map((row) => sql`(${sql.join(row)})`))
    await sql`insert into ${sql.table(name)} (${list}) values ${values}`.execute(writer)
    count += batch.length
    batch = []
    bytes = 0
  }
  for await (const row of rows) {
    batch.push(row)
    for (const cell of row) bytes += cell instanceof Uint8Array || typeof cell === 'string' ? cell.length : 8
    if (batch.length >= most || bytes >= STATEMENT_BYTES) await flush()
  }
  await flush()
  return count
}
