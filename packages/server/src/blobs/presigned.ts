import type { Access } from '../access/access.ts'
import { RelayError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import type { BlobDeps } from './blob-deps.ts'
import type { BlobGrant, StagedUpload } from './blob-ledger.port.ts'
import type { DirectTransfer } from './blob-store.port.ts'
import { isAttachment, storedMimeType } from './mime.ts'
import { hashMismatch, overQuota, requireWriter, tooLarge } from './refusals.ts'

const DAY_MS = 86_400_000
/** A PUT that began in the last second of its URL may still be arriving. */
const RESERVATION_SLACK_MS = 60_000
/** An object that is replaced between looking and taking it, time and again, is being played with. */
const MAX_LOOKS = 3

export interface UploadTicket {
  readonly url: string
  /** The client PUTs with exactly these. [BLOB-10] */
  readonly headers: Readonly<Record<string, string>>
  readonly expiresAtMs: number
  readonly key: string
}

export interface DownloadLink {
  readonly url: string
  readonly expiresAtMs: number
}

/** Transfers between client and object store; on a filesystem every verb is PRESIGN_UNSUPPORTED. */
export interface PresignedTransfer {
  /** Refused before anything else is looked at where clients cannot move bytes themselves. */
  requireDirect(): void
  /** Reserves the size and says where to put the bytes; `exists` when the workspace holds the blob already. [BLOB-10] */
  uploadUrl(
    access: Access,
    upload: { readonly hash: string; readonly sizeBytes: number; readonly mimeType: string | null },
  ): Promise<UploadTicket | 'exists'>
  /** Verifies the uploaded object and grants it; durable when it resolves. Repeating it adds nothing. [BLOB-11, Q4] */
  finalize(access: Access, upload: { readonly hash: string; readonly mimeType: string | null }): Promise<BlobGrant>
  /** For a grant that the caller may read. `ttlSecs`: in the place of the life that REST links have. [BLOB-9] */
  downloadUrl(grant: BlobGrant, ttlSecs?: number): Promise<DownloadLink>
}

export function createPresignedTransfer(deps: BlobDeps): PresignedTransfer {
  const { store, ledger, locks, clock, random, settings, metrics } = deps

  const directOf = (): DirectTransfer => {
    if (store.direct === null) {
      throw new RelayError('PRESIGN_UNSUPPORTED', 'This relay keeps blobs as files: upload and download them over /api/blobs.')
    }
    return store.direct
  }

  /** Asking again for the same upload renews its reservation and never adds one. */
  async function stagingKey(access: Access, hash: string, bytes: number): Promise<string> {
    const staged = await ledger.staged(access.workspaceId, hash)
    const mine = staged.find((upload) => upload.sub === access.sub && upload.bytes === bytes)
    return mine?.id ?? newId('', 40, random)
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
    const admission = await ledger.reserve(
      {
        id: key,
        workspaceId: access.workspaceId,
        hash,
        bytes: sizeBytes,
        expiresAtMs: nowMs + ttlMs + RESERVATION_SLACK_MS,
        upload: { kind: 'presigned', sub: access.sub, removeAtMs: nowMs + ttlMs + DAY_MS },
      },
      access.limits.quotaBytes,
      nowMs,
    )
    if (admission.kind === 'over-quota') throw overQuota(admission, access, metrics)
    if (admission.kind === 'held') return 'exists'
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
    if (held !== null) return held
    throw new RelayError('OBJECT_NOT_UPLOADED', 'No object was uploaded for this hash.', { hash })
  }

  /** `null` when nothing was put under this key. An object that is refused is removed together with what was reserved for it. [Q4] */
  async function take(access: Access, staged: StagedUpload, mimeType: string, direct: DirectTransfer): Promise<BlobGrant | null> {
    const { id, hash } = staged
    for (let look = 0; look < MAX_LOOKS; look++) {
      const found = await direct.inspect(id, settings.maxBlobBytes)
      if (found.kind === 'missing') return null
      if (found.kind === 'too-large') return refused(staged, direct, tooLarge(found.sizeBytes, settings.maxBlobBytes, metrics))
      if (found.hash !== hash) return refused(staged, direct, hashMismatch(hash, found.hash))
      const grant = await locks.run(hash, () => promote(access, staged, { sizeBytes: found.sizeBytes, mimeType }, direct))
      if (grant === 'changed') continue
      await direct.removeStaged(id)
      return grant
    }
    return refused(
      staged,
      direct,
      new RelayError('HASH_MISMATCH', 'The object changes while it is verified.', { expected: hash }),
    )
  }

  async function promote(
    access: Access,
    { id, hash, workspaceId, sub }: StagedUpload,
    { sizeBytes, mimeType }: { readonly sizeBytes: number; readonly mimeType: string },
    direct: DirectTransfer,
  ): Promise<BlobGrant | 'changed'> {
    if ((await direct.promote(id, hash, mimeType)) === 'changed') return 'changed'
    const { quotaBytes } = access.limits
    const nowMs = clock.nowMs()
    const request = { reservationId: id, workspaceId, hash, sizeBytes, mimeType, sub, provenance: null, quotaBytes, nowMs }
    const outcome = await ledger.grant(request)
    if (outcome.kind === 'granted') return outcome.grant
    // The promoted bytes become an orphan with the reservation.
    return refused({ id, hash, workspaceId, sub, bytes: sizeBytes }, direct, overQuota(outcome, access, metrics))
  }

  async function refused(staged: StagedUpload, direct: DirectTransfer, error: RelayError): Promise<never> {
    await direct.removeStaged(staged.id)
    await ledger.release(staged.id)
    throw error
  }

  return {
    requireDirect: () => void directOf(),
    uploadUrl,
    finalize,
    async downloadUrl({ hash, mimeType }, ttlSecs = settings.presignTtlSecs) {
      const nowMs = clock.nowMs()
      const url = await directOf().downloadUrl({ hash, mimeType, attachment: isAttachment(mimeType), ttlSecs, nowMs })
      return { url, expiresAtMs: nowMs + ttlSecs * 1000 }
    },
  }
}
