/** What becomes of a body under way. */
export interface ReplyStreamEnds {
  /** The source failed, or gave more or less than it promised: the client must see the response cut, not a shorter body. */
  failed(error: Error): void
}

/**
 * A source of exactly `length` bytes as the body of a response. One chunk is read ahead of what the connection takes.
 * When the client leaves, the iteration is ended; a failure is handed to `failed`, which must end the connection.
 */
export function replyStream(
  source: AsyncIterable<Uint8Array>,
  length: number,
  { failed }: ReplyStreamEnds,
): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]()
  let given = 0
  const stop = async (): Promise<void> => {
    await iterator.return?.()
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next()
        if (done === true) {
          if (given < length) failed(new Error(`A body of ${length} bytes ended after ${given}.`))
          else controller.close()
          return
        }
        given += value.byteLength
        if (given <= length) return controller.enqueue(value)
        await stop()
        failed(new Error(`A body of ${length} bytes went on after them.`))
      } catch (error) {
        failed(error instanceof Error ? error : new Error(String(error)))
      }
    },
    cancel: () => stop().catch(() => undefined),
  })
}
