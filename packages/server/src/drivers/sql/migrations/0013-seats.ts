import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { StepTypes as FormerTypes } from './0010-recent-updates.ts'

export interface StepTypes extends FormerTypes {
  /** Before `table`, for rows that cost no log and may be gone after a crash of the server. Empty where the engine has no such tables. */
  readonly unlogged: RawBuilder<unknown>
}

/**
 * The sockets of all nodes, counted by workspace. A crash or a failover of the server empties the table, and the nodes write their rows
 * again. It stays empty on SQLite, where one process counts in memory. [WS-17]
 */
export async function up(db: Kysely<unknown>, { text, unlogged }: StepTypes): Promise<void> {
  const integer = sql`bigint`
  await sql`create ${unlogged} table seats (
    workspace_id ${text} not null, inc ${integer} not null, connection ${text} not null, editor ${integer} not null,
    primary key (workspace_id, inc, connection))`.execute(db)
}
