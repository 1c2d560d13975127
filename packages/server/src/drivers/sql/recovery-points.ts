import { crc32 } from 'node:zlib'
import { sql } from 'kysely'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { type BodyFacts, boundedFacts } from '@docrelay/model/body-facts'
import type { CaptureReason, PointBeside, PointHead } from '../../recovery/recovery-store.port.ts'
import { rowChecksum } from './checksum.ts'
import { contentDigest } from './content-digest.ts'
import type { Engine } from './engine.ts'
import { grantState } from './row-checksums.ts'
import { storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'

type DocumentOfPoints = Pick<DocumentHead, 'key' | 'workspaceId'>

interface PointRow {
  readonly point: number
  readonly key: number
  readonly reason: string
  readonly version: number
  readonly created_at_ms: number
  readonly facts: string
  readonly body: Uint8Array
}

/**
 * Returns the checksum of a point. The key is added as a summand, so the ring of a restored document can move to another key without reading its
 * bodies. [LIFE-22]
 */
export function pointChecksum(
  { point, key, reason, version, created_at_ms, facts }: Omit<PointRow, 'body'>,
  content: { readonly digest: string; readonly crc32: number },
): number {
  return crc32(`${point} ${reason} ${version} ${created_at_ms} ${content.digest} ${content.crc32} ${facts}`) + KEY * key
}

const KEY = 3

/** Returns column values for an update that moves points to another key. The checksum changes by the difference, so a damaged point stays damaged. */
export function movedTo(key: number) {
  return { key, crc32: sql<number>`crc32 + ${sql.lit(KEY)} * (cast(${key} as bigint) - key)` }
}

/** Returns the checksum of a point from a release that stored no digests. */
function undigestedChecksum(row: PointRow): number {
  return rowChecksum(`${row.key} ${row.version} ${row.created_at_ms}`, row.body)
}

export function isIntact(row: PointRow & { readonly digest: string | null; readonly crc32: number }): boolean {
  const { digest, body } = row
  return row.crc32 === (digest === null ? undigestedChecksum(row) : pointChecksum(row, { digest, crc32: crc32(body) }))
}

export function pointHead(row: {
  readonly version: number
  readonly created_at_ms: number
  readonly size_bytes: number
  readonly reason: string
}): PointHead {
  const { version, created_at_ms: createdAtMs, size_bytes: sizeBytes, reason } = row
  return { pointId: `${createdAtMs}-v${version}`, createdAtMs, version, sizeBytes, reason: reason as CaptureReason }
}

/**
 * Returns the column `facts` of a point: the facts of its body and, under `beside`, its collection and shares. Releases that do not know `beside`
 * ignore it.
 */
export function pointFacts({ facts, collectionId, sharedWith }: DocumentHead): string {
  return JSON.stringify({ ...facts, beside: { collectionId, sharedWith } satisfies PointBeside })
}

export function readPointFacts(column: string): { readonly facts: BodyFacts; readonly beside: PointBeside | null } {
  const { beside = null, ...facts } = JSON.parse(column) as BodyFacts & { readonly beside?: PointBeside }
  return { facts: boundedFacts(facts), beside }
}

/**
 * Whether a point has the current collection and shares of the document. True for a point that stores none. False for a point with unreadable facts:
 * a further point does less harm than a failing write.
 */
export function hasSameBeside(column: string, { collectionId, sharedWith }: DocumentHead): boolean {
  const beside = besideOf(column)
  if (beside === 'unreadable') return false
  return beside === null || JSON.stringify(beside) === JSON.stringify({ collectionId, sharedWith })
}

function besideOf(column: string): PointBeside | null | 'unreadable' {
  try {
    return readPointFacts(column).beside
  } catch {
    return 'unreadable'
  }
}

/** Gives points from releases without digests a digest and its checksum. Unreadable points stay unchanged. */
export async function digestAllPoints(writer: Writer, key: number): Promise<void> {
  const undigested = await writer
    .selectFrom('recovery_points')
    .select('point')
    .where('key', '=', key)
    .where('digest', 'is', null)
    .execute()
  for (const { point } of undigested) {
    const row = await writer.selectFrom('recovery_points').selectAll().where('point', '=', point).executeTakeFirstOrThrow()
    if (!isIntact(row)) continue
    const digest = contentDigest(row.body)
    await writer
      .updateTable('recovery_points')
      .set({ digest, crc32: pointChecksum(row, { digest, crc32: crc32(row.body) }) })
      .where('point', '=', row.point)
      .execute()
  }
}

/** Drops the oldest points beyond the newest `kept`. [LIFE-21] */
export async function dropOldPoints(
  writer: Writer,
  engine: Engine,
  document: DocumentOfPoints,
  kept: number,
  nowMs: number,
): Promise<void> {
  const oldestKept = await writer
    .selectFrom('recovery_points')
    .select('point')
    .where('key', '=', document.key)
    .orderBy('point', 'desc')
    .offset(kept - 1)
    .limit(1)
    .executeTakeFirst()
  if (oldestKept !== undefined) await dropPoints(writer, engine, document, nowMs, oldestKept.point)
}

/** Maximum number of points before removals by tools in a ring. [AG-31] */
const MOST_REMOVALS = 5

/**
 * Drops the oldest points that were taken before removals: those above `MOST_REMOVALS`, and more while the ring is full, so that they push out no
 * other point.
 */
export async function dropOldRemovals(
  writer: Writer,
  engine: Engine,
  document: DocumentOfPoints,
  kept: number,
  nowMs: number,
): Promise<void> {
  const points = await writer
    .selectFrom('recovery_points')
    .select(['point', 'reason'])
    .where('key', '=', document.key)
    .orderBy('point', 'desc')
    .execute()
  const removals = points.filter(({ reason }) => reason === 'removal')
  const excess = Math.max(removals.length - MOST_REMOVALS, Math.min(points.length - kept, removals.length - 1), 0)
  for (const { point } of removals.slice(removals.length - excess)) await dropPoint(writer, engine, document, point, nowMs)
}

/** Drops one point and starts the grace period of its blobs. The release of a blob later checks whether others hold it. [BLOB-15, BLOB-16] */
async function dropPoint(
  writer: Writer,
  engine: Engine,
  document: DocumentOfPoints,
  point: number,
  nowMs: number,
): Promise<void> {
  const dropped = writer.selectFrom('point_refs').select('hash').where('point', '=', point)
  if ((await dropped.limit(1).executeTakeFirst()) !== undefined) {
    await engine.lockWorkspace(writer, document.workspaceId)
    await writer
      .updateTable('blob_grants')
      .set(grantState({ unreferenced_at_ms: nowMs }))
      .where('workspace_id', '=', storedText(document.workspaceId))
      .where('metered', '=', 0)
      .where('unreferenced_at_ms', 'is', null)
      .where('hash', 'in', dropped)
      .execute()
    await writer.deleteFrom('point_refs').where('point', '=', point).execute()
  }
  await writer.deleteFrom('recovery_points').where('point', '=', point).execute()
}

/**
 * Drops the points before `before`, or all points when it is absent. Starts the grace period of blobs that only these points referenced. [BLOB-15,
 * BLOB-16]
 */
export async function dropPoints(
  writer: Writer,
  engine: Engine,
  { key, workspaceId }: DocumentOfPoints,
  nowMs: number,
  before = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  const dropped = writer.selectFrom('point_refs').select('hash').where('key', '=', key).where('point', '<', before)
  if ((await dropped.limit(1).executeTakeFirst()) !== undefined) {
    // Locks the workspace, so that no other node runs a release between this read and the commit.
    await engine.lockWorkspace(writer, workspaceId)
    await writer
      .updateTable('blob_grants')
      .set(grantState({ unreferenced_at_ms: nowMs }))
      .where('workspace_id', '=', storedText(workspaceId))
      .where('metered', '=', 0)
      .where('unreferenced_at_ms', 'is', null)
      .where('hash', 'in', dropped)
      .where(({ not, exists }) => not(exists(otherPoints(writer, { key, workspaceId }, before))))
      .execute()
    await writer.deleteFrom('point_refs').where('key', '=', key).where('point', '<', before).execute()
  }
  await writer.deleteFrom('recovery_points').where('key', '=', key).where('point', '<', before).execute()
}

/** Selects the references of other points of the workspace to the blob of the outer query. */
function otherPoints(writer: Writer, { key, workspaceId }: DocumentOfPoints, before: number) {
  return writer
    .selectFrom('point_refs as other')
    .innerJoin('documents', 'documents.key', 'other.key')
    .select('other.point')
    .whereRef('other.hash', '=', sql.ref('blob_grants.hash'))
    .where('documents.workspace_id', '=', storedText(workspaceId))
    .where((e) => e.or([e('other.key', '<>', key), e('other.point', '>=', before)]))
}
