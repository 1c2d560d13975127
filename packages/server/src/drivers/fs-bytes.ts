import type { FileHandle } from 'node:fs/promises'
import type { ByteRange } from '../blobs/blob-store.port.ts'

/** Each smaller piece would cost a turn of the event loop; larger pieces would cost memory for every running download. See `bench:blobs`. */
const PIECE_BYTES = 262_144

/**
 * Returns the bytes of an open file. The file is closed at their end, after an error, and when the reader stops. A generator would not do: when it is
 * never started, its `finally` does not run.
 */
export function fileBytes(
  file: FileHandle,
  range: ByteRange | null,
  guarded: <T>(action: () => Promise<T>) => Promise<T>,
): AsyncIterable<Uint8Array> {
  let position = range?.start ?? 0
  const end = range === null ? Number.POSITIVE_INFINITY : range.end + 1
  let closed = false
  /** Nobody awaits the close, because the bytes that were read do not depend on it. */
  const close = (): void => {
    if (closed) return
    closed = true
    file.close().catch(() => undefined)
  }
  const done = (): IteratorReturnResult<undefined> => {
    close()
    return { done: true, value: undefined }
  }

  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      const wanted = Math.min(PIECE_BYTES, end - position)
      if (closed || wanted <= 0) return done()
      try {
        const { bytesRead, buffer } = await guarded(() => file.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, position))
        position += bytesRead
        if (bytesRead === 0) return done()
        if (position === end) close()
        return { done: false, value: bytesRead < wanted ? buffer.subarray(0, bytesRead) : buffer }
      } catch (error) {
        close()
        throw error
      }
    },
    return: () => Promise.resolve(done()),
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
