import type { Access } from '../access/access.ts'
import { newId } from '../kernel/ids.ts'
import type { BlobDeps } from './blob-deps.ts'
import { overQuota } from './refusals.ts'

const STEP_BYTES = 1_048_576
/**
 * Renewed while bytes arrive, which is at least once a minute [REST-7], so that only an upload whose process died runs into it: where several
 * processes share a store, nobody else can end it sooner.
 */
const LIFE_MS = 3 * 60_000

/** What one upload under way holds of the quota. [Q2] */
export interface UploadHold {
  readonly reservationId: string
  /**
   * Makes room for `totalBytes` in all; throws STORAGE_QUOTA, for bytes of an unknown hash only at `settle`. Nothing is asked of a blob that the
   * workspace holds already. [Q3]
   */
  cover(totalBytes: number): Promise<void>
  /** Says which blob it is and how long, as soon as that is known. From then on a crash leaves an orphan that is found, never lost bytes. */
  settle(hash: string, sizeBytes: number): Promise<void>
  /** Idempotent; never throws. */
  end(): Promise<void>
}

/** Reserves the declared length at once, without one in steps as bytes arrive. [Q2] */
export async function openHold(
  access: Access,
  upload: { readonly hash: string | null; readonly declaredBytes: number | null },
  { ledger, clock, random, log, metrics }: BlobDeps,
): Promise<UploadHold> {
  const reservationId = newId('up-', 24, random)
  const { workspaceId, limits } = access
  let held = false
  /** Too little room for bytes whose hash only their end tells: it may be one that the workspace holds, and is then not refused. [Q3] */
  let undecided = false
  let reservedBytes = 0
  let renewAtMs = 0

  const reserve = async (bytes: number, hash = upload.hash) => {
    const nowMs = clock.nowMs()
    const reservation = {
      id: reservationId,
      workspaceId,
      hash,
      bytes,
      expiresAtMs: nowMs + LIFE_MS,
      upload: { kind: 'stream' },
    } as const
    const admission = await ledger.reserve(reservation, limits.quotaBytes, nowMs)
    if (admission.kind === 'admitted') {
      reservedBytes = bytes
      renewAtMs = clock.monotonicMs() + LIFE_MS / 3
    }
    held = admission.kind === 'held'
    return admission
  }
  const require = async (bytes: number, hash?: string): Promise<void> => {
    const admission = await reserve(bytes, hash)
    if (admission.kind === 'over-quota') throw overQuota(admission, access, metrics)
  }

  const hold: UploadHold = {
    reservationId,
    async cover(totalBytes) {
      if (held || undecided) return
      if (totalBytes <= reservedBytes) {
        if (clock.monotonicMs() >= renewAtMs) await require(reservedBytes)
        return
      }
      // A whole step that does not fit may yet have room for what there is.
      const step = Math.ceil(totalBytes / STEP_BYTES) * STEP_BYTES
      const admission = await reserve(step)
      if (admission.kind !== 'over-quota') return
      if (upload.hash !== null) await require(totalBytes)
      else undecided = (await reserve(totalBytes)).kind === 'over-quota'
    },
    settle: (hash, sizeBytes) => (held ? Promise.resolve() : require(sizeBytes, hash)),
    async end() {
      await ledger.release(reservationId).catch((error: unknown) => {
        log.warn('blobs.reservation_left', 'A reservation could not be ended; it ends with its time.', { detail: String(error) })
      })
    },
  }
  try {
    await require(upload.declaredBytes ?? 0)
  } catch (error) {
    await hold.end()
    throw error
  }
  return hold
}
