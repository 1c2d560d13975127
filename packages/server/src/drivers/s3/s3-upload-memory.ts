import { RelayError } from '../../kernel/errors.ts'

/** The memory that uploads under way hold, all together. */
export interface UploadMemory {
  /** One upload's share of it. */
  open(): UploadShare
}

export interface UploadShare {
  /** Throws UNAVAILABLE when all uploads together would hold too much. */
  take(bytes: number): void
  give(bytes: number): void
  /** Gives everything back; idempotent. */
  end(): void
}

const TRY_AGAIN_MS = 5_000

/** A relay without a disk must not fill its memory instead. [X34] */
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
            throw new RelayError('UNAVAILABLE', `Uploads under way hold ${held} bytes of memory and may hold ${maxBytes}.`, {
              retryAfterMs: TRY_AGAIN_MS,
            })
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
