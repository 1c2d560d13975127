import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { systemClock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import { RefusedStart } from '../../kernel/refused-start.ts'
import { ChangeStamps } from './change-stamps.ts'
import { DEFAULT_RECOVERY_RING, type RecoveryRing } from './recovery-ring.ts'
import { storageFromPort } from './storage-client.ts'
import type { FeedEntry } from './feed-writing.ts'
import type { StoredDocument } from './storage-host.ts'
import type { StorageThreadData } from './storage-thread.ts'
import type { ThreadEvent } from './storage-wire.ts'
import type { StoreLoss } from './store-loss.ts'
import type { StoreControl, Stores } from './stores.ts'

export interface StorageOptions {
  /** `sqlite:<path>` or `postgres://…` */
  readonly url: string
  /** How long a commit may wait for more records under load, in ms; 0 means no wait. */
  readonly commitDelayMs: number
  readonly log: Logger
  /** The section `[recovery]`; the configuration's defaults when absent. */
  readonly recovery?: RecoveryRing
  /** How long in ms to wait for a database server that does not answer yet; 0 when absent. */
  readonly serverWaitMs?: number
  /** Opens a store even when it has visibly lost acknowledged writes. Without this, such a store is refused. [CFG-11] */
  readonly acceptLoss?: boolean
  /**
   * Called with each visible loss of acknowledged writes, including those found at the start. When this is present, the store is claimed for this
   * relay alone, and a second relay on the same database server is refused, unless `severalNodes`.
   */
  readonly onLoss?: (loss: StoreLoss) => void
  /** The module of the thread; by default the one beside this module. A test may pass one that consists of few files, which load sooner. */
  readonly thread?: URL
  /**
   * This relay is one of several nodes on the store and registers through `nodes`. Each change writes a row for the other nodes,
   * and maintenance jobs are shared. A single relay, the default, writes no such row. [FEED-2, LIFE-26, LIFE-27]
   */
  readonly severalNodes?: boolean
}

/** The store, run in its own thread. Disposing commits all queued calls, merges SQLite's side file into the main file and ends the thread. */
export interface Storage extends Stores, StoreControl, AsyncDisposable {
  /** Returns a port for `storageFromPort` in another thread. Appends sent through it do not pass through this thread. */
  workerPort(): MessagePort
  /** Called after each write and removal of a document by the relay that claimed the store. */
  onStored(listener: (document: StoredDocument) => void): void
  /** Adds a listener that is called for each committed row of the change feed. */
  onTold(listener: (entry: FeedEntry) => void): void
  /** Adds a listener that is called when nothing can be made durable any more: the process must answer 503 and exit. [D10] */
  onFatal(listener: (error: Error) => void): void
}

/**
 * Opens the store in its thread. @throws Error with a sentence for the operator: in use by another process, damaged, newer than the program,
 * unreachable
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { url, commitDelayMs, log, serverWaitMs = 0, acceptLoss = false } = options
  const { recovery = DEFAULT_RECOVERY_RING } = options
  const { port1, port2 } = new MessageChannel()
  const stamps = stampsFor(options)
  const data: StorageThreadData = {
    url,
    commitDelayMs,
    serverWaitMs,
    acceptLoss,
    isRelay: options.onLoss !== undefined,
    recovery,
    severalNodes: options.severalNodes === true,
    stamps: stamps?.shared ?? null,
    port: port2,
  }
  const worker = new Worker(options.thread ?? new URL('./storage-thread.ts', import.meta.url), {
    workerData: data,
    transferList: [port2],
    name: 'storage',
  })
  const fatal = new FatalSignal()
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const stored: ((document: StoredDocument) => void)[] = []
  const told: ((entry: FeedEntry) => void)[] = []
  await started(worker, log, fatal, { onLoss: options.onLoss ?? (() => undefined), stored, told })
  const ports = storageFromPort(port1, stamps === null ? null : { stamps, clock: systemClock })
  worker.unref()
  const close = async () => {
    fatal.mute()
    worker.ref()
    // Everything confirmed is already durable, so a failure here is only logged.
    await ports.control.close().catch((error: Error) => log.error('storage.close-failed', error.message))
    await ended
  }
  return storageOver(ports, {
    workerPort() {
      const channel = new MessageChannel()
      worker.postMessage(channel.port2, [channel.port2])
      return channel.port1
    },
    onFatal: (listener) => fatal.listen(listener),
    onStored: (listener) => void stored.push(listener),
    onTold: (listener) => void told.push(listener),
    close,
  })
}

/**
 * Returns stamps for a store that only this process writes. Other processes would not move them, and a database server may let another relay write
 * before this one has noticed that it has lost its place.
 */
export function stampsFor({ url, severalNodes }: Pick<StorageOptions, 'url' | 'severalNodes'>): ChangeStamps | null {
  return url.startsWith('sqlite:') && severalNodes !== true ? new ChangeStamps() : null
}

/** Returns the storage at the other end of a port. `close` runs once, however often the storage is disposed. */
export function storageOver(
  { control, ...stores }: ReturnType<typeof storageFromPort>,
  { close, ...own }: Pick<Storage, 'workerPort' | 'onFatal' | 'onStored' | 'onTold'> & { close(): Promise<void> },
): Storage {
  let closing: Promise<void> | null = null
  return {
    ...stores,
    ...own,
    ping: control.ping,
    stats: control.stats,
    totals: control.totals,
    [Symbol.asyncDispose]: () => (closing ??= close()),
  }
}

function started(
  worker: Worker,
  log: Logger,
  fatal: FatalSignal,
  listeners: {
    readonly onLoss: (loss: StoreLoss) => void
    readonly stored: readonly ((document: StoredDocument) => void)[]
    readonly told: readonly ((entry: FeedEntry) => void)[]
  },
): Promise<void> {
  const { onLoss, stored, told } = listeners
  return new Promise<void>((resolve, reject) => {
    worker.on('message', (event: ThreadEvent) => {
      switch (event.kind) {
        case 'ready':
          for (const loss of event.losses) onLoss(loss)
          return resolve()
        case 'loss':
          return onLoss(event.loss)
        case 'stored':
          for (const listener of stored) listener(event)
          return
        case 'told':
          for (const entry of event.entries) for (const listener of told) listener(entry)
          return
        case 'failed-to-open':
          return reject(event.remedy === undefined ? new Error(event.message) : new RefusedStart(event.message, event.remedy))
        case 'log':
          return log[event.level](event.event, event.msg, event.fields)
        case 'fatal':
          return fatal.raise(new Error(event.message))
      }
    })
    worker.on('error', (error: Error) => {
      reject(error)
      fatal.raise(error)
    })
    worker.on('exit', (code) => {
      reject(new Error(`the storage thread ended with code ${code}`))
      fatal.raise(new Error(`the storage thread ended with code ${code}`))
    })
  })
}

class FatalSignal {
  #error: Error | null = null
  #muted = false
  readonly #listeners: ((error: Error) => void)[] = []

  listen(listener: (error: Error) => void): void {
    this.#listeners.push(listener)
    if (this.#error !== null) listener(this.#error)
  }

  raise(error: Error): void {
    if (this.#muted || this.#error !== null) return
    this.#error = error
    for (const listener of this.#listeners) listener(error)
  }

  mute(): void {
    this.#muted = true
  }
}
