import type { Logger } from '../../kernel/log.ts'
import { type HeadRow, headOf, selectHeads } from './document-rows.ts'
import { type CheckedHead, type HeadLists, STAMP } from './head-stamps.ts'
import type { HeadChanges } from './head-changes.ts'
import type { GiveLineages } from './lineage-reading.ts'
import { readingWith } from './reading.ts'
import { storedText } from './stored-text.ts'
import type { Database } from './engine.ts'

/** Bytes of a head and its stamp in memory, without long facts or a long share list. */
export const FIXED_BYTES = 550
const LONG_FACTS = 8_192

/**
 * Opens the reading of lists. `changes`: the changes of this process, when only this process writes to the store. Without `changes` every list reads
 * all stamps.
 */
export function sqlHeadLists(
  { reader, readNumbers, changedBeside }: Pick<Database, 'reader' | 'readNumbers' | 'changedBeside'>,
  given: GiveLineages,
  log: Logger,
  changes: HeadChanges | null = null,
): HeadLists {
  const reading = readingWith(log)
  let seenBeside: string | null = null

  async function read(workspaceId: string, keys: readonly number[] | null): Promise<Uint8Array> {
    if (keys?.length === 0) return new Uint8Array()
    const query = reader
      .selectFrom('documents')
      .leftJoin('log_heads', 'log_heads.key', 'documents.key')
      .select(STAMP.map((name) => (name === 'key' ? 'documents.key' : name)))
      .where('workspace_id', '=', storedText(workspaceId))
      .$if(keys !== null, (all) => all.where('documents.key', 'in', keys ?? []))
      .orderBy('updated_at_ms', 'desc')
      .orderBy('id')
    return new Uint8Array((await readNumbers(query.compile())).buffer)
  }

  return {
    stamps: (workspaceId, since) =>
      reading(async () => {
        if (changes === null) return { mark: null, changed: null, numbers: await read(workspaceId, null) }
        const beside = await changedBeside()
        if (beside !== seenBeside) changes.forget()
        seenBeside = beside
        // The mark is taken before the rows are read: a commit in between comes after this mark and may be read twice.
        const { mark } = changes
        const changed = since === null ? null : changes.since(since)
        return { mark, changed, numbers: await read(workspaceId, changed) }
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

/** Returns the head in a row; nothing for a damaged row, which is logged. */
export function readableHeads(row: HeadRow, log: Logger): CheckedHead[] {
  try {
    const head = headOf(row)
    // An earlier release may have stored longer facts than heads keep.
    const facts = row.facts.length > LONG_FACTS ? JSON.stringify(head.facts) : row.facts
    const bytes = FIXED_BYTES + facts.length + row.shared_with.length
    return [{ crc32: row.crc32, lineageCrc32: row.lineage_crc32, bytes, head }]
  } catch (error) {
    log.error('storage.document-damaged', 'a document is left out of a list because its row is damaged', {
      error: String(error),
      key: row.key,
    })
    return []
  }
}
