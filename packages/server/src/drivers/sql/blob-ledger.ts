import type { BlobLedger, StagedUpload } from '../../blobs/blob-ledger.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { findGrant, grant, reserve } from './blob-grants.ts'
import { announceObject, forgetStruck, strikeOrphan, struckObjects, WITHOUT_HOLDER } from './blob-objects.ts'
import { endUpload, releaseUnreferenced, unsettled } from './blob-release.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database } from './engine.ts'
import { blobBytes } from './quota.ts'
import { readingWith } from './reading.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Connection, Tables } from './tables.ts'

export function sqlBlobLedger({ engine, reader }: Database, queue: CommitQueue, log: Logger): BlobLedger {
  const reading = readingWith(log)
  return {
    find: (workspaceId, hash) => reading(() => findGrant(reader, workspaceId, hash)),
    uploadedBy: (workspaceId, hash, sub) =>
      reading(async () => {
        const row = await reader
          .selectFrom('blob_uploaders')
          .select('hash')
          .where('workspace_id', '=', storedText(workspaceId))
          .where('hash', '=', hash)
          .where('sub', '=', storedText(sub))
          .executeTakeFirst()
        return row !== undefined
      }),
    reserve: (reservation, quotaBytes, nowMs) =>
      queue.run(0, (writer) => reserve(writer, engine, reservation, { quotaBytes, nowMs })),
    release: (reservationId) => queue.run(0, (writer) => endUpload(writer, engine, reservationId)),
    announce: (object, untilMs) => queue.run(0, (writer) => announceObject(writer, object, untilMs)),
    grant: (request) => queue.run(0, (writer) => grant(writer, engine, request)),
    staged: (workspaceId, hash) =>
      reading(async () => {
        const rows = await presigned(reader)
          .where('workspace_id', '=', storedText(workspaceId))
          .where('hash', '=', hash)
          .orderBy('expires_at_ms', 'desc')
          .orderBy('id')
          .execute()
        return rows.map(stagedUpload)
      }),
    overdueStaged: (nowMs, limit, skip = 0) =>
      reading(async () => {
        const due = presigned(reader).where('remove_at_ms', '<=', nowMs)
        const rows = await due.orderBy('remove_at_ms').orderBy('id').limit(limit).offset(skip).execute()
        return rows.map(stagedUpload)
      }),
    releaseUnreferenced: (beforeMs, limit, nowMs) =>
      queue.job('blobs', 0, (writer) => releaseUnreferenced(writer, engine, { beforeMs, limit, nowMs })),
    unsettled: (beforeMs, limit, skip = 0) => reading(() => unsettled(reader, beforeMs, limit, skip)),
    orphans: (limit) =>
      reading(async () => {
        const rows = await reader
          .selectFrom('blob_orphans')
          .select('hash')
          .where(WITHOUT_HOLDER)
          .orderBy('hash')
          .limit(limit)
          .execute()
        return rows.map(({ hash }) => hash)
      }),
    strike: (hash, nowMs) => queue.run(0, (writer) => strikeOrphan(writer, engine, hash, nowMs)),
    struck: (nowMs, limit, skip = 0) => reading(() => struckObjects(reader, nowMs, limit, skip)),
    forget: (object) => queue.run(0, (writer) => forgetStruck(writer, object)),
    meteredBytes: (workspaceId) => reading(() => blobBytes(reader, workspaceId)),
  }
}

function presigned(db: Connection) {
  return db.selectFrom('blob_uploads').selectAll().where('kind', '=', 'presigned')
}

function stagedUpload({ id, workspace_id, hash, bytes, sub }: Tables['blob_uploads']): StagedUpload {
  if (hash === null || sub === null) throw new Error(`a presigned upload without hash or uploader: ${id}`)
  return { id, workspaceId: originalText(workspace_id), hash, bytes, sub: originalText(sub) }
}
