import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/**
 * What every node of several has to be told, and which of them does the jobs that one is enough for. A single relay writes to none of these
 * tables. No row refers to a document: it outlives the document that it tells of.
 */
export async function up(db: Kysely<unknown>, { identity, text, blob }: ColumnTypes): Promise<void> {
  const integer = sql`bigint`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`create table change_feed (
      id ${identity}, at_ms ${integer} not null, workspace_id ${text} not null, key ${integer} not null, kind ${text} not null,
      actor ${text} not null, seq ${integer} not null, origin ${text} not null, payload ${blob} not null)`,
    sql`create table revocation_feed (
      id ${identity}, at_ms ${integer} not null, jti ${text}, revoked_at_ms ${integer})`,
    sql`create table job_leases (job ${text} primary key, holder ${text} not null, until_ms ${integer} not null)`,
  ]
  for (const statement of statements) await statement.execute(db)
}
