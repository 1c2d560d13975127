import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** Largest slowdown that tests wait for. The relay waits as long for a starved thread (`kernel/processor-time.ts`). */
const LONGEST = 5
const LOOK_AGAIN_MS = 250

let factor = 1
let lookedMs = Number.NEGATIVE_INFINITY

/** Returns how many times slower than a quiet machine this one is now, from 1 to 5: the number of runnable threads for each core. */
function slowdown(): number {
  if (performance.now() - lookedMs < LOOK_AGAIN_MS) return factor
  lookedMs = performance.now()
  const wanted = Math.max(loadavg()[0] ?? 0, runnable())
  factor = Math.min(LONGEST, Math.max(1, wanted / availableParallelism()))
  return factor
}

/** Returns the number of threads that run or wait for a core now; 0 where the system does not say. */
function runnable(): number {
  try {
    return Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/**
 * Returns a time limit that guards a test against hanging: five times `quietMs`, the time needed on a quiet machine. A test must never assert it. The
 * limit does not depend on the current load, because it is set when a file is read, and tests run later.
 */
export function patience(quietMs: number): number {
  return quietMs * LONGEST
}

/** Returns a function that tells whether `quietMs` have passed since now, by a clock that runs slower while the machine is busy. */
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

/** Starts a stopwatch. The returned function stops it and returns the elapsed time, in milliseconds of a quiet machine. */
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
