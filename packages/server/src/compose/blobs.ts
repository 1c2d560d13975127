import { resolve } from 'node:path'
import type { BlobStore } from '../blobs/blob-store.port.ts'
import { type Blobs, createBlobs } from '../blobs/blobs.ts'
import { createIngest, type Ingest } from '../blobs/ingest.ts'
import { createSpaceCheck } from '../blobs/space.ts'
import { createBlobReaders } from '../documents/blob-readers.ts'
import { type FsBlobs, openFsBlobs } from '../drivers/fs-blobs.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { createKeyedQueue, type KeyedQueue } from '../kernel/keyed-queue.ts'
import { systemTimers } from '../kernel/timers.ts'
import { directly } from '../outbound/guarded-hop.ts'
import { systemResolve } from '../outbound/resolver.ts'
import type { Base, RelayOptions } from './base.ts'
import type { Live } from './live.ts'

/** Of all uploads under way that lie on the disk. [X34] */
const MAX_TEMP_BYTES = 2 * 1_073_741_824

/** Where bytes lie, with what uploads and the collector share. */
export interface BlobBackend {
  readonly store: BlobStore
  readonly locks: KeyedQueue
  readonly checkSpace: () => Promise<void>
}

/** Opens the store of `[blobs] url`, and removes what uploads left behind that ended with an earlier process. [BLOB-3] */
export async function openBlobBackend({ config, clock, random, log }: Base): Promise<BlobBackend> {
  const opened = await openBlobStore({ config, clock, random, log })
  const locks = createKeyedQueue()
  const { store } = opened
  if (opened.kind === 'files') {
    await store.clearAbandoned()
    return { store, locks, checkSpace: createSpaceCheck(() => opened.store.space(), clock) }
  }
  // An object store that is away for a moment stops no start; readiness tells of it.
  await store.clearAbandoned().catch((error: unknown) => {
    log.warn('blobs.not_cleared', 'What abandoned uploads left in the object store was not removed.', { detail: String(error) })
  })
  return { store, locks, checkSpace: () => Promise.resolve() }
}

/** The store that `[blobs] url` names, as it is. */
export async function openBlobStore({
  config,
  clock,
  random,
  log,
}: RelayOptions): Promise<
  { readonly kind: 'files'; readonly store: FsBlobs } | { readonly kind: 'objects'; readonly store: BlobStore }
> {
  const { url, accessKeyId, secretAccessKey } = config.blobs
  if (url.startsWith('file:')) {
    const root = resolve(url.slice('file:'.length))
    return { kind: 'files', store: await openFsBlobs({ root, maxTempBytes: MAX_TEMP_BYTES, random, log }) }
  }
  // Loaded only where it is needed: it is the largest library of the relay.
  const { openS3Blobs } = await import('../drivers/s3/s3-blobs.ts')
  const credentials = { accessKeyId: accessKeyId ?? '', secretAccessKey: secretAccessKey ?? '' }
  return { kind: 'objects', store: openS3Blobs({ url, credentials, clock, timers: systemTimers, random }) }
}

/** [OPS-2] */
export function blobCheck({ store }: BlobBackend): () => Promise<{ readonly ok: true }> {
  return async () => {
    await store.check()
    return { ok: true }
  }
}

export function openBlobs(base: Base, backend: BlobBackend, storage: Storage, live: Live): Blobs {
  const { config, clock, random, log, metrics } = base
  const { limits } = config.tenancy
  const { enforcePrivateBlobs, enforcePrivateDocs } = config.permissions
  return createBlobs({
    ...backend,
    ledger: storage.blobs,
    readers: createBlobReaders({ store: storage.documents, residents: live.rooms, enforcePrivateDocs }),
    settings: {
      maxBlobBytes: limits.maxBlobBytes,
      maxConcurrentUploads: limits.maxConcurrentBlobUploads,
      presignTtlSecs: config.blobs.presignTtlSecs,
      enforcePrivateBlobs,
      enforcePrivateDocs,
    },
    clock,
    random,
    log,
    metrics,
  })
}

/** Blobs fetched from the hosts that the operator lists. */
export function openIngest({ config, log, metrics, release }: Base, { upload }: Blobs): Ingest {
  const { blobIngestAllowedHosts: allowedHosts, maxBlobBytes } = config.tenancy.limits
  const network = { resolve: systemResolve, connect: directly }
  return createIngest({ upload, allowedHosts, maxBlobBytes, userAgent: `docrelay/${release.version}`, network, log, metrics })
}
