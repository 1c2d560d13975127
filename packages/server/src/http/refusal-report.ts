import { counted } from '../kernel/counted.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Timers } from '../kernel/timers.ts'

const LINE_EVERY_MS = 10_000

/**
 * Returns a function to call for each connection that a full listener refuses. The function counts every refusal and logs the first one at once;
 * then one line at most every 10 s says how many came since. [H11]
 */
export function createRefusalReport(
  { listener, most }: { readonly listener: string; readonly most: number },
  { log, metrics, timers }: { readonly log: Logger; readonly metrics: Pick<Metrics, 'add'>; readonly timers: Timers },
): () => void {
  let sinceLine = 0
  let isQuiet = false
  // A counter that begins at 0 shows the first refusal as an increase.
  metrics.add('relay_connections_refused_total', 0, { listener })

  const writeLine = (): void => {
    log.warn(
      'http.connections_full',
      `The ${listener} listener has its ${counted(most, 'connection')} and refused ${counted(sinceLine, 'further one')}.`,
      { listener, limit: most, refused: sinceLine },
    )
    sinceLine = 0
    isQuiet = true
    timers.after(LINE_EVERY_MS, () => {
      isQuiet = false
      if (sinceLine > 0) writeLine()
    })
  }

  return () => {
    metrics.add('relay_connections_refused_total', 1, { listener })
    sinceLine++
    if (!isQuiet) writeLine()
  }
}
