import { RelayError } from '../../kernel/errors.ts'

/** Limits the memory of all running uploads together. */
export interface UploadMemory {
  /** Opens the share of one upload. */
  open(): UploadShare
}

export interface UploadShare {
  /** Takes memory for this upload. Throws UNAVAILABLE when all uploads together would hold too much. */
  take(bytes: number): void
  give(bytes: number): void
  /** Gives all memory of the upload back. May be called again. */
  end(): void
}

const TRY_AGAIN_MS = 5_000

/** Makes a limit of `maxBytes`: a relay that receives blobs without a disk must not fill its memory. [X34] */
export function createUploadMemory(maxBytes: number): UploadMemory {
  let held = 0
  return {
    open() {
      let own = 0
      const give = (bytes: number): void => {
        own -= bytes
        held -= bytes
      }
      return {
        take(bytes) {
          if (held + bytes > maxBytes) {
            throw new RelayError(
              'UNAVAILABLE',
              `Running uploads hold ${held} bytes of memory; the limit is ${maxBytes}. Try again later.`,
              {
                retryAfterMs: TRY_AGAIN_MS,
              },
            )
          }
          own += bytes
          held += bytes
        },
        give,
        end: () => give(own),
      }
    },
  }
}
