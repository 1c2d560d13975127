import { systemTimers, type Timers } from '../../kernel/timers.ts'
import { SILENCE_MS, storeError } from './s3-calls.ts'
import type { S3Object } from './s3-bucket.ts'

/**
 * Yields the bytes of an object as they arrive. Rejects with BLOB_STORE_ERROR when the connection breaks, the store falls silent or the length is
 * wrong. A reader may be slow. Ending the iteration early, also before the first piece, frees the connection.
 */
export function readPieces(
  { body, sizeBytes }: Pick<S3Object, 'body' | 'sizeBytes'>,
  timers: Timers = systemTimers,
): AsyncIterable<Uint8Array> {
  // Nothing arrives while nobody reads. So the silence of the store counts only while the reader waits for a piece.
  withoutIdleLimit(body)
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let read = 0
  const end = (error: unknown): never => {
    body.destroy()
    throw storeError(error)
  }
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const cancel = timers.after(SILENCE_MS, () => body.destroy(new Error('timeout')))
        try {
          const piece = await pieces.next()
          read += piece.done ? 0 : piece.value.byteLength
          if (read > sizeBytes || (piece.done && read < sizeBytes)) throw new Error('cut short')
          return piece
        } catch (error) {
          return end(error)
        } finally {
          cancel()
        }
      },
      return() {
        body.destroy()
        return Promise.resolve({ done: true, value: undefined })
      },
    }),
  }
}

function withoutIdleLimit(body: S3Object['body']): void {
  const { socket } = body as { readonly socket?: { setTimeout?(ms: number): void } }
  socket?.setTimeout?.(0)
}
