import { readStoredBody } from '@docrelay/model/body-parse'
import * as Y from 'yjs'
import type { DocumentHead, DocumentRecord, DocumentRef } from '../../documents/document-store.port.ts'
import { catchUp } from '../binding/binding.ts'
import { removeDoubledProse } from '../binding/binding-doubled.ts'
import { seed } from '../binding/binding-seed.ts'
import { buildSound, type LiveContent, type RoomContent } from './room-content.ts'
import { type RoomHost, type WatchedRoom, watched } from './room-host.ts'
import { indexedDoc } from './root-index.ts'
import type { LoadedLog } from '../update-log.port.ts'

/** A document as it is right after loading: everything in `content` is durable. */
export interface LoadedRoom {
  readonly kind: 'loaded'
  readonly content: RoomContent
  readonly head: DocumentHead
  readonly lastSeq: number
  readonly tailRecords: number
  readonly tailBytes: number
  /** The log through here is what the stored version stands for; -1: not known. [LIFE-12] */
  readonly toldSeq: number
}

/** What is loaded, and under which number the watchdog knows it. */
export interface LoadingRoom {
  readonly id: number
  readonly ref: DocumentRef
  readonly key: number
}

export type LoadOutcome =
  | LoadedRoom
  | { readonly kind: 'gone' }
  /** `damaged`: what is stored has to be repaired first; else a later try may succeed. */
  | { readonly kind: 'unavailable' | 'damaged'; readonly detail: string }

/** Origin of transactions of the relay itself. */
export const RELAY = 'relay'

const ATTEMPTS = 5
const GAP_DETAIL = 'the log lacks content that later records build on'

/**
 * Loads a document from body, snapshot and log. [LIFE-9, LIFE-13, YDOC-8..YDOC-11]
 *
 * A cold write that the log does not have yet is applied as edits on the stored Y state and is durable before this resolves; when another
 * process does the same first, its record is read instead. A state that cannot be decoded is rebuilt from the body only when that contains every
 * logged change: that begins a new lineage, so this load answers `gone`. Otherwise nothing is touched and the document is `damaged`.
 */
export async function loadRoom(host: RoomHost, given: LoadingRoom): Promise<LoadOutcome> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const outcome = await tryLoad(host, given)
    if (outcome !== 'again') return outcome
  }
  return { kind: 'unavailable', detail: 'the document changed during every attempt to load it' }
}

async function tryLoad(host: RoomHost, { id, ref, key }: LoadingRoom): Promise<LoadOutcome | 'again'> {
  const record = await host.documents.read(ref)
  if (record === null || record.head.key !== key) return { kind: 'gone' }
  const log = await host.updates.load(key)
  switch (log.kind) {
    case 'gone':
      return { kind: 'gone' }
    case 'damaged':
      return rebuild(host, record, log.detail)
    case 'loaded':
      return fromLog(host, { id, workspaceId: ref.workspaceId }, record, log)
  }
}

async function fromLog(
  host: RoomHost,
  room: WatchedRoom,
  record: DocumentRecord,
  log: Extract<LoadedLog, { kind: 'loaded' }>,
): Promise<LoadOutcome | 'again'> {
  const { head } = record
  const lastSeq = log.records.at(-1)?.seq ?? log.snapshot?.throughSeq ?? 0
  const tailBytes = log.records.reduce((sum, { update }) => sum + update.length, 0)
  // A record that came with a version has its date, and those behind it have later ones.
  const toldSeq = log.records.at(-1)?.atMs === head.updatedAtMs ? lastSeq : -1
  const loaded = { kind: 'loaded' as const, head, lastSeq, tailRecords: log.records.length, tailBytes, toldSeq }
  if (log.snapshot !== null && log.records.length === 0 && !head.bodyAhead && !host.undecodable.has(head.key)) {
    return { ...loaded, content: { kind: 'bytes', update: log.snapshot.update, vector: log.snapshot.stateVector } }
  }
  let live: LiveContent
  const updates = [...(log.snapshot === null ? [] : [log.snapshot.update]), ...log.records.map(({ update }) => update)]
  const bytes = updates.reduce((sum, update) => sum + update.length, 0)
  try {
    const startedAt = host.processorMs()
    live = watched(host, room, bytes, () => buildSound(updates, host.random))
    live.loadCostMs = host.processorMs() - startedAt
  } catch (error) {
    return rebuild(host, record, `the Y state cannot be decoded: ${String(error)}`)
  }
  if (live.gap !== null) return withGap(host, record, { ...loaded, content: { kind: 'live', live } })
  const missing = watched(host, room, bytes + head.sizeBytes, () =>
    relayUpdate(live, () => {
      removeDoubledProse(live.doc, RELAY)
      if (head.bodyAhead) catchUp(live.doc, readStoredBody(record.body), RELAY, head.titleChangedAtMs)
    }),
  )
  return storeCatchUp(host, record, { ...loaded, content: { kind: 'live', live } }, missing)
}

