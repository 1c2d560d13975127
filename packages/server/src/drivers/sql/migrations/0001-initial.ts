import { type Kysely, type RawBuilder, sql } from 'kysely'

/** The column types on which the engines differ. */
export interface ColumnTypes {
  /** A primary key the engine assigns and never gives twice. */
  readonly identity: RawBuilder<unknown>
  /** Text compared byte by byte. */
  readonly text: RawBuilder<unknown>
  readonly blob: RawBuilder<unknown>
}

export async function up(db: Kysely<unknown>, { identity, text, blob }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const tables: readonly RawBuilder<unknown>[] = [
    sql`create table store_facts (name ${text} primary key, value ${text} not null)`,
    sql`create table documents (
      key ${identity}, workspace_id ${text} not null, id ${text} not null, version ${integer} not null,
      owner_id ${text} not null, owner_name ${text} not null, collection_id ${text}, shared_with ${text} not null,
      created_at_ms ${integer} not null, updated_at_ms ${integer} not null, title_changed_at_ms ${integer} not null,
      size_bytes ${integer} not null, facts ${text} not null, crc32 ${integer} not null, unique (workspace_id, id))`,
    sql`create index documents_by_size on documents (workspace_id, size_bytes)`,
    sql`create table log_heads (
      key ${integer} primary key references documents (key), last_seq ${integer} not null, covered_seq ${integer} not null,
      body_ahead integer not null)`,
    sql`create table bodies (key ${integer} primary key references documents (key), crc32 ${integer} not null, body ${blob} not null)`,
    sql`create table updates (
      key ${integer} not null, seq ${integer} not null, actor ${text} not null, at_ms ${integer} not null,
      crc32 ${integer} not null, bytes ${blob} not null, primary key (key, seq))`,
    sql`create table snapshots (
      key ${integer} not null references documents (key), through_seq ${integer} not null, crc32 ${integer} not null,
      state_vector ${blob} not null, bytes ${blob} not null, primary key (key, through_seq))`,
    sql`create table set_aside (
      entry ${identity}, key ${integer} not null references documents (key), kind ${text} not null, seq ${integer} not null,
      detail ${text} not null, bytes ${blob} not null)`,
    sql`create index set_aside_by_key on set_aside (key)`,
    sql`create table recovery_points (
      point ${identity}, key ${integer} not null references documents (key), reason ${text} not null, created_at_ms ${integer} not null,
      version ${integer} not null, facts ${text} not null, crc32 ${integer} not null, body ${blob} not null)`,
    sql`create index recovery_points_by_key on recovery_points (key, point)`,
    sql`create table tombstones (
      workspace_id ${text} not null, id ${text} not null, deleted_at_ms ${integer} not null, last_server_version ${integer} not null,
      owner_id ${text} not null, primary key (workspace_id, id))`,
    sql`create index tombstones_by_age on tombstones (deleted_at_ms)`,
    sql`create table revocations (jti ${text} primary key, revoked_at_ms ${integer} not null)`,
    sql`create index revocations_by_age on revocations (revoked_at_ms)`,
  ]
  for (const statement of tables) await statement.execute(db)
}
