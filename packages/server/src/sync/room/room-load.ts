import { readStoredBody } from '@docrelay/model/body-parse'
import * as Y from 'yjs'
import type { DocumentHead, DocumentRecord, DocumentRef } from '../../documents/document-store.port.ts'
import { damagedPartOf } from '../../kernel/damage.ts'
import { retryCas } from '../../kernel/retry-cas.ts'
import { catchUp } from '../binding/binding.ts'
import { removeDoubledProse } from '../binding/binding-doubled.ts'
import { seed } from '../binding/binding-seed.ts'
import { buildSound, countStructs, type LiveContent, RELAY, rememberRemovals, type RoomContent } from './room-content.ts'
import { isLogOver, isBodyOver, type RoomBounds } from './room-bounds.ts'
import { epochMember } from './room-fence.ts'
import { type RoomHost, type WatchedRoom, watched } from './room-host.ts'
import { indexedDoc } from './indexed-doc.ts'
import { RemovedBlocks } from '../late-words/removed-blocks.ts'
import { type LoadedLog, removalsMember } from '../update-log.port.ts'
import type { NotLoaded } from '../worker-messages.ts'

/** A document directly after loading: everything in `content` is durable. */
export interface LoadedRoom {
  readonly kind: 'loaded'
  readonly content: RoomContent
  readonly head: DocumentHead
  readonly lastSeq: number
  readonly tailRecords: number
  readonly tailBytes: number
  /** Bytes of the snapshot and of the records after it. */
  readonly stateBytes: number
  /** The log sequence that the stored version corresponds to; -1 when unknown. [LIFE-12] */
  readonly versionSeq: number
  /** The last person whose edit the stored body lacks; `null` when the body lacks no edit of a person. */
  readonly lastWriter: string | null
}

/** The document to load, and the number by which the watchdog knows the room. */
export interface LoadingRoom {
  readonly id: number
  readonly ref: DocumentRef
  readonly key: number
  /** The epoch of the tenure in which this node owns the document; `null` in a relay of one node. [LIFE-26] */
  readonly epoch: number | null
}

/** A room that waits for its document. */
export interface OpeningRoom extends LoadingRoom {
  readonly host: RoomHost
  formerClients: ReadonlySet<number>
}

export type LoadOutcome =
  | LoadedRoom
  | { readonly kind: 'gone' }
  /** The document exceeds the bounds, and nothing of it was decoded. [C8] */
  | { readonly kind: 'elsewhere' }
  /** Another node owns the document by now. [LIFE-26] */
  | { readonly kind: 'fenced' }
  | { readonly kind: NotLoaded; readonly detail: string }

const ELSEWHERE: LoadOutcome = { kind: 'elsewhere' }

const GAP_DETAIL = 'the log lacks content that later records build on'

/**
 * Reads body, snapshot and log when a slot for loading is free. A storage failure becomes `unavailable`, a document over `bounds` becomes
 * `elsewhere`. Never rejects. [C8]
 */
export async function loadInTurn(room: OpeningRoom, bounds: RoomBounds | null): Promise<LoadOutcome> {
  const { host, ref } = room
  try {
    return await host.loads.run(ref.workspaceId, async () => {
      room.formerClients = new Set(await host.documents.formerClients(ref, host.clock.nowMs()))
      return loadRoom(host, room, bounds)
    })
  } catch (error) {
    host.log.warn('room.load_failed', 'A document could not be loaded.', {
      workspace: ref.workspaceId,
      docId: ref.id,
      error: String(error),
    })
    const part = damagedPartOf(error)
    return { kind: part === null ? 'unavailable' : `damaged-${part}`, detail: String(error) }
  }
}

/**
 * Loads a document from body, snapshot and log. [LIFE-9, LIFE-13, YDOC-8..YDOC-11]
 *
 * A cold write that the log does not contain yet is applied as edits to the stored Y state, and is durable before the promise resolves.
 * When another process appends the cold write first, its record is read instead. A state that cannot be decoded is rebuilt from the body only when
 * the body contains every logged change. The rebuild begins a new lineage, so this load returns `gone`. Otherwise nothing is changed and
 * the outcome is `damaged-log`. A document that exceeds `bounds` is not decoded.
 */
