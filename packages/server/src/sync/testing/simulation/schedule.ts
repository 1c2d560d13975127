import type { Clock } from '../../../kernel/clock.ts'
import type { Random } from '../../../kernel/ids.ts'
import { dice } from '../../../kernel/testing/dice.ts'
import type { Timers } from '../../../kernel/timers.ts'

/** Random choices that depend only on the seed. */
export class Choices {
  readonly #below: (below: number) => number

  constructor(seed: number) {
    this.#below = dice(seed)
    // The first numbers are skipped, because they are alike for neighbouring seeds.
    for (let i = 0; i < 8; i++) this.#below(2)
  }

  /** Returns an integer from 0 to `below` - 1. */
  below(below: number): number {
    return this.#below(below)
  }

  between(fromMs: number, toMs: number): number {
    return fromMs + this.#below(toMs - fromMs + 1)
  }

  /** Returns true in `chance` of 100 cases. */
  percent(chance: number): boolean {
    return this.#below(100) < chance
  }

  of<T>(items: readonly [T, ...T[]]): T
  of<T>(items: readonly T[]): T | undefined
  of<T>(items: readonly T[]): T | undefined {
    return items[this.#below(items.length)]
  }

  random(): Random {
    return {
      bytes: (count) => Uint8Array.from({ length: count }, () => this.#below(256)),
      integer: (from, to) => from + this.#below(to - from),
    }
  }
}

interface Event {
  readonly atMs: number
  readonly order: number
  readonly run: () => void
  isCancelled: boolean
}

/**
 * The time of a simulation. Everything in a simulation happens in events. All promises settle between two events. Events with the same time
 * happen in the order in which they were planned.
 */
export class Schedule {
  nowMs = 1_000
  /** How many events have happened. */
  steps = 0
  /** A heap whose first element is the next event. */
  readonly #events: Event[] = []
  #planned = 0

  after(delayMs: number, run: () => void): () => void {
    const event = { atMs: this.nowMs + Math.max(0, delayMs), order: this.#planned++, run, isCancelled: false }
    push(this.#events, event)
    return () => {
      event.isCancelled = true
    }
  }

  /** Runs the events up to `untilMs`. Ends earlier when `isDone` returns true after an event. */
  async until(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    for (;;) {
      const next = this.#events[0]
      if (next === undefined || next.atMs > untilMs) break
      pop(this.#events)
      if (next.isCancelled) continue
      this.nowMs = next.atMs
      this.steps++
      next.run()
      await atRest()
      if (isDone()) return
    }
    this.nowMs = untilMs
  }
}

/** Waits until all promises have settled. One round of the event loop is enough, because nothing in a simulation waits for input or output. */
function atRest(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Runs the work of one process. Work that is due during a pause runs after the pause, in order, each piece as a separate event. After the end
 * of the process nothing runs.
 */
export class Process {
  readonly clock: Clock
  readonly timers: Timers
  isPaused = false
  hasEnded = false
  /** The offset of the wall clock to the time of the schedule. */
  wallOffsetMs = Date.UTC(2026, 0, 1)
  readonly #schedule: Schedule
  #held: (() => void)[] = []
  #isCatchingUp = false

  constructor(schedule: Schedule) {
    this.#schedule = schedule
    this.clock = {
      nowMs: () => Math.floor(schedule.nowMs + this.wallOffsetMs),
      monotonicMs: () => schedule.nowMs,
    }
    this.timers = { after: (delayMs, run) => this.after(delayMs, run) }
  }

  /** Runs work that reaches the process now. While the process is paused, the work is kept. */
  run(work: () => void): void {
    if (this.hasEnded) return
    if (this.isPaused || this.#isCatchingUp) this.#held.push(work)
    else work()
  }

  after(delayMs: number, work: () => void): () => void {
    let isCancelled = false
    const cancel = this.#schedule.after(delayMs, () => this.run(() => !isCancelled && work()))
    return () => {
      isCancelled = true
      cancel()
    }
  }

  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    this.#schedule.after(0, () => this.#catchUp())
  }

  #catchUp(): void {
    const next = this.isPaused || this.hasEnded ? undefined : this.#held.shift()
    if (next === undefined) {
      this.#isCatchingUp = false
      return
    }
    this.#schedule.after(0, () => this.#catchUp())
    next()
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

function push(heap: Event[], event: Event): void {
  heap.push(event)
  for (let at = heap.length - 1; at > 0; ) {
    const parent = (at - 1) >> 1
    if (!isBefore(heap[at] as Event, heap[parent] as Event)) return
    swap(heap, at, parent)
    at = parent
  }
}

function pop(heap: Event[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  heap[0] = last
  for (let at = 0; ; ) {
    const left = 2 * at + 1
    const right = left + 1
    let first = at
    if (left < heap.length && isBefore(heap[left] as Event, heap[first] as Event)) first = left
    if (right < heap.length && isBefore(heap[right] as Event, heap[first] as Event)) first = right
    if (first === at) return
    swap(heap, at, first)
    at = first
  }
}

function swap(heap: Event[], a: number, b: number): void {
  const kept = heap[a] as Event
  heap[a] = heap[b] as Event
  heap[b] = kept
}
