import { readStoredBody } from '@docrelay/model/body-parse'
import * as Y from 'yjs'
import type { DocumentHead, DocumentRecord, DocumentRef } from '../../documents/document-store.port.ts'
import { catchUp } from '../binding/binding.ts'
import { removeDoubledProse } from '../binding/binding-doubled.ts'
import { seed } from '../binding/binding-seed.ts'
import { buildLive, type LiveContent, type RoomContent } from './room-content.ts'
import { type RoomHost, watched } from './room-host.ts'
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

export type LoadOutcome = LoadedRoom | { readonly kind: 'gone' } | { readonly kind: 'unavailable'; readonly detail: string }

/** Origin of transactions of the relay itself. */
export const RELAY = 'relay'

const ATTEMPTS = 5

/**
 * Loads a document from body, snapshot and log. [LIFE-9, LIFE-13, YDOC-8..YDOC-11]
 *
 * A cold write that the log does not have yet is applied as edits on the stored Y state and is durable before this resolves; when another
 * process does the same first, its record is read instead. A state that cannot be decoded is rebuilt from the body only when that contains every
 * logged change; otherwise nothing is touched and the document is `unavailable`.
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
      return fromLog(host, id, record, log)
  }
}

async function fromLog(
  host: RoomHost,
  room: number,
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
    const startedAt = host.clock.monotonicMs()
    live = watched(host, room, bytes, () => buildLive(updates, host.random))
    live.loadCostMs = host.clock.monotonicMs() - startedAt
  } catch (error) {
    return rebuild(host, record, `the Y state cannot be decoded: ${String(error)}`)
  }
  const missing = watched(host, room, bytes + head.sizeBytes, () =>
    relayUpdate(live, () => {
      removeDoubledProse(live.doc, RELAY)
      if (head.bodyAhead) catchUp(live.doc, readStoredBody(record.body), RELAY, head.titleChangedAtMs)
    }),
  )
  return storeCatchUp(host, record, { ...loaded, content: { kind: 'live', live } }, missing)
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
  const append = { key: head.key, actor: 'system', atMs: host.clock.nowMs(), update, catchUp: { lastSeq, version: head.version } }
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
    host.log.error('document.unavailable', 'The stored state of a document is damaged and its body lacks logged changes.', fields)
    host.count('documents_unavailable')
    return { kind: 'unavailable', detail }
  }
  const doc = indexedDoc()
  seed(doc, readStoredBody(record.body))
  const outcome = await host.updates.rebuild(head.key, Y.encodeStateAsUpdate(doc), Y.encodeStateVector(doc), detail)
  doc.destroy()
  host.undecodable.delete(head.key)
  host.log.error('document.rebuilt', 'The stored state of a document was damaged and has been rebuilt from its body.', fields)
  host.count('documents_rebuilt')
  return outcome === 'gone' ? { kind: 'gone' } : 'again'
}
