import type { RevocationStore } from '../../auth/revocations.port.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database, Engine } from './engine.ts'
import { readingWith } from './reading.ts'
import { isAsWritten, withChecksum } from './row-checksums.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'

const CURSOR = 'revocation-cursor'
/** Maximum number of rows in one statement; SQLite allows 32,766 parameters. */
const ROWS_PER_STATEMENT = 1000

/** Opens the port `RevocationStore`. `isTold`: whether other nodes are notified of added revocations. */
export function sqlRevocations({ engine, reader }: Database, queue: CommitQueue, log: Logger, isTold = false): RevocationStore {
  const reading = readingWith(log)
  return {
    add: (entries, { cursor, keep, isWhole = false }) =>
      queue.run(entries.length * 64, async (writer) => {
        for (let from = 0; from < entries.length; from += ROWS_PER_STATEMENT) {
          await insert(writer, entries.slice(from, from + ROWS_PER_STATEMENT))
        }
        if (entries.length > 0) await dropOldest(writer, keep)
        if (isTold) await tell(writer, engine, entries, isWhole)
        if (cursor === undefined) return
        const value = storedText(cursor)
        await writer
          .insertInto('store_facts')
          .values({ name: CURSOR, value })
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
          .execute()
      }),
    all: () =>
      reading(async () => {
        const rows = await reader.selectFrom('revocations').selectAll().orderBy('revoked_at_ms').orderBy('jti').execute()
        const damaged = rows.filter((row) => !isAsWritten('revocations', row)).length
        // The content of a damaged row is lost. The other rows are intact, so the relay starts.
        if (damaged > 0)
          log.error('storage.revocations-damaged', 'some stored revocations are damaged; the relay accepts their tokens again', {
            rows: damaged,
          })
        return rows.map((row) => ({ jti: originalText(row.jti), revokedAtMs: row.revoked_at_ms }))
      }),
    cursor: () =>
      reading(async () => {
        const row = await reader.selectFrom('store_facts').select('value').where('name', '=', CURSOR).executeTakeFirst()
        return row === undefined ? null : originalText(row.value)
      }),
  }
}

async function insert(writer: Writer, entries: readonly { readonly jti: string; readonly revokedAtMs: number }[]): Promise<void> {
  const earliest = new Map<string, number>()
  for (const { jti, revokedAtMs } of entries) {
    const stored = storedText(jti)
    earliest.set(stored, Math.min(revokedAtMs, earliest.get(stored) ?? revokedAtMs))
  }
  await writer
    .insertInto('revocations')
    .values([...earliest].map(([jti, revoked_at_ms]) => withChecksum('revocations', { jti, revoked_at_ms })))
    .onConflict((conflict) =>
      conflict
        .column('jti')
        .doUpdateSet((e) => ({ revoked_at_ms: e.ref('excluded.revoked_at_ms'), crc32: e.ref('excluded.crc32') }))
        .whereRef('excluded.revoked_at_ms', '<', 'revocations.revoked_at_ms'),
    )
    .execute()
}

/** Adds a feed row for each revocation, and one more when the revocations are a complete push or poll. [AUTH-14, AUTH-15] */
async function tell(
  writer: Writer,
  engine: Engine,
  entries: readonly { readonly jti: string; readonly revokedAtMs: number }[],
  isWhole: boolean,
): Promise<void> {
  const heard = { at_ms: engine.nowMs, jti: null, revoked_at_ms: null }
  const rows = [
    ...entries.map(({ jti, revokedAtMs }) => ({ at_ms: engine.nowMs, jti: storedText(jti), revoked_at_ms: revokedAtMs })),
    ...(isWhole ? [heard] : []),
  ]
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    await writer
      .insertInto('revocation_feed')
      .values(rows.slice(from, from + ROWS_PER_STATEMENT))
      .execute()
  }
}

async function dropOldest(writer: Writer, keep: number): Promise<void> {
  const row = await writer
    .selectFrom('revocations')
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const excess = row.count - keep
  if (excess <= 0) return
  await writer
    .deleteFrom('revocations')
    .where('jti', 'in', (e) => e.selectFrom('revocations').select('jti').orderBy('revoked_at_ms').orderBy('jti').limit(excess))
    .execute()
}
