import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** A task that gets a fifth of a core is still waited for, as the relay itself waits for its threads (`kernel/processor-time.ts`). */
const LONGEST = 5
const LOOK_AGAIN_MS = 250

let factor = 1
let lookedMs = Number.NEGATIVE_INFINITY

/** How many times longer than on a quiet machine a test may have to wait now, from 1 to 5: what wants to run for each core. */
function slowdown(): number {
  if (performance.now() - lookedMs < LOOK_AGAIN_MS) return factor
  lookedMs = performance.now()
  const wanted = Math.max(loadavg()[0] ?? 0, runnable())
  factor = Math.min(LONGEST, Math.max(1, wanted / availableParallelism()))
  return factor
}

/** Threads that run or wait for a core at this moment; 0 where the system does not tell. */
function runnable(): number {
  try {
    return Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/**
 * The time after which something that does not end is given up: five times `quietMs`, what it takes on a quiet machine. It guards against a hang and is
 * never what a test claims. The load of this moment does not count: limits are set when a file is read, and other files begin later.
 */
export function patience(quietMs: number): number {
  return quietMs * LONGEST
}

/** Tells whether `quietMs` have passed since it was made, by a clock that is slower while the machine is busy. */
export function patienceClock(quietMs: number): () => boolean {
  let leftMs = quietMs
  let lastMs = performance.now()
  return () => {
    const nowMs = performance.now()
    leftMs -= (nowMs - lastMs) / slowdown()
    lastMs = nowMs
    return leftMs <= 0
  }
}

/** Starts to measure; the returned function tells how long it took, in milliseconds of a quiet machine. */
export function stopwatch(): () => number {
  let quietMs = 0
  let lastMs = performance.now()
  const look = (): void => {
    const nowMs = performance.now()
    quietMs += (nowMs - lastMs) / slowdown()
    lastMs = nowMs
  }
  const looking = setInterval(look, LOOK_AGAIN_MS / 2).unref()
  return () => {
    clearInterval(looking)
    look()
    return quietMs
  }
}
