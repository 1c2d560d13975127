import { createHash } from 'node:crypto'
import type { BlobStore, ReceivedBlob } from '../blob-store.port.ts'

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns bytes that differ for each `seed` and do not repeat with a short period. */
export function someBytes(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let state = (seed * 2_654_435_761 + 1) >>> 0
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}

/** Yields bytes as a connection does: in pieces, each in a later turn of the event loop. */
export async function* inPieces(bytes: Uint8Array, pieceBytes = 65_536): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) {
    await new Promise((resolve) => setImmediate(resolve))
    yield bytes.slice(at, at + pieceBytes)
  }
}

export function receiveBytes(store: Pick<BlobStore, 'receive'>, bytes: Uint8Array): Promise<ReceivedBlob> {
  return store.receive(inPieces(bytes), () => {})
}

/** Stores bytes under a name (default: their hash) and returns the name. */
export async function keepBytes(
  store: Pick<BlobStore, 'receive'>,
  bytes: Uint8Array,
  object: string = hashOf(bytes),
): Promise<string> {
  const received = await receiveBytes(store, bytes)
  await received.keep(object, 'application/octet-stream')
  return object
}

export async function collected(source: AsyncIterable<Uint8Array> | null): Promise<Uint8Array | null> {
  if (source === null) return null
  const pieces: Uint8Array[] = []
  for await (const piece of source) pieces.push(Uint8Array.from(piece))
  return Uint8Array.from(Buffer.concat(pieces))
}
