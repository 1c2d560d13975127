import type { ChunkFrame } from '@docrelay/protocol/frames'

/** Limits for the chunked messages of one connection. [WS-36] */
export const CHUNK_LIMITS = { messages: 4, total: 64, bytes: 16 * 1024 * 1024, idleMs: 10_000 } as const
/** The maximum bytes of unfinished chunked messages in the whole process. [W5] */
export const CHUNK_PROCESS_BYTES = 256 * 1024 * 1024
/** The ids of this many refused messages are remembered, so that their remaining pieces are ignored. */
const REFUSED_KEPT = 16

/** Counts the bytes of the unfinished chunked messages of all connections. */
export interface ChunkBudget {
  usedBytes: number
  readonly maxBytes: number
}

interface Unfinished {
  readonly total: number
  readonly pieces: (Uint8Array | undefined)[]
  missing: number
  bytes: number
}

/** Unfinished chunked messages of one binding. */
export interface ChunkBox {
  readonly unfinished: Map<string, Unfinished>
  readonly refused: string[]
  bytes: number
  /** Monotonic time of the last new piece. */
  progressMs: number
}

export type ChunkOutcome =
  | { readonly kind: 'waiting' }
  /** A repeated piece, or a piece of a refused message. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'complete'; readonly frame: Uint8Array }
  /**
   * The message exceeds a limit and is refused once. `fault`: the limit of the client (a violation) or of the process.
   * [WS-36, W5]
   */
  | { readonly kind: 'refused'; readonly fault: 'client' | 'process' }

export function newChunkBox(): ChunkBox {
  return { unfinished: new Map(), refused: [], bytes: 0, progressMs: 0 }
}

/** Adds one piece. The piece is copied, so that it does not keep the whole received buffer in memory. */
export function addChunk(box: ChunkBox, budget: ChunkBudget, chunk: ChunkFrame, nowMs: number): ChunkOutcome {
  const id = idOf(chunk)
  if (box.refused.includes(id)) return { kind: 'ignored' }
  const known = box.unfinished.get(id)
  if (known && known.total !== chunk.total) forget(box, budget, id)
  if (chunk.total < 1 || chunk.total > CHUNK_LIMITS.total || chunk.seq >= chunk.total) return refuse(box, budget, id, 'client')

  let message = box.unfinished.get(id)
  if (!message) {
    if (box.unfinished.size >= CHUNK_LIMITS.messages) return refuse(box, budget, id, 'client')
    message = { total: chunk.total, pieces: Array.from({ length: chunk.total }), missing: chunk.total, bytes: 0 }
    box.unfinished.set(id, message)
  }
  if (message.pieces[chunk.seq] !== undefined) return { kind: 'ignored' }
  if (box.bytes + chunk.payload.length > CHUNK_LIMITS.bytes) return refuse(box, budget, id, 'client')
  if (budget.usedBytes + chunk.payload.length > budget.maxBytes) return refuse(box, budget, id, 'process')

  const piece = new Uint8Array(chunk.payload)
  message.pieces[chunk.seq] = piece
  message.missing--
  message.bytes += piece.length
  box.bytes += piece.length
  budget.usedBytes += piece.length
  box.progressMs = nowMs
  if (message.missing > 0) return { kind: 'waiting' }
  forget(box, budget, id)
  return { kind: 'complete', frame: Buffer.concat(message.pieces as Uint8Array[], message.bytes) }
}

/** Whether a message is unfinished and no new piece arrived for `idleMs` (10 s). */
export function chunksExpired(box: ChunkBox, nowMs: number): boolean {
  return box.unfinished.size > 0 && nowMs - box.progressMs >= CHUNK_LIMITS.idleMs
}

/** Drops every unfinished message of a binding: when the messages expire, and when the binding ends. */
export function clearChunks(box: ChunkBox, budget: ChunkBudget): void {
  budget.usedBytes -= box.bytes
  box.bytes = 0
  box.unfinished.clear()
}

function refuse(box: ChunkBox, budget: ChunkBudget, id: string, fault: 'client' | 'process'): ChunkOutcome {
  forget(box, budget, id)
  remember(box.refused, id)
  return { kind: 'refused', fault }
}

/** Returns true for the first piece of a refused message and remembers the message, so that its other pieces are ignored. */
export function isFirstRefused(refused: string[], chunk: ChunkFrame): boolean {
  const id = idOf(chunk)
  if (refused.includes(id)) return false
  remember(refused, id)
  return true
}

function remember(refused: string[], id: string): void {
  refused.push(id)
  if (refused.length > REFUSED_KEPT) refused.shift()
}

function idOf(chunk: ChunkFrame): string {
  return Buffer.from(chunk.messageId).toString('latin1')
}

function forget(box: ChunkBox, budget: ChunkBudget, id: string): void {
  const message = box.unfinished.get(id)
  if (!message) return
  box.bytes -= message.bytes
  budget.usedBytes -= message.bytes
  box.unfinished.delete(id)
}
