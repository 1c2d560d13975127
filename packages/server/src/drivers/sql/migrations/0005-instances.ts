import { type Kysely, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/** Which relay uses the store: one row, whose beat moves for as long as that relay lives. It stays empty on SQLite, which locks a file. */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  await sql`create table instances (
    holder ${text} primary key, place ${text} not null unique, beat ${integer} not null, at_ms ${integer} not null)`.execute(db)
}
