import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import * as Y from 'yjs'
import type { Random } from '../../kernel/ids.ts'
import type { RoomView } from '../guard/guard.ts'
import { typeRoots } from '../guard/guard-roots.ts'
import { LateWords } from '../late-words/late-words.ts'
import type { RemovedBlocks } from '../late-words/removed-blocks.ts'
import { type LogGap, takePending } from './log-gap.ts'
import { indexedDoc } from './indexed-doc.ts'
import type { RoomBounds } from './room-bounds.ts'
import { splitUpdate } from './room-split.ts'

/**
 * The form in which a room holds its document. `bytes`: the stored state as it was read, which is enough to serve readers; `live`: a Y.Doc.
 * A room starts as `bytes` when possible and becomes `live` when a Y.Doc is needed. It returns to `bytes` only when it loads the document
 * again to take back a refused write.
 */
export type RoomContent =
  | {
      readonly kind: 'bytes'
      readonly update: Uint8Array
      readonly vector: Uint8Array
      /** The stored memory of removed blocks. [AG-110] */
      readonly removed: RemovedBlocks
    }
  | { readonly kind: 'live'; readonly live: LiveContent }

/** Origin of transactions that the relay itself makes. */
export const RELAY = 'relay'

/** The live document, with counts and costs that are kept for it. */
export interface LiveContent extends RoomView {
  readonly doc: Y.Doc
  /** The memory of blocks that the relay removed a moment ago, for words that arrive late. [AG-110] */
  late: LateWords
  structCount: number
  /** The whole state, encoded, and the log sequence at which it was encoded. [G12] */
  full: { readonly sequence: number; readonly update: Uint8Array } | null
  /**
   * Content that is missing from the log. While `gap` is set, only updates that supply missing content are accepted. `null`: the log is
   * complete. [LIFE-5]
   */
  gap: LogGap | null
  /** Estimated time to load the document: the duration of the last full decode plus the time of slow updates since. [G9] */
  loadCostMs: number
  /** Time of all fast updates since the last decode. Each took little, but together they may add much to the load. [G9] */
  smallStepsMs: number
}

const ANY_CLIENT_ID = 2 ** 32

/**
 * Builds a document from stored updates, with the roots of YDOC-1 typed. Throws when the updates cannot be applied completely. [YDOC-11,
 * YDOC-12]
 */
export function buildLive(updates: readonly Uint8Array[], random: Random, removed?: RemovedBlocks): LiveContent {
  const live = buildSound(updates, random, removed)
  if (live.gap === null) return live
  live.doc.destroy()
  throw new Error('the stored updates leave content pending')
}

/**
 * Like `buildLive`, for a log that may lack content. Updates that depend on missing content are not in the document but in `gap`. Throws when
 * bytes cannot be decoded.
 */
export function buildSound(updates: readonly Uint8Array[], random: Random, removed?: RemovedBlocks): LiveContent {
  const doc = indexedDoc()
  doc.transact(() => {
    for (const update of updates) Y.applyUpdate(doc, update)
  })
  const gap = takePending(doc)
  typeRoots(doc)
  doc.clientID = freshClientId(doc, random)
  return {
    doc,
    late: new LateWords(doc, removed),
    structCount: countStructs(doc),
    full: null,
    gap,
    loadCostMs: 0,
    smallStepsMs: 0,
  }
}

/** Remembers the blocks that the relay's own transactions remove, until the returned function is called. [AG-110] */
export function rememberRemovals(live: LiveContent, nowMs: () => number): () => void {
  const remember = (transaction: Y.Transaction): void => {
    if (transaction.origin === RELAY) live.late.remember(transaction, nowMs())
  }
  live.doc.on('afterTransaction', remember)
  return () => live.doc.off('afterTransaction', remember)
}

/** Returns a random client id other than 0 that the document does not contain. [YDOC-12] */
function freshClientId(doc: Y.Doc, random: Random): number {
  for (;;) {
    const id = random.integer(1, ANY_CLIENT_ID)
    if (!doc.store.clients.has(id)) return id
  }
}

export function hasPending(doc: Y.Doc): boolean {
  return doc.store.pendingStructs !== null || doc.store.pendingDs !== null
}

export function countStructs(doc: Y.Doc): number {
  let count = 0
  for (const structs of doc.store.clients.values()) count += structs.length
  return count
}

const STRUCT_BYTES = 160
const ENCODED_STRUCT_BYTES = 30

/** Returns the estimated memory of the content, in bytes. */
export function memoryOf(content: RoomContent): number {
  return content.kind === 'bytes' ? content.update.length : content.live.structCount * STRUCT_BYTES
}

/** Returns the estimated length of the content as one update, in bytes. */
export function lengthOf(content: RoomContent): number {
  return content.kind === 'bytes'
    ? content.update.length
    : (content.live.full?.update.length ?? content.live.structCount * ENCODED_STRUCT_BYTES)
}

const HEAVY_BYTES = 8 * 1024 * 1024
const SLOW_LOAD_MS = 1_000
/** A document counts as heavy when its load takes more than 200 ms plus 0.03 ms per struct, because its size does not explain this time. */
const SUSPECT_LOAD_MS = 200
const SUSPECT_STRUCT_MS = 0.03

/** Whether a document should not share its home with small documents, because it is large, slow or over the bounds. [C8] */
export function isHeavy(content: RoomContent, bounds: RoomBounds | null): boolean {
  // Between two counts `structCount` only grows, although Yjs joins typed text into one struct. So the structs are counted again
  // before a document is called heavy.
  if (seemsHeavy(content, bounds) && content.kind === 'live') content.live.structCount = countStructs(content.live.doc)
  return seemsHeavy(content, bounds)
}

function seemsHeavy(content: RoomContent, bounds: RoomBounds | null): boolean {
  if (bounds !== null) {
    return content.kind === 'live' && content.live.structCount > bounds.structs
  }
  if (lengthOf(content) > HEAVY_BYTES) return true
  if (content.kind === 'bytes') return false
  const { loadCostMs, structCount } = content.live
  return loadCostMs > SLOW_LOAD_MS || loadCostMs > SUSPECT_LOAD_MS + SUSPECT_STRUCT_MS * structCount
}

export function vectorOf(content: RoomContent): Uint8Array {
  return content.kind === 'bytes' ? content.vector : Y.encodeStateVector(content.live.doc)
}

/** Returns the whole state as one update, which is cached until the sequence changes. [G12] */
export function fullState(content: RoomContent, sequence: number): Uint8Array {
  if (content.kind === 'bytes') return content.update
  const { live } = content
  if (live.full?.sequence !== sequence) live.full = { sequence, update: Y.encodeStateAsUpdate(live.doc) }
  return live.full.update
}

/**
 * Returns the frames that answer a step1: first `update` messages when the answer is too large for one message, then exactly one step2.
 * [WS-25, WS-26]
 */
export function step2Frames(
  content: RoomContent,
  vector: ReadonlyMap<number, number>,
  encoded: Uint8Array,
  sequence: number,
): Uint8Array[] {
  const parts = splitUpdate(missingFrom(content, vector, encoded, sequence))
  return parts.map((part, i) => syncFrame(i === parts.length - 1 ? SYNC.step2 : SYNC.update, part))
}

function missingFrom(
  content: RoomContent,
  vector: ReadonlyMap<number, number>,
  encoded: Uint8Array,
  sequence: number,
): Uint8Array {
  if (vector.size === 0) return fullState(content, sequence)
  return content.kind === 'bytes' ? Y.diffUpdate(content.update, encoded) : Y.encodeStateAsUpdate(content.live.doc, encoded)
}
