import { type Kysely, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/**
 * Which of the callers of its principal made a call, as a digest. Older programs insert calls without it, and it stays null in rows that
 * are there. [AG-66, AG-68]
 */
export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await sql`alter table call_records add column caller ${text}`.execute(db)
}
