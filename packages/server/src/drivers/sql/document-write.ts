import {
  type DocumentHead,
  type DocumentRef,
  type DocumentState,
  type DocumentWrite,
  type LiveWrite,
  type WriteExpectation,
  type WriteOutcome,
  bodyBytes,
  sharedBytes,
} from '../../documents/document-store.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { Random } from '../../kernel/ids.ts'
import { replaceReferences } from './blob-refs.ts'
import { areUndoable, DEFAULT_UNDO_BYTES, recordCall } from './call-records.ts'
import { bodyChecksum, headChecksum } from './checksum.ts'
import { compiledOnce } from './compiled-query.ts'
import { readState } from './document-rows.ts'
import type { Engine } from './engine.ts'
import type { Telling } from './feed-writing.ts'
import { keepFormerClientsOn } from './former-clients.ts'
import { giveLineages, lineageColumns, newLineage } from './lineage.ts'
import { refuseGrowth } from './quota.ts'
import type { LongBody } from './long-bodies.ts'
import { rememberedWrite, rememberWrite } from './remembered-writes.ts'
import { type Capturing, captureReplaced } from './recovery-capture.ts'
import { headFlags } from './row-checksums.ts'
import { storedText } from './stored-text.ts'
import { tellWritten } from './told-write.ts'
import type { Tables, Writer } from './tables.ts'
import { isAlive } from './ownership.ts'
import { isHeld } from './tenure-columns.ts'
import { appendTo } from './updates.ts'

type Keyed<T> = T & { readonly key: number }

// Workspace, id and the time of creation are not set: they never change, and setting a column updates its indexes even with the
// same value.
const replaceRow = compiledOnce((db, row: Keyed<ReturnType<typeof columnsOf>>) =>
  db
    .updateTable('documents')
    .set({
      version: row.version,
      owner_id: row.owner_id,
      owner_name: row.owner_name,
      collection_id: row.collection_id,
      shared_with: row.shared_with,
      updated_at_ms: row.updated_at_ms,
      title_changed_at_ms: row.title_changed_at_ms,
      facts: row.facts,
      crc32: row.crc32,
    })
    .where('key', '=', row.key),
)
const replaceSize = compiledOnce((db, { key, size_bytes }: { readonly key: number; readonly size_bytes: number }) =>
  db.updateTable('documents').set({ size_bytes }).where('key', '=', key),
)
const replaceBody = compiledOnce((db, { key, body, crc32 }: Tables['bodies']) =>
  db.updateTable('bodies').set({ body, crc32 }).where('key', '=', key),
)
const replaceFlags = compiledOnce((db, { key, covered_seq, body_ahead, flags_crc32 }: Keyed<ReturnType<typeof headFlags>>) =>
  db.updateTable('log_heads').set({ covered_seq, body_ahead, flags_crc32 }).where('key', '=', key),
)

type Body = NonNullable<DocumentWrite['set']['body']>

/** Writes a document. All checks come before the first change, so that a refused write leaves no change to the other calls of its commit. */
export async function writeDocument(
  writer: Writer,
  engine: Engine,
  write: DocumentWrite,
  seen: LongBody | null,
  capturing: Capturing,
  tell: Telling,
): Promise<WriteOutcome> {
  await engine.lockDocument(writer, write.ref)
  const { once, ref } = write
  if (once !== undefined) {
    // Holds the lock until the commit, so that no other node runs the same request, for any document.
    await engine.lockWorkspace(writer, ref.workspaceId)
    const first = await rememberedWrite(writer, ref.workspaceId, once)
    if (first !== null) return { kind: 'repeated', first }
  }
  const outcome = await store(writer, engine, write, seen, capturing, tell)
  if (write.call !== undefined && outcome.kind === 'written') {
    const { key, version } = outcome.head
    const made = { key, version, workspaceId: ref.workspaceId, nowMs: write.nowMs }
    await recordCall(writer, engine, write.call, made, {
      undoBytes: capturing.ring.undoBytes ?? DEFAULT_UNDO_BYTES,
      tallies: capturing.tallies,
    })
  }
  if (once !== undefined && outcome.kind === 'written') await rememberWrite(writer, write, once, outcome.head.version)
  return outcome
}

