import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/**
 * Which node owns a document, in the row that every append changes, so that the statement of an append can compare it. Null while no node of
 * several has opened the document: then the columns take no byte on PostgreSQL, where a row of up to eight columns has room for its nulls.
 * Neither column has an index, so that a change of the row need not touch one.
 *
 * `takeovers` has a row only for a document that was taken from a node that had not given it up. It vanishes with the document, also when an
 * older program deletes that. [LIFE-26]
 */
export async function up(db: Kysely<unknown>, _types: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`alter table log_heads add column owner ${integer}`,
    sql`alter table log_heads add column epoch ${integer}`,
    sql`create table takeovers (
      key ${integer} primary key references documents (key) on delete cascade, times ${integer} not null, taken_at_ms ${integer} not null)`,
  ]
  for (const statement of statements) await statement.execute(db)
}
