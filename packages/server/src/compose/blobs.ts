import { resolve } from 'node:path'
import { type BlobStore, hashOfObject } from '../blobs/blob-store.port.ts'
import { type Blobs, createBlobs } from '../blobs/blobs.ts'
import { createIngest, type Ingest } from '../blobs/ingest.ts'
import { createSpaceCheck } from '../blobs/space.ts'
import { createBlobReaders } from '../documents/blob-readers.ts'
import { type FsBlobs, openFsBlobs } from '../drivers/fs-blobs.ts'
import { checkedBlobs } from '../drivers/fs-checked-blobs.ts'
import { createStoreWatch } from '../drivers/s3/s3-watch.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { waitingTimers } from '../kernel/timers.ts'
import { directly } from '../outbound/guarded-hop.ts'
import { systemResolve } from '../outbound/resolver.ts'
import type { Check } from '../operation/health.ts'
import type { Base, RelayOptions } from './base.ts'
import type { Live } from './live.ts'
import { accessPolicyOf } from './access-policy.ts'

/** Most bytes that the files of all running uploads may take on the disk. [X34] */
const MAX_TEMP_BYTES = 2 * 1_073_741_824

/** The blob store, and the other parts that uploads need. */
export interface BlobBackend {
  readonly store: BlobStore
  readonly checkSpace: () => Promise<void>
}

/** Opens the store of `[blobs] url` and removes what uploads of an earlier process left behind. [BLOB-3] */
export async function openBlobBackend(base: Base): Promise<BlobBackend> {
  const { clock, log } = base
  const opened = await openBlobStore(base, base.metrics)
  const { store } = opened
  // An unreachable object store or a file that cannot be removed does not prevent the start. The log names either; /readyz names only
  // the unreachable store. [BLOB-20]
  await store.clearAbandoned().catch((error: unknown) => {
    log.warn('blobs.not_cleared', 'What abandoned uploads left in the blob store could not all be removed and stays for now.', {
      detail: String(error),
    })
  })
  if (opened.kind === 'files') {
    const onDamaged = (object: string) => {
      base.metrics.add('relay_damaged_blobs_total', 1)
      log.error(
        'blobs.damaged',
        'The bytes of a blob are not those of its hash and were put aside; uploading it again heals it.',
        { hash: hashOfObject(object), object },
      )
    }
    const checked = checkedBlobs(opened.store, { onDamaged })
    return { store: checked, checkSpace: createSpaceCheck(() => opened.store.space(), clock) }
  }
  return { store, checkSpace: () => Promise.resolve() }
}

/**
 * Opens the store that `[blobs] url` names and changes nothing in it. With `metrics` its outages are counted and
 * logged; commands report failures themselves.
 */
export async function openBlobStore(
  { config, clock, random, log }: RelayOptions,
  metrics: Metrics | null = null,
): Promise<{ readonly kind: 'files'; readonly store: FsBlobs } | { readonly kind: 'objects'; readonly store: BlobStore }> {
  const { url, accessKeyId, secretAccessKey } = config.blobs
  if (url.startsWith('file:')) {
    const root = resolve(url.slice('file:'.length))
    return { kind: 'files', store: await openFsBlobs({ root, maxTempBytes: MAX_TEMP_BYTES, random, log }) }
  }
  // The S3 library, the largest of the relay, is loaded only when it is used.
  const { openS3Blobs } = await import('../drivers/s3/s3-blobs.ts')
  const observe = metrics === null ? () => undefined : createStoreWatch({ clock, log, metrics })
  const credentials = { accessKeyId: accessKeyId ?? '', secretAccessKey: secretAccessKey ?? '' }
  return { kind: 'objects', store: openS3Blobs({ url, credentials, clock, timers: waitingTimers, random, observe }) }
}

/**
 * Makes the readiness check of the blob store. Its reason is a code of the store or the connection, which contains neither host nor key. [OPS-2,
 * BLOB-20]
 */
export function blobCheck({ store }: BlobBackend): Check {
  return async () => {
    try {
      await store.check()
      return { ok: true }
    } catch (error) {
      if (!(error instanceof RelayError) || error.code !== 'BLOB_STORE_ERROR') throw error
      const { reason, status } = error.details
      return { ok: false, detail: status === undefined ? String(reason) : `${String(reason)}, status ${String(status)}` }
    }
  }
}

export function openBlobs(base: Base, backend: BlobBackend, storage: Storage, live: Live): Blobs {
  const { config, clock, random, log, metrics } = base
  const { limits } = config.tenancy
  const { enforcePrivateBlobs, enforcePrivateDocs } = config.permissions
  return createBlobs({
    ...backend,
    ledger: storage.blobs,
    readers: createBlobReaders({ store: storage.documents, residents: live.rooms, accessPolicy: accessPolicyOf(config) }),
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

/** Opens ingest, which fetches blobs from the hosts that the operator lists. */
export function openIngest({ config, log, metrics, release }: Base, { upload }: Blobs): Ingest {
  const { blobIngestAllowedHosts: allowedHosts, maxBlobBytes } = config.tenancy.limits
  const network = { resolve: systemResolve, connect: directly }
  return createIngest({ upload, allowedHosts, maxBlobBytes, userAgent: `docrelay/${release.version}`, network, log, metrics })
}
