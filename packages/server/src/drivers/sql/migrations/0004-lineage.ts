import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/**
 * What tells the lives of one document id apart: a lineage for each document, and the Y clients that wrote in former lives of an id.
 * The columns begin empty; documents get their lineage beside the running relay, in batches, or when they are first read.
 */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`alter table documents add column lineage ${text}`,
    // Apart from the checksum of the row, which programs of before go on writing.
    sql`alter table documents add column lineage_crc32 ${integer}`,
    sql`create table former_clients (
      workspace_id ${text} not null, id ${text} not null, until_ms ${integer} not null, clients ${text} not null, crc32 ${integer} not null,
      primary key (workspace_id, id))`,
    sql`create index former_clients_by_age on former_clients (until_ms)`,
  ]
  for (const statement of statements) await statement.execute(db)
}
