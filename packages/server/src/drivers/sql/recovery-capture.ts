import type { DocumentHead } from '../../documents/document-store.port.ts'
import { rowChecksum } from './checksum.ts'
import type { Writer } from './tables.ts'

/** Keeps the stored body of `head` as a recovery point. Times of one document's points strictly rise, whatever the clock does. [LIFE-18] */
export async function captureRecoveryPoint(
  writer: Writer,
  head: DocumentHead,
  reason: string,
  nowMs: number,
  ring: number,
): Promise<void> {
  const { key } = head
  const stored = await writer.selectFrom('bodies').select('body').where('key', '=', key).executeTakeFirst()
  if (stored === undefined) return
  const points = await writer
    .selectFrom('recovery_points')
    .select(['point', 'created_at_ms'])
    .where('key', '=', key)
    .orderBy('point', 'desc')
    .execute()
  const createdAtMs = Math.max((points[0]?.created_at_ms ?? 0) + 1, nowMs)
  await writer
    .insertInto('recovery_points')
    .values({
      key,
      reason,
      created_at_ms: createdAtMs,
      version: head.version,
      facts: JSON.stringify(head.facts),
      crc32: rowChecksum(`${key} ${head.version} ${createdAtMs}`, stored.body),
      body: stored.body,
      digest: null,
    })
    .execute()
  const oldestKept = points[ring - 2]
  if (oldestKept === undefined) return
  await writer.deleteFrom('recovery_points').where('key', '=', key).where('point', '<', oldestKept.point).execute()
}
