import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'

export interface VolumeSpace {
  readonly availableBytes: number
  readonly totalBytes: number
}

const GIB = 1_073_741_824
const SHARED_MS = 1_000
const TRY_AGAIN_MS = 30_000

/** Whether the volume is so full that uploads are refused, because the rest of its space is kept for documents. [X34] */
export function isTooFull({ availableBytes, totalBytes }: VolumeSpace): boolean {
  return availableBytes < GIB && availableBytes < totalBytes * 0.05
}

/** Makes a check that throws UNAVAILABLE while the volume is too full for uploads. It measures at most once a second. */
export function createSpaceCheck(measure: () => Promise<VolumeSpace>, clock: Clock): () => Promise<void> {
  let measuredAtMs = Number.NEGATIVE_INFINITY
  let current: Promise<VolumeSpace> | null = null
  return async () => {
    const nowMs = clock.monotonicMs()
    if (current === null || nowMs - measuredAtMs >= SHARED_MS) {
      measuredAtMs = nowMs
      current = measure()
    }
    if (isTooFull(await current)) {
      throw new RelayError('UNAVAILABLE', 'The disk of the relay is nearly full; uploads are refused until there is room.', {
        retryAfterMs: TRY_AGAIN_MS,
      })
    }
  }
}
