import { hadItsTime, SpentTime } from '../../kernel/processor-time.ts'
import type { Watch } from '../room/room-host.ts'

/** The operation that a worker reports as running. */
export interface Running {
  readonly room: number
  readonly connection: number
  readonly join: number
  /** The ordinal of the message; 0 when the message was not write-bearing. */
  readonly ordinal: number
  readonly bytes: number
}

const BYTES = 8 + 5 * 8
const APPLY_MS = 2_000
const PER_MIB_MS = 1_000
const MIB = 1024 * 1024

export function watchedMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(BYTES)
}

/** Returns the worker's side of the watch. Its counter is incremented at each begin and end, so it is odd while an operation runs. [C5] */
export function sharedWatch(memory: SharedArrayBuffer): Watch {
  const turn = new Int32Array(memory, 0, 1)
  const what = new Float64Array(memory, 8)
  return {
    begin({ room, connection, join, ordinal, bytes }) {
      what[0] = room
      what[1] = connection
      what[2] = join
      what[3] = ordinal
      what[4] = bytes
      const now = Atomics.load(turn, 0)
      Atomics.store(turn, 0, now % 2 === 0 ? now + 1 : now + 2)
    },
    end() {
      const now = Atomics.load(turn, 0)
      if (now % 2 !== 0) Atomics.store(turn, 0, now + 1)
    },
  }
}

/**
 * The main thread's side of the watch. It is checked at regular intervals, so it knows to within one interval how long an operation has run.
 */
export class Watchdog {
  private readonly turn: Int32Array
  private readonly what: Float64Array
  private seen = 0
  private sinceMs = 0
  private spent = new SpentTime()

  constructor(memory: SharedArrayBuffer) {
    this.turn = new Int32Array(memory, 0, 1)
    this.what = new Float64Array(memory, 8)
  }

  /** The running operation; `null` when there is none. */
  running(): Running | null {
    if (Atomics.load(this.turn, 0) % 2 === 0) return null
    const [room, connection, join, ordinal, bytes] = this.what as unknown as [number, number, number, number, number]
    return { room, connection, join, ordinal, bytes }
  }

  /**
   * Returns the operation that has run too long, or `null`. Too long is more than 2 s plus 1 s per MiB of a message or document above 1 MiB.
   * An operation that got too little processor time, as on an overloaded machine, may take more elapsed time. [C5]
   */
  overdue(nowMs: number): Running | null {
    const now = Atomics.load(this.turn, 0)
    if (now !== this.seen) {
      this.seen = now
      this.sinceMs = nowMs
      this.spent = new SpentTime()
      return null
    }
    const running = this.running()
    if (running === null) return null
    const allowedMs = APPLY_MS + (running.bytes > MIB ? (running.bytes / MIB) * PER_MIB_MS : 0)
    return hadItsTime(allowedMs, { waitedMs: nowMs - this.sinceMs, usedMs: this.spent.usedMs }) ? running : null
  }

  /** Measures the processor time for the next check. An idle thread is not measured. */
  async measure(threadCpuMs: () => Promise<number | null>): Promise<void> {
    if (this.seen % 2 !== 0) await this.spent.measure(threadCpuMs)
  }
}
