import { type Kysely, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/**
 * The id of the document that a restore put in the place of a deleted one. Older programs insert tombstones without it, and it stays null in
 * rows that are there. [LIFE-22]
 */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await sql`alter table tombstones add column successor ${text}`.execute(db)
}
