import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/** Writes that their callers may ask for again, for some minutes. */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`create table remembered_writes (
      workspace_id ${text} not null, request ${text} not null, digest ${text} not null, answer ${text} not null, version ${integer} not null,
      at_ms ${integer} not null, crc32 ${integer} not null, primary key (workspace_id, request))`,
    sql`create index remembered_writes_by_workspace on remembered_writes (workspace_id, at_ms)`,
    sql`create index remembered_writes_by_age on remembered_writes (at_ms)`,
  ]
  for (const statement of statements) await statement.execute(db)
}
