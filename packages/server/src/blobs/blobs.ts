import type { Access } from '../access/access.ts'
import type { BlobDeps } from './blob-deps.ts'
import type { BlobGrant } from './blob-ledger.port.ts'
import type { ByteRange } from './blob-store.port.ts'
import { createPresignedTransfer, type DownloadLink, type PresignedTransfer } from './presigned.ts'
import { unknownBlob } from './refusals.ts'
import { createUploads, type TakeUpload } from './uploads.ts'

/** How the bytes of a blob reach a caller. */
export type BlobDelivery =
  | { readonly kind: 'stream'; readonly open: (range: ByteRange | null) => Promise<AsyncIterable<Uint8Array>> }
  | ({ readonly kind: 'redirect' } & DownloadLink)

/**
 * Blobs as callers of one workspace may use them. Every verb decides rights itself and throws RelayError; what it stores is durable when
 * its promise resolves. A blob that is unknown, of another workspace or not for the caller is NOT_FOUND, alike to the byte. [BLOB-5, BLOB-6]
 */
export interface Blobs {
  readonly upload: TakeUpload
  readonly presigned: Pick<PresignedTransfer, 'uploadUrl' | 'finalize'>
  /** The record of a blob that the caller may read. [BLOB-6] */
  find(access: Access, hash: string): Promise<BlobGrant>
  /** Whether the bytes of what `find` answered are there, whole; throws NOT_FOUND otherwise. [BLOB-8] */
  confirm(grant: BlobGrant): Promise<void>
  /** How the bytes of what `find` answered are had; a link lives for `ttlSecs`, as REST links do when absent. [BLOB-7, BLOB-9] */
  deliver(grant: BlobGrant, ttlSecs?: number): Promise<BlobDelivery>
  /** A link into the object store, in the order of refusals that BLOB-13 gives. */
  downloadUrl(access: Access, hash: string): Promise<DownloadLink>
}

/** Said in full, so that nobody reads on to find the end. */
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
    log.error('blobs.lost', 'The bytes of a blob are missing or cut; uploading it again heals it.', {
      workspace: grant.workspaceId,
      hash: grant.hash,
    })
    return unknownBlob()
  }

  const confirm = async (grant: BlobGrant): Promise<void> => {
    if ((await store.size(grant.hash)) !== grant.sizeBytes) throw lost(grant)
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
          const bytes = await store.read(grant.hash, range ?? wholeOf(grant))
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
