import { sql } from 'kysely'
import { type AppendRecord, REMOVALS_LOADED_MS } from '../../sync/update-log.port.ts'
import { isAsWritten, withChecksum } from './row-checksums.ts'
import type { Connection, Writer } from './tables.ts'

/** Maximum number of rows of one document. */
const MOST_ROWS = 1_000
/** Maximum number of characters in the notes of one document, and in the notes that a load reads. */
const MOST_CHARACTERS = 4 * 1_048_576
/** When notes of at least this length are added, the characters of all notes of the document are counted. */
const LONG_NOTES = 65_536

/**
 * Stores the notes about removed blocks that come with these records, in the transaction that appends the records. Removes rows beyond the limits of
 * the document. Most records have no notes. [AG-110]
 */
export async function keepRemovals(
  writer: Writer,
  records: readonly Pick<AppendRecord, 'key' | 'afterSeq' | 'atMs' | 'removals'>[],
): Promise<void> {
  for (const { key, afterSeq, atMs, removals } of records) {
    if (removals === undefined) continue
    const row = withChecksum('removals', { key, seq: afterSeq + 1, at_ms: atMs, notes: removals })
    await writer.insertInto('removals').values(row).execute()
    const older = removals.length < LONG_NOTES ? beyondRows(writer, key) : await beyondCharacters(writer, key)
    await writer.deleteFrom('removals').where('key', '=', key).where('seq', '<=', older).execute()
  }
}

/** Selects the `seq` of the newest row beyond `MOST_ROWS`; null when there is none. */
function beyondRows(db: Connection, key: number) {
  return db
    .selectFrom('removals as row')
    .select('row.seq')
    .where('row.key', '=', key)
    .orderBy('row.seq', 'desc')
    .limit(1)
    .offset(MOST_ROWS)
}

/** Returns the `seq` of the newest row with which the notes exceed `MOST_CHARACTERS`; -1 when they do not. */
async function beyondCharacters(db: Connection, key: number): Promise<number> {
  const rows = await db
    .selectFrom('removals')
    .select(['seq', sql<number>`length(notes)`.as('length')])
    .where('key', '=', key)
    .orderBy('seq', 'desc')
    .execute()
  let characters = 0
  return rows.find(({ length }) => (characters += length) > MOST_CHARACTERS)?.seq ?? -1
}

/** Returns the notes of a document from the last minute before its newest row. A damaged row is left out; `relay verify` reports it. */
export async function removalsOf(db: Connection, key: number): Promise<readonly string[]> {
  const newest = await db
    .selectFrom('removals')
    .select((e) => e.fn.max<number | null>('at_ms').as('at_ms'))
    .where('key', '=', key)
    .executeTakeFirst()
  if (newest?.at_ms === null || newest?.at_ms === undefined) return []
  const rows = await db
    .selectFrom('removals')
    .selectAll()
    .where('key', '=', key)
    .where('at_ms', '>', newest.at_ms - REMOVALS_LOADED_MS)
    .where('seq', '>', await beyondCharacters(db, key))
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
