/** Called at the end of a body that is sent in parts. */
export interface ReplyStreamEnds {
  /**
   * The source failed, or gave more or fewer bytes than promised: the client must see a cut response and not a shorter
   * body.
   */
  failed(error: Error): void
}

/**
 * Sends a source of exactly `length` bytes as the body of a response, and reads one chunk ahead of what the connection
 * takes. When the client leaves, the iteration ends. A failure goes to `failed`, which must end the connection.
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
