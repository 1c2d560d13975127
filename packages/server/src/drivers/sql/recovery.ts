import type { DocumentWrite } from '../../documents/document-store.port.ts'
import type { Logger } from '../../kernel/log.ts'
import type {
  CaptureOutcome,
  CaptureReason,
  PointRecord,
  RecoveryStore,
  RestoreOutcome,
  RestoreRequest,
} from '../../recovery/recovery-store.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import { removeDocument } from './document-remove.ts'
import { DamagedDocumentError, headOf, readState, selectHeads } from './document-rows.ts'
import { createDocument } from './document-write.ts'
import type { Database } from './engine.ts'
import { type Telling, tellingRun } from './feed-writing.ts'
import { loadLog } from './log-reading.ts'
import { readingWith } from './reading.ts'
import type { LongBody } from './long-bodies.ts'
import { type Capturing, captureStored } from './recovery-capture.ts'
import { digestAllPoints, isIntact, movedTo, pointHead, readPointFacts } from './recovery-points.ts'
import type { Connection, Writer } from './tables.ts'
import { isHeld } from './tenure-columns.ts'
import { keepAside } from './updates.ts'

/** Opens the port `RecoveryStore`. `run` runs the calls of which other nodes are notified; without it no node is notified. */
export function sqlRecovery(
  { engine, reader }: Database,
  queue: CommitQueue,
  log: Logger,
  capturing: Capturing,
  run = tellingRun(queue, engine, null),
): RecoveryStore {
  const reading = readingWith(log)
  const look = async (key: number) => {
    const row = await reader.selectFrom('documents').select(['version', 'size_bytes']).where('key', '=', key).executeTakeFirst()
    return row === undefined ? null : capturing.longBodies.look({ key, version: row.version, sizeBytes: row.size_bytes })
  }
  return {
    list: (key) =>
      reading(async () => {
        const rows = await reader
          .selectFrom('recovery_points')
          .select((e) => ['version', 'created_at_ms', 'reason', e.fn<number>('length', ['body']).as('size_bytes')])
          .where('key', '=', key)
          .orderBy('point', 'desc')
          .execute()
        return rows.map(pointHead)
      }),
    read: (key, pointId) => reading(() => readPoint(reader, key, pointId)),
    async capture(key, reason, nowMs, epoch) {
      const seen = await reading(() => look(key))
      return queue.run(0, (writer) => capture(writer, { key, reason, nowMs, seen, epoch }, capturing))
    },
    async restore(request) {
      const seen = await reading(() => look(request.source.key))
      return run(request.body.bytes.byteLength, (writer, tell) => restore(writer, request, seen, capturing, tell))
    },
  }
}

async function readPoint(db: Connection, key: number, pointId: string): Promise<PointRecord> {
  const [createdAtMs = Number.NaN, version = Number.NaN] = pointId.split('-v').map(Number)
  const row = await db
    .selectFrom('recovery_points')
    .selectAll()
    .where('key', '=', key)
    .where('created_at_ms', '=', createdAtMs)
    .where('version', '=', version)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'absent' }
  if (!isIntact(row)) return { kind: 'unreadable' }
  const head = pointHead({ ...row, size_bytes: row.body.byteLength })
  return { kind: 'point', head, body: row.body, ...readPointFacts(row.facts) }
}

async function capture(
  writer: Writer,
  given: {
    readonly key: number
    readonly reason: CaptureReason
    readonly nowMs: number
    readonly seen: LongBody | null
    readonly epoch: number | undefined
  },
  capturing: Capturing,
): Promise<CaptureOutcome> {
  const { key, epoch } = given
  await capturing.engine.lockDocument(writer, { key })
  const row = await selectHeads(writer).where('documents.key', '=', key).executeTakeFirst()
  if (row === undefined) return { kind: 'gone' }
  if (epoch !== undefined && !isHeld(capturing.engine.node, epoch, row)) return { kind: 'fenced' }
  const outcome = await captureStored(writer, headOf(row), given, capturing)
  if (outcome.kind === 'unreadable') throw new DamagedDocumentError('body', 'its body cannot be read')
  return outcome
}

/**
 * Restores a document. A damaged body of the source does not prevent a restore, because a point may be all that is left of the document. [LIFE-22]
 */
async function restore(
  writer: Writer,
  { source, hasGap, newRef, body, nowMs, actor = '' }: RestoreRequest,
  seen: LongBody | null,
  capturing: Capturing,
  tell: Telling,
): Promise<RestoreOutcome> {
  const { engine } = capturing
  await engine.lockDocument(writer, source)
  const current = await readState(writer, source)
  if (current.kind !== 'document' || current.head.key !== source.key || current.head.version !== source.version) return CONFLICT
  const { head } = current
  // An edit that was acknowledged after the body was stored would be in no point, so the restore is a conflict. Edits that cannot be read are kept
  // aside instead.
  const isGapSeen = hasGap === true && head.lastSeq === source.lastSeq
  const lost = head.lastSeq > head.coveredSeq ? (isGapSeen ? GAP_DETAIL : await damageOf(writer, head.key)) : null
  if (head.lastSeq > head.coveredSeq && lost === null) return CONFLICT
  if ((await readState(writer, newRef)).kind !== 'absent') return CONFLICT
  await captureStored(writer, head, { reason: 'restore', nowMs, seen }, capturing)
  const { ownerId, ownerName, collectionId, sharedWith } = head
  const write: DocumentWrite = {
    ref: newRef,
    expect: { kind: 'absent' },
    set: { ownerId, ownerName, collectionId, sharedWith, titleChangedAtMs: nowMs, body },
    bump: true,
    nowMs,
    quotaBytes: null,
    log: { kind: 'cold' },
  }
  const created = await createDocument(writer, write, body, 1, capturing)
  if (created?.kind !== 'written') throw new Error(`a drawn id was taken within the transaction: ${newRef.id}`)
  await moveRing(writer, head.key, created.head.key)
  await writer.updateTable('set_aside').set({ key: created.head.key }).where('key', '=', head.key).execute()
  if (lost !== null) {
    await keepAside(writer, head.key, created.head.key, lost)
    capturing.log.warn('recovery.log-set-aside', 'edits that cannot be read were kept aside with the restored document', {
      docId: newRef.id,
      workspace: newRef.workspaceId,
      detail: lost,
    })
  }
  const removal = { ref: source, key: head.key, deletedAtMs: nowMs, actor, successor: newRef.id }
  const removed = await removeDocument(writer, engine, removal, tell)
  if (removed.kind !== 'removed') throw new Error(`a locked document vanished: ${source.id}`)
  tell?.({ kind: 'created', head: created.head, actor, isSharingChanged: false, restoredFrom: source.id })
  return { kind: 'restored', head: created.head, tombstone: removed.tombstone }
}

async function damageOf(db: Connection, key: number): Promise<string | null> {
  const log = await loadLog(db, key)
  return log.kind === 'damaged' ? log.detail : null
}

async function moveRing(writer: Writer, from: number, to: number): Promise<void> {
  await digestAllPoints(writer, from)
  await writer.updateTable('recovery_points').set(movedTo(to)).where('key', '=', from).execute()
  await writer.updateTable('point_refs').set({ key: to }).where('key', '=', from).execute()
}

const GAP_DETAIL = 'the log lacks content that later records build on'
const CONFLICT: RestoreOutcome = { kind: 'conflict' }
