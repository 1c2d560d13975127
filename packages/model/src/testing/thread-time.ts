interface Usage {
  readonly user: number
  readonly system: number
}

/** Of Node, whose types the model does not have. */
declare const process: { threadCpuUsage(from?: Usage): Usage }

/**
 * Starts to measure; the returned function tells how much processor time this thread has had since, in milliseconds. Unlike the time on the
 * wall it does not grow when other work has the machine.
 */
export function threadTime(): () => number {
  const from = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(from)
    return (user + system) / 1000
  }
}

/** Processor time of the fixed work on a machine on which the limits of tests hold with room, in milliseconds. */
const REFERENCE_MS = 40

/**
 * The limit that `usedMs` of processor time has to keep: `limitMs`, or where that is exceeded as many times more as this machine needs longer
 * for a fixed piece of work now. So a limit says the same on a slower core, and on one that shares its parts with another busy thread.
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

/** Strings, maps and small objects, as in what these tests measure. */
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
