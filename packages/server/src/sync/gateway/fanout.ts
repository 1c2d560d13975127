import { varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import type { Connection } from './connection.ts'
import type { Outbox } from './outbox.ts'
import { frameHeaderLength, wireBytes, writeFrameHeader } from './websocket-frame.ts'

/** The frames of one turn in one buffer, and the offset of each frame. The last offset is the end of the buffer. */
interface TurnFrames {
  readonly bytes: Buffer
  readonly offsets: readonly number[]
}

/** For up to this many senders a list is searched. For more senders a set is built. */
const FEW = 8

/**
 * Sends the updates of a turn to the sockets of a room. The bytes are made once per turn, and all sockets that sent no update in the turn
 * share them. [WS-31]
 */
export class Fanout {
  readonly #outbox: Outbox
  #turn = 0

  constructor(outbox: Outbox) {
    this.#outbox = outbox
  }

  /** Sends the updates of a turn to every member. Leaves out the updates that the member sent itself. */
  updates(members: readonly Connection[], updates: readonly Uint8Array[], senders: readonly number[]): void {
    const turn = ++this.#turn
    const sent = senders.length > FEW ? new Set(senders) : null
    let receivers = 0
    const [first] = senders
    const oneSender = senders.every((sender) => sender === first)
    for (const member of members) {
      const isSender = sent === null ? senders.includes(member.id) : sent.has(member.id)
      if (isSender) member.turn = turn
      if (!isSender || !oneSender) receivers++
    }
    if (receivers === 0) return

    const frames = turnFrames(updates)
    // The loop runs from the end, because closing a slow member moves the last member into its place.
    for (let at = members.length - 1; at >= 0; at--) {
      const member = members[at]
      if (member === undefined) continue
      if (this.#outbox.isSlow(member)) this.#hold(member, updates, senders)
      else if (member.turn !== turn) this.#outbox.put(member, frames.bytes)
      else {
        const others = withoutOwn(frames, senders, member.id)
        if (others !== null) this.#outbox.put(member, others)
      }
    }
  }

  /** Sends one AWARENESS frame to every member except the connection `except`; 0 excludes no member. */
  awareness(members: readonly Connection[], frame: Uint8Array, except: number): void {
    const bytes = wireBytes(frame)
    for (let at = members.length - 1; at >= 0; at--) {
      const member = members[at]
      if (member === undefined || member.id === except) continue
      if (this.#outbox.isSlow(member)) this.#outbox.holdAwareness(member, frame)
      else this.#outbox.put(member, bytes)
    }
  }

  #hold(member: Connection, updates: readonly Uint8Array[], senders: readonly number[]): void {
    for (const [at, update] of updates.entries()) if (senders[at] !== member.id) this.#outbox.hold(member, update)
  }
}

/** Makes complete WebSocket frames of SYNC updates, one after the other in one buffer. */
export function turnFrames(updates: readonly Uint8Array[]): TurnFrames {
  let total = 0
  const offsets: number[] = []
  for (const update of updates) {
    offsets.push(total)
    const message = messageLength(update)
    total += frameHeaderLength(message) + message
  }
  offsets.push(total)
  const bytes = Buffer.allocUnsafe(total)
  let at = 0
  for (const update of updates) {
    at = writeFrameHeader(bytes, at, messageLength(update))
    bytes[at++] = TAG.sync
    bytes[at++] = SYNC.update
    at = writeVarUint(bytes, at, update.length)
    bytes.set(update, at)
    at += update.length
  }
  return { bytes, offsets }
}

/** Returns the frames of a turn without the frames that the connection `own` sent; `null` when no frame is left. */
export function withoutOwn(frames: TurnFrames, senders: readonly number[], own: number): Buffer | null {
  const slices: Buffer[] = []
  let from = 0
  for (const [at, sender] of senders.entries()) {
    if (sender !== own) continue
    const start = frames.offsets[at] ?? 0
    if (start > from) slices.push(frames.bytes.subarray(from, start))
    from = frames.offsets[at + 1] ?? start
  }
  if (frames.bytes.length > from) slices.push(frames.bytes.subarray(from))
  if (slices.length === 0) return null
  return slices.length === 1 && slices[0] !== undefined ? slices[0] : Buffer.concat(slices)
}

function messageLength(update: Uint8Array): number {
  return 2 + varUintLength(update.length) + update.length
}