function loadRoom(host: RoomHost, given: LoadingRoom, bounds: RoomBounds | null): Promise<LoadOutcome> {
  return retryCas<LoadOutcome>(
    () => tryLoad(host, given, bounds),
    () => ({ kind: 'unavailable', detail: 'the document changed during every attempt to load it' }),
  )
}

async function tryLoad(host: RoomHost, room: LoadingRoom, bounds: RoomBounds | null): Promise<LoadOutcome | 'again'> {
  const { ref, key, epoch } = room
  const record = await host.documents.read(ref)
  if (record === null || record.head.key !== key) return { kind: 'gone' }
  if (bounds !== null && isBodyOver(bounds, record)) return ELSEWHERE
  const log = await host.updates.load(key)
  switch (log.kind) {
    case 'gone':
      return { kind: 'gone' }
    case 'damaged':
      return rebuild(host, record, epoch, log.detail)
    case 'loaded':
      if (bounds !== null && isLogOver(bounds, host.guard, log)) return ELSEWHERE
      return fromLog(host, room, record, log)
  }
}

async function fromLog(
  host: RoomHost,
  { id, epoch, ref }: LoadingRoom,
  record: DocumentRecord,
  log: Extract<LoadedLog, { kind: 'loaded' }>,
): Promise<LoadOutcome | 'again'> {
  const { head } = record
  const room: WatchedRoom = { id, workspaceId: ref.workspaceId }
  const lastSeq = log.records.at(-1)?.seq ?? log.snapshot?.throughSeq ?? 0
  const tailBytes = log.records.reduce((sum, { update }) => sum + update.length, 0)
  // A record stored together with a version has the version's date; records after it have later dates.
  const versionSeq = log.records.at(-1)?.atMs === head.updatedAtMs ? lastSeq : -1
  const stateBytes = (log.snapshot?.update.length ?? 0) + tailBytes
  const lastWriter = log.records.findLast(({ seq, actor }) => seq > head.coveredSeq && actor !== 'system')?.actor ?? null
  const tail = { lastSeq, tailRecords: log.records.length, tailBytes }
  const loaded = { kind: 'loaded' as const, head, ...tail, stateBytes, versionSeq, lastWriter }
  const removed = RemovedBlocks.restored(log.removals, host.clock.monotonicMs())
  if (log.snapshot !== null && log.records.length === 0 && !head.bodyAhead && !host.undecodable.has(head.key)) {
    const { update, stateVector } = log.snapshot
    return { ...loaded, content: { kind: 'bytes', update, vector: stateVector, removed } }
  }
  let live: LiveContent
  const updates = [...(log.snapshot === null ? [] : [log.snapshot.update]), ...log.records.map(({ update }) => update)]
  try {
    const startedAt = host.processorMs()
    live = watched(host, room, stateBytes, () => buildSound(updates, host.random, removed))
    live.loadCostMs = host.processorMs() - startedAt
  } catch (error) {
    return rebuild(host, record, epoch, `the Y state cannot be decoded: ${String(error)}`)
  }
  if (live.gap !== null) return withGap(host, record, epoch, { ...loaded, content: { kind: 'live', live } })
  const missing = watched(host, room, stateBytes + head.sizeBytes, () =>
    relayUpdate(host, live, () => {
      removeDoubledProse(live.doc, RELAY)
      if (head.bodyAhead) catchUp(live.doc, readStoredBody(record.body), RELAY, head.titleChangedAtMs)
    }),
  )
  // The catch-up may have added structs. For a document with a stored body and no log it has added all of them.
  live.structCount = countStructs(live.doc)
  return storeCatchUp(host, record, epoch, { ...loaded, content: { kind: 'live', live } }, missing)
}

/**
 * Loads a document whose log lacks content. When the stored body contains every logged change, the Y state is rebuilt from the body. Otherwise
 * loads the sound part and leaves the store as it is, so that the missing content can still be supplied. [LIFE-5]
 */
function withGap(
  host: RoomHost,
  record: DocumentRecord,
  epoch: number | null,
  loaded: LoadedRoom,
): LoadOutcome | Promise<LoadOutcome | 'again'> {
  const { head } = record
  if (head.bodyAhead || head.coveredSeq >= head.lastSeq) return rebuild(host, record, epoch, GAP_DETAIL)
  host.count('documents_with_gap')
  host.log.error(
    'document.needs_repair',
    'The log of a document lacks an edit that later ones build on. It can be read; editing waits for a client that has the edit, or for `relay repair`.',
    { workspace: head.workspaceId, docId: head.id },
  )
  return { ...loaded, versionSeq: -1 }
}

