import { sql } from 'kysely'
import { type AppendRecord, REMOVALS_LOADED_MS } from '../../sync/update-log.port.ts'
import { isAsWritten, withChecksum } from './row-checksums.ts'
import type { Connection, Writer } from './tables.ts'

/** Stores what rooms remember with these records, in the transaction that appends them. Most records have nothing. [AG-110] */
export async function keepRemovals(
  writer: Writer,
  records: readonly Pick<AppendRecord, 'key' | 'afterSeq' | 'atMs' | 'removals'>[],
): Promise<void> {
  for (const { key, afterSeq, atMs, removals } of records) {
    if (removals === undefined) continue
    const row = withChecksum('removals', { key, seq: afterSeq + 1, at_ms: atMs, notes: removals })
    await writer.insertInto('removals').values(row).execute()
  }
}

/** What is stored of the last minute before the newest of the document. A damaged row is left out: `relay verify` reports it. */
export async function removalsOf(db: Connection, key: number): Promise<readonly string[]> {
  const newest = db
    .selectFrom('removals')
    .select((e) => e.fn.max('at_ms').as('at_ms'))
    .where('key', '=', key)
  const rows = await db
    .selectFrom('removals')
    .selectAll()
    .where('key', '=', key)
    .where('at_ms', '>', sql<number>`${newest} - ${sql.lit(REMOVALS_LOADED_MS)}`)
    .orderBy('seq')
    .execute()
  return rows.filter((row) => isAsWritten('removals', row)).map(({ notes }) => notes)
}

export async function purgeRemovals(writer: Writer, beforeMs: number, limit: number): Promise<number> {
  const result = await writer
    .deleteFrom('removals')
    .where(sql<boolean>`(key, seq) in (select key, seq from removals where at_ms < ${beforeMs} order by at_ms limit ${limit})`)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
