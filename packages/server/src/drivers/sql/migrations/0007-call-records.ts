import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/** What the writes of tools changed, so that they can be undone. */
export async function up(db: Kysely<unknown>, { text, blob }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`create table call_records (
      key ${integer} not null references documents (key), version ${integer} not null, call ${text} not null,
      workspace_id ${text} not null, at_ms ${integer} not null, sub ${text} not null, client ${text}, tool ${text} not null,
      changed ${integer} not null, removed ${integer} not null, size_bytes ${integer} not null, undone_by ${text},
      answer ${text}, record_crc32 ${integer}, crc32 ${integer} not null, record ${blob}, primary key (key, version))`,
    sql`create unique index call_records_by_call on call_records (key, call)`,
    sql`create index call_records_by_size on call_records (key, version, size_bytes)`,
    sql`create index call_records_by_workspace on call_records (workspace_id, at_ms, key, version, size_bytes)`,
    sql`create index call_records_by_age on call_records (at_ms, key, version, size_bytes)`,
    sql`create table call_refs (
      key ${integer} not null references documents (key), version ${integer} not null, hash ${text} not null,
      primary key (key, version, hash))`,
    sql`create index call_refs_by_hash on call_refs (hash)`,
    // So that a write need not add up the records of its workspace.
    sql`create table call_bytes (workspace_id ${text} primary key, bytes ${integer} not null)`,
  ]
  for (const statement of statements) await statement.execute(db)
}
