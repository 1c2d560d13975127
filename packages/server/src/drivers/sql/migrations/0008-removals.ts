import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/**
 * What rooms remember of blocks that they removed in the last minutes. Without a reference to `documents`, so that an older program can
 * still delete a document; what it leaves behind expires.
 */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`create table removals (
      key ${integer} not null, seq ${integer} not null, at_ms ${integer} not null, notes ${text} not null,
      crc32 ${integer} not null, primary key (key, seq))`,
    sql`create index removals_by_age on removals (at_ms)`,
  ]
  for (const statement of statements) await statement.execute(db)
}
