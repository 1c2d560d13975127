import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenRevocationStore } from '../../../auth/revocations.contract.ts'
import type { OpenBlobLedger } from '../../../blobs/blob-ledger.contract.ts'
import type { OpenRegistryStore } from '../../../collections/registry-store.contract.ts'
import type { OpenDocumentStore } from '../../../documents/document-store.contract.ts'
import type { OpenRecoveryStore } from '../../../recovery/recovery-store.contract.ts'
import type { OpenShareLinkStore } from '../../../share-links/share-link-store.contract.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { type Logger, silentLogger } from '../../../kernel/log.ts'
import { DEFAULT_RECOVERY_RING, type RecoveryRing } from '../recovery.ts'
import { storageFromPort } from '../storage-client.ts'
import { openStorageHost, type StorageHost } from '../storage-host.ts'
import { openStorage } from '../storage.ts'

export interface StoreUnderTest
  extends OpenDocumentStore,
    OpenRevocationStore,
    OpenRegistryStore,
    OpenShareLinkStore,
    OpenRecoveryStore,
    OpenBlobLedger {}

/** A directory of its own for one test's SQLite files. */
export function temporaryStore(): { readonly url: string; readonly path: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'relay-store-'))
  const path = join(directory, 'relay.db')
  return { url: `sqlite:${path}`, path, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export function openHost(
  url: string,
  more: { readonly log?: Logger; readonly commitDelayMs?: number; readonly recovery?: RecoveryRing } = {},
): Promise<StorageHost> {
  return openStorageHost({
    url,
    commitDelayMs: more.commitDelayMs ?? 4,
    recovery: more.recovery ?? DEFAULT_RECOVERY_RING,
    log: more.log ?? silentLogger,
    clock: systemClock,
    hooks: { synchronous: 'FULL', ackBeforeCommit: false, commitHoldMs: 0 },
    onFatal() {},
  })
}

type Opened = Pick<StorageHost, 'documents' | 'updates' | 'revocations' | 'registries' | 'shareLinks' | 'recovery' | 'blobs'> &
  AsyncDisposable

/** The store in the calling thread. */
export const inProcess = (url: string): Promise<Opened> => openHost(url)

/** The store in its thread, with the log reached through a worker's port as rooms do. */
export async function throughThread(url: string): Promise<Opened> {
  const storage = await openStorage({ url, commitDelayMs: 4, log: silentLogger })
  const { updates } = storageFromPort(storage.workerPort())
  return { ...storage, updates, [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose]() }
}

export async function reopenable(
  url: string,
  open: (url: string) => Promise<Opened>,
  finish: () => Promise<void> | void,
): Promise<StoreUnderTest> {
  let opened = await open(url)
  return {
    get documents() {
      return opened.documents
    },
    get updates() {
      return opened.updates
    },
    get revocations() {
      return opened.revocations
    },
    get registries() {
      return opened.registries
    },
    get shareLinks() {
      return opened.shareLinks
    },
    get blobs() {
      return opened.blobs
    },
    get recovery() {
      return opened.recovery
    },
    async reopen() {
      await opened[Symbol.asyncDispose]()
      opened = await open(url)
    },
    async clear() {
      const { openDatabase } = await import('../database.ts')
      await opened[Symbol.asyncDispose]()
      const database = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
      await database.writer.deleteFrom('revocations').execute()
      await database.writer.deleteFrom('store_facts').where('name', '!=', 'format').execute()
      await database.close()
      opened = await open(url)
    },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      await finish()
    },
  }
}