/** Runs `work` on a document and returns the one update it makes; `null` when it changes nothing. */
function relayUpdate({ clock }: RoomHost, live: LiveContent, work: () => void): Uint8Array | null {
  const made: Uint8Array[] = []
  const keep = (update: Uint8Array) => made.push(update)
  live.doc.on('update', keep)
  const forget = rememberRemovals(live, () => clock.monotonicMs())
  try {
    work()
  } finally {
    live.doc.off('update', keep)
    forget()
  }
  return made.length === 0 ? null : Y.mergeUpdates(made)
}

/** Appends the update that brings the log up to the cold write, unless another process has written first. */
async function storeCatchUp(
  host: RoomHost,
  record: DocumentRecord,
  epoch: number | null,
  loaded: LoadedRoom,
  update: Uint8Array | null,
): Promise<LoadOutcome | 'again'> {
  const { head } = record
  if (update === null) return head.bodyAhead ? markCaughtUp(host, epoch, loaded) : loaded
  const { lastSeq, tailRecords, tailBytes } = loaded
  const catchUp = { version: head.version }
  const removals = removalsMember(loaded.content.kind === 'live' ? loaded.content.live.late.takeNotes() : null)
  const atMs = host.clock.nowMs()
  const append = { key: head.key, afterSeq: lastSeq, actor: 'system', atMs, update, catchUp, ...removals, ...epochMember(epoch) }
  const [outcome] = await host.updates.append([append])
  switch (outcome?.kind) {
    case 'appended':
      return {
        ...loaded,
        head: { ...head, bodyAhead: false },
        lastSeq: outcome.seq,
        tailRecords: tailRecords + 1,
        tailBytes: tailBytes + update.length,
        stateBytes: loaded.stateBytes + update.length,
      }
    case 'gone':
    case 'fenced':
      return { kind: outcome.kind }
    default:
      return 'again'
  }
}

/** Removes only the mark `bodyAhead`, because the log already contains the cold write. */
async function markCaughtUp(host: RoomHost, epoch: number | null, loaded: LoadedRoom): Promise<LoadOutcome | 'again'> {
  const { head, lastSeq } = loaded
  const outcome = await host.documents.write({
    ref: { workspaceId: head.workspaceId, id: head.id },
    expect: { kind: 'document', key: head.key, version: head.version },
    set: {},
    bump: false,
    nowMs: host.clock.nowMs(),
    quotaBytes: null,
    log: { kind: 'live', lastSeq, append: [], ...epochMember(epoch) },
  })
  if (outcome.kind === 'fenced') return { kind: outcome.kind }
  return outcome.kind === 'written' ? { ...loaded, head: outcome.head } : 'again'
}

/** Rebuilds the Y state from a body that contains every logged change. [YDOC-11] */
async function rebuild(
  host: RoomHost,
  record: DocumentRecord,
  epoch: number | null,
  detail: string,
): Promise<LoadOutcome | 'again'> {
  const { head } = record
  const fields = { workspace: head.workspaceId, docId: head.id, detail }
  if (head.coveredSeq < head.lastSeq) {
    host.log.error(
      'document.unavailable',
      'The stored state of a document is damaged and its body lacks logged changes. Waiting does not help: run `relay repair` with its id.',
      fields,
    )
    host.count('documents_unavailable')
    return { kind: 'damaged-log', detail }
  }
  const doc = indexedDoc()
  seed(doc, readStoredBody(record.body))
  const rebuilt = {
    lastSeq: head.lastSeq,
    update: Y.encodeStateAsUpdate(doc),
    stateVector: Y.encodeStateVector(doc),
    detail,
    nowMs: host.clock.nowMs(),
  }
  const outcome = await host.updates.rebuild(head.key, rebuilt, epoch ?? undefined)
  doc.destroy()
  if (outcome === 'conflict') return 'again'
  if (outcome === 'fenced') return { kind: outcome }
  host.undecodable.delete(head.key)
  host.log.error('document.rebuilt', 'The stored state of a document was damaged and has been rebuilt from its body.', fields)
  host.count('documents_rebuilt')
  // The requested lineage has ended. The caller looks the document up again and finds the new lineage. [WS-62]
  return { kind: 'gone' }
}
