import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { systemClock } from '../../../kernel/clock.ts'
import { systemRandom } from '../../../kernel/ids.ts'
import { type Timers, waitingTimers } from '../../../kernel/timers.ts'
import type { OwnNode } from '../engine.ts'
import type { FeedEntry } from '../feed-writing.ts'
import { DEFAULT_RECOVERY_RING } from '../recovery-ring.ts'
import { storageFromPort } from '../storage-client.ts'
import { openStorageHost } from '../storage-host.ts'
import { createReadTurns, serveStorage } from '../storage-server.ts'
import { stampsFor, type Storage, type StorageOptions, storageOver } from '../storage.ts'
import { testHooks } from '../test-hooks.ts'

/**
 * Opens the store as `openStorage` does, behind the same ports and messages, but in the calling thread: a thread with its own copy of the SQL modules
 * costs twenty times as much processor time. A test that measures its own thread needs `openStorage`.
 */
export async function openStorageHere({
  url,
  commitDelayMs,
  log,
  timers = waitingTimers,
  severalNodes = false,
  node,
}: Pick<StorageOptions, 'url' | 'commitDelayMs' | 'log' | 'severalNodes'> & {
  readonly timers?: Timers
  readonly node?: OwnNode
}): Promise<Storage> {
  const fatal: ((error: Error) => void)[] = []
  const stored: Parameters<Storage['onStored']>[0][] = []
  const told: Parameters<Storage['onTold']>[0][] = []
  const stamps = stampsFor({ url, severalNodes: severalNodes || node !== undefined })
  const host = await openStorageHost({
    url,
    commitDelayMs,
    recovery: DEFAULT_RECOVERY_RING,
    log,
    clock: systemClock,
    timers,
    random: systemRandom,
    hooks: testHooks({}),
    stamps,
    ...(node && { node }),
    onFatal: (error) => {
      for (const listener of fatal) listener(error)
    },
    onStored: (document) => {
      for (const listener of stored) listener(document)
    },
    ...(severalNodes && {
      node: { inc: null },
      onTold: (entries: readonly FeedEntry[]) => {
        for (const entry of entries) for (const listener of told) listener(entry)
      },
    }),
  })
  const reads = createReadTurns()
  const served: MessagePort[] = []
  const workerPort = (): MessagePort => {
    const { port1, port2 } = new MessageChannel()
    served.push(port2)
    serveStorage(port2, host, { reads, close: async () => host[Symbol.asyncDispose]() })
    return port1
  }
  const own = workerPort()
  const ports = storageFromPort(own, stamps === null ? null : { stamps, clock: systemClock })
  const close = async (): Promise<void> => {
    await ports.control.close()
    for (const port of served) port.close()
    own.close()
  }
  return storageOver(ports, {
    workerPort,
    onFatal: (listener) => void fatal.push(listener),
    onStored: (listener) => void stored.push(listener),
    onTold: (listener) => void told.push(listener),
    close,
  })
}
