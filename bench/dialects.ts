import { randomBytes } from 'node:crypto'
import { chunkFrames, jsonFrame, syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { varUint as varUintBytes } from './edit-stream.ts'

/** A decoded message of a server, with the position of the update in the message. */
export interface Incoming {
  readonly kind: 'step1' | 'step2' | 'update' | 'ack' | 'other'
  from: number
  to: number
  /** For a numbered ack: everything up to this ordinal is acknowledged; 0 for an ack of exactly one message. */
  ordinal: number
}

/** The protocol of one server: the same client behaviour in each server's messages. */
export interface Dialect {
  path(doc: string): string
  /** Messages sent directly after the socket has opened. */
  hello(doc: string, token: string): Uint8Array[]
  update(doc: string, update: Uint8Array): Uint8Array
  /** Messages that carry an update of any size. */
  largeUpdate(doc: string, update: Uint8Array): Uint8Array[]
  /** Whether the server answers the hello with its state. The client is in sync once that state has arrived. */
  readonly sendsState: boolean
  readonly acknowledges: boolean
  read(
    bytes: Buffer,
    from: number,
    to: number,
    incoming: { kind: Incoming['kind']; from: number; to: number; ordinal: number },
  ): void
}

export const dialects: Record<'relay' | 'hocuspocus' | 'bare', Dialect> = {
  relay: {
    path: () => '/ws',
    hello: (doc, token) => [
      jsonFrame(TAG.auth, { token, features: ['ack'] }),
      jsonFrame(TAG.joinDoc, { docId: doc }),
      syncFrame(0, Uint8Array.of(0)),
    ],
    update: (_doc, update) => syncFrame(2, update),
    largeUpdate: (_doc, update) => chunkFrames(syncFrame(2, update), randomBytes(16)),
    sendsState: true,
    acknowledges: true,
    read(bytes, from, _to, incoming) {
      const tag = bytes[from]
      cursor = from + 1
      if (tag === TAG.syncAck) {
        incoming.kind = 'ack'
        incoming.ordinal = varUint(bytes)
        return
      }
      incoming.kind = 'other'
      if (tag !== TAG.sync) {
        if (tag === TAG.error) throw new Error(`the relay answered ${bytes.subarray(from + 1, _to).toString()}`)
        return
      }
      syncMessage(bytes, incoming)
    },
  },
  hocuspocus: {
    path: () => '/',
    hello: (doc, token) => {
      const name = text(doc)
      return [Uint8Array.of(...name, 2, 0, ...text(token), ...text('4.7.0')), Uint8Array.of(...name, 0, 0, 1, 0)]
    },
    update: (doc, update) => Uint8Array.of(...text(doc), 0, 2, ...varUintBytes(update.length), ...update),
    largeUpdate: (doc, update) => [Buffer.concat([Uint8Array.of(...text(doc), 0, 2, ...varUintBytes(update.length)), update])],
    sendsState: true,
    acknowledges: true,
    read(bytes, from, _to, incoming) {
      cursor = from
      const nameLength = varUint(bytes)
      cursor += nameLength
      const type = varUint(bytes)
      incoming.kind = 'other'
      if (type === 8) {
        incoming.kind = 'ack'
        incoming.ordinal = 0
      } else if (type === 0 || type === 4) syncMessage(bytes, incoming)
    },
  },
  bare: {
    path: (doc) => `/${doc}`,
    hello: () => [],
    update: (_doc, update) => update,
    largeUpdate: (_doc, update) => [update],
    sendsState: false,
    acknowledges: false,
    read(_bytes, from, to, incoming) {
      incoming.kind = 'update'
      incoming.from = from
      incoming.to = to
    },
  },
}

let cursor = 0

function syncMessage(bytes: Buffer, incoming: { kind: Incoming['kind']; from: number; to: number }): void {
  const subType = varUint(bytes)
  const length = varUint(bytes)
  incoming.kind = subType === 0 ? 'step1' : subType === 1 ? 'step2' : 'update'
  incoming.from = cursor
  incoming.to = cursor + length
}

function varUint(bytes: Buffer): number {
  let value = 0
  let scale = 1
  for (;;) {
    const byte = bytes[cursor++] as number
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return value
    scale *= 128
  }
}

function text(value: string): number[] {
  const bytes = Buffer.from(value)
  return [...varUintBytes(bytes.length), ...bytes]
}
