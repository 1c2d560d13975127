import { sql } from 'kysely'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { CAPTURE_REASONS } from '../../recovery/recovery-store.port.ts'
import type { LogRecord, Snapshot } from '../../sync/update-log.port.ts'
import type { StoredDocument, StoredPoint, StoredReference } from '../../verify/stored-contents.port.ts'
import { bodyChecksum, snapshotChecksum, updateChecksum } from './checksum.ts'
import { contentDigest } from './content-digest.ts'
import { DamagedDocumentError, type HeadRow, headOf, selectHeads } from './document-rows.ts'
import { isIntact, pointHead } from './recovery-points.ts'
import { originalText } from './stored-text.ts'
import type { Connection } from './tables.ts'

const REASONS: ReadonlySet<string> = new Set(CAPTURE_REASONS)

/**
 * Returns everything that is stored for one document; `null` when the document does not exist. `db` must be a transaction, so that all rows are of
 * the same moment.
 */
export async function inspectDocument(db: Connection, key: number): Promise<StoredDocument | null> {
  const row = await selectHeads(db).where('documents.key', '=', key).executeTakeFirst()
  if (row === undefined) return null
  const problems: string[] = []
  const head = trustedHead(row, problems)
  const log = await inspectLog(db, row, problems)
  return {
    workspaceId: readable(row.workspace_id),
    id: row.id,
    head,
    problems,
    body: await trustedBody(db, row, problems),
    ...log,
    references: await referencesOf(db, row.workspace_id, sql`blob_refs where key = ${key}`),
    points: () => inspectPoints(db, row),
  }
}

function trustedHead(row: HeadRow, problems: string[]): DocumentHead | null {
  try {
    return headOf(row)
  } catch (error) {
    problems.push(error instanceof DamagedDocumentError ? error.detail : `its row cannot be read: ${String(error)}`)
    return null
  }
}

async function trustedBody(db: Connection, row: HeadRow, problems: string[]): Promise<Uint8Array | null> {
  const stored = await db.selectFrom('bodies').select(['body', 'crc32']).where('key', '=', row.key).executeTakeFirst()
  if (stored === undefined) problems.push('it has no body')
  else if (bodyChecksum(row.key, stored.body) !== stored.crc32) problems.push('its body does not have its checksum')
  else {
    if (stored.body.byteLength !== row.size_bytes)
      problems.push(`its body has ${stored.body.byteLength} bytes where its row says ${row.size_bytes}`)
    return stored.body
  }
  return null
}

type InspectedLog = Pick<StoredDocument, 'snapshots' | 'tail' | 'readable'>

async function inspectLog(db: Connection, row: HeadRow, ofDocument: string[]): Promise<InspectedLog> {
  const problems: string[] = []
  const log = await inspectRows(db, row, problems)
  ofDocument.push(...problems)
  return log
}

async function inspectRows(db: Connection, row: HeadRow, problems: string[]): Promise<InspectedLog> {
  const snapshots = await trustedSnapshots(db, row.key, problems)
  const oldest = snapshots.stored.at(-1) ?? 0
  const { records, sound, broken } = await trustedRecords(db, row.key, problems)
  const start = snapshots.good[0]?.throughSeq ?? 0
  const readable = { problems, ...readableOf(sound, start, row.last_seq ?? 0) }
  const { last_seq: last, covered_seq: covered, body_ahead: ahead } = row
  if (last === null || covered === null) return { snapshots: snapshots.good, tail: null, readable }
  if (covered < 0 || covered > last) problems.push(`its body is said to hold the log through ${covered}, which ends at ${last}`)
  if (ahead !== 0 && ahead !== 1) problems.push(`body_ahead is ${ahead}`)
  if (last === 0 && ahead === 0) problems.push('its body is said to be in a log that is empty')
  const first = records[0]?.seq ?? last + 1
  const reached = records.at(-1)?.seq ?? oldest
  if (first > oldest + 1) problems.push(`records ${oldest + 1} to ${first - 1} are missing`)
  if (reached > last) problems.push(`record ${reached} is beyond the end of the log, ${last}`)
  if (reached < last && (snapshots.stored[0] ?? 0) < last) problems.push(`records ${reached + 1} to ${last} are missing`)
  if ((snapshots.stored[0] ?? 0) > last)
    problems.push(`a snapshot through ${snapshots.stored[0]} is beyond the end of the log, ${last}`)
  const tail = records.filter(({ seq }) => seq > start)
  const whole = !broken && start + tail.length === last && (tail.length === 0 || tail[0]?.seq === start + 1)
  return { snapshots: snapshots.good, tail: whole ? tail : null, readable }
}

