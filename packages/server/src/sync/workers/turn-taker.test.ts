import { describe, expect, it } from 'vitest'
import { TurnTaker } from './turn-taker.ts'

/** A simulated thread. Its clock advances only by the work of its turns and by waiting. */
class Thread {
  nowMs = 0
  /** The events in order: the workspace of each turn, `flush`, and `rest` when the whole thread waits. */
  readonly seen: string[] = []
  restedMs = 0
  readonly taker: TurnTaker
  private readonly soon: (() => void)[] = []
  private readonly timers: { readonly atMs: number; readonly run: () => void }[] = []
  private depth = 0

  constructor(workers = 1) {
    this.taker = new TurnTaker({
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
      timers: {
        after: (delayMs, run) => {
          this.timers.push({ atMs: this.nowMs + delayMs, run })
          return () => undefined
        },
      },
      processorMs: () => this.nowMs,
      workers,
      sliceMs: 8,
      soon: (work) => this.soon.push(work),
      isBetween: () => this.depth === 0,
      again: () => this.turn(() => undefined),
      flush: () => this.seen.push('flush'),
    })
  }

  /** Runs a message's own work and then turns. */
  turn(work: () => void): void {
    this.depth++
    work()
    this.taker.take()
    this.depth--
  }

  /** Makes `workspaceId` ask for `times` turns of `tookMs` each, one after another. */
  ask(workspaceId: string, tookMs: number, times = 1): void {
    const run = (): void => {
      this.seen.push(workspaceId)
      this.nowMs += tookMs
      if (times > 1) this.ask(workspaceId, tookMs, times - 1)
    }
    this.taker.ask({ workspaceId, connection: 1, estimateMs: tookMs, run })
  }

  /** Runs deferred work; false when there is none. */
  next(): boolean {
    const work = this.soon.shift()
    if (work !== undefined) {
      work()
      return true
    }
    const timer = this.timers.shift()
    if (timer === undefined) return false
    this.seen.push('rest')
    this.restedMs += Math.max(0, timer.atMs - this.nowMs)
    this.nowMs = Math.max(this.nowMs, timer.atMs)
    timer.run()
    return true
  }

  count(what: string): number {
    return this.seen.filter((each) => each === what).length
  }
}

/** Makes a workspace work a little, so that it owes almost nothing and still counts as active. */
function letQuietWork({ taker }: Thread): void {
  taker.charge('quiet', 1, 1)
}

describe('sharing a worker between workspaces', () => {
  it('[WS-12] an indebted workspace gets one slice of time between messages, however many messages arrive at once', () => {
    const thread = new Thread()
    letQuietWork(thread)
    thread.taker.charge('noisy', 1, 200)
    thread.turn(() => thread.ask('noisy', 1, 100))
    for (let i = 0; i < 10; i++) thread.turn(() => undefined)
    expect(thread.count('noisy')).toBe(0)
    thread.next()
    for (let i = 0; i < 10; i++) thread.turn(() => undefined)
    expect(thread.count('noisy')).toBe(4)
  })

  it('[WS-12] messages of other workspaces are handled at once while those of an indebted workspace wait', () => {
    const thread = new Thread()
    thread.taker.charge('noisy', 1, 200)
    thread.turn(() => {
      thread.ask('noisy', 1)
      thread.ask('quiet', 1)
      thread.ask('other', 1)
    })
    expect(thread.seen).toEqual(['quiet', 'other'])
  })

  it('[WS-12] updates of other workspaces are sent before an indebted workspace runs', () => {
    const thread = new Thread()
    thread.taker.charge('noisy', 1, 200)
    thread.ask('noisy', 1)
    thread.ask('quiet', 1)
    thread.next()
    expect(thread.seen).toEqual(['quiet', 'flush', 'noisy'])
  })

  it('[WS-12] a workspace that used more than a quarter of the workers rests at least as long as it works, while others work', () => {
    const thread = new Thread()
    thread.taker.charge('noisy', 1, 500)
    thread.ask('noisy', 2, 50)
    const startedMs = thread.nowMs
    do letQuietWork(thread)
    while (thread.next())
    expect(thread.count('noisy')).toBe(50)
    expect(thread.restedMs).toBeGreaterThanOrEqual(96)
    expect(thread.nowMs - startedMs).toBeCloseTo(100 + thread.restedMs)
  })

  it('[WS-12] an edit that arrives while another workspace rests is handled at once', () => {
    const thread = new Thread()
    letQuietWork(thread)
    thread.taker.charge('noisy', 1, 2_000)
    thread.ask('noisy', 4, 3)
    thread.next()
    expect(thread.seen).toEqual(['flush', 'noisy'])
    thread.turn(() => thread.ask('quiet', 1))
    expect(thread.seen).toEqual(['flush', 'noisy', 'quiet'])
  })

  it('[WS-12] a workspace that uses less than a quarter of many workers does not rest', () => {
    const thread = new Thread(8)
    thread.taker.charge('noisy', 1, 500)
    thread.ask('noisy', 2, 50)
    do letQuietWork(thread)
    while (thread.next())
    expect([thread.count('noisy'), thread.restedMs]).toEqual([50, 0])
  })

  it('[WS-12] a workspace that works alone never rests, not even with a large debt', () => {
    const thread = new Thread()
    thread.taker.charge('noisy', 1, 5_000)
    thread.ask('noisy', 2, 50)
    while (thread.next());
    expect([thread.count('noisy'), thread.nowMs]).toEqual([50, 100])
  })
})
