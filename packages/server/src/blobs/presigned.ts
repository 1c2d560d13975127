import { type Access, requireWriter } from '../access/access.ts'
import { RelayError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { createKeyedQueue } from '../kernel/keyed-queue.ts'
import type { BlobDeps } from './blob-deps.ts'
import type { Admission, BlobGrant, Reservation, StagedUpload } from './blob-ledger.port.ts'
import type { DirectTransfer } from './blob-store.port.ts'
import { announceObject, grantObject } from './granting.ts'
import { isAttachment, storedMimeType } from './mime.ts'
import { hashMismatch, LOST, overQuota, tooLarge } from './refusals.ts'

const DAY_MS = 86_400_000
/** A reservation outlives its URL by this time, because a PUT that began in the last second of the URL may still be arriving. */
const RESERVATION_SLACK_MS = 60_000
/** After so many verifications of an object that was replaced each time, the request is refused. */
const MAX_LOOKS = 3

export interface UploadTicket {
  readonly url: string
  /** The client must PUT with exactly these headers. [BLOB-10] */
  readonly headers: Readonly<Record<string, string>>
  readonly expiresAtMs: number
  readonly key: string
}

export interface DownloadLink {
  readonly url: string
  readonly expiresAtMs: number
}

/** Transfers between client and object store. With blobs on disk every verb throws PRESIGN_UNSUPPORTED. */
export interface PresignedTransfer {
  /** Throws PRESIGN_UNSUPPORTED when clients cannot reach the store themselves. Called before any other check. */
  requireDirect(): void
  /**
   * Reserves the size and returns where to put the bytes. Returns `exists` when the workspace holds the blob and its bytes are in the store. When the
   * bytes of a held blob are missing or damaged, returns a URL whose reservation counts nothing. [BLOB-10]
   */
  uploadUrl(
    access: Access,
    upload: { readonly hash: string; readonly sizeBytes: number; readonly mimeType: string | null },
  ): Promise<UploadTicket | 'exists'>
  /** Verifies the uploaded object and grants it. Durable when it resolves. A repetition adds nothing. [BLOB-11, Q4] */
  finalize(access: Access, upload: { readonly hash: string; readonly mimeType: string | null }): Promise<BlobGrant>
  /** Returns a link for a grant that the caller may read. `ttlSecs` replaces the lifetime of REST links. [BLOB-9] */
  downloadUrl(grant: BlobGrant, ttlSecs?: number): Promise<DownloadLink>
}

export function createPresignedTransfer(deps: BlobDeps): PresignedTransfer {
  const { store, ledger, clock, random, settings, metrics, log } = deps
  /** One queue for each workspace. A check may read a whole object, and many checks of one workspace must not delay others. */
  const looks = createKeyedQueue()

  const directOf = (): DirectTransfer => {
    if (store.direct === null) {
      const sentence = 'this relay keeps blobs as files: upload and download them over /api/blobs.'
      throw new RelayError('PRESIGN_UNSUPPORTED', `presign_unsupported: ${sentence}`)
    }
    return store.direct
  }

  /** Returns the staging key of an upload. A repeated request for the same upload gets the same key, so it renews the reservation and adds none. */
  async function stagingKey(access: Access, hash: string, bytes: number): Promise<string> {
    const staged = await ledger.staged(access.workspaceId, hash)
    const mine = staged.find((upload) => upload.sub === access.sub && upload.bytes === bytes)
    return mine?.id ?? newId('', 40, random)
  }

  async function isIntact(grant: BlobGrant, direct: DirectTransfer): Promise<boolean> {
    const { workspaceId: workspace, hash, object, sizeBytes } = grant
    const intact = await looks.run(workspace, () => direct.isIntact(object, sizeBytes))
    if (!intact) log.error('blobs.lost', LOST, { workspace, hash })
    return intact
  }

  async function uploadUrl(
    access: Access,
    { hash, sizeBytes, mimeType }: { readonly hash: string; readonly sizeBytes: number; readonly mimeType: string | null },
  ): Promise<UploadTicket | 'exists'> {
    requireWriter(access)
    const direct = directOf()
    if (sizeBytes > settings.maxBlobBytes) throw tooLarge(sizeBytes, settings.maxBlobBytes, metrics)
    const key = await stagingKey(access, hash, sizeBytes)
    const nowMs = clock.nowMs()
    const ttlMs = settings.presignTtlSecs * 1000
    const reservation: Reservation = {
      id: key,
      workspaceId: access.workspaceId,
      hash,
      bytes: sizeBytes,
      expiresAtMs: nowMs + ttlMs + RESERVATION_SLACK_MS,
      upload: { kind: 'presigned', sub: access.sub, removeAtMs: nowMs + ttlMs + DAY_MS },
    }
    const { quotaBytes } = access.limits
    const admission = await ledger.reserve(reservation, quotaBytes, nowMs)
    if (admission.kind === 'over-quota') throw overQuota(admission, access, metrics)
    if (admission.kind === 'held') {
      if (await isIntact(admission.grant, direct)) return 'exists'
      await ledger.reserve({ ...reservation, heals: true }, quotaBytes, nowMs)
    }
    const { presignTtlSecs: ttlSecs } = settings
    const signed = await direct.uploadUrl({
      stagingKey: key,
      hash,
      sizeBytes,
      mimeType: storedMimeType(mimeType),
      ttlSecs,
      nowMs,
    })
    return { ...signed, expiresAtMs: nowMs + ttlMs, key }
  }

  async function finalize(
    access: Access,
    { hash, mimeType }: { readonly hash: string; readonly mimeType: string | null },
  ): Promise<BlobGrant> {
    requireWriter(access)
    const direct = directOf()
    for (const staged of await ledger.staged(access.workspaceId, hash)) {
      const grant = await take(access, staged, storedMimeType(mimeType), direct)
      if (grant !== null) return grant
    }
    const held = await ledger.find(access.workspaceId, hash)
    if (held !== null && (await isIntact(held, direct))) return held
    throw new RelayError('OBJECT_NOT_UPLOADED', 'object_not_uploaded: no object was uploaded for this hash.', { hash })
  }

  /**
   * Verifies and takes the object. Returns `null` when nothing was written under this key. A refused object is removed
   * together with its reservation. [Q4]
   */
  async function take(access: Access, staged: StagedUpload, mimeType: string, direct: DirectTransfer): Promise<BlobGrant | null> {
    const { id, hash } = staged
    for (let look = 0; look < MAX_LOOKS; look++) {
      const found = await direct.inspect(id, settings.maxBlobBytes)
      if (found.kind === 'missing') return null
      if (found.kind === 'too-large') return refused(staged, direct, tooLarge(found.sizeBytes, settings.maxBlobBytes, metrics))
      if (found.hash !== hash) return refused(staged, direct, hashMismatch(hash, found.hash))
      const grant = await promote(access, staged, { sizeBytes: found.sizeBytes, mimeType }, direct)
      if (grant === 'changed') continue
      await removeStaged(id, direct)
      return grant
    }
    return refused(
      staged,
      direct,
      new RelayError('HASH_MISMATCH', 'The uploaded object changed while it was being verified; upload it again.', {
        expected: hash,
      }),
    )
  }

  async function promote(
    access: Access,
    { id, hash, workspaceId, sub }: StagedUpload,
    { sizeBytes, mimeType }: { readonly sizeBytes: number; readonly mimeType: string },
    direct: DirectTransfer,
  ): Promise<BlobGrant | 'changed'> {
    const { quotaBytes } = access.limits
    const upload = { id, hash, workspaceId, sub, bytes: sizeBytes }
    // Reserves the bytes before they are copied, so that a refused object leaves no bytes behind.
    const room = await reserveFound(upload, quotaBytes)
    if (room.kind === 'over-quota') return refused(upload, direct, overQuota(room, access, metrics))
    const object = await announceObject(hash, deps)
    if ((await direct.promote(id, object, mimeType)) === 'changed') return 'changed'
    const request = { reservationId: id, workspaceId, hash, object, sizeBytes, mimeType, sub, provenance: null, quotaBytes }
    const outcome = await grantObject(request, deps)
    if (outcome.kind === 'granted') return outcome.grant
    // The collector removes the copied bytes later, because their name was announced.
    return refused(upload, direct, overQuota(outcome, access, metrics))
  }

  /** Reserves the real size of an object, because its reservation may have ended or the quota may have changed. */
  function reserveFound({ id, workspaceId, hash, sub, bytes }: StagedUpload, quotaBytes: number | null): Promise<Admission> {
    const nowMs = clock.nowMs()
    const expiresAtMs = nowMs + RESERVATION_SLACK_MS
    const upload = { kind: 'presigned', sub, removeAtMs: nowMs + DAY_MS } as const
    return ledger.reserve({ id, workspaceId, hash, bytes, expiresAtMs, upload }, quotaBytes, nowMs)
  }

  async function refused(staged: StagedUpload, direct: DirectTransfer, error: RelayError): Promise<never> {
    await removeStaged(staged.id, direct)
    await ledger.release(staged.id)
    throw error
  }

  /** Removes a staged object. A failure changes no answer: an object that was not removed is found by its age. [BLOB-12] */
  async function removeStaged(id: string, direct: DirectTransfer): Promise<void> {
    await direct.removeStaged(id).catch((error: unknown) => {
      log.warn('blobs.staged_left', 'A staged object could not be removed; it is removed a day after its URL ends.', {
        detail: String(error),
      })
    })
  }

  return {
    requireDirect: () => void directOf(),
    uploadUrl,
    finalize,
    async downloadUrl({ object, mimeType }, ttlSecs = settings.presignTtlSecs) {
      const nowMs = clock.nowMs()
      const url = await directOf().downloadUrl({ object, mimeType, attachment: isAttachment(mimeType), ttlSecs, nowMs })
      return { url, expiresAtMs: nowMs + ttlSecs * 1000 }
    },
  }
}