function readableOf(
  sound: readonly LogRecord[],
  start: number,
  last: number,
): { readonly records: readonly LogRecord[]; readonly throughSeq: number } {
  const records = sound.filter(({ seq }) => seq > start && seq <= last)
  let throughSeq = start
  for (const { seq } of records) if (seq === throughSeq + 1) throughSeq = seq
  return { records, throughSeq }
}

/** Reads the snapshots whose checksum is right. `stored`: the sequences of all stored snapshots, newest first. */
async function trustedSnapshots(
  db: Connection,
  key: number,
  problems: string[],
): Promise<{ good: Snapshot[]; stored: number[] }> {
  const rows = await db.selectFrom('snapshots').selectAll().where('key', '=', key).orderBy('through_seq', 'desc').execute()
  const good: Snapshot[] = []
  for (const row of rows) {
    if (snapshotChecksum(key, row.through_seq, row.state_vector, row.bytes) === row.crc32)
      good.push({ update: row.bytes, stateVector: row.state_vector, throughSeq: row.through_seq })
    else problems.push(`the snapshot through ${row.through_seq} does not have its checksum`)
  }
  return { good, stored: rows.map((row) => row.through_seq) }
}

/** Reads all records, also those that a snapshot replaces, because they are needed when that snapshot is damaged and an older one is used. [D8] */
async function trustedRecords(
  db: Connection,
  key: number,
  problems: string[],
): Promise<{ records: LogRecord[]; sound: LogRecord[]; broken: boolean }> {
  const rows = await db.selectFrom('updates').selectAll().where('key', '=', key).orderBy('seq').execute()
  const records: LogRecord[] = []
  const sound: LogRecord[] = []
  let broken = false
  for (const row of rows) {
    const before = records.at(-1)?.seq
    if (before !== undefined && row.seq !== before + 1) {
      problems.push(
        row.seq === before ? `record ${row.seq} is there twice` : `records ${before + 1} to ${row.seq - 1} are missing`,
      )
      broken = true
    }
    const actor = readable(row.actor)
    const record = { seq: row.seq, actor, atMs: row.at_ms, update: row.bytes }
    if (updateChecksum(key, row.seq, actor, row.at_ms, row.bytes) !== row.crc32) {
      problems.push(`record ${row.seq} does not have its checksum`)
      broken = true
    } else sound.push(record)
    records.push(record)
  }
  return { records, sound, broken }
}

async function* inspectPoints(db: Connection, document: HeadRow): AsyncGenerator<StoredPoint> {
  const points = await db.selectFrom('recovery_points').select('point').where('key', '=', document.key).orderBy('point').execute()
  let previousMs = Number.NEGATIVE_INFINITY
  for (const { point } of points) {
    const row = await db.selectFrom('recovery_points').selectAll().where('point', '=', point).executeTakeFirstOrThrow()
    const problems: string[] = []
    const intact = isIntact(row)
    if (!intact) problems.push('it does not have its checksum')
    else if (row.digest !== null && digestOf(row.body) !== row.digest) problems.push('its content is not what its digest says')
    if (!REASONS.has(row.reason)) problems.push(`its reason is ${JSON.stringify(row.reason)}`)
    if (row.created_at_ms <= previousMs) problems.push('it is not younger than the one before it')
    previousMs = row.created_at_ms
    yield {
      pointId: pointHead({ ...row, size_bytes: row.body.byteLength }).pointId,
      problems,
      body: intact ? row.body : null,
      references: await referencesOf(db, document.workspace_id, sql`point_refs where point = ${point} and key = ${document.key}`),
    }
  }
}

function digestOf(body: Uint8Array): string | null {
  try {
    return contentDigest(body)
  } catch {
    return null
  }
}

async function referencesOf(
  db: Connection,
  workspaceId: string,
  from: ReturnType<typeof sql>,
): Promise<readonly StoredReference[]> {
  const { rows } = await sql<{ hash: string; metered: number | null }>`
    select refs.hash as hash, grants.metered as metered from (select hash from ${from}) as refs
    left join blob_grants as grants on grants.workspace_id = ${workspaceId} and grants.hash = refs.hash`.execute(db)
  return rows.map(({ hash, metered }) => ({
    hash,
    granted: metered === null ? 'no' : metered === 0 ? 'unmetered' : 'metered',
  }))
}

/** Decodes a stored text. Returns a text that cannot be decoded unchanged. */
function readable(stored: string): string {
  try {
    return originalText(stored)
  } catch {
    return stored
  }
}
