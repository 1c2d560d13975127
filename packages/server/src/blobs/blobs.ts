import type { Access } from '../access/access.ts'
import type { BlobDeps } from './blob-deps.ts'
import type { BlobGrant } from './blob-ledger.port.ts'
import type { ByteRange } from './blob-store.port.ts'
import { createPresignedTransfer, type DownloadLink, type PresignedTransfer } from './presigned.ts'
import { LOST, unknownBlob } from './refusals.ts'
import { createUploads, type TakeUpload } from './uploads.ts'

/** How a caller gets the bytes of a blob. */
export type BlobDelivery =
  | { readonly kind: 'stream'; readonly open: (range: ByteRange | null) => Promise<AsyncIterable<Uint8Array>> }
  | ({ readonly kind: 'redirect' } & DownloadLink)

/**
 * Blobs, as callers of one workspace may use them. Every verb decides rights itself and throws RelayError; a change is
 * durable when its promise resolves. A blob that is unknown, of another workspace, or not for this caller gives the
 * same NOT_FOUND, byte for byte. [BLOB-5, BLOB-6]
 */
export interface Blobs {
  readonly upload: TakeUpload
  readonly presigned: Pick<PresignedTransfer, 'uploadUrl' | 'finalize'>
  /** Returns the record of a blob that the caller may read. [BLOB-6] */
  find(access: Access, hash: string): Promise<BlobGrant>
  /** Throws NOT_FOUND unless the store has all bytes of a grant that `find` returned. [BLOB-8] */
  confirm(grant: BlobGrant): Promise<void>
  /**
   * Returns the bytes of a grant that `find` returned, or a presigned link that is valid for `ttlSecs` (default: the
   * lifetime of REST links). [BLOB-7, BLOB-9]
   */
  deliver(grant: BlobGrant, ttlSecs?: number): Promise<BlobDelivery>
  /** Returns a link into the object store. Refusals have the order of BLOB-13. */
  downloadUrl(access: Access, hash: string): Promise<DownloadLink>
}

/** Returns the range of the whole blob; its end makes reading stop there. `null` for an empty blob. */
function wholeOf({ sizeBytes }: BlobGrant): ByteRange | null {
  return sizeBytes === 0 ? null : { start: 0, end: sizeBytes - 1 }
}

export function createBlobs(deps: BlobDeps): Blobs {
  const { store, ledger, readers, settings, log } = deps
  const presigned = createPresignedTransfer(deps)

  const granted = async ({ workspaceId }: Access, hash: string): Promise<BlobGrant> => {
    const grant = await ledger.find(workspaceId, hash)
    if (grant === null) throw unknownBlob()
    return grant
  }
  const mayReadPrivately = async (access: Access, hash: string): Promise<boolean> =>
    access.role === 'owner' ||
    (await ledger.uploadedBy(access.workspaceId, hash, access.sub)) ||
    (await readers.mayRead(access, hash))

  const lost = (grant: BlobGrant): Error => {
    log.error('blobs.lost', LOST, { workspace: grant.workspaceId, hash: grant.hash })
    return unknownBlob()
  }

  const confirm = async (grant: BlobGrant): Promise<void> => {
    if ((await store.size(grant.object)) !== grant.sizeBytes) throw lost(grant)
  }

  return {
    confirm,
    upload: createUploads(deps),
    presigned,
    async find(access, hash) {
      const grant = await granted(access, hash)
      if (settings.enforcePrivateBlobs && !(await mayReadPrivately(access, hash))) throw unknownBlob()
      return grant
    },
    async deliver(grant, ttlSecs) {
      if (store.direct !== null) return { kind: 'redirect', ...(await presigned.downloadUrl(grant, ttlSecs)) }
      return {
        kind: 'stream',
        async open(range) {
          const bytes = await store.read(grant.object, range ?? wholeOf(grant))
          if (bytes === null) throw lost(grant)
          return bytes
        },
      }
    },
    async downloadUrl(access, hash) {
      presigned.requireDirect()
      const grant = await granted(access, hash)
      if (settings.enforcePrivateDocs && !(await mayReadPrivately(access, hash))) throw unknownBlob()
      return presigned.downloadUrl(grant)
    },
  }
}
