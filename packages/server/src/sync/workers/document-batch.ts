import { Reader, varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import type { FromWorker, ToWorker } from '../worker-messages.ts'

/**
 * A batch of messages for another thread. The frequent kinds (`sync`, `updates`, `settled`) are packed into one byte string, because
 * cloning an object costs many times as much as copying a dozen bytes. All other messages are sent as objects, with a marker in the bytes
 * at their place in the order.
 */
export interface Batch<Message> {
  readonly hot: Uint8Array<ArrayBuffer>
  readonly rest: readonly Message[]
}

export interface PackedBatch<Message> {
  readonly batch: Batch<Message>
  readonly transfer: ArrayBuffer[]
}

const OTHER = 0
const SYNC = 1
const UPDATES = 2
const SETTLED = 3
/** The kind of updates with a `durableSeq`. Only a relay of several nodes sends them. */
const DURABLE_UPDATES = 4

/** A longer byte array gets its own buffer, which is transferred instead of copied. */
const APART_BYTES = 64 * 1024
/** From this size, transferring the byte string costs less than copying it. */
const MOVE_BYTES = 16 * 1024

class HotWriter {
  #bytes = new Uint8Array(1024)
  #at = 0

  uint(value: number): void {
    this.#reserve(varUintLength(value))
    this.#at = writeVarUint(this.#bytes, this.#at, value)
  }

  put(bytes: Uint8Array): void {
    this.uint(bytes.length)
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#at)
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + more))
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}

/** Packs messages for a worker. Payloads are copied, so the originals stay usable: a frame that the gateway keeps is sent more than once. */
export function packToWorker(messages: readonly ToWorker[]): PackedBatch<ToWorker> {
  const writer = new HotWriter()
  const rest: ToWorker[] = []
  const transfer: ArrayBuffer[] = []
  for (const message of messages) {
    if (message.kind === 'sync' && message.payload.length <= APART_BYTES) {
      writer.uint(SYNC)
      writer.uint(message.room)
      writer.uint(message.connection)
      writer.uint(message.join)
      writer.uint(message.ordinal)
      writer.put(message.payload)
    } else {
      writer.uint(OTHER)
      rest.push('payload' in message ? { ...message, payload: apart(message.payload, transfer) } : message)
    }
  }
  return packed(writer, rest, transfer)
}

export function unpackToWorker({ hot, rest }: Batch<ToWorker>): readonly ToWorker[] {
  const reader = new Reader(hot)
  const messages: ToWorker[] = []
  for (let next = 0; reader.remaining > 0; ) {
    if (reader.varUint() === OTHER) messages.push(rest[next++] as ToWorker)
    else {
      const [room, connection, join, ordinal] = [reader.varUint(), reader.varUint(), reader.varUint(), reader.varUint()]
      messages.push({ kind: 'sync', room, connection, join, ordinal, payload: reader.varBytes() })
    }
  }
  return messages
}

/** Packs updates, acknowledgements and frames for the main thread. */
export function packFromWorker(messages: readonly FromWorker[]): PackedBatch<FromWorker> {
  const writer = new HotWriter()
  const rest: FromWorker[] = []
  const transfer: ArrayBuffer[] = []
  for (const message of messages) {
    if (message.kind === 'updates' && message.updates.every((update) => update.length <= APART_BYTES)) {
      writer.uint(message.durableSeq === undefined ? UPDATES : DURABLE_UPDATES)
      writer.uint(message.room)
      if (message.durableSeq !== undefined) writer.uint(message.durableSeq)
      writer.uint(message.updates.length)
      for (let i = 0; i < message.updates.length; i++) {
        writer.uint(message.senders[i] as number)
        writer.put(message.updates[i] as Uint8Array)
      }
    } else if (message.kind === 'settled') {
      writer.uint(SETTLED)
      writer.uint(message.connection)
      writer.uint(message.join)
      writer.uint(message.ordinal)
    } else {
      writer.uint(OTHER)
      rest.push(withOwnBytes(message, transfer))
    }
  }
  return packed(writer, rest, transfer)
}

export function unpackFromWorker({ hot, rest }: Batch<FromWorker>): readonly FromWorker[] {
  const reader = new Reader(hot)
  const messages: FromWorker[] = []
  for (let next = 0; reader.remaining > 0; ) {
    const kind = reader.varUint()
    if (kind === OTHER) messages.push(rest[next++] as FromWorker)
    else if (kind === SETTLED) {
      const [connection, join, ordinal] = [reader.varUint(), reader.varUint(), reader.varUint()]
      messages.push({ kind: 'settled', connection, join, ordinal })
    } else {
      const room = reader.varUint()
      const durable = kind === DURABLE_UPDATES ? { durableSeq: reader.varUint() } : {}
      const updates: Uint8Array[] = []
      const senders: number[] = []
      for (let count = reader.varUint(); count > 0; count--) {
        senders.push(reader.varUint())
        updates.push(reader.varBytes())
      }
      messages.push({ kind: 'updates', room, updates, senders, ...durable })
    }
  }
  return messages
}

function packed<Message>(writer: HotWriter, rest: readonly Message[], transfer: ArrayBuffer[]): PackedBatch<Message> {
  const hot = writer.finish()
  if (hot.length >= MOVE_BYTES) transfer.push(hot.buffer)
  return { batch: { hot, rest }, transfer }
}

function withOwnBytes(message: FromWorker, transfer: ArrayBuffer[]): FromWorker {
  switch (message.kind) {
    case 'updates':
      return { ...message, updates: message.updates.map((update) => apart(update, transfer)) }
    case 'direct':
      return { ...message, frames: message.frames.map((frame) => apart(frame, transfer)) }
    case 'awareness':
      return { ...message, frame: apart(message.frame, transfer) }
    case 'done': {
      const { outcome } = message
      if (outcome.kind === 'missed') {
        const updates = outcome.updates.map((update) => apart(update, transfer))
        return { ...message, outcome: { ...outcome, updates } }
      }
      if (outcome.kind !== 'encoded') return message
      return { ...message, outcome: { ...outcome, update: apart(outcome.update, transfer) } }
    }
    default:
      return message
  }
}

/**
 * Copies the bytes into a new buffer. Transferring a view would transfer the whole buffer behind it, and `slice` of a Buffer returns such a
 * view.
 */
function apart(bytes: Uint8Array, transfer: ArrayBuffer[]): Uint8Array {
  const own = new Uint8Array(bytes)
  if (own.length >= MOVE_BYTES) transfer.push(own.buffer)
  return own
}
