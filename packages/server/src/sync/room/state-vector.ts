import { Reader } from '@docrelay/protocol/bytes'

const MAX_VECTOR_BYTES = 1024 * 1024
const MAX_VECTOR_ENTRIES = 100_000

/** Decodes a client's state vector. Returns `null` when it cannot be decoded or exceeds the limits. [WS-25] */
export function readStateVector(bytes: Uint8Array): Map<number, number> | null {
  if (bytes.length > MAX_VECTOR_BYTES) return null
  const reader = new Reader(bytes)
  const count = reader.varUint()
  if (count > MAX_VECTOR_ENTRIES || count * 2 > bytes.length) return null
  const vector = new Map<number, number>()
  for (let i = 0; i < count; i++) vector.set(reader.varUint(), reader.varUint())
  return reader.failed || reader.remaining > 0 ? null : vector
}