async function store(
  writer: Writer,
  engine: Engine,
  write: DocumentWrite,
  seen: LongBody | null,
  capturing: Capturing,
  tell: Telling,
): Promise<WriteOutcome> {
  const current = await stateWithLineage(writer, write.ref, capturing.random)
  const fenced = refuseFormerOwner(engine, write, current)
  if (fenced !== null) return fenced
  if (!expected(write.expect, current)) return { kind: 'conflict', current }
  const head = current.kind === 'document' ? current.head : null
  const foreign = write.log.kind === 'cold' && head !== null ? await refuseForeign(writer, engine, head) : null
  if (foreign !== null) return foreign
  if (write.log.kind === 'live' && write.log.lastSeq !== (head?.lastSeq ?? 0)) return { kind: 'conflict', current }
  if (write.log.kind === 'cold' && head !== null && head.lastSeq > head.coveredSeq) return { kind: 'unsettled', current: head }
  const undone = write.call?.targets ?? write.call?.undoes ?? []
  if (head !== null && !(await areUndoable(writer, head.key, undone))) return { kind: 'not-undoable' }
  const refusal = await refuseGrowth(writer, engine, write, head)
  if (refusal !== null) return refusal
  const version = nextVersion(current, write.bump)
  if (head === null) {
    if (write.set.body === undefined)
      throw new RelayError('INTERNAL', `a document cannot be created without a body: ${write.ref.id}`)
    const created = await createDocument(writer, write, write.set.body, version, capturing)
    if (created !== null) tellWritten(tell, write, null, created)
    return created ?? { kind: 'conflict', current: await readState(writer, write.ref) }
  }
  const updated = await updateDocument(writer, engine, write, head, version, seen, capturing)
  tellWritten(tell, write, head, updated)
  return updated
}

/** Refuses a write of a former owner. Checked before a conflict, because a former owner must not merge and retry. [LIFE-26] */
function refuseFormerOwner({ node }: Engine, { log, expect }: DocumentWrite, current: DocumentState): WriteOutcome | null {
  if (log.kind !== 'live' || log.epoch === undefined) return null
  if (current.kind !== 'document' || expect.kind !== 'document' || expect.key !== current.head.key) return null
  const { head } = current
  const isOwner = head.owner !== null && isHeld(node, log.epoch, head.owner)
  return isOwner ? null : { kind: 'fenced', current: head }
}

/**
 * Refuses a cold write to a document that another node owns. When the lease of that node is over, its room may still exist in a paused process, until
 * another node acquires the document. [LIFE-26]
 */
async function refuseForeign(writer: Writer, { node, nowMs }: Engine, head: DocumentHead): Promise<WriteOutcome | null> {
  const by = head.owner
  if (node.inc === null || by === null || by.owner === node.inc) return null
  return (await isAlive(writer, by.owner, nowMs)) ? { kind: 'owned', by, current: head } : { kind: 'unsettled', current: head }
}

/** Reads the state of a document, and gives it a lineage first when an older release has left it without one. */
async function stateWithLineage(writer: Writer, ref: DocumentRef, random: Random): Promise<DocumentState> {
  const state = await readState(writer, ref)
  if (state.kind !== 'document' || state.head.lineage !== '') return state
  await giveLineages(writer, [state.head.key], random)
  return readState(writer, ref)
}

function expected(expect: WriteExpectation, current: DocumentState): boolean {
  switch (expect.kind) {
    case 'document':
      return current.kind === 'document' && current.head.key === expect.key && current.head.version === expect.version
    case 'tombstone':
      return current.kind === 'tombstone' && current.tombstone.lastServerVersion === expect.lastServerVersion
    case 'absent':
      return current.kind === 'absent'
  }
}

/** A deleted id continues its old version numbers. [REST-18] */
function nextVersion(current: DocumentState, bump: boolean): number {
  if (current.kind === 'document') return bump ? current.head.version + 1 : current.head.version
  return current.kind === 'tombstone' ? current.tombstone.lastServerVersion + 1 : 1
}

/** Creates a document. Returns `null` when another process has taken the id meanwhile. */
export async function createDocument(
  writer: Writer,
  write: DocumentWrite,
  body: Body,
  version: number,
  { engine, random }: Pick<Capturing, 'engine' | 'random'>,
): Promise<WriteOutcome | null> {
  const { ref, set, nowMs } = write
  const { ownerId, ownerName } = set
  if (ownerId === undefined || ownerName === undefined)
    throw new RelayError('INTERNAL', `a document cannot be created without an owner: ${ref.id}`)
  const head: Omit<DocumentHead, 'key'> = {
    workspaceId: ref.workspaceId,
    id: ref.id,
    lineage: newLineage(random),
    version,
    ownerId,
    ownerName,
    collectionId: set.collectionId ?? null,
    sharedWith: set.sharedWith ?? [],
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    titleChangedAtMs: set.titleChangedAtMs ?? nowMs,
    sizeBytes: body.bytes.byteLength + sharedBytes(set.sharedWith ?? []),
    facts: body.facts,
    lastSeq: 0,
    coveredSeq: 0,
    bodyAhead: write.log.kind !== 'live',
    owner: null,
  }
  const inserted = await writer
    .insertInto('documents')
    .values({ ...columnsOf(head), ...lineageColumns({ workspace_id: storedText(ref.workspaceId), id: ref.id }, head.lineage) })
    // Another process may have created the document since the read above.
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doNothing())
    .returning('key')
    .executeTakeFirst()
  if (inserted === undefined) return null
  const { key } = inserted
  await writer.deleteFrom('tombstones').where('workspace_id', '=', storedText(ref.workspaceId)).where('id', '=', ref.id).execute()
  await keepFormerClientsOn(writer, ref, nowMs)
  await writer
    .insertInto('log_heads')
    .values({ key, last_seq: 0, ...headFlags(key, 0, head.bodyAhead ? 1 : 0) })
    .execute()
  await writer
    .insertInto('bodies')
    .values({ key, body: body.bytes, crc32: bodyChecksum(key, body.bytes) })
    .execute()
  await replaceReferences(writer, engine, { key, workspaceId: ref.workspaceId }, body.blobReferences, nowMs)
  return { kind: 'written', head: { ...head, key } }
}

