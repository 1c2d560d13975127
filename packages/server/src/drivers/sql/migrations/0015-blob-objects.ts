import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/**
 * Which object of the blob store has the bytes of a hash: one row for each object that an upload has announced, until it is removed. A hash
 * without a valid object has its bytes under its own name, as all had before this step. [BLOB-24]
 */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`create table blob_objects (
      object ${text} primary key, hash ${text} not null, state ${text} not null, until_ms ${integer} not null)`,
    sql`create index blob_objects_by_hash on blob_objects (hash)`,
    sql`create index blob_objects_to_end on blob_objects (state, until_ms)`,
  ]
  for (const statement of statements) await statement.execute(db)
}
