import type { Room } from './room-table.ts'

/** The history of the failed appends of a room, in a relay of several nodes. */
export interface RoomResets {
  /** Monotonic times of the resets of the last minute. */
  readonly atMs: readonly number[]
  /** The number of resets in a row with nothing stored between them. */
  readonly inRow: number
  /** The sequence through which the log was durable at the last reset. */
  readonly since: number | null
  /** Monotonic time until which opening is tried again while the store does not answer. */
  readonly untilMs: number
}

export const NO_RESETS: RoomResets = { atMs: [], inRow: 0, since: null, untilMs: Number.NEGATIVE_INFINITY }

const WINDOW_MS = 60_000
const MOST = 20
/** Only few resets in a row are allowed, because a write that the store always refuses is sent again after each of them. */
const MOST_IN_ROW = 3
/**
 * How long opening is tried again after a reset. This is longer than the 10 s after which a node without the database gives up its
 * documents by itself. [LIFE-27]
 */
export const REOPEN_MS = 12_000

/**
 * Counts one more reset. Returns `null` when there were too many resets: sending the writes again does not help then, and the sockets of
 * the room have to be closed. [LIFE-6]
 */
export function oneMore({ resets: before, since }: Pick<Room, 'resets' | 'since'>, nowMs: number): RoomResets | null {
  const atMs = [...before.atMs.filter((one) => nowMs - one < WINDOW_MS), nowMs]
  const inRow = atMs.length > 1 && before.since === since ? before.inRow + 1 : 1
  return inRow > MOST_IN_ROW || atMs.length > MOST ? null : { atMs, inRow, since, untilMs: nowMs + REOPEN_MS }
}
