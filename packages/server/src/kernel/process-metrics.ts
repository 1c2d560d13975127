import { statfs } from 'node:fs/promises'
import { LoopDelay } from './loop-delay.ts'
import type { Metrics } from './metrics.ts'
import { systemTimers, type Timers } from './timers.ts'

/** Measures the process and the volume of `dataDir` at each scrape until it is disposed. */
export function startProcessMetrics(
  metrics: Metrics,
  options: { readonly dataDir: string; readonly timers?: Timers },
): Disposable {
  const delay = new LoopDelay(options.timers ?? systemTimers)
  metrics.beforeScrape(async () => {
    metrics.set('nodejs_eventloop_lag_seconds', delay.takeSecs())
    metrics.set('relay_process_rss_bytes', process.memoryUsage.rss())
    const volume = await statfs(options.dataDir)
    metrics.set('relay_volume_total_bytes', volume.blocks * volume.bsize)
    metrics.set('relay_volume_used_bytes', (volume.blocks - volume.bfree) * volume.bsize)
    metrics.set('relay_volume_available_bytes', volume.bavail * volume.bsize)
  })
  return delay
}
