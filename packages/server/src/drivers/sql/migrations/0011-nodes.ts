import { type Kysely, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/**
 * The nodes that use the store together: one row for each start of a node, whose beat moves while that node lives. It stays empty on SQLite,
 * where one process has the file. [LIFE-26]
 */
export async function up(db: Kysely<unknown>, { identity, text }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  await sql`create table nodes (
    inc ${identity}, node_id ${text} not null, mode ${text} not null, link_url ${text}, program ${text} not null,
    state ${text} not null, beat ${integer} not null, lease_until_ms ${integer} not null, robbed ${integer} not null)`.execute(db)
}
