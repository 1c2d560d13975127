import { Reader, varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import { LinkFrameError } from './link-frame-error.ts'
import { TAG_BYTES } from './link-secrets.ts'

/** Kinds of frames. The number is the first byte of a frame before it is sealed. */
export const BATCH = 0
/** A part of a batch that is too long for one frame, and the last part of such a batch. */
export const PIECE = 1
export const LAST_PIECE = 2
const PING = 3
const PONG = 4
const CREDIT = 5

/** Batches up to this size are sent whole. Longer batches are sent in pieces, so that pings can pass between the pieces. */
export const WHOLE_BYTES = 1024 * 1024
export const PIECE_BYTES = 256 * 1024
export const MAX_FRAME_BYTES = WHOLE_BYTES + 1 + TAG_BYTES
/** A batch in pieces that grows beyond this size ends the link. */
export const MAX_BATCH_BYTES = 128 * 1024 * 1024

/** A frame after its seal was opened. */
export type LinkFrame =
  | { readonly kind: 'batch' | 'piece' | 'last-piece'; readonly bytes: Uint8Array }
  /** `sentMs`: the time of the ping on its sender's clock, which the pong returns unchanged. */
  | { readonly kind: 'ping' | 'pong'; readonly sentMs: number }
  /** The other side has handled this many more sealed bytes of batches and pieces. */
  | { readonly kind: 'credit'; readonly bytes: number }

/** Reads one frame. `bytes` in the result is a view of `frame`. Throws `LinkFrameError`. */
export function readFrame(frame: Uint8Array): LinkFrame {
  const bytes = frame.subarray(1)
  switch (frame[0]) {
    case BATCH:
      return { kind: 'batch', bytes }
    case PIECE:
      return { kind: 'piece', bytes }
    case LAST_PIECE:
      return { kind: 'last-piece', bytes }
    case PING:
      return { kind: 'ping', sentMs: readTime(bytes) }
    case PONG:
      return { kind: 'pong', sentMs: readTime(bytes) }
    case CREDIT:
      return { kind: 'credit', bytes: readUint(bytes) }
    default:
      throw new LinkFrameError('an unknown kind of frame')
  }
}

export function timeFrame(kind: 'ping' | 'pong', sentMs: number): Uint8Array {
  const frame = new Uint8Array(9)
  frame[0] = kind === 'ping' ? PING : PONG
  new DataView(frame.buffer).setFloat64(1, sentMs)
  return frame
}

export function creditFrame(bytes: number): Uint8Array {
  const frame = new Uint8Array(1 + varUintLength(bytes))
  frame[0] = CREDIT
  writeVarUint(frame, 1, bytes)
  return frame
}

function readTime(bytes: Uint8Array): number {
  if (bytes.length !== 8) throw new LinkFrameError('a time has 8 bytes')
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0)
}

function readUint(bytes: Uint8Array): number {
  const reader = new Reader(bytes)
  const value = reader.varUint()
  if (reader.failed || reader.remaining > 0) throw new LinkFrameError('a credit is a number')
  return value
}
