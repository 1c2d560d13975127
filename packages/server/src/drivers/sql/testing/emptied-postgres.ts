import pg from 'pg'
import { openHost } from './store-under-test.ts'

/**
 * Empties the store on a PostgreSQL database, when there is one. Creating a database for each test would take a thousand times as long. The facts of
 * a new store stay, and identity values continue. The rows are deleted, documents last because other tables reference them: `truncate` creates every
 * table and index anew, which takes twenty times the processor time of deleting the few rows of a test.
 */
export async function emptyPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ readonly name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%' and tablename <> 'store_facts'
       order by tablename = 'documents'`,
    )
    if (rows.length === 0) return await (await openHost(url))[Symbol.asyncDispose]()
    const tables = rows.map(({ name }) => `delete from ${name}`)
    await client.query([...tables, `delete from store_facts where name <> 'format'`].join('; '))
  } finally {
    await client.end()
  }
}
