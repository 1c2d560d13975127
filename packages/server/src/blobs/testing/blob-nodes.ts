import { PutObjectCommand } from '@aws-sdk/client-s3'
import { readS3Address, s3Keys } from '../../drivers/s3/s3-address.ts'
import { openS3 } from '../../drivers/s3/testing/open-s3.ts'
import { startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import type { StorageHost } from '../../drivers/sql/storage-host.ts'
import { openPostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import { openHost } from '../../drivers/sql/testing/store-under-test.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { type ManualTime, manualTime } from '../../kernel/testing/manual-time.ts'
import type { BlobStore, DirectTransfer } from '../blob-store.port.ts'
import { type Blobs, createBlobs } from '../blobs.ts'
import { type CollectorDeps, createBlobCollector } from '../collect.ts'

/** Grace period for unreferenced blobs: longer than all times for which the tests wait. */
export const GRACE_MS = 10 * 3_600_000

/** The blobs of one of several nodes. */
export interface BlobNode {
  readonly blobs: Blobs
  readonly store: BlobStore & { readonly direct: DirectTransfer }
  readonly ledger: StorageHost['blobs']
  /** Runs the collector until nothing is left to collect. */
  collect(): Promise<void>
  /** The collector of this node awaits this function before each of its steps. */
  pause: (before: CollectorStep) => Promise<void>
}

export type CollectorStep = 'strike' | 'remove' | 'forget'

/** Two nodes on one PostgreSQL and one object store, with one clock that only the test moves. */
export interface BlobNodes extends AsyncDisposable {
  readonly nodes: readonly [BlobNode, BlobNode]
  readonly time: ManualTime
  /** Stages bytes as a client does with an upload URL. No real URL is used, because its signature needs the true time. */
  put(stagingKey: string, bytes: Uint8Array): Promise<void>
}

/** Opens the two nodes. Returns a string with the reason when this machine has no PostgreSQL. */
export async function openBlobNodes(): Promise<BlobNodes | string> {
  await using opened = new AsyncDisposableStack()
  const database = await openPostgresUnderTest()
  if (typeof database === 'string') return database
  opened.use(database)
  const objects = opened.use(await startS3())
  const time = manualTime()
  const openNode = async (): Promise<BlobNode> => {
    const host = opened.use(await openHost(database.url, { commitDelayMs: 0 }))
    const store = openS3(objects)
    const node: BlobNode = {
      store,
      ledger: host.blobs,
      pause: () => Promise.resolve(),
      blobs: createBlobs({
        store,
        ledger: host.blobs,
        readers: { mayRead: () => Promise.resolve(false) },
        checkSpace: () => Promise.resolve(),
        settings: {
          maxBlobBytes: 10_000_000,
          maxConcurrentUploads: 4,
          presignTtlSecs: 3_600,
          enforcePrivateBlobs: false,
          enforcePrivateDocs: true,
        },
        clock: time.clock,
        random: systemRandom,
        log: silentLogger,
        metrics: { add: () => undefined },
      }),
      async collect() {
        const { blobs: ledger } = host
        const paused: CollectorDeps = {
          store: { ...store, remove: (object) => node.pause('remove').then(() => store.remove(object)) },
          ledger: {
            ...ledger,
            strike: (hash, nowMs) => node.pause('strike').then(() => ledger.strike(hash, nowMs)),
            forget: (object) => node.pause('forget').then(() => ledger.forget(object)),
          },
          settle: () => Promise.resolve(),
          clock: time.clock,
          graceMs: GRACE_MS,
        }
        const collectBatch = createBlobCollector(paused)
        while (await collectBatch());
      },
    }
    return node
  }
  const nodes = [await openNode(), await openNode()] as const
  const resources = opened.move()
  const { bucket: Bucket, prefix } = readS3Address(objects.url)
  return {
    nodes,
    time,
    async put(stagingKey, bytes) {
      const Key = s3Keys(prefix).staged(stagingKey)
      await objects.client.send(new PutObjectCommand({ Bucket, Key, Body: bytes }))
    },
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  }
}
