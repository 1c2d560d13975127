import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { OpenRevocationStore } from '../../../auth/revocations.contract.ts'
import type { OpenBlobLedger } from '../../../blobs/blob-ledger.contract.ts'
import type { OpenRegistryStore } from '../../../collections/registry-store.contract.ts'
import type { OpenCallStore } from '../../../documents/call-store.contract.ts'
import type { OpenDocumentStore } from '../../../documents/document-store.contract.ts'
import type { OpenRememberedWrites } from '../../../documents/remembered-writes.contract.ts'
import type { OpenRecoveryStore } from '../../../recovery/recovery-store.contract.ts'
import type { OpenShareLinkStore } from '../../../share-links/share-link-store.contract.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { systemRandom } from '../../../kernel/ids.ts'
import { waitingTimers } from '../../../kernel/timers.ts'
import { type Logger, silentLogger } from '../../../kernel/log.ts'
import { CallTallies } from '../call-tallies.ts'
import { DEFAULT_UNDO_BYTES, recordCall } from '../call-records.ts'
import type { CommitFaults } from '../commit-faults.ts'
import { openDatabase } from '../database.ts'
import type { Engine, OwnNode } from '../engine.ts'
import type { FeedEntry } from '../feed-writing.ts'
import { DEFAULT_RECOVERY_RING, type RecoveryRing } from '../recovery-ring.ts'
import { STORAGE_THREAD } from '../../../test/relay-program.ts'
import type { ChangeStamps } from '../change-stamps.ts'
import { storageFromPort } from '../storage-client.ts'
import { openStorageHost, type StorageHost } from '../storage-host.ts'
import { openStorage } from '../storage.ts'
import { rememberWrite } from '../remembered-writes.ts'
import type { StoreLoss } from '../store-loss.ts'
import type { Stores } from '../stores.ts'
import type { Writer } from '../tables.ts'

export interface StoreUnderTest
  extends OpenDocumentStore,
    OpenCallStore,
    OpenRememberedWrites,
    OpenRevocationStore,
    OpenRegistryStore,
    OpenShareLinkStore,
    OpenRecoveryStore,
    OpenBlobLedger {}

/** Creates a directory for the SQLite files of one test. */
export function temporaryStore(): { readonly url: string; readonly path: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'relay-store-'))
  const path = join(directory, 'relay.db')
  return { url: `sqlite:${path}`, path, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** Returns a function like `temporaryStore` for the tests of a file. Each directory is removed after the test that created it. */
export function temporaryStores(): () => { readonly url: string; readonly path: string } {
  const made: ReturnType<typeof temporaryStore>[] = []
  afterEach(() => {
    for (const store of made.splice(0)) store.remove()
  })
  return () => {
    const store = temporaryStore()
    made.push(store)
    return store
  }
}

export function openHost(
  url: string,
  more: {
    readonly log?: Logger
    readonly commitDelayMs?: number
    readonly recovery?: RecoveryRing
    readonly commitFaults?: CommitFaults
    readonly stamps?: ChangeStamps
    readonly isCommitHeld?: () => boolean
    /** Present when the host is one of several nodes. */
    readonly node?: OwnNode
    /** Present for a relay, single or one of several nodes; absent for a tool beside the relays. */
    readonly onLoss?: (loss: StoreLoss) => void
    readonly onTold?: (entries: readonly FeedEntry[]) => void
  } = {},
): Promise<StorageHost> {
  return openStorageHost({
    url,
    commitDelayMs: more.commitDelayMs ?? 4,
    recovery: more.recovery ?? DEFAULT_RECOVERY_RING,
    log: more.log ?? silentLogger,
    clock: systemClock,
    timers: waitingTimers,
    random: systemRandom,
    hooks: {
      synchronous: 'FULL',
      ackBeforeCommit: false,
      commitHoldMs: 0,
      answerHoldMs: 0,
      ...(more.commitFaults && { commitFaults: more.commitFaults }),
      ...(more.isCommitHeld && { isCommitHeld: more.isCommitHeld }),
    },
    ...(more.node && { node: more.node }),
    ...(more.onLoss && { onLoss: more.onLoss }),
    ...(more.stamps && { stamps: more.stamps }),
    onFatal() {},
    ...(more.onTold && { onTold: more.onTold }),
  })
}

type Opened = Stores & AsyncDisposable

/** Opens the store in the calling thread. */
export const inProcess = (url: string): Promise<Opened> => openHost(url)

/** Opens the store in its thread, and reaches the log through a port for workers, as rooms do. */
export async function throughThread(url: string): Promise<Opened> {
  const storage = await openStorage({ url, commitDelayMs: 4, log: silentLogger, thread: STORAGE_THREAD })
  const { updates } = storageFromPort(storage.workerPort())
  return { ...storage, updates, [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose]() }
}

export async function reopenable(
  url: string,
  open: (url: string) => Promise<Opened>,
  finish: () => Promise<void> | void,
): Promise<StoreUnderTest> {
  let opened = await open(url)
  const openAgain = async (): Promise<void> => {
    opened = await open(url)
    const { [Symbol.asyncDispose]: _, ...stores } = opened
    Object.assign(store, stores)
  }
  /** Closes the store, runs the work in one transaction on its database, and opens the store again. */
  const within = async (work: (writer: Writer, engine: Engine) => Promise<void>): Promise<void> => {
    await opened[Symbol.asyncDispose]()
    const database = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
    await database.writer.transaction().execute((writer) => work(writer, database.engine))
    await database.close()
    await openAgain()
  }
  const store: StoreUnderTest = {
    ...opened,
    async reopen() {
      await opened[Symbol.asyncDispose]()
      await openAgain()
    },
    clear: () =>
      within(async (writer) => {
        await writer.deleteFrom('revocations').execute()
        await writer.deleteFrom('store_facts').where('name', '!=', 'format').execute()
      }),
    remember: (writes) =>
      within(async (writer) => {
        for (const write of writes) if (write.once !== undefined) await rememberWrite(writer, write, write.once, 1)
      }),
    record: ({ key, workspaceId, version }, calls) =>
      within(async (writer, engine) => {
        for (const [i, call] of calls.entries()) {
          const made = { key, workspaceId, version: version - calls.length + i, nowMs: 1000 }
          await recordCall(writer, engine, call, made, { undoBytes: DEFAULT_UNDO_BYTES, tallies: new CallTallies() })
        }
      }),
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      await finish()
    },
  }
  return store
}
