import type { Clock } from '../clock.ts'
import type { Timers } from '../timers.ts'

/** A clock and timers that move only when a test says so. */
export interface ManualTime {
  readonly clock: Clock
  readonly timers: Timers
  /** Lets time pass on both clocks and runs the timers that fall due, in order; promises settle in between. */
  advance(byMs: number): Promise<void>
  /** Lets time pass on both clocks without running a timer, as if the process was stopped. */
  pause(byMs: number): void
  /** Moves the wall clock alone, as an operator or NTP would. */
  jumpWall(byMs: number): void
  /** How many timers are waiting. */
  waiting(): number
}

interface Due {
  readonly atMs: number
  readonly run: () => void
}

/** `startMs` is the wall clock at the beginning; the monotonic clock begins at 1,000. */
export function manualTime(startMs = Date.UTC(2026, 0, 1)): ManualTime {
  let wallOffsetMs = startMs - 1_000
  let monotonicMs = 1_000
  const due = new Set<Due>()
  const next = (untilMs: number): Due | undefined =>
    [...due].filter((entry) => entry.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]

  return {
    clock: { nowMs: () => Math.floor(monotonicMs + wallOffsetMs), monotonicMs: () => monotonicMs },
    timers: {
      after: (delayMs, run) => {
        const entry = { atMs: monotonicMs + delayMs, run }
        due.add(entry)
        return () => due.delete(entry)
      },
    },
    async advance(byMs) {
      const untilMs = monotonicMs + byMs
      await settle()
      for (let entry = next(untilMs); entry; entry = next(untilMs)) {
        due.delete(entry)
        monotonicMs = Math.max(monotonicMs, entry.atMs)
        entry.run()
        await settle()
      }
      monotonicMs = untilMs
      await settle()
    },
    pause(byMs) {
      monotonicMs += byMs
    },
    jumpWall: (byMs) => {
      wallOffsetMs += byMs
    },
    waiting: () => due.size,
  }
}

/** Waits until everything has happened that needs no input or output. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}
