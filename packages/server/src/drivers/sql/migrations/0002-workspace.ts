import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/** What a workspace has around its documents: blobs and who holds them, registries, share links; recovery points that can be compared. */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    // In list order, with what tells whether a remembered row is still the stored one.
    sql`create index documents_by_change on documents (workspace_id, updated_at_ms desc, id, version, crc32)`,
    sql`alter table recovery_points add column digest ${text}`,
    // Rows that are there stay without: what a program did not sum when it wrote it, no later one can vouch for.
    sql`alter table log_heads add column flags_crc32 ${integer}`,
    sql`alter table tombstones add column crc32 ${integer}`,
    sql`alter table revocations add column crc32 ${integer}`,
    // With what points are compared by, as SQLite would read through a whole body to the column behind it.
    sql`drop index recovery_points_by_key`,
    sql`create index recovery_points_by_key on recovery_points (key, point, created_at_ms, digest)`,
    sql`create table point_refs (
      key ${integer} not null references documents (key), point ${integer} not null, hash ${text} not null, primary key (point, hash))`,
    sql`create index point_refs_by_hash on point_refs (hash)`,
    sql`create index point_refs_by_key on point_refs (key)`,
    sql`create table blob_refs (key ${integer} not null references documents (key), hash ${text} not null, primary key (key, hash))`,
    sql`create index blob_refs_by_hash on blob_refs (hash)`,
    sql`create table blob_grants (
      workspace_id ${text} not null, hash ${text} not null, size_bytes ${integer} not null, mime_type ${text} not null,
      created_at_ms ${integer} not null, metered integer not null, unreferenced_at_ms ${integer}, provenance ${text},
      crc32 ${integer} not null,      primary key (workspace_id, hash))`,
    sql`create index blob_grants_by_hash on blob_grants (hash)`,
    sql`create index blob_grants_by_size on blob_grants (workspace_id, metered, size_bytes)`,
    sql`create index blob_grants_unreferenced on blob_grants (unreferenced_at_ms)`,
    sql`create table blob_uploaders (
      workspace_id ${text} not null, hash ${text} not null, sub ${text} not null, crc32 ${integer} not null,
      primary key (workspace_id, hash, sub))`,
    sql`create table blob_uploads (
      id ${text} primary key, workspace_id ${text} not null, hash ${text}, bytes ${integer} not null, kind ${text} not null, sub ${text},
      expires_at_ms ${integer} not null, remove_at_ms ${integer}, crc32 ${integer} not null)`,
    sql`create index blob_uploads_by_workspace on blob_uploads (workspace_id, expires_at_ms)`,
    sql`create index blob_uploads_by_hash on blob_uploads (hash)`,
    sql`create index blob_uploads_by_age on blob_uploads (remove_at_ms)`,
    sql`create table blob_orphans (hash ${text} primary key)`,
    sql`create table registries (
      workspace_id ${text} not null, kind ${text} not null, version ${integer} not null, size_bytes ${integer} not null, value ${text} not null,
      crc32 ${integer} not null, primary key (workspace_id, kind))`,
    sql`create table share_links (
      id ${text} primary key, token_hash ${text} not null unique, key ${integer} not null references documents (key),
      created_at_ms ${integer} not null, created_by ${text} not null, expires_at_ms ${integer} not null,
      crc32 ${integer} not null)`,
    sql`create index share_links_by_key on share_links (key)`,
    // Few; what operators watch. [OPS-4]
    sql`create index documents_unowned on documents (owner_id) where owner_id = ''`,
    sql`create index share_links_by_age on share_links (expires_at_ms)`,
  ]
  for (const statement of statements) await statement.execute(db)
  await fillReferences(db)
}

/** Bodies are read so many bytes at a time, a larger one alone. */
const BATCH_BYTES = 8 * 1024 * 1024
const BATCH_ROWS = 500

interface Listed {
  readonly row: number
  readonly key: number
  readonly size: number
}

/** What the bodies and points of an older store reference. Nothing here is imported: a step stays as it was released. */
async function fillReferences(db: Kysely<unknown>): Promise<void> {
  const bodies = sql<Listed>`select key as row, key, length(body) as size from bodies`
  await scan(db, bodies, 'bodies', 'key', (key, _row, hash) => sql`insert into blob_refs (key, hash) values (${key}, ${hash})`)
  const points = sql<Listed>`select point as row, key, length(body) as size from recovery_points`
  await scan(
    db,
    points,
    'recovery_points',
    'point',
    (key, row, hash) => sql`insert into point_refs (key, point, hash) values (${key}, ${row}, ${hash})`,
  )
}

async function scan(
  db: Kysely<unknown>,
  listing: RawBuilder<Listed>,
  table: string,
  column: string,
  insert: (key: number, row: number, hash: string) => RawBuilder<unknown>,
): Promise<void> {
  const { rows: listed } = await listing.execute(db)
  const keys = new Map(listed.map(({ row, key }) => [row, key]))
  for (const batch of batches(listed)) {
    const { rows } = await sql<{ row: number; body: Uint8Array }>`
      select ${sql.ref(column)} as row, body from ${sql.table(table)} where ${sql.ref(column)} in (${sql.join(batch)})`.execute(
      db,
    )
    for (const { row, body } of rows) {
      for (const hash of referencesOf(body)) await insert(keys.get(row) ?? row, row, hash).execute(db)
    }
  }
}

function* batches(listed: readonly Listed[]): Generator<number[]> {
  let rows: number[] = []
  let bytes = 0
  for (const { row, size } of listed) {
    if (rows.length === BATCH_ROWS || (rows.length > 0 && bytes + size > BATCH_BYTES)) {
      yield rows
      rows = []
      bytes = 0
    }
    rows.push(row)
    bytes += size
  }
  if (rows.length > 0) yield rows
}

/** References in the content of compact JSON, and the hashes of its own list. */
function referencesOf(body: Uint8Array): ReadonlySet<string> {
  const text = new TextDecoder().decode(body)
  if (!text.includes('blob')) return new Set()
  const pattern = /(?<!\\)"blobRef":"([0-9a-f]{64})"|blob:\/\/([0-9a-f]{64})(?![0-9a-f])/g
  const found = new Set([...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? ''))
  for (const entry of text.includes('"blobReferences"') ? listedIn(text) : []) {
    if (typeof entry === 'string' && /^[0-9a-f]{64}$/.test(entry)) found.add(entry)
  }
  return found
}

/** A damaged body is found out when it is read; here it just lists nothing. */
function listedIn(text: string): readonly unknown[] {
  try {
    const listed: unknown = (JSON.parse(text) as { readonly blobReferences?: unknown } | null)?.blobReferences
    return Array.isArray(listed) ? listed : []
  } catch {
    return []
  }
}
