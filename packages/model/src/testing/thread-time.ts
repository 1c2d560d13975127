interface Usage {
  readonly user: number
  readonly system: number
}

/** The global `process` of Node, declared here because the model has no types of Node. */
declare const process: { threadCpuUsage(from?: Usage): Usage }

/**
 * Starts a measurement. The returned function returns the processor time of this thread since then, in milliseconds. Unlike wall time, processor time does not
 * grow while other work has the machine.
 */
export function threadTime(): () => number {
  const from = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(from)
    return (user + system) / 1000
  }
}

/** The processor time of `fixedWork` in milliseconds, on a machine on which the limits of the tests hold with room. */
const REFERENCE_MS = 40

/**
 * Returns the limit for `usedMs` of processor time: `limitMs`, unless `usedMs` is above it. Then `limitMs` is multiplied by the factor by which this machine
 * is now slower at a fixed piece of work. So a limit means the same on a slower core, and on a core that another busy thread shares.
 */
export function limitHere(usedMs: number, limitMs: number): number {
  return usedMs <= limitMs ? limitMs : limitMs * Math.max(1, fastestMs() / REFERENCE_MS)
}

function fastestMs(): number {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < 6; run++) {
    const took = threadTime()
    fixedWork()
    best = Math.min(best, took())
  }
  return best
}

/** A fixed piece of work with strings, maps and small objects, as in the code that the tests measure. */
function fixedWork(): number {
  const seen = new Map<string, { readonly text: string; count: number }>()
  for (let i = 0; i < 1_000_000; i++) {
    const text = `word ${i % 5_000}`
    const entry = seen.get(text)
    if (entry === undefined) seen.set(text, { text, count: 1 })
    else entry.count += text.charCodeAt(i % text.length)
  }
  return seen.size
}
