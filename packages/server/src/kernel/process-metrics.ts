import { statfs } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'

/** Measures the process and the volume of `dataDir` at each scrape until it is disposed. */
export function startProcessMetrics(metrics: Metrics, options: { readonly dataDir: string }): Disposable {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  metrics.beforeScrape(async () => {
    // A histogram without samples has no maximum.
    metrics.set('nodejs_eventloop_lag_seconds', delay.count > 0 ? delay.max / 1e9 : 0)
    delay.reset()
    metrics.set('relay_process_rss_bytes', process.memoryUsage.rss())
    const volume = await statfs(options.dataDir)
    metrics.set('relay_volume_total_bytes', volume.blocks * volume.bsize)
    metrics.set('relay_volume_used_bytes', (volume.blocks - volume.bfree) * volume.bsize)
    metrics.set('relay_volume_available_bytes', volume.bavail * volume.bsize)
  })
  return { [Symbol.dispose]: () => delay.disable() }
}
