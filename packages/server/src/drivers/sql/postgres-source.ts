import { sql } from 'kysely'
import type { ArchivedTable, Cell, StoreSource } from '../../backup/store-archive.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { acceptedLosses } from './accepted-losses.ts'
import { layoutOf, type TableFacts } from './archive-layout.ts'
import { objectsOf } from './blob-objects.ts'
import { openPostgres } from './postgres.ts'
import type { Connection } from './tables.ts'

const FIRST_FETCH_ROWS = 16
const MOST_FETCH_ROWS = 1000
const FETCH_BYTES = 4 << 20

/** Opens a store for copying. Everything is read in one transaction, whose snapshot blocks no writer. */
export async function postgresSource(url: string, log: Logger): Promise<StoreSource> {
  const { reader, close } = await openPostgres(url, 0, log, { isTool: true })
  return {
    atOneMoment: (work) =>
      reader
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (db) => {
          const { layout, others } = await layoutOf(db, (isCopied) => tableFacts(db, isCopied))
          return work({ layout, others, acceptedLosses: await acceptedLosses(db), rows: (table) => cursorRows(db, table) })
        }),
    objectOf: objectsOf(reader),
    [Symbol.asyncDispose]: close,
  }
}

/** Yields the rows of a table and reads some MiB at a time. The number of rows in a read is estimated from earlier rows. */
async function* cursorRows(db: Connection, { name, columns }: ArchivedTable): AsyncGenerator<readonly Cell[]> {
  const list = sql.join(columns.map((column) => sql.ref(column)))
  await sql`declare backup_rows no scroll cursor for select ${list} from ${sql.table(name)}`.execute(db)
  for (let count = FIRST_FETCH_ROWS; ; ) {
    const { rows } = await sql<Record<string, Cell>>`fetch forward ${sql.lit(count)} from backup_rows`.execute(db)
    if (rows.length === 0) break
    let bytes = 0
    for (const row of rows) {
      const cells = columns.map((column) => row[column] ?? null)
      for (const cell of cells) bytes += cell === null || typeof cell === 'number' ? 8 : cell.length
      yield cells
    }
    count = Math.max(1, Math.min(MOST_FETCH_ROWS, Math.floor((FETCH_BYTES * rows.length) / bytes)))
  }
  await sql`close backup_rows`.execute(db)
}

async function tableFacts(db: Connection, isCopied: (table: string) => boolean): Promise<readonly TableFacts[]> {
  const { rows } = await sql<{
    table_name: string
    name: string
    type: string
    is_identity: boolean
    sequence: string | null
  }>`
    select c.relname as table_name, a.attname as name, format_type(a.atttypid, null) as type, a.attidentity <> '' as is_identity,
      case when a.attidentity <> '' then pg_get_serial_sequence(quote_ident(c.relname), a.attname) end as sequence
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attnum > 0 and not a.attisdropped
    order by c.oid, a.attnum`.execute(db)
  const tables: TableFacts[] = []
  for (const name of new Set(rows.map((row) => row.table_name))) {
    const columns = rows.filter((row) => row.table_name === name)
    const sequence = columns.find((column) => column.sequence !== null)?.sequence ?? null
    tables.push({
      name,
      lastIdentity: sequence === null || !isCopied(name) ? 0 : await lastGiven(db, sequence),
      columns: columns.map((column) => ({
        name: column.name,
        isBinary: column.type === 'bytea',
        isIdentity: column.is_identity,
      })),
    })
  }
  return tables
}

async function lastGiven(db: Connection, sequence: string): Promise<number> {
  // The catalogue returns the name in quotes.
  const { rows } = await sql<{ last: number }>`
    select case when is_called then last_value else 0 end as last from ${sql.raw(sequence)}`.execute(db)
  return rows[0]?.last ?? 0
}
