import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { waitingTimers } from '../../kernel/timers.ts'
import { RefusedStart } from '../../kernel/refused-start.ts'
import { ChangeStamps } from './change-stamps.ts'
import type { RecoveryRing } from './recovery-ring.ts'
import type { FeedEntry } from './feed-writing.ts'
import { openStorageHost, type StorageHost, type StoredDocument } from './storage-host.ts'
import type { StoreLoss } from './store-loss.ts'
import { createReadTurns, serveStorage } from './storage-server.ts'
import type { ThreadEvent } from './storage-wire.ts'
import { testHooks } from './test-hooks.ts'

/**
 * Start data of the only thread that runs SQL. The thread opens the store, and then serves the given port and every further port that its parent
 * sends.
 */
export interface StorageThreadData {
  readonly url: string
  readonly commitDelayMs: number
  readonly serverWaitMs: number
  readonly acceptLoss: boolean
  /** True for a relay on the store, false for a tool beside it. */
  readonly isRelay: boolean
  readonly recovery: RecoveryRing
  /** True for one of several nodes. */
  readonly severalNodes: boolean
  /** The memory of `ChangeStamps`; `null` when nobody remembers what was read. */
  readonly stamps: SharedArrayBuffer | null
  readonly port: MessagePort
}

async function main(parent: MessagePort, data: StorageThreadData): Promise<void> {
  const { url, commitDelayMs, serverWaitMs, acceptLoss, isRelay, severalNodes, recovery, stamps, port } = data
  const tell = (event: ThreadEvent) => parent.postMessage(event)
  const host = await openStorageHost({
    url,
    commitDelayMs,
    serverWaitMs,
    acceptLoss,
    ...(severalNodes && { node: { inc: null } }),
    ...(isRelay && { onLoss: (loss: StoreLoss) => tell({ kind: 'loss', loss }) }),
    recovery,
    log: forwardingLogger(tell),
    clock: systemClock,
    timers: waitingTimers,
    random: systemRandom,
    hooks: testHooks(process.env),
    stamps: stamps === null ? null : new ChangeStamps(stamps),
    onFatal: (error) => tell({ kind: 'fatal', message: error.message }),
    ...(severalNodes && { onTold: (entries: readonly FeedEntry[]) => tell({ kind: 'told', entries }) }),
    ...(isRelay && { onStored: ({ workspaceId, key }: StoredDocument) => tell({ kind: 'stored', workspaceId, key }) }),
  }).catch((error: unknown) => {
    const remedy = error instanceof RefusedStart ? { remedy: error.remedy } : {}
    tell({ kind: 'failed-to-open', message: error instanceof Error ? error.message : String(error), ...remedy })
    return null
  })
  if (host === null) return parent.close()
  serve(parent, port, host)
  tell({ kind: 'ready', losses: host.losses })
}

function serve(parent: MessagePort, first: MessagePort, host: StorageHost): void {
  const ports = new Set<MessagePort>()
  const reads = createReadTurns()
  const close = async () => {
    try {
      await host[Symbol.asyncDispose]()
    } finally {
      // Deferred, so that the reply to this call is sent first.
      setImmediate(() => {
        for (const port of ports) port.close()
        parent.close()
      })
    }
  }
  const add = (port: MessagePort) => {
    ports.add(port)
    port.once('close', () => ports.delete(port))
    serveStorage(port, host, { reads, close })
  }
  add(first)
  parent.on('message', add)
}

function forwardingLogger(tell: (event: ThreadEvent) => void): Logger {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (event: string, msg: string, fields?: Record<string, unknown>) =>
    tell({ kind: 'log', level, event, msg, fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

if (parentPort !== null) await main(parentPort, workerData as StorageThreadData)
