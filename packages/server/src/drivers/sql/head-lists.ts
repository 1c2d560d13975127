import type { Logger } from '../../kernel/log.ts'
import { type HeadRow, headOf, selectHeads } from './document-rows.ts'
import { type CheckedHead, type HeadLists, STAMP } from './head-stamps.ts'
import type { GiveLineages } from './lineage-reading.ts'
import { readingWith } from './reading.ts'
import { storedText } from './stored-text.ts'
import type { Database } from './engine.ts'

/** Bytes of a head and its stamp, without long facts or a long share list. */
export const FIXED_BYTES = 550

export function sqlHeadLists(
  { reader, readNumbers }: Pick<Database, 'reader' | 'readNumbers'>,
  given: GiveLineages,
  log: Logger,
): HeadLists {
  const reading = readingWith(log)
  return {
    stamps: (workspaceId) =>
      reading(async () => {
        const query = reader
          .selectFrom('documents')
          .leftJoin('log_heads', 'log_heads.key', 'documents.key')
          .select(STAMP.map((name) => (name === 'key' ? 'documents.key' : name)))
          .where('workspace_id', '=', storedText(workspaceId))
          .orderBy('updated_at_ms', 'desc')
          .orderBy('id')
        return new Uint8Array((await readNumbers(query.compile())).buffer)
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
