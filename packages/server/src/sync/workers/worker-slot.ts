import type { EventLoopUtilization } from 'node:perf_hooks'
import type { Worker } from 'node:worker_threads'
import { Load } from '../../kernel/load.ts'
import type { ToWorker } from '../worker-messages.ts'
import { packToWorker } from './document-batch.ts'
import { Watchdog, watchedMemory } from './watchdog.ts'

/** About how long a message counts as recent. */
const BUSY_MEMORY_MS = 360
/** The number of checks over which `share` is averaged. */
const SHARE_CHECKS = 60

/** The state of the document worker with one number. Its thread is replaced when it ends. */
export interface WorkerSlot {
  thread: Worker | null
  watchdog: Watchdog
  /** True when the worker was stuck and is being terminated. */
  ending: boolean
  queue: ToWorker[]
  /** The rooms of this worker. `busy` counts its recent messages. */
  rooms: Set<number>
  readonly busy: Load
  /** The share of its time for which the thread worked lately. `utilization` is the measurement at the last check. */
  share: number
  utilization: EventLoopUtilization | undefined
  startedMs: number
  /** The last time at which the thread had a room, by its own reports or by `rooms`; `null` when it has had none since its start. */
  lastRoomMs: number | null
  failedStarts: number
  onDrained: (() => void) | null
}

export function emptySlot(): WorkerSlot {
  return {
    thread: null,
    watchdog: new Watchdog(watchedMemory()),
    ending: false,
    queue: [],
    rooms: new Set(),
    busy: new Load(BUSY_MEMORY_MS),
    share: 0,
    utilization: undefined,
    startedMs: 0,
    lastRoomMs: null,
    failedStarts: 0,
    onDrained: null,
  }
}

/** Sends all queued messages as one batch. */
export function flushSlot(slot: WorkerSlot): void {
  if (slot.thread === null || slot.queue.length === 0) return
  const { batch, transfer } = packToWorker(slot.queue)
  slot.queue = []
  slot.thread.postMessage(batch, transfer)
}

/** Returns whether a thread that had rooms has had none for `restMs` and has nothing to do. Must be called at each check. */
export function hasRested(slot: WorkerSlot, nowMs: number, restMs: number): boolean {
  if (slot.rooms.size > 0) slot.lastRoomMs = nowMs
  if (slot.thread === null || slot.ending || slot.onDrained !== null || slot.queue.length > 0) return false
  return slot.lastRoomMs !== null && nowMs - slot.lastRoomMs >= restMs && slot.watchdog.running() === null
}

/** Adds the share of the time since the last check for which the thread has worked to the average. */
export function noteShare(slot: WorkerSlot, thread: Worker): void {
  const now = thread.performance.eventLoopUtilization()
  const { utilization } = slot.utilization === undefined ? now : thread.performance.eventLoopUtilization(now, slot.utilization)
  slot.utilization = now
  slot.share += (utilization - slot.share) / SHARE_CHECKS
}
