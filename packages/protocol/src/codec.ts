import { Reader, varUintLength, writeVarUint } from './bytes.ts'
import { CHUNK_HEADER_BYTES, CHUNK_PAYLOAD_BYTES, type ChunkFrame, SYNC, TAG } from './frames.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Writes a SYNC frame: `[tag][subType][length][payload]`. A sub-type fits one byte. [WS-10] */
export function syncFrame(subType: 0 | 1 | 2, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(2 + varUintLength(payload.length) + payload.length)
  frame[0] = TAG.sync
  frame[1] = subType
  frame.set(payload, writeVarUint(frame, 2, payload.length))
  return frame
}

/** Reads a SYNC frame without its tag: a sub-type and its bytes. Returns `null` when the bytes are anything else. */
export function readSync(message: Uint8Array): { readonly subType: 0 | 1 | 2; readonly payload: Uint8Array } | null {
  const reader = new Reader(message)
  const subType = reader.varUint()
  const payload = reader.varBytes()
  if (reader.failed || reader.remaining > 0) return null
  if (subType !== SYNC.step1 && subType !== SYNC.step2 && subType !== SYNC.update) return null
  return { subType, payload }
}

/** Whether a SYNC message, without its tag, carries a write. The first byte of the message decides. */
export function isWriteBearing(message: Uint8Array): boolean {
  return message[0] === SYNC.step2 || message[0] === SYNC.update
}

/** Writes an AWARENESS frame. `awareness` is an encoded awareness update. [WS-42] */
export function awarenessFrame(awareness: Uint8Array): Uint8Array {
  const frame = new Uint8Array(1 + varUintLength(awareness.length) + awareness.length)
  frame[0] = TAG.awareness
  frame.set(awareness, writeVarUint(frame, 1, awareness.length))
  return frame
}

/** Returns the awareness update in an AWARENESS frame without its tag; `null` when the frame is malformed. */
export function readAwareness(message: Uint8Array): Uint8Array | null {
  const reader = new Reader(message)
  const update = reader.varBytes()
  return reader.failed || reader.remaining > 0 ? null : update
}

/** Writes a frame whose payload is UTF-8 JSON. [WS-9] */
export function jsonFrame(tag: 2 | 7 | 8 | 9 | 10 | 18, value: unknown): Uint8Array {
  const json = encoder.encode(JSON.stringify(value))
  const frame = new Uint8Array(1 + json.length)
  frame[0] = tag
  frame.set(json, 1)
  return frame
}

/** Returns the JSON value in a frame without its tag, or `undefined` when the bytes are not well-formed UTF-8 JSON. */
export function readJson(message: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(message))
  } catch {
    return undefined
  }
}

export const HEARTBEAT_FRAME: Uint8Array = Uint8Array.of(TAG.heartbeat)

export function syncAckFrame(ordinal: number): Uint8Array {
  const frame = new Uint8Array(1 + varUintLength(ordinal))
  frame[0] = TAG.syncAck
  writeVarUint(frame, 1, ordinal)
  return frame
}

/** Returns the ordinal in a SYNC_ACK without its tag, or `null` when the frame is malformed. */
export function readSyncAck(message: Uint8Array): number | null {
  const reader = new Reader(message)
  const ordinal = reader.varUint()
  return reader.failed || reader.remaining > 0 ? null : ordinal
}

export function chunkAckFrame(messageId: Uint8Array): Uint8Array {
  const frame = new Uint8Array(17)
  frame[0] = TAG.syncChunkAck
  frame.set(messageId, 1)
  return frame
}

/** Returns the message id in a SYNC_CHUNK_ACK without its tag, or `null` when the frame is malformed. */
export function readChunkAck(message: Uint8Array): Uint8Array | null {
  return message.length === 16 ? message : null
}

/** Reads a SYNC_CHUNK without its tag. Returns `null` when the frame is shorter than its header. [WS-8] */
export function readChunk(message: Uint8Array): ChunkFrame | null {
  if (message.length < CHUNK_HEADER_BYTES - 1) return null
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  return { messageId: message.subarray(0, 16), seq: view.getUint32(16), total: view.getUint32(20), payload: message.subarray(24) }
}

/** Cuts one whole frame into SYNC_CHUNK frames of at most `pieceBytes` payload. [WS-35] */
export function chunkFrames(frame: Uint8Array, messageId: Uint8Array, pieceBytes: number = CHUNK_PAYLOAD_BYTES): Uint8Array[] {
  const total = Math.ceil(frame.length / pieceBytes)
  const chunks: Uint8Array[] = []
  for (let seq = 0; seq < total; seq++) {
    const piece = frame.subarray(seq * pieceBytes, (seq + 1) * pieceBytes)
    const chunk = new Uint8Array(CHUNK_HEADER_BYTES + piece.length)
    chunk[0] = TAG.syncChunk
    chunk.set(messageId, 1)
    const view = new DataView(chunk.buffer)
    view.setUint32(17, seq)
    view.setUint32(21, total)
    chunk.set(piece, CHUNK_HEADER_BYTES)
    chunks.push(chunk)
  }
  return chunks
}
