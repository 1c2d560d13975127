/**
 * A write-bearing message that was handed to a worker and is not settled yet. When the worker ends, it is handed over
 * again. [C6]
 */
export interface KeptFrame {
  readonly ordinal: number
  /** The SYNC message, sub-type first. */
  readonly payload: Uint8Array
  /** Number in the order of everything that this process handed over. */
  readonly order: number
  /** The SYNC_CHUNK_ACK of a chunked message, sent after the message was handled. [WS-37] */
  chunkAck?: Uint8Array
}

/**
 * Counts the write-bearing messages of one binding and records how far they are settled. [WS-39, WS-40] Ordinals are
 * counted on arrival, also for refused messages. A message is outstanding while a shared bucket is asked for its token and while
 * its room has it, so everything below the oldest outstanding ordinal is durable, a proven no-op, or refused.
 */
export interface AckTracker {
  received: number
  /** The ordinal of the message whose token is asked for, 0 for none: messages of a connection wait for the one before. [WS-11] */
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

/** Marks everything handed over up to `ordinal` as settled; returns the frames that are no longer outstanding. */
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

/** Removes one frame: a worker ended while it handled that frame. */
export function dropKept(tracker: AckTracker, ordinal: number): void {
  const at = tracker.kept.findIndex((frame) => frame.ordinal === ordinal)
  if (at < 0) return
  tracker.keptBytes -= tracker.kept[at]?.payload.length ?? 0
  tracker.kept.splice(at, 1)
}

/** Returns the ordinal to acknowledge now, or 0 when there is nothing new. */
export function takeAck(tracker: AckTracker): number {
  const oldest = tracker.kept[0]?.ordinal ?? tracker.asking
  const through = oldest > 0 ? oldest - 1 : tracker.received
  if (through <= tracker.acked) return 0
  tracker.acked = through
  return through
}
