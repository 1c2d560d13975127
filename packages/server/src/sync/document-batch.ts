import type { FromWorker, ToWorker } from './worker-messages.ts'

/**
 * A batch of messages whose bytes lie in one buffer, to be moved to the other thread. Without it every small view would take the whole buffer
 * it was cut from along, a copy each.
 */
export interface Batch<Message> {
  readonly messages: readonly Message[]
  readonly transfer: ArrayBuffer[]
}

/** Above this a single piece travels in a buffer of its own. */
const APART_BYTES = 1024 * 1024

class Packer {
  private buffer = new Uint8Array(0)
  private at = 0
  readonly transfer: ArrayBuffer[] = []

  reserve(bytes: number): void {
    if (bytes === 0) return
    const buffer = new ArrayBuffer(bytes)
    this.buffer = new Uint8Array(buffer)
    this.transfer.push(buffer)
  }

  put(bytes: Uint8Array): Uint8Array {
    if (bytes.length > APART_BYTES) {
      const apart = bytes.slice()
      this.transfer.push(apart.buffer)
      return apart
    }
    this.buffer.set(bytes, this.at)
    const view = this.buffer.subarray(this.at, this.at + bytes.length)
    this.at += bytes.length
    return view
  }
}

function packedLength(bytes: Uint8Array): number {
  return bytes.length > APART_BYTES ? 0 : bytes.length
}

/** Payloads on their way to a worker; the originals stay usable, as kept frames must. */
export function packToWorker(messages: readonly ToWorker[]): Batch<ToWorker> {
  let total = 0
  for (const message of messages) if ('payload' in message) total += packedLength(message.payload)
  const packer = new Packer()
  packer.reserve(total)
  const packed = messages.map((message) =>
    'payload' in message ? { ...message, payload: packer.put(message.payload) } : message,
  )
  return { messages: packed, transfer: packer.transfer }
}

/** Updates and frames on their way to the main thread. */
export function packFromWorker(messages: readonly FromWorker[]): Batch<FromWorker> {
  let total = 0
  for (const message of messages) for (const bytes of bytesOf(message)) total += packedLength(bytes)
  const packer = new Packer()
  packer.reserve(total)
  const put = (bytes: Uint8Array) => packer.put(bytes)
  const packed = messages.map((message): FromWorker => {
    switch (message.kind) {
      case 'updates':
        return { ...message, updates: message.updates.map(put) }
      case 'direct':
        return { ...message, frames: message.frames.map(put) }
      case 'awareness':
        return { ...message, frame: put(message.frame) }
      default:
        return message
    }
  })
  return { messages: packed, transfer: packer.transfer }
}

function bytesOf(message: FromWorker): readonly Uint8Array[] {
  switch (message.kind) {
    case 'updates':
      return message.updates
    case 'direct':
      return message.frames
    case 'awareness':
      return [message.frame]
    default:
      return NONE
  }
}

const NONE: readonly Uint8Array[] = []
