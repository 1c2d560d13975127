import { systemClock } from '../../../kernel/clock.ts'
import { systemRandom } from '../../../kernel/ids.ts'
import { waitingTimers } from '../../../kernel/timers.ts'
import type { BlobStore, DirectTransfer } from '../../../blobs/blob-store.port.ts'
import { openS3Blobs, type S3BlobsOptions } from '../s3-blobs.ts'

/** Opens the driver with the real clock and real timers. */
export function openS3(
  options: Pick<S3BlobsOptions, 'url' | 'credentials'> & Partial<S3BlobsOptions>,
): BlobStore & { readonly direct: DirectTransfer } {
  const store = openS3Blobs({ clock: systemClock, timers: waitingTimers, random: systemRandom, ...options })
  const { direct } = store
  if (direct === null) throw new Error('an object store transfers directly')
  return { ...store, direct }
}
