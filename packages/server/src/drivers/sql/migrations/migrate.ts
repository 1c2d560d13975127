import { type Kysely, sql } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import type { Tables, Writer } from '../tables.ts'
import * as initial from './0001-initial.ts'
import type { ColumnTypes } from './0001-initial.ts'
import * as workspace from './0002-workspace.ts'

/** Raised by one when an older program could not work on the store any more. [LIFE-29] */
export const STORE_FORMAT = 1

/** In order; a released one is never changed (its hash is pinned in a test). */
export const MIGRATIONS: Readonly<Record<string, { up(db: Kysely<unknown>, types: ColumnTypes): Promise<void> }>> = {
  '0001-initial': initial,
  '0002-workspace': workspace,
}

export class StoreTooNewError extends Error {
  constructor(found: number) {
    super(
      `the store has format ${found}, newer than the ${STORE_FORMAT} this program knows: start a newer program or restore a backup`,
    )
    this.name = 'StoreTooNewError'
  }
}

/**
 * Brings the store to this program's format, all steps in one transaction; a store made by a newer program is left untouched.
 * `lock` keeps other processes that start at the same moment waiting until the transaction ends.
 *
 * @throws StoreTooNewError
 */
export function migrateStore(db: Kysely<Tables>, types: ColumnTypes, lock: (writer: Writer) => Promise<void>): Promise<void> {
  return db.transaction().execute(async (writer) => {
    await lock(writer)
    const found = await storedFormat(writer)
    if (found !== null && found > STORE_FORMAT) throw new StoreTooNewError(found)
    if (await extendedByNewer(writer)) return
    const migrations: Record<string, Migration> = {}
    for (const [name, { up }] of Object.entries(MIGRATIONS)) migrations[name] = { up: (connection) => up(connection, types) }
    const migrator = new Migrator({ db: writer, provider: { getMigrations: async () => migrations } })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error instanceof Error ? error : new Error(String(error))
    if (found === STORE_FORMAT) return
    await writer
      .insertInto('store_facts')
      .values({ name: 'format', value: String(STORE_FORMAT) })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(STORE_FORMAT) }))
      .execute()
  })
}

/** A newer program of the same format has added to the store; this one works beside it and leaves the steps alone. */
async function extendedByNewer(db: Kysely<Tables>): Promise<boolean> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return false
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db)
  return rows.some(({ name }) => !(name in MIGRATIONS))
}

async function storedFormat(db: Kysely<Tables>): Promise<number | null> {
  const tables = await db.introspection.getTables()
  if (!tables.some((table) => table.name === 'store_facts')) return null
  const row = await db.selectFrom('store_facts').select('value').where('name', '=', 'format').executeTakeFirst()
  if (row === undefined) return null
  const format = Number(row.value)
  if (!Number.isSafeInteger(format)) throw new Error(`the store names its format as ${JSON.stringify(row.value)}`)
  return format
}

/** Rejects when the store cannot be read: what a readiness probe asks. */
export async function answers(db: Kysely<Tables>): Promise<void> {
  await sql`select 1 from store_facts where name = 'format'`.execute(db)
}
