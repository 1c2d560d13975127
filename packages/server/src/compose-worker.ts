import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { storageFromPort } from './drivers/sql/storage-client.ts'
import { systemClock } from './kernel/clock.ts'
import { systemRandom } from './kernel/ids.ts'
import type { LogFields, Logger } from './kernel/log.ts'
import { systemTimers } from './kernel/timers.ts'
import { type Batch, packFromWorker, unpackToWorker } from './sync/workers/document-batch.ts'
import { DocumentWorker } from './sync/workers/document-worker.ts'
import type { WorkerLine, WorkerStart } from './sync/workers/document-workers.ts'
import { sharedWatch } from './sync/workers/watchdog.ts'
import type { ToWorker } from './sync/worker-messages.ts'

/** Starts a document worker: one port leads to the storage thread, the other to the main thread. */
function startWorker(port: NonNullable<typeof parentPort>, start: WorkerStart): void {
  const { documents, updates, recovery } = storageFromPort(start.storage)
  const worker = new DocumentWorker({
    documents,
    updates,
    recovery,
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    log: portLogger((line) => port.postMessage(line)),
    watch: sharedWatch(start.memory),
    rooms: start.rooms,
    workers: start.workers,
    post: (messages) => {
      const { batch, transfer } = packFromWorker(messages)
      port.postMessage(batch, transfer)
    },
  })
  port.on('message', (batch: Batch<ToWorker>) => worker.receive(unpackToWorker(batch)))
}

/** Sends log lines to the main thread, which writes them. */
function portLogger(send: (line: WorkerLine) => void): Logger {
  const at =
    (level: WorkerLine['level']) =>
    (event: string, msg: string, fields: LogFields = {}) =>
      send({ level, event, msg, fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

if (!isMainThread && parentPort !== null) startWorker(parentPort, workerData as WorkerStart)
