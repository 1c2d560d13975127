import { type Access, requireWriter } from '../access/access.ts'
import type { BlobDeps } from './blob-deps.ts'
import type { BlobGrant, Provenance } from './blob-ledger.port.ts'
import type { ReceivedBlob } from './blob-store.port.ts'
import { announceObject, grantObject } from './granting.ts'
import { storedMimeType } from './mime.ts'
import { hashMismatch, overQuota, tooLarge } from './refusals.ts'
import { openHold, type UploadHold } from './reserving.ts'

export interface BlobUpload {
  /** The hash that the bytes must have; `null` when the caller does not know it. */
  readonly expectedHash: string | null
  readonly bytes: AsyncIterable<Uint8Array>
  /** The announced size; the received bytes are counted as well. */
  readonly declaredBytes: number | null
  /** The announced type, in any spelling. Read only after all bytes, since a source may announce the type with the bytes. [BLOB-4] */
  readonly mimeType: string | null
  readonly provenance: Provenance | null
  /** Aborted when the caller gave up: the upload rejects with the reason, unless it is granted already. [MCP-15] */
  readonly givenUp?: AbortSignal | undefined
}

/**
 * Takes an upload whose bytes pass through the relay. When it resolves, bytes, record and grant are durable; when it
 * rejects, none of them is. [BLOB-3]
 */
export type TakeUpload = (access: Access, upload: BlobUpload) => Promise<BlobGrant>

/**
 * Checks in this order: role, announced size, room on the disk, number of uploads, quota, then the bytes themselves.
 * [PERM-3, X34, REST-12, Q2, BLOB-3]
 */
export function createUploads(deps: BlobDeps): TakeUpload {
  const { metrics } = deps

  return async (access, upload) => {
    requireWriter(access)
    if (upload.declaredBytes !== null) checkSize(upload.declaredBytes, deps)
    await deps.checkSpace()
    return take(access, upload, deps)
  }

  async function take(access: Access, upload: BlobUpload, { store }: BlobDeps): Promise<BlobGrant> {
    const hold = await openHold(access, { hash: upload.expectedHash, declaredBytes: upload.declaredBytes }, deps)
    let granted = false
    try {
      const received = await store.receive(upload.bytes, async (totalBytes) => {
        checkSize(totalBytes, deps)
        await hold.cover(totalBytes)
      })
      const grant = await admit(access, upload, received, hold)
      granted = true
      return grant
    } finally {
      if (!granted) await hold.end()
    }
  }

  async function admit(access: Access, upload: BlobUpload, received: ReceivedBlob, hold: UploadHold): Promise<BlobGrant> {
    const { hash, sizeBytes } = received
    try {
      if (upload.expectedHash !== null && upload.expectedHash !== hash) throw hashMismatch(upload.expectedHash, hash)
      if (upload.expectedHash === null) await hold.settle(hash, sizeBytes)
      return await keepAndGrant(access, upload, received, hold)
    } catch (error) {
      // `discard` does nothing after `keep`: the collector then removes the bytes, because their name was announced.
      await received.discard().catch(() => undefined)
      throw error
    }
  }

  async function keepAndGrant(
    access: Access,
    upload: BlobUpload,
    received: ReceivedBlob,
    { reservationId }: UploadHold,
  ): Promise<BlobGrant> {
    const { workspaceId, sub, limits } = access
    const { hash, sizeBytes } = received
    const { provenance, givenUp } = upload
    const { quotaBytes } = limits
    givenUp?.throwIfAborted()
    const mimeType = storedMimeType(upload.mimeType)
    const object = await announceObject(hash, deps)
    await received.keep(object, mimeType)
    givenUp?.throwIfAborted()
    const outcome = await grantObject(
      { reservationId, workspaceId, hash, object, sizeBytes, mimeType, sub, provenance, quotaBytes },
      deps,
    )
    if (outcome.kind === 'over-quota') throw overQuota(outcome, access, metrics)
    return outcome.grant
  }
}

function checkSize(sizeBytes: number, { settings, metrics }: BlobDeps): void {
  if (sizeBytes > settings.maxBlobBytes) throw tooLarge(sizeBytes, settings.maxBlobBytes, metrics)
}
