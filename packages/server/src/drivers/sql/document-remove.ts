import type { DocumentRef, RemovedState, RemoveOutcome, Tombstone } from '../../documents/document-store.port.ts'
import { dropReferences } from './blob-refs.ts'
import { dropCalls } from './call-records.ts'
import { readState } from './document-rows.ts'
import type { Engine } from './engine.ts'
import type { Telling } from './feed-writing.ts'
import { keepFormerClients } from './former-clients.ts'
import { dropPoints } from './recovery-points.ts'
import { withChecksum } from './row-checksums.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'

/** Tables with rows of a document's key, besides references and recovery points; children first. */
const PARTS = ['share_links', 'removals', 'updates', 'snapshots', 'set_aside', 'bodies', 'log_heads'] as const

export interface Removal {
  readonly ref: DocumentRef
  readonly key: number
  readonly deletedAtMs: number
  readonly actor: string
  /** Id of the document with which a restore replaces this one. [LIFE-22] */
  readonly successor: string | null
  /** The only state in which the document is removed. Without it the document is removed in any state. */
  readonly only?: RemovedState | undefined
}

/**
 * Removes a document, which the caller has locked, with all its rows, and writes the tombstone. Answers `gone` when the id has another key, and
 * `changed` when the document is not in the state `only`. Both answers change nothing. [LIFE-22, LIFE-23, REST-22]
 */
export async function removeDocument(
  writer: Writer,
  engine: Engine,
  { ref, key, deletedAtMs, actor, successor, only }: Removal,
  tell: Telling,
): Promise<RemoveOutcome> {
  const row = await writer
    .selectFrom('documents')
    .leftJoin('log_heads', 'log_heads.key', 'documents.key')
    .select(['documents.version', 'documents.owner_id', 'log_heads.last_seq'])
    .where('documents.workspace_id', '=', storedText(ref.workspaceId))
    .where('documents.id', '=', ref.id)
    .where('documents.key', '=', key)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'gone' }
  if (only !== undefined && (row.version !== only.version || (row.last_seq ?? 0) !== only.lastSeq)) return { kind: 'changed' }
  // The feed row needs the document as it was: everyone who could read it is notified of the deletion. [WS-51]
  const before = tell === null ? null : await readState(writer, ref)
  await keepFormerClients(writer, ref, key, deletedAtMs)
  await dropReferences(writer, engine, { ...ref, key }, deletedAtMs)
  await dropPoints(writer, engine, { ...ref, key }, deletedAtMs)
  await dropCalls(writer, engine, { ...ref, key }, deletedAtMs)
  for (const table of PARTS) await writer.deleteFrom(table).where('key', '=', key).execute()
  await writer.deleteFrom('documents').where('key', '=', key).execute()
  const stone = withChecksum('tombstones', {
    workspace_id: storedText(ref.workspaceId),
    id: ref.id,
    deleted_at_ms: deletedAtMs,
    last_server_version: row.version,
    owner_id: row.owner_id,
    successor,
  })
  await writer
    .insertInto('tombstones')
    .values(stone)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doUpdateSet(stone))
    .execute()
  const tombstone: Tombstone = {
    workspaceId: ref.workspaceId,
    id: ref.id,
    deletedAtMs,
    lastServerVersion: row.version,
    ownerId: originalText(row.owner_id),
    ...(successor !== null && { successor }),
  }
  if (before?.kind === 'document') tell?.({ kind: 'deleted', before: before.head, tombstone, actor })
  return { kind: 'removed', tombstone }
}
