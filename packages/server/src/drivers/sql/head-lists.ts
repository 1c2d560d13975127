import type { Logger } from '../../kernel/log.ts'
import { type HeadRow, headOf, selectHeads } from './document-rows.ts'
import { type CheckedHead, type HeadLists, STAMP } from './head-stamps.ts'
import type { GiveLineages } from './lineage-reading.ts'
import { readingWith } from './reading.ts'
import { storedText } from './stored-text.ts'
import type { Connection } from './tables.ts'

/** Bytes of a head without a long body or share list. */
export const FIXED_BYTES = 500

export function sqlHeadLists(reader: Connection, given: GiveLineages, log: Logger): HeadLists {
  const reading = readingWith(log)
  return {
    stamps: (workspaceId) =>
      reading(async () => {
        const rows = await reader
          .selectFrom('documents')
          .leftJoin('log_heads', 'log_heads.key', 'documents.key')
          .select(['documents.key', 'version', 'crc32', 'last_seq', 'covered_seq', 'body_ahead'])
          .where('workspace_id', '=', storedText(workspaceId))
          .orderBy('updated_at_ms', 'desc')
          .orderBy('id')
          .execute()
        const stamps = new Float64Array(rows.length * STAMP.length)
        let at = 0
        for (const row of rows) for (const name of STAMP) stamps[at++] = row[name] ?? Number.NaN
        return new Uint8Array(stamps.buffer)
      }),
    heads(keys) {
      const read = async (): Promise<readonly CheckedHead[]> => {
        const rows = await selectHeads(reader).where('documents.key', 'in', keys).execute()
        return rows.flatMap((row) => readableHeads(row, log))
      }
      return given(
        () => reading(read),
        (checked) => checked.map(({ head }) => head),
      )
    },
  }
}

/** Returns nothing for a damaged row. */
export function readableHeads(row: HeadRow, log: Logger): CheckedHead[] {
  try {
    return [{ crc32: row.crc32, bytes: FIXED_BYTES + row.facts.length + row.shared_with.length, head: headOf(row) }]
  } catch (error) {
    log.error('storage.document-damaged', 'a document is left out of a list because its row is damaged', {
      error: String(error),
      key: row.key,
    })
    return []
  }
}
