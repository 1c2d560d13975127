import { sql } from 'kysely'
import type { DocumentHead, DocumentWrite } from '../../documents/document-store.port.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CaptureReason, PointHead } from '../../recovery/recovery-store.port.ts'
import { bodyChecksum } from './checksum.ts'
import { contentDigest } from './content-digest.ts'
import type { Engine } from './engine.ts'
import type { RecoveryRing } from './recovery.ts'
import { dropOldPoints, digestAllPoints, pointHead, pointChecksum } from './recovery-points.ts'
import type { Writer } from './tables.ts'

/** What capturing goes by. */
export interface Capturing {
  readonly engine: Engine
  readonly ring: RecoveryRing
  readonly log: Logger
}

export type Captured =
  | { readonly kind: 'captured'; readonly point: PointHead }
  | { readonly kind: 'unchanged' }
  /** The stored body is damaged: no point can be made of it, and none is. */
  | { readonly kind: 'unreadable' }

/**
 * Keeps the state that a write is about to replace: before a zeroing always, and otherwise when the write makes a version and no point is
 * young enough. A body that cannot be read does not stop the write that puts a good one in its place. [LIFE-18, LIFE-19]
 */
export async function captureReplaced(
  writer: Writer,
  head: DocumentHead,
  write: DocumentWrite,
  capturing: Capturing,
): Promise<void> {
  const { capture, bump, set, nowMs } = write
  if (capture !== undefined) await captureStored(writer, head, capture.reason, nowMs, capturing)
  else if (bump && set.body !== undefined && (await isDue(writer, head.key, nowMs, capturing.ring.intervalMs))) {
    await captureStored(writer, head, 'interval', nowMs, capturing)
  }
}

/** A newest point that seems to lie further ahead than the interval was made by a clock that has been set back since. */
async function isDue(writer: Writer, key: number, nowMs: number, intervalMs: number): Promise<boolean> {
  const newest = await newestPoint(writer, key)
  return newest === undefined || Math.abs(nowMs - newest.created_at_ms) >= intervalMs
}

/**
 * Keeps the stored body of `head` as a point, unless the newest one says the same. The body is decoded once before it counts, its
 * references are kept with it, and the oldest points beyond the ring go. Times of one document's points strictly rise, whatever the clock
 * does. [LIFE-20, LIFE-21, BLOB-16]
 */
export async function captureStored(
  writer: Writer,
  head: DocumentHead,
  reason: CaptureReason,
  nowMs: number,
  { engine, ring, log }: Capturing,
): Promise<Captured> {
  const { key, version } = head
  const stored = await writer.selectFrom('bodies').select(['body', 'crc32']).where('key', '=', key).executeTakeFirst()
  const digest = stored === undefined || bodyChecksum(key, stored.body) !== stored.crc32 ? null : decodedDigest(stored.body)
  if (stored === undefined || digest === null) {
    log.error('recovery.unreadable', 'the stored body of a document is damaged; no recovery point was made of it', {
      docId: head.id,
      workspace: head.workspaceId,
      reason,
    })
    return { kind: 'unreadable' }
  }
  await digestAllPoints(writer, key)
  const newest = await newestPoint(writer, key)
  if (newest?.digest === digest) return { kind: 'unchanged' }
  const row = {
    version,
    created_at_ms: Math.max((newest?.created_at_ms ?? 0) + 1, nowMs),
    facts: JSON.stringify(head.facts),
    digest,
    body: stored.body,
  }
  const { point } = await writer
    .insertInto('recovery_points')
    .values({ ...row, key, reason, crc32: pointChecksum(row) })
    .returning('point')
    .executeTakeFirstOrThrow()
  await sql`
    insert into point_refs (key, point, hash) select key, cast(${point} as bigint), hash from blob_refs where key = ${key}
  `.execute(writer)
  await dropOldPoints(writer, engine, head, ring.points, nowMs)
  return { kind: 'captured', point: pointHead({ ...row, size_bytes: stored.body.byteLength }) }
}

/** `null` when the bytes are no JSON object. */
function decodedDigest(body: Uint8Array): string | null {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return contentDigest(body)
  } catch {
    return null
  }
}

function newestPoint(writer: Writer, key: number) {
  return writer
    .selectFrom('recovery_points')
    .select(['created_at_ms', 'digest'])
    .where('key', '=', key)
    .orderBy('point', 'desc')
    .limit(1)
    .executeTakeFirst()
}
