import { type Selectable, sql } from 'kysely'
import type { DocumentHead, DocumentWrite } from '../../documents/document-store.port.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CaptureReason, PointHead } from '../../recovery/recovery-store.port.ts'
import type { CallTallies } from './call-tallies.ts'
import { compiledOnce } from './compiled-query.ts'
import type { Engine } from './engine.ts'
import { isStillStored, LONG_BYTES, type LongBodies, type LongBody, storedContent } from './long-bodies.ts'
import type { RecoveryRing } from './recovery-ring.ts'
import {
  digestAllPoints,
  dropOldPoints,
  dropOldRemovals,
  hasSameBeside,
  pointChecksum,
  pointFacts,
  pointHead,
} from './recovery-points.ts'
import { storedText } from './stored-text.ts'
import type { Connection, Tables, Writer } from './tables.ts'

/** Dependencies of capturing a recovery point. */
export interface Capturing {
  readonly engine: Engine
  readonly ring: RecoveryRing
  readonly longBodies: LongBodies
  readonly log: Logger
  readonly tallies: CallTallies
  /** Randomness for new lineages. */
  readonly random: Random
}

export type Captured =
  | { readonly kind: 'captured'; readonly point: PointHead }
  | { readonly kind: 'unchanged' }
  /** The stored body is damaged, so no point was made. */
  | { readonly kind: 'unreadable' }

/**
 * Whether a write may keep a long body as a point, so that reading it before the transaction is worthwhile. When a short body replaces a long one
 * without a zeroing, the transaction reads the long body itself.
 */
export function mayKeepLongBody(write: DocumentWrite): boolean {
  const { capture, bump, set } = write
  return capture !== undefined || (bump && (isBodyLater(write) || (set.body?.bytes.byteLength ?? 0) >= LONG_BYTES / 2))
}

/**
 * Whether the write sets the version now and the body follows later without a version. Then the state before must be kept now, under its own version.
 */
function isBodyLater({ log }: DocumentWrite): boolean {
  return log.kind === 'live' && log.bodyLater !== undefined
}

/** Reads the body that a write will replace before the transaction begins, when that body is long and will be kept as a point. Never rejects. */
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
 * Keeps the state that a write will replace as a point: always before a zeroing, before a removal when `isRemovalDue` says so, and otherwise when the
 * write makes a version and the newest point is old enough. An unreadable body does not stop a write that replaces it with a good body. [LIFE-18,
 * LIFE-19]
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
  if (capture !== undefined) {
    if (capture.reason === 'removal' && !(await isRemovalDue(writer, head, nowMs, capture.sub))) return
    await captureStored(writer, head, { ...given, reason: capture.reason }, capturing)
  } else if (bump && (set.body !== undefined || isBodyLater(write))) {
    if (await isDue(writer, head.key, nowMs, capturing.ring.intervalMs))
      await captureStored(writer, head, { ...given, reason: 'interval' }, capturing)
  }
}

/** Within this time after the newest point, further removals by the same caller make no point. [AG-31] */
const REMOVAL_PAUSE_MS = 60_000

/**
 * Whether a removal makes a point. It does not within `REMOVAL_PAUSE_MS` of the newest point when every version since then is a call of this caller.
 * A version without a call counts as written by somebody else.
 */
async function isRemovalDue(db: Connection, { key, version }: DocumentHead, nowMs: number, sub: string): Promise<boolean> {
  const newest = await newestPoint(db, key)
  if (newest === undefined || Math.abs(nowMs - newest.created_at_ms) >= REMOVAL_PAUSE_MS) return true
  const own = await db
    .selectFrom('call_records')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('key', '=', key)
    .where('version', '>', newest.version)
    .where('sub', '=', storedText(sub))
    .executeTakeFirst()
  return Number(own?.count ?? 0) < version - newest.version
}

/**
 * Whether the newest point is older than the interval. When it is further than the interval in the future, the clock was set back, and a point is due
 * as well.
 */
async function isDue(db: Connection, key: number, nowMs: number, intervalMs: number): Promise<boolean> {
  const [newest] = await newestTimes(db, { key })
  return newest === undefined || Math.abs(nowMs - newest.created_at_ms) >= intervalMs
}

/**
 * Keeps the stored body of `head` as a point, with the current collection and shares, unless the newest point is equal. The body is decoded once
 * before the point counts. The references of the body are kept with the point, and the oldest points beyond the ring are dropped. The times of a
 * document's points always rise, whatever the clock does. [LIFE-20, LIFE-21, BLOB-16]
 */
export async function captureStored(
  writer: Writer,
  head: DocumentHead,
  { reason, nowMs, seen }: { readonly reason: CaptureReason; readonly nowMs: number; readonly seen: LongBody | null },
  { engine, ring, log }: Capturing,
): Promise<Captured> {
  const { key, version } = head
  const isSeen = seen?.key === key && (await isStillStored(writer, seen))
  const content = isSeen ? seen.content : await storedContent(writer, key)
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
  if (newest?.digest === content.digest && hasSameBeside(newest.facts, head)) return { kind: 'unchanged' }
  const row = {
    point: await engine.nextIdentity(writer, 'recovery_points', 'point'),
    key,
    reason,
    created_at_ms: Math.max((newest?.created_at_ms ?? 0) + 1, nowMs),
    version,
    facts: pointFacts(head),
    digest: content.digest,
  }
  await copyBody(writer, { ...row, crc32: pointChecksum(row, content) })
  if (reason === 'removal') await dropOldRemovals(writer, engine, head, ring.points, nowMs)
  await dropOldPoints(writer, engine, head, ring.points, nowMs)
  return { kind: 'captured', point: pointHead({ ...row, size_bytes: content.sizeBytes }) }
}

/** Inserts the point. The body is copied inside the database. */
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

const newestPoints = compiledOnce((db, { key }: { readonly key: number }) =>
  db
    .selectFrom('recovery_points')
    .select(['created_at_ms', 'digest', 'facts', 'version'])
    .where('key', '=', key)
    .orderBy('point', 'desc')
    .limit(1),
)

/** Reads the time of the newest point from the index alone. */
const newestTimes = compiledOnce((db, { key }: { readonly key: number }) =>
  db.selectFrom('recovery_points').select('created_at_ms').where('key', '=', key).orderBy('point', 'desc').limit(1),
)

async function newestPoint(db: Connection, key: number) {
  return (await newestPoints(db, { key }))[0]
}