async function updateDocument(
  writer: Writer,
  engine: Engine,
  write: DocumentWrite,
  head: DocumentHead,
  version: number,
  seen: LongBody | null,
  capturing: Capturing,
): Promise<WriteOutcome> {
  const { set, log } = write
  const { key } = head
  await captureReplaced(writer, head, write, seen, capturing)
  const sharedWith = set.sharedWith ?? head.sharedWith
  const changed: DocumentHead = {
    ...head,
    version,
    ownerId: set.ownerId ?? head.ownerId,
    ownerName: set.ownerName ?? head.ownerName,
    collectionId: set.collectionId === undefined ? head.collectionId : set.collectionId,
    sharedWith,
    updatedAtMs: write.bump ? write.nowMs : head.updatedAtMs,
    titleChangedAtMs: set.titleChangedAtMs ?? head.titleChangedAtMs,
    sizeBytes: (set.body?.bytes.byteLength ?? bodyBytes(head)) + sharedBytes(sharedWith),
    facts: set.body?.facts ?? head.facts,
  }
  const columns = columnsOf(changed)
  await replaceRow(writer, { ...columns, key })
  if (columns.size_bytes !== bodyBytes(head)) await replaceSize(writer, { key, size_bytes: columns.size_bytes })
  if (set.body !== undefined) {
    await replaceBody(writer, { key, body: set.body.bytes, crc32: bodyChecksum(key, set.body.bytes) })
    await replaceReferences(writer, engine, head, set.body.blobReferences, write.nowMs)
  }
  if (log.kind === 'live') return { kind: 'written', head: await coverLog(writer, engine, changed, log, write.nowMs) }
  if (log.kind === 'none' || set.body === undefined) return { kind: 'written', head: changed }
  if (!head.bodyAhead) await replaceFlags(writer, { ...headFlags(key, head.coveredSeq, 1), key })
  return { kind: 'written', head: { ...changed, bodyAhead: true } }
}

/** Appends the records of the write. Marks the body as containing the whole log, unless the body comes later. */
async function coverLog(
  writer: Writer,
  engine: Engine,
  head: DocumentHead,
  log: LiveWrite,
  nowMs: number,
): Promise<DocumentHead> {
  const { key } = head
  const records = log.append.map((record, i) => ({ ...record, key, afterSeq: log.lastSeq + i, atMs: nowMs }))
  const outcomes = await appendTo(writer, engine, records)
  // The end of the log was compared under the lock of the document.
  if (outcomes.some(({ kind }) => kind !== 'appended')) throw new Error('the log of a locked document has moved')
  const lastSeq = log.lastSeq + records.length
  if (log.bodyLater !== undefined || log.coversNoMore === true) return { ...head, lastSeq }
  await replaceFlags(writer, { ...headFlags(key, lastSeq, 0), key })
  return { ...head, lastSeq, coveredSeq: lastSeq, bodyAhead: false }
}

function columnsOf(head: Omit<DocumentHead, 'key'>) {
  const columns = {
    workspace_id: storedText(head.workspaceId),
    id: head.id,
    version: head.version,
    owner_id: storedText(head.ownerId),
    owner_name: storedText(head.ownerName),
    collection_id: head.collectionId === null ? null : storedText(head.collectionId),
    shared_with: JSON.stringify(head.sharedWith),
    created_at_ms: head.createdAtMs,
    updated_at_ms: head.updatedAtMs,
    title_changed_at_ms: head.titleChangedAtMs,
    // The column has the size of the body alone; the size of the share list is added when sizes are read.
    size_bytes: bodyBytes(head),
    facts: JSON.stringify(head.facts),
  }
  return { ...columns, crc32: headChecksum(columns) }
}
