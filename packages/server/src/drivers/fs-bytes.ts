import type { FileHandle } from 'node:fs/promises'
import type { ByteRange } from '../blobs/blob-store.port.ts'

const PIECE_BYTES = 262_144

/**
 * The bytes of an open file, which is closed at their end, at an error and when the reader stops. Not a generator: one that was never
 * started would not run its `finally`.
 */
export function fileBytes(
  file: FileHandle,
  range: ByteRange | null,
  guarded: <T>(action: () => Promise<T>) => Promise<T>,
): AsyncIterable<Uint8Array> {
  let position = range?.start ?? 0
  const end = range === null ? Number.POSITIVE_INFINITY : range.end + 1
  let closed: Promise<void> | null = null
  const close = (): Promise<void> => (closed ??= file.close().catch(() => undefined))

  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const wanted = Math.min(PIECE_BYTES, end - position)
      if (closed !== null || wanted <= 0) {
        await close()
        return { done: true, value: undefined }
      }
      try {
        const { bytesRead, buffer } = await guarded(() => file.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, position))
        if (bytesRead > 0) {
          position += bytesRead
          return { done: false, value: bytesRead < wanted ? buffer.subarray(0, bytesRead) : buffer }
        }
      } catch (error) {
        await close()
        throw error
      }
      await close()
      return { done: true, value: undefined }
    },
    async return() {
      await close()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
