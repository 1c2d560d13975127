/** A write-bearing message that was handed to a worker and is not settled yet; handed over again when the worker ends. [C6] */
export interface KeptFrame {
  readonly ordinal: number
  /** The SYNC message, sub-type first. */
  readonly payload: Uint8Array
  /** Place in the order of everything handed over by this process. */
  readonly order: number
  /** The SYNC_CHUNK_ACK of a chunked message; due once the message was handled. [WS-37] */
  chunkAck?: Uint8Array
}

/**
 * Counts write-bearing messages of one binding and knows how far they are settled. [WS-39, WS-40]
 * Ordinals are counted on arrival, refused ones included; only those handed over can be outstanding, so everything below the oldest
 * outstanding one is durable, a proven no-op, or refused.
 */
export interface AckTracker {
  received: number
  /** Highest ordinal that was acknowledged; never decreases. [WS-41] */
  acked: number
  kept: KeptFrame[]
  keptBytes: number
}

export function newAckTracker(): AckTracker {
  return { received: 0, acked: 0, kept: [], keptBytes: 0 }
}

/** Counts one message and answers its ordinal. */
export function countOrdinal(tracker: AckTracker): number {
  return ++tracker.received
}

export function keepFrame(tracker: AckTracker, frame: KeptFrame): void {
  tracker.kept.push(frame)
  tracker.keptBytes += frame.payload.length
}

/** Everything handed over up to `ordinal` is settled; answers the frames that no longer are outstanding. */
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

/** Takes one frame out: it was the running one of a worker that ended. */
export function dropKept(tracker: AckTracker, ordinal: number): void {
  const at = tracker.kept.findIndex((frame) => frame.ordinal === ordinal)
  if (at < 0) return
  tracker.keptBytes -= tracker.kept[at]?.payload.length ?? 0
  tracker.kept.splice(at, 1)
}

/** The ordinal to acknowledge now, or 0 when there is nothing new to say. */
export function takeAck(tracker: AckTracker): number {
  const oldest = tracker.kept[0]
  const through = oldest ? oldest.ordinal - 1 : tracker.received
  if (through <= tracker.acked) return 0
  tracker.acked = through
  return through
}
