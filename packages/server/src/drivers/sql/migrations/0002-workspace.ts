import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/** What a workspace has around its documents: blobs and who holds them, registries, share links; recovery points that can be compared. */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`alter table recovery_points add column digest ${text}`,
    sql`create table point_refs (
      key ${integer} not null references documents (key), point ${integer} not null, hash ${text} not null, primary key (point, hash))`,
    sql`create index point_refs_by_hash on point_refs (hash)`,
    sql`create index point_refs_by_key on point_refs (key)`,
    sql`create table blob_refs (key ${integer} not null references documents (key), hash ${text} not null, primary key (key, hash))`,
    sql`create index blob_refs_by_hash on blob_refs (hash)`,
    sql`create table blob_grants (
      workspace_id ${text} not null, hash ${text} not null, size_bytes ${integer} not null, mime_type ${text} not null,
      created_at_ms ${integer} not null, metered integer not null, unreferenced_at_ms ${integer}, provenance ${text},
      primary key (workspace_id, hash))`,
    sql`create index blob_grants_by_hash on blob_grants (hash)`,
    sql`create index blob_grants_by_size on blob_grants (workspace_id, metered, size_bytes)`,
    sql`create index blob_grants_unreferenced on blob_grants (unreferenced_at_ms)`,
    sql`create table blob_uploaders (
      workspace_id ${text} not null, hash ${text} not null, sub ${text} not null, primary key (workspace_id, hash, sub))`,
    sql`create table blob_uploads (
      id ${text} primary key, workspace_id ${text} not null, hash ${text}, bytes ${integer} not null, kind ${text} not null, sub ${text},
      expires_at_ms ${integer} not null, remove_at_ms ${integer})`,
    sql`create index blob_uploads_by_workspace on blob_uploads (workspace_id, expires_at_ms)`,
    sql`create index blob_uploads_by_hash on blob_uploads (hash)`,
    sql`create index blob_uploads_by_age on blob_uploads (remove_at_ms)`,
    sql`create table blob_orphans (hash ${text} primary key)`,
    sql`create table registries (
      workspace_id ${text} not null, kind ${text} not null, version ${integer} not null, size_bytes ${integer} not null, value ${text} not null,
      primary key (workspace_id, kind))`,
    sql`create table share_links (
      id ${text} primary key, token_hash ${text} not null unique, key ${integer} not null references documents (key),
      created_at_ms ${integer} not null, created_by ${text} not null, expires_at_ms ${integer} not null)`,
    sql`create index share_links_by_key on share_links (key)`,
    sql`create index share_links_by_age on share_links (expires_at_ms)`,
  ]
  for (const statement of statements) await statement.execute(db)
}
