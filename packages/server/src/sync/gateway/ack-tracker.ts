/**
 * A write-bearing message that was sent to the home of its room and is not settled yet. When that home ends, the next home of the room
 * gets the message again. [C6]
 */
export interface KeptFrame {
  readonly ordinal: number
  /** The SYNC message, sub-type first. */
  readonly payload: Uint8Array
  /** Place in the order of all messages that this process sent to rooms. */
  readonly order: number
  /** The SYNC_CHUNK_ACK of a chunked message, sent after the message was handled. [WS-37] */
  chunkAck?: Uint8Array
}

/**
 * Counts the write-bearing messages of one binding and records how far they are settled. [WS-39, WS-40] Ordinals are
 * counted on arrival, also for refused messages. A message is outstanding while it waits for a token of a shared bucket and while
 * its room has it. So every message before the oldest outstanding one is durable, a proven no-op, or refused.
 */
export interface AckTracker {
  received: number
  /** The ordinal of the message that waits for its token, 0 for none. At most one waits, because messages are handled in order. [WS-11] */
  asking: number
  /** Highest acknowledged ordinal; never decreases. [WS-41] */
  acked: number
  kept: KeptFrame[]
  keptBytes: number
}

export function newAckTracker(): AckTracker {
  return { received: 0, asking: 0, acked: 0, kept: [], keptBytes: 0 }
}

/** Counts one message and returns its ordinal. */
export function countOrdinal(tracker: AckTracker): number {
  return ++tracker.received
}

export function keepFrame(tracker: AckTracker, frame: KeptFrame): void {
  tracker.kept.push(frame)
  tracker.keptBytes += frame.payload.length
}

/** Marks every message up to `ordinal` as settled. Returns the frames that are no longer outstanding. */
export function settleThrough(tracker: AckTracker, ordinal: number): readonly KeptFrame[] {
  let settled = 0
  for (const frame of tracker.kept) {
    if (frame.ordinal > ordinal) break
    tracker.keptBytes -= frame.payload.length
    settled++
  }
  return settled > 0 ? tracker.kept.splice(0, settled) : NONE
}

const NONE: readonly KeptFrame[] = []

/** Removes the frame that a worker was handling when the worker ended, so that the frame is not sent again. */
export function dropKept(tracker: AckTracker, ordinal: number): void {
  const at = tracker.kept.findIndex((frame) => frame.ordinal === ordinal)
  if (at < 0) return
  tracker.keptBytes -= tracker.kept[at]?.payload.length ?? 0
  tracker.kept.splice(at, 1)
}

/** Returns the ordinal to acknowledge now, or 0 when no further message is settled. */
export function takeAck(tracker: AckTracker): number {
  const oldest = tracker.kept[0]?.ordinal ?? tracker.asking
  const through = oldest > 0 ? oldest - 1 : tracker.received
  if (through <= tracker.acked) return 0
  tracker.acked = through
  return through
}
