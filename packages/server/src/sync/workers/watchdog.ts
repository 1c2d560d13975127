import { hadItsTime, SpentTime } from '../../kernel/processor-time.ts'
import type { Watch } from '../room/room-host.ts'

/** What a worker says it is running. */
export interface Running {
  readonly room: number
  readonly connection: number
  readonly join: number
  /** 0: not a write-bearing message. */
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

/** The worker's side: an odd number while something runs, raised at every begin and end. [C5] */
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

/** The main thread's side. Looked at again and again, it knows to within that interval how long an operation has been running. */
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

  /** What runs now, `null` when nothing does. */
  running(): Running | null {
    if (Atomics.load(this.turn, 0) % 2 === 0) return null
    const [room, connection, join, ordinal, bytes] = this.what as unknown as [number, number, number, number, number]
    return { room, connection, join, ordinal, bytes }
  }

  /**
   * What has run beyond its time: 2 s, and 1 s more per MiB of a larger message or document. An operation that had too little processor time, as
   * on an overloaded machine, is waited for. [C5]
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

  /** Has the processor time measured for the next look; nothing is asked of a thread that runs nothing. */
  async measure(threadCpuMs: () => Promise<number | null>): Promise<void> {
    if (this.seen % 2 !== 0) await this.spent.measure(threadCpuMs)
  }
}
