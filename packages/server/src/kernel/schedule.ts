/**
 * The table of all waits of an edit on its way to the disk and back. `docs/edit-path.md` describes the way, and a test compares that document with
 * these numbers.
 *
 * A message between threads, a commit and a write to a socket cost nearly the same for one edit as for fifty. So each place gathers edits, for longer
 * when more arrive. After a quiet time a place does not gather, so a single edit waits nowhere.
 */
export const SCHEDULE = {
  /** Main loop to a document worker, where a message wakes a thread. */
  toWorkerMs: 12,
  /** A document worker back to the main loop. */
  toGatewayMs: 4,
  /** This node to another node: a frame with a single message costs each node some tenths of a millisecond. */
  toNodeMs: 12,
  /**
   * A light room to the storage thread. A document worker sends appends at once, because the main loop has already gathered the
   * edits.
   */
  toStoreMs: 10,
  /** A room with more than `windowFromPerSecond` edits a second to its connections, which then get fewer and fuller frames. */
  windowMs: 16,
  windowFromPerSecond: 100,
  /**
   * Time for which rooms work before other events have their turn: in a document worker, and for light rooms on the main loop.
   */
  workerSliceMs: 8,
  lightSliceMs: 2,
} as const

/** The time over which the load of a place is counted. */
export const LOAD_MEMORY_MS = 100

/** The gap grows by 1 ms for this many items a second, so that it is only as long as gathering is worth. */
const PER_GAP_MS = 125
/** Like PER_GAP_MS, for appends. Lower, because each message of appends also costs a commit. */
const PER_STORE_GAP_MS = 50
/** Like PER_GAP_MS, between nodes. Lower still, because a frame costs the two nodes as much as a hundred messages in it. */
const PER_NODE_GAP_MS = 40

/** Returns how long after the last message between two threads the next one may leave. */
export function gapMs(perSecond: number, widestMs: number): number {
  return Math.min(widestMs, perSecond / PER_GAP_MS)
}

/** Like `gapMs`, for appends of light rooms. */
export function storeGapMs(perSecond: number, widestMs: number): number {
  return Math.min(widestMs, perSecond / PER_STORE_GAP_MS)
}

/** Like `gapMs`, for messages to another node. */
export function nodeGapMs(perSecond: number, widestMs: number): number {
  return Math.min(widestMs, perSecond / PER_NODE_GAP_MS)
}

/** The window of a room grows by 1 ms for this many edits a second. */
const PER_WINDOW_MS = 4

/** Returns how long a room gathers edits; 0 up to `windowFromPerSecond` edits a second. */
export function roomWindowMs(perSecond: number, widestMs: number): number {
  return Math.min(widestMs, Math.max(0, Math.floor((perSecond - SCHEDULE.windowFromPerSecond) / PER_WINDOW_MS)))
}

/** At this many records a second or more, a commit waits for the whole delay. */
const FULL_PER_SECOND = 400
/**
 * When no record has arrived for this part of the delay, the commit starts. Records of several threads arrive close together, so
 * after such a pause no more are expected.
 */
const LULL = 1 / 4

/** Returns when a commit starts: `delayMs` after its first record under load, and earlier after a pause. */
export function commitAtMs(
  { firstMs, newestMs }: { readonly firstMs: number; readonly newestMs: number },
  perSecond: number,
  delayMs: number,
): number {
  const gatherMs = delayMs * Math.min(1, perSecond / FULL_PER_SECOND)
  return Math.min(firstMs + gatherMs, newestMs + gatherMs * LULL)
}
