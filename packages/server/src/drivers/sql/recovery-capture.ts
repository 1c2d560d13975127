import { type Selectable, sql } from 'kysely'
import type { DocumentHead, DocumentWrite } from '../../documents/document-store.port.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CaptureReason, PointHead } from '../../recovery/recovery-store.port.ts'
import type { Engine } from './engine.ts'
import { LONG_BYTES, type LongBodies, type LongBody, storedContent } from './long-bodies.ts'
import type { RecoveryRing } from './recovery.ts'
import { dropOldPoints, digestAllPoints, pointHead, pointChecksum } from './recovery-points.ts'
import type { Connection, Tables, Writer } from './tables.ts'

/** What capturing goes by. */
export interface Capturing {
  readonly engine: Engine
  readonly ring: RecoveryRing
  readonly longBodies: LongBodies
  readonly log: Logger
}

export type Captured =
  | { readonly kind: 'captured'; readonly point: PointHead }
  | { readonly kind: 'unchanged' }
  /** The stored body is damaged: no point can be made of it, and none is. */
  | { readonly kind: 'unreadable' }

/** Whether a write may keep a long body. A short one that replaces a long one without zeroing it is left to the transaction. */
export function mayKeepLongBody(write: DocumentWrite): boolean {
  const { capture, bump, set } = write
  return capture !== undefined || (bump && (isBodyLater(write) || (set.body?.bytes.byteLength ?? 0) >= LONG_BYTES / 2))
}

/** The version is told now and the body follows without one, so this is when the state before is kept under its own version. */
function isBodyLater({ log }: DocumentWrite): boolean {
  return log.kind === 'live' && log.bodyLater !== undefined
}

/** Looks into the body that a write is about to replace if it is long and is to be kept, before the transaction. Never rejects. */
export async function lookAhead(
  reader: Connection,
  { capture, expect, nowMs }: DocumentWrite,
  { ring, longBodies }: Capturing,
): Promise<LongBody | null> {
  if (expect.kind !== 'document') return null
  const { key, version } = expect
  try {
    const row = await reader.selectFrom('documents').select('size_bytes').where('key', '=', key).executeTakeFirst()
    if (row === undefined || (capture === undefined && !(await isDue(reader, key, nowMs, ring.intervalMs)))) return null
    return await longBodies.look({ key, version, sizeBytes: row.size_bytes })
  } catch {
    return null
  }
}

/**
 * Keeps the state that a write is about to replace: before a zeroing always, and otherwise when the write makes a version and no point is
 * young enough. A body that cannot be read does not stop the write that puts a good one in its place. [LIFE-18, LIFE-19]
 */
export async function captureReplaced(
  writer: Writer,
  head: DocumentHead,
  write: DocumentWrite,
  seen: LongBody | null,
  capturing: Capturing,
): Promise<void> {
  const { capture, bump, set, nowMs } = write
  const given = { nowMs, seen }
  if (capture !== undefined) await captureStored(writer, head, { ...given, reason: capture.reason }, capturing)
  else if (bump && (set.body !== undefined || isBodyLater(write))) {
    if (await isDue(writer, head.key, nowMs, capturing.ring.intervalMs))
      await captureStored(writer, head, { ...given, reason: 'interval' }, capturing)
  }
}

/** A newest point that seems to lie further ahead than the interval was made by a clock that has been set back since. */
async function isDue(db: Connection, key: number, nowMs: number, intervalMs: number): Promise<boolean> {
  const newest = await newestPoint(db, key)
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
  { reason, nowMs, seen }: { readonly reason: CaptureReason; readonly nowMs: number; readonly seen: LongBody | null },
  { engine, ring, log }: Capturing,
): Promise<Captured> {
  const { key, version } = head
  const content = seen?.key === key && seen.version === version ? seen.content : await storedContent(writer, key)
  if (content === null) {
    log.error('recovery.unreadable', 'the stored body of a document is damaged; no recovery point was made of it', {
      docId: head.id,
      workspace: head.workspaceId,
      reason,
    })
    return { kind: 'unreadable' }
  }
  await digestAllPoints(writer, key)
  const newest = await newestPoint(writer, key)
  if (newest?.digest === content.digest) return { kind: 'unchanged' }
  const row = {
    point: await engine.nextIdentity(writer, 'recovery_points', 'point'),
    key,
    reason,
    created_at_ms: Math.max((newest?.created_at_ms ?? 0) + 1, nowMs),
    version,
    facts: JSON.stringify(head.facts),
    digest: content.digest,
  }
  await copyBody(writer, { ...row, crc32: pointChecksum(row, content) })
  await dropOldPoints(writer, engine, head, ring.points, nowMs)
  return { kind: 'captured', point: pointHead({ ...row, size_bytes: content.sizeBytes }) }
}

/** The body does not leave the store for it. */
async function copyBody(writer: Writer, row: Omit<Selectable<Tables['recovery_points']>, 'body'>): Promise<void> {
  const { point, key, reason, created_at_ms, version, facts, crc32, digest } = row
  await sql`
    insert into recovery_points (point, key, reason, created_at_ms, version, facts, crc32, digest, body)
    select cast(${point} as bigint), key, cast(${reason} as text), cast(${created_at_ms} as bigint), cast(${version} as bigint), cast(${facts} as text),
      cast(${crc32} as bigint), cast(${digest} as text), body
    from bodies where key = ${key}
  `.execute(writer)
  await sql`
    insert into point_refs (key, point, hash) select key, cast(${point} as bigint), hash from blob_refs where key = ${key}
  `.execute(writer)
}

function newestPoint(db: Connection, key: number) {
  return db
    .selectFrom('recovery_points')
    .select(['created_at_ms', 'digest'])
    .where('key', '=', key)
    .orderBy('point', 'desc')
    .limit(1)
    .executeTakeFirst()
}
