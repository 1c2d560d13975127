/**
 * How long an edit may wait on its way to the disk and back, where and why: the one table. `docs/edit-path.md` tells the whole way, and a test
 * compares it with these numbers.
 *
 * A message between threads, a commit and a write to a socket cost nearly the same for one edit as for fifty. So each place gathers what
 * comes, for longer the more comes, and after a quiet time not at all: a lone edit waits nowhere.
 */
export const SCHEDULE = {
  /** Main loop to a document worker: the message wakes a thread. */
  toWorkerMs: 12,
  /** A document worker back to the main loop. */
  toGatewayMs: 4,
  /** This node to another one: a lone message over a link costs both some tenths of a millisecond. */
  toNodeMs: 12,
  /** A light room to the storage thread. From a document worker appends leave at once, since the main loop has gathered the edits. */
  toStoreMs: 8,
  /** A room from `windowFromPerSecond` edits a second on: its people get fewer and fuller frames. */
  windowMs: 16,
  windowFromPerSecond: 100,
  /** How long rooms work in one go before other events have their turn: in a document worker, and on the main loop. */
  workerSliceMs: 8,
  lightSliceMs: 2,
} as const

/** Over how long the load of a place is remembered. */
export const LOAD_MEMORY_MS = 100

/** Above so many items a second, a gap of one millisecond gathers enough to pay. */
const PER_GAP_MS = 125
/** The rate for appends, which is lower, as each of their messages also is a commit. */
const PER_STORE_GAP_MS = 50
/** The rate between nodes, which is lower still, as a frame costs both nodes together as much as a hundred messages in it. */
const PER_NODE_GAP_MS = 40

/** How long after the last message between two threads the next one may leave. */
export function gapMs(perSecond: number, widestMs: number): number {
  return Math.min(widestMs, perSecond / PER_GAP_MS)
}

/** The same for appends of light rooms. */
export function storeGapMs(perSecond: number, widestMs: number): number {
  return Math.min(widestMs, perSecond / PER_STORE_GAP_MS)
}

/** The same for what leaves for another node. */
export function nodeGapMs(perSecond: number, widestMs: number): number {
  return Math.min(widestMs, perSecond / PER_NODE_GAP_MS)
}

/** So many more edits a second make the window of a room one millisecond longer. */
const PER_WINDOW_MS = 4

/** How long a room gathers edits; 0 while few come. */
export function roomWindowMs(perSecond: number, widestMs: number): number {
  return Math.min(widestMs, Math.max(0, Math.floor((perSecond - SCHEDULE.windowFromPerSecond) / PER_WINDOW_MS)))
}

/** From so many records a second, a commit waits for the whole delay. */
const FULL_PER_SECOND = 400
/**
 * When no record has come for this part of the delay, the commit starts: records of several threads come together, so a pause means that no
 * more are coming.
 */
const LULL = 1 / 4

/** When a commit starts: `delayMs` after its first record under load, and earlier in a lull. */
export function commitAtMs(
  { firstMs, newestMs }: { readonly firstMs: number; readonly newestMs: number },
  perSecond: number,
  delayMs: number,
): number {
  const gatherMs = delayMs * Math.min(1, perSecond / FULL_PER_SECOND)
  return Math.min(firstMs + gatherMs, newestMs + gatherMs * LULL)
}
