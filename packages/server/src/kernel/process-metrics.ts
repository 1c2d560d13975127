import { statfs } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'

/** The delay of the main loop is how late a timer is that is due so often. */
export const LAG_TIMER_MS = 20

/**
 * The longest delay of the main loop, in seconds, from the longest time between two turns of the timer. The histogram of Node counts the
 * whole time between the turns, so that of a loop that is never late is LAG_TIMER_MS.
 */
export function longestDelaySecs(longestBetweenTurnsMs: number): number {
  return Math.max(0, longestBetweenTurnsMs - LAG_TIMER_MS) / 1_000
}

/** Measures the process and the volume of `dataDir` at each scrape until it is disposed. */
export function startProcessMetrics(metrics: Metrics, options: { readonly dataDir: string }): Disposable {
  const delay = monitorEventLoopDelay({ resolution: LAG_TIMER_MS })
  delay.enable()
  metrics.beforeScrape(async () => {
    // A histogram without samples has no maximum.
    metrics.set('nodejs_eventloop_lag_seconds', delay.count > 0 ? longestDelaySecs(delay.max / 1e6) : 0)
    delay.reset()
    metrics.set('relay_process_rss_bytes', process.memoryUsage.rss())
    const volume = await statfs(options.dataDir)
    metrics.set('relay_volume_total_bytes', volume.blocks * volume.bsize)
    metrics.set('relay_volume_used_bytes', (volume.blocks - volume.bfree) * volume.bsize)
    metrics.set('relay_volume_available_bytes', volume.bavail * volume.bsize)
  })
  return { [Symbol.dispose]: () => delay.disable() }
}
