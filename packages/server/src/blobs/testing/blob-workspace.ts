import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Access } from '../../access/access.ts'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import { openFsBlobs } from '../../drivers/fs-blobs.ts'
import { openHost } from '../../drivers/sql/testing/store-under-test.ts'
import type { ErrorCode } from '../../kernel/errors.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { type ManualTime, manualTime } from '../../kernel/testing/manual-time.ts'
import type { DocumentStore } from '../../documents/document-store.port.ts'
import { creation } from '../../documents/testing/document-writes.ts'
import type { BlobDeps, BlobSettings } from '../blob-deps.ts'
import type { BlobLedger } from '../blob-ledger.port.ts'
import type { BlobStore } from '../blob-store.port.ts'
import { type Blobs, createBlobs } from '../blobs.ts'
import { type CollectorDeps, createBlobCollector } from '../collect.ts'
import { collected, hashOf, inPieces } from './blob-bytes.ts'

export interface BlobWorkspaceOptions {
  readonly settings?: Partial<BlobSettings>
  readonly graceMs?: number
  /** Wraps the blob store, which keeps its blobs as files. */
  readonly store?: (files: BlobStore) => BlobStore
  readonly ledger?: (real: BlobLedger) => BlobLedger
  readonly deps?: Partial<BlobDeps>
  readonly settle?: CollectorDeps['settle']
}

/** The service over real files and a real SQLite ledger, with time that moves only when a test says so. */
export interface BlobWorkspace extends AsyncDisposable {
  readonly blobs: Blobs
  readonly store: BlobStore
  readonly ledger: BlobLedger
  readonly documents: DocumentStore
  readonly time: ManualTime
  /** Kinds of the refusals that were counted, in order. */
  readonly refusals: string[]
  /** Returns the paths of all files of the blob store. */
  files(): readonly string[]
  upload(access: Access, bytes: Uint8Array, more?: { readonly mimeType?: string; readonly hash?: string }): Promise<string>
  /** Returns the bytes of a blob of the workspace `acme`; `null` when the workspace does not hold it or the bytes are missing. */
  bytes(hash: string): Promise<Uint8Array | null>
  /** Returns the path of the file that holds the bytes of a blob. */
  fileOf(hash: string): Promise<string>
  /** Creates a document that references blobs, and returns its key. */
  reference(access: Access, id: string, hashes: readonly string[]): Promise<number>
  /** Runs the collector until nothing is left to collect. */
  collect(): Promise<void>
}

/** Returns a caller of the workspace `acme`: a member without limits, except for what `given` says. */
export function callerOf(given: Partial<Access> & { readonly quotaBytes?: number } = {}): Access {
  const { quotaBytes, ...access } = given
  const limits = quotaBytes === undefined ? NO_LIMITS : { ...NO_LIMITS, quotaBytes, quotaSource: 'claim' as const }
  return { sub: 'ann', workspaceId: 'acme', role: 'member', limits, ...access }
}

export async function openBlobWorkspace(options: BlobWorkspaceOptions = {}): Promise<BlobWorkspace> {
  const folder = mkdtempSync(join(tmpdir(), 'relay-blobs-'))
  const root = join(folder, 'blobs')
  const host = await openHost(`sqlite:${join(folder, 'relay.db')}`, { commitDelayMs: 0 })
  const files = await openFsBlobs({ root, maxTempBytes: 1_000_000_000, random: systemRandom, log: silentLogger })
  const store = options.store?.(files) ?? files
  const ledger = options.ledger?.(host.blobs) ?? host.blobs
  const time = manualTime()
  const refusals: string[] = []
  const settings = {
    maxBlobBytes: 10_000_000,
    maxConcurrentUploads: 100,
    presignTtlSecs: 3_600,
    enforcePrivateBlobs: false,
    enforcePrivateDocs: true,
    ...options.settings,
  }
  const blobs = createBlobs({
    store,
    ledger,
    settings,
    readers: { mayRead: () => Promise.resolve(false) },
    checkSpace: () => Promise.resolve(),
    clock: time.clock,
    random: systemRandom,
    log: silentLogger,
    metrics: { add: (name, _by, ...[labels]) => void refusals.push((labels as { kind?: string } | undefined)?.kind ?? name) },
    ...options.deps,
  })
  return {
    blobs,
    store,
    ledger,
    time,
    refusals,
    documents: host.documents,
    files: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    async upload(access, bytes, { mimeType = 'image/png', hash = hashOf(bytes) } = {}) {
      await blobs.upload(access, {
        expectedHash: hash,
        bytes: inPieces(bytes),
        declaredBytes: bytes.byteLength,
        mimeType,
        provenance: null,
      })
      return hash
    },
    async bytes(hash) {
      const grant = await ledger.find('acme', hash)
      return grant === null ? null : collected(await store.read(grant.object, null))
    },
    async fileOf(hash) {
      const object = (await ledger.find('acme', hash))?.object ?? hash
      return join(root, object.slice(0, 2), object.slice(2))
    },
    async reference({ workspaceId, sub }, id, hashes) {
      const base = creation({ workspaceId, id }, '{"pages":[]}')
      if (base.set.body === undefined) throw new Error('a creation without body')
      const body = { ...base.set.body, blobReferences: hashes.toSorted() }
      const outcome = await host.documents.write({
        ...base,
        nowMs: time.clock.nowMs(),
        set: { ...base.set, ownerId: sub, ownerName: sub, body },
      })
      if (outcome.kind !== 'written') throw new Error(`not written: ${outcome.kind}`)
      return outcome.head.key
    },
    async collect() {
      const { graceMs = 300_000 } = options
      const collect = createBlobCollector({
        store,
        ledger,
        settle: options.settle ?? (() => Promise.resolve()),
        clock: time.clock,
        graceMs,
      })
      while (await collect());
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the code of the error with which `action` rejects, or `accepted`. Rejects with an error that has no code. */
export async function refusalOf(action: Promise<unknown>): Promise<ErrorCode | 'accepted'> {
  try {
    await action
    return 'accepted'
  } catch (error) {
    return (error as { readonly code?: ErrorCode }).code ?? Promise.reject(error as Error)
  }
}
