import type { Access } from '../access/access.ts'
import { newId } from '../kernel/ids.ts'
import type { BlobDeps } from './blob-deps.ts'
import { overQuota, tooManyUploads } from './refusals.ts'

const STEP_BYTES = 1_048_576
/**
 * Lifetime of a reservation. While bytes arrive, the reservation is renewed at least once a minute [REST-7], so it expires only when its process has
 * died: where several processes share a store, no other process can end it sooner.
 */
const LIFE_MS = 3 * 60_000

/** The part of the quota and the place among uploads that one running upload holds. [Q2, REST-12] */
export interface UploadHold {
  readonly reservationId: string
  /**
   * Reserves room for `totalBytes` in all. Throws STORAGE_QUOTA when there is too little. While the hash is unknown, only `settle` throws this error.
   * A blob that the workspace already holds needs no room. [Q3]
   */
  cover(totalBytes: number): Promise<void>
  /** Records hash and size as soon as they are known. A crash after this leaves an orphan that the collector finds, and never unknown bytes. */
  settle(hash: string, sizeBytes: number): Promise<void>
  /** Ends the hold. May be called again; never throws. */
  end(): Promise<void>
}

/**
 * Takes a place among the uploads of the workspace and reserves the declared length. Without a declared length it reserves
 * in steps as bytes arrive. Throws TOO_MANY_UPLOADS or STORAGE_QUOTA. [Q2, REST-12]
 */
export async function openHold(
  access: Access,
  upload: { readonly hash: string | null; readonly declaredBytes: number | null },
  { ledger, settings, clock, random, log, metrics }: BlobDeps,
): Promise<UploadHold> {
  const reservationId = newId('up-', 24, random)
  const { workspaceId, limits } = access
  let held = false
  /**
   * True when the quota has too little room for an upload whose hash is known only at its end. When the workspace turns out to hold that blob, the
   * upload is not refused. [Q3]
   */
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
      upload: { kind: 'stream', most: settings.maxConcurrentUploads },
    } as const
    const admission = await ledger.reserve(reservation, limits.quotaBytes, nowMs)
    if (admission.kind === 'too-many') throw tooManyUploads(settings.maxConcurrentUploads, metrics)
    if (admission.kind === 'admitted') reservedBytes = bytes
    if (admission.kind !== 'over-quota') renewAtMs = clock.monotonicMs() + LIFE_MS / 3
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
      if (held || undecided || totalBytes <= reservedBytes) {
        if (clock.monotonicMs() >= renewAtMs) await require(reservedBytes)
        return
      }
      // The quota may have room for the bytes themselves although it has none for a whole step.
      const step = Math.ceil(totalBytes / STEP_BYTES) * STEP_BYTES
      const admission = await reserve(step)
      if (admission.kind !== 'over-quota') return
      if (upload.hash !== null) await require(totalBytes)
      else undecided = (await reserve(totalBytes)).kind === 'over-quota'
    },
    settle: (hash, sizeBytes) => (held ? Promise.resolve() : require(sizeBytes, hash)),
    async end() {
      await ledger.release(reservationId).catch((error: unknown) => {
        log.warn('blobs.reservation_left', 'A reservation could not be ended; it ends when it expires.', {
          detail: String(error),
        })
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
