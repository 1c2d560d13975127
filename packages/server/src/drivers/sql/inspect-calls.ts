import { blobReferencesIn } from '@docrelay/model/blob-references'
import { isWhole } from './call-records.ts'
import type { Connection } from './tables.ts'

const PAGE_ROWS = 500

/**
 * Yields a sentence for each call record that differs from what was written. Call records may be long, so they are read one by one. [OPS-11, AG-67]
 */
export async function* callProblems(db: Connection): AsyncGenerator<string> {
  for await (const { key, version } of places(db)) {
    const row = await db
      .selectFrom('call_records')
      .selectAll()
      .where('key', '=', key)
      .where('version', '=', version)
      .executeTakeFirst()
    // The call record may have been removed meanwhile.
    if (row === undefined) continue
    const refs = await db.selectFrom('call_refs').select('hash').where('key', '=', key).where('version', '=', version).execute()
    const name = `a call record of document key ${key} (version ${version})`
    if (!isWhole(row)) yield `${name} does not have its checksum`
    else if (
      refs
        .map(({ hash }) => hash)
        .sort()
        .join() !== blobReferencesIn(textOf(row.record)).join()
    )
      yield `${name} references other blobs than its rows say`
  }
}

async function* places(db: Connection): AsyncGenerator<{ readonly key: number; readonly version: number }> {
  let last = { key: -1, version: -1 }
  for (;;) {
    const { key, version } = last
    const rows = await db
      .selectFrom('call_records')
      .select(['key', 'version'])
      .where((e) => e.or([e('key', '>', key), e.and([e('key', '=', key), e('version', '>', version)])]))
      .orderBy('key')
      .orderBy('version')
      .limit(PAGE_ROWS)
      .execute()
    yield* rows
    const end = rows.at(-1)
    if (end === undefined || rows.length < PAGE_ROWS) return
    last = end
  }
}

function textOf(record: Uint8Array | null): string {
  return record === null ? '' : new TextDecoder().decode(record)
}
