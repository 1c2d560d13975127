import { join } from 'node:path'
import { createBlobReaders } from '../../documents/blob-readers.ts'
import type { DocumentStore } from '../../documents/document-store.port.ts'
import type { Residents } from '../../documents/residents.port.ts'
import { openFsBlobs } from '../../drivers/fs-blobs.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import type { BlobDeps, BlobSettings } from '../blob-deps.ts'
import type { BlobLedger } from '../blob-ledger.port.ts'
import type { BlobStore } from '../blob-store.port.ts'
import { type Blobs, createBlobs } from '../blobs.ts'
import type { AccessPolicy } from '../../access/access.ts'

export interface RestBlobsOptions
  extends Partial<Pick<BlobSettings, 'maxBlobBytes' | 'maxConcurrentUploads' | 'enforcePrivateBlobs'>> {
  /** Wraps the blob store, which keeps its blobs as files. */
  readonly store?: (files: BlobStore) => BlobStore
}

/** Opens blobs for a relay under test, as files under its directory. */
export async function openRestBlobs(given: {
  readonly directory: string
  readonly ledger: BlobLedger
  readonly documents: DocumentStore
  readonly residents: Residents
  readonly accessPolicy: AccessPolicy
  readonly log: BlobDeps['log']
  readonly metrics: BlobDeps['metrics']
  readonly options: RestBlobsOptions
}): Promise<Blobs> {
  const { directory, ledger, documents, residents, accessPolicy, log, metrics, options } = given
  const root = join(directory, 'blobs')
  const files = await openFsBlobs({ root, maxTempBytes: 1_000_000_000, random: systemRandom, log })
  const { maxBlobBytes = 157_286_400, maxConcurrentUploads = 4, enforcePrivateBlobs = false } = options
  return createBlobs({
    store: options.store?.(files) ?? files,
    ledger,
    readers: createBlobReaders({ store: documents, residents, accessPolicy }),
    checkSpace: () => Promise.resolve(),
    settings: {
      maxBlobBytes,
      maxConcurrentUploads,
      presignTtlSecs: 3_600,
      enforcePrivateBlobs,
      enforcePrivateDocs: accessPolicy.enforcePrivateDocs,
    },
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
  })
}
