/** Bytes of SYNC messages and frames as the room reads and writes them. [WS-8, WS-10] */

const SYNC_TAG = 0
const AWARENESS_TAG = 1
export const STEP1 = 0
export const STEP2 = 1
export const UPDATE = 2

const MAX_VECTOR_BYTES = 1024 * 1024
const MAX_VECTOR_ENTRIES = 100_000

/** A SYNC message taken apart: sub-type and the bytes it carries, or `null` when it is not exactly that. [G1] */
export function readSyncMessage(payload: Uint8Array): { readonly type: number; readonly data: Uint8Array } | null {
  const type = payload[0]
  if (type === undefined || type > UPDATE) return null
  const length = readUint(payload, 1)
  if (length === null || length.value !== payload.length - length.next) return null
  return { type, data: payload.subarray(length.next) }
}

/** A whole SYNC frame of one sub-type. */
export function syncFrame(type: number, data: Uint8Array): Uint8Array {
  const frame = new Uint8Array(2 + uintLength(data.length) + data.length)
  frame[0] = SYNC_TAG
  frame[1] = type
  frame.set(data, writeUint(frame, 2, data.length))
  return frame
}

/** A whole AWARENESS frame. */
export function awarenessFrame(data: Uint8Array): Uint8Array {
  const frame = new Uint8Array(1 + uintLength(data.length) + data.length)
  frame[0] = AWARENESS_TAG
  frame.set(data, writeUint(frame, 1, data.length))
  return frame
}

/** A client's state vector, or `null` when it is undecodable or beyond the limits. [WS-25] */
export function readStateVector(bytes: Uint8Array): Map<number, number> | null {
  if (bytes.length > MAX_VECTOR_BYTES) return null
  const count = readUint(bytes, 0)
  if (count === null || count.value > MAX_VECTOR_ENTRIES || count.value * 2 > bytes.length) return null
  const vector = new Map<number, number>()
  let at = count.next
  for (let i = 0; i < count.value; i++) {
    const client = readUint(bytes, at)
    if (client === null) return null
    const clock = readUint(bytes, client.next)
    if (clock === null) return null
    vector.set(client.value, clock.value)
    at = clock.next
  }
  return at === bytes.length ? vector : null
}

/** A varUint at `at` and the offset after it; `null` past the end or above 2^53 - 1. */
export function readUint(bytes: Uint8Array, at: number): { readonly value: number; readonly next: number } | null {
  let value = 0
  let factor = 1
  for (let next = at; next < bytes.length && factor <= Number.MAX_SAFE_INTEGER; next++) {
    const byte = bytes[next] as number
    value += (byte & 0x7f) * factor
    if (value > Number.MAX_SAFE_INTEGER) return null
    if (byte < 0x80) return { value, next: next + 1 }
    factor *= 128
  }
  return null
}

/** Writes a varUint and answers the offset after it. */
export function writeUint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  let next = at
  while (rest >= 0x80) {
    bytes[next++] = (rest % 128) | 0x80
    rest = Math.floor(rest / 128)
  }
  bytes[next++] = rest
  return next
}

export function uintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) length++
  return length
}
