import { createRoundTurns, type RoundTurns } from '../kernel/round-turns.ts'

/** Most bytes handed to a connection at once; that takes about 0.5 ms. */
const SLICE_BYTES = 262_144

const SLICES_PER_ROUND = 2

/** Makes the turns in which workspaces send slices of answers. [H10] */
export const createSliceTurns = (): RoundTurns => createRoundTurns({ perRound: SLICES_PER_ROUND })

/** Returns the total bytes of the parts. */
export function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

/**
 * Makes the body of an answer. Up to 256 KiB are sent as they are. A longer answer is cut into slices, which the connection takes one after
 * another; each slice waits for a turn of `holder`. So long answers, however many, do not hold up the thread. [H10]
 */
export function slicedAnswer(
  parts: readonly Uint8Array[],
  holder: string,
  turns: RoundTurns,
): readonly Uint8Array[] | ReadableStream<Uint8Array> {
  if (lengthOf(parts) <= SLICE_BYTES) return parts
  const slices = slicesOf(parts)
  let isCancelled = false
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        new Promise((resolve) =>
          turns.run(holder, () => {
            resolve()
            if (isCancelled) return
            const { done, value } = slices.next()
            if (done === true) controller.close()
            else controller.enqueue(value)
          }),
        ),
      cancel() {
        isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
}

function* slicesOf(parts: readonly Uint8Array[]): Generator<Uint8Array, void> {
  for (const part of parts) for (let at = 0; at < part.byteLength; at += SLICE_BYTES) yield part.subarray(at, at + SLICE_BYTES)
}