/**
 * A document whose log lacks content: rebuilt where the stored body says all of it, else loaded as far as it is sound and left as it is in
 * the store, so that the missing content can still be given back. [LIFE-5]
 */
function withGap(host: RoomHost, record: DocumentRecord, loaded: LoadedRoom): LoadOutcome | Promise<LoadOutcome | 'again'> {
  const { head } = record
  if (head.bodyAhead || head.coveredSeq >= head.lastSeq) return rebuild(host, record, GAP_DETAIL)
  host.count('documents_with_gap')
  host.log.error(
    'document.needs_repair',
    'The log of a document lacks an edit that later ones build on. It can be read; editing waits for a client that has the edit, or for `relay repair`.',
    { workspace: head.workspaceId, docId: head.id },
  )
  return { ...loaded, toldSeq: -1 }
}

/** The one update that `work` makes to a document, `null` when it changes nothing. */
function relayUpdate(live: LiveContent, work: () => void): Uint8Array | null {
  const made: Uint8Array[] = []
  const keep = (update: Uint8Array) => made.push(update)
  live.doc.on('update', keep)
  try {
    work()
  } finally {
    live.doc.off('update', keep)
  }
  return made.length === 0 ? null : Y.mergeUpdates(made)
}

/** Makes durable what the log lacked, unless someone else wrote first. */
async function storeCatchUp(
  host: RoomHost,
  record: DocumentRecord,
  loaded: LoadedRoom,
  update: Uint8Array | null,
): Promise<LoadOutcome | 'again'> {
  const { head } = record
  if (update === null) return head.bodyAhead ? markCaughtUp(host, loaded) : loaded
  const { lastSeq, tailRecords, tailBytes } = loaded
  const catchUp = { version: head.version }
  const append = { key: head.key, afterSeq: lastSeq, actor: 'system', atMs: host.clock.nowMs(), update, catchUp }
  const [outcome] = await host.updates.append([append])
  switch (outcome?.kind) {
    case 'appended':
      return {
        ...loaded,
        head: { ...head, bodyAhead: false },
        lastSeq: outcome.seq,
        tailRecords: tailRecords + 1,
        tailBytes: tailBytes + update.length,
      }
    case 'gone':
      return { kind: 'gone' }
    default:
      return 'again'
  }
}

/** The log says already what the cold write said; only the mark is taken away. */
async function markCaughtUp(host: RoomHost, loaded: LoadedRoom): Promise<LoadOutcome | 'again'> {
  const { head, lastSeq } = loaded
  const outcome = await host.documents.write({
    ref: { workspaceId: head.workspaceId, id: head.id },
    expect: { kind: 'document', key: head.key, version: head.version },
    set: {},
    bump: false,
    nowMs: host.clock.nowMs(),
    quotaBytes: null,
    log: { kind: 'live', lastSeq, append: [] },
  })
  return outcome.kind === 'written' ? { ...loaded, head: outcome.head } : 'again'
}

/** Makes the Y state anew from a body that contains every logged change. [YDOC-11] */
async function rebuild(host: RoomHost, record: DocumentRecord, detail: string): Promise<LoadOutcome | 'again'> {
  const { head } = record
  const fields = { workspace: head.workspaceId, docId: head.id, detail }
  if (head.coveredSeq < head.lastSeq) {
    host.log.error(
      'document.unavailable',
      'The stored state of a document is damaged and its body lacks logged changes. Waiting does not help: run `relay repair` with its id.',
      fields,
    )
    host.count('documents_unavailable')
    return { kind: 'damaged', detail }
  }
  const doc = indexedDoc()
  seed(doc, readStoredBody(record.body))
  const outcome = await host.updates.rebuild(head.key, {
    lastSeq: head.lastSeq,
    update: Y.encodeStateAsUpdate(doc),
    stateVector: Y.encodeStateVector(doc),
    detail,
    nowMs: host.clock.nowMs(),
  })
  doc.destroy()
  if (outcome === 'conflict') return 'again'
  host.undecodable.delete(head.key)
  host.log.error('document.rebuilt', 'The stored state of a document was damaged and has been rebuilt from its body.', fields)
  host.count('documents_rebuilt')
  // The document that was asked for has ended with its lineage: whoever asked looks it up again, and learns of the new one. [WS-62]
  return { kind: 'gone' }
}
