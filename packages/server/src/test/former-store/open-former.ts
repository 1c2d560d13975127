import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { openPostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import type { Contents } from './contents.ts'

const FOLDER = join(import.meta.dirname, '926e332')
const unzipped = (name: string): Buffer => gunzipSync(readFileSync(join(FOLDER, `${name}.gz`)))

/** The rows of every table by column name, as text for comparison. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>

/** A test's own copy of a former store. */
export interface FormerStore extends AsyncDisposable {
  readonly url: string
  readonly dataDir: string
  readonly env: Readonly<Record<string, string>>
  /** What callers could read from the store with the program of that release. */
  readonly contents: Contents
  rows(): Promise<Rows>
}

function copyBlobs(name: string): string {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'relay-former-')), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  cpSync(join(FOLDER, `${name}-blobs`), join(dataDir, 'blobs'), { recursive: true })
  return dataDir
}

export async function formerSqlite(): Promise<FormerStore> {
  const dataDir = copyBlobs('sqlite')
  const path = join(dataDir, 'relay.db')
  writeFileSync(path, unzipped('relay.db'))
  writeFileSync(`${path}-wal`, unzipped('relay.db-wal'))
  return {
    url: `sqlite:${path}`,
    dataDir,
    env: {},
    contents: JSON.parse(String(unzipped('sqlite.json'))) as Contents,
    async rows() {
      const db = new DatabaseSync(path, { readOnly: true })
      try {
        const tables = db
          .prepare("select name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite%'")
          .all()
        return Object.fromEntries(
          tables.map(({ name }) => [String(name), comparable(db.prepare(`select * from "${String(name)}"`).all())]),
        )
      } finally {
        db.close()
      }
    },
    [Symbol.asyncDispose]: async () => rmSync(join(dataDir, '..'), { recursive: true }),
  }
}

/** Opens the PostgreSQL store. A string gives the reason why there is no server. */
export async function formerPostgres(): Promise<FormerStore | string> {
  const server = await openPostgresUnderTest()
  if (typeof server === 'string') return server
  const onServer = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  // Removes commands that only psql understands; they are on lines of their own.
  const dump = String(unzipped('postgres.sql')).replaceAll(/^\\.*$/gm, '')
  await onServer((client) => client.query(dump))
  const dataDir = copyBlobs('postgres')
  return {
    url: server.url,
    dataDir,
    env: { RELAY_STORAGE_URL: server.url, RELAY_CLUSTER_SINGLE_NODE: 'true' },
    contents: JSON.parse(String(unzipped('postgres.json'))) as Contents,
    rows: () =>
      onServer(async (client) => {
        const tables = await client.query<{ tablename: string }>("select tablename from pg_tables where schemaname = 'public'")
        const rows: Record<string, Rows[string]> = {}
        for (const { tablename } of tables.rows)
          rows[tablename] = comparable((await client.query<Record<string, unknown>>(`select * from public."${tablename}"`)).rows)
        return rows
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      rmSync(join(dataDir, '..'), { recursive: true })
    },
  }
}

function comparable(rows: readonly Record<string, unknown>[]): Rows[string] {
  return rows
    .map((row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, textOf(cell)])))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

function textOf(cell: unknown): string {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('hex') : String(cell)
}
