import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

export interface StepTypes extends ColumnTypes {
  /** Whether the engine writes new records of the log to a table without an index and moves them in batches. */
  readonly recentApart: boolean
}

const COLUMNS = sql`key, seq, actor, at_ms, crc32, bytes`

/**
 * On SQLite, puts new records of the log into a table of their own, because the index of the whole log costs a page for each document of a
 * commit. `updates` becomes a view of both tables that is written like a table, so older programs and all readers use it as before. Renaming
 * the table moves no row.
 */
export async function up(db: Kysely<unknown>, { recentApart, text, blob }: StepTypes): Promise<void> {
  if (!recentApart) return
  const integer = sql`bigint`
  const changed = sql`key = new.key, seq = new.seq, actor = new.actor, at_ms = new.at_ms, crc32 = new.crc32, bytes = new.bytes`
  const statements: readonly RawBuilder<unknown>[] = [
    sql`alter table updates rename to updates_settled`,
    sql`create table updates_recent (
      key ${integer} not null, seq ${integer} not null, actor ${text} not null, at_ms ${integer} not null,
      crc32 ${integer} not null, bytes ${blob} not null)`,
    // `recent_row` tells the triggers in which table a record is. Without the cast SQLite would sort what it reads from both tables.
    sql`create view updates as
      select ${COLUMNS}, cast(null as integer) as recent_row from updates_settled
      union all select ${COLUMNS}, rowid from updates_recent`,
    sql`create trigger updates_insert instead of insert on updates begin
      insert into updates_settled (${COLUMNS}) values (new.key, new.seq, new.actor, new.at_ms, new.crc32, new.bytes);
    end`,
    sql`create trigger updates_delete instead of delete on updates begin
      delete from updates_settled where old.recent_row is null and key = old.key and seq = old.seq;
      delete from updates_recent where rowid = old.recent_row;
    end`,
    sql`create trigger updates_update instead of update on updates begin
      update updates_settled set ${changed} where old.recent_row is null and key = old.key and seq = old.seq;
      update updates_recent set ${changed} where rowid = old.recent_row;
    end`,
  ]
  for (const statement of statements) await statement.execute(db)
}
