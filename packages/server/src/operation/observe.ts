import type { KeySet } from '../auth/key-set.ts'
import type { Revocations } from '../auth/revocations.ts'
import type { CounterName, Metrics } from '../kernel/metrics.ts'
import type { LinkTotals } from '../links/node-links.ts'
import type { Gateway } from '../sync/gateway/gateway.ts'
import type { Rooms } from '../sync/gateway/rooms.ts'

/** Publishes running totals as counters: adds the increase since the last reading. A total that has fallen has started again from 0. */
class Totals {
  readonly #metrics: Metrics
  readonly #before = new Map<string, number>()

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  /** Returns the increase since the last call with the same `source`; one counter may have several sources. */
  since(source: string, total: number): number {
    const before = this.#before.get(source) ?? 0
    this.#before.set(source, total)
    return total >= before ? total - before : total
  }

  add(name: Parameters<Metrics['add']>[0] & PlainCounter, total: number, source: string = name): void {
    this.#metrics.add(name, this.since(source, total))
  }
}

type PlainCounter = Exclude<
  CounterName,
  | 'relay_connections_refused_total'
  | 'relay_link_bytes_total'
  | 'relay_takeovers_total'
  | 'relay_blob_store_calls_total'
  | 'relay_deprecated_requests_total'
  | 'relay_store_losses_total'
  | 'relay_mcp_calls_total'
  | 'relay_ws_closes_total'
  | 'relay_auth_failures_total'
  | 'relay_rate_limit_rejections_total'
  | 'relay_quota_rejections_total'
>

export function observeTokens(metrics: Metrics, keySet: KeySet, revocations: Revocations): void {
  const totals = new Totals(metrics)
  metrics.beforeScrape(() => {
    metrics.set('relay_jwks_cache_age_seconds', keySet.ageSec())
    metrics.set('relay_jwks_keys', keySet.keyCount())
    totals.add('relay_jwks_refresh_failures_total', keySet.failures)
    metrics.set('relay_revocation_set_size', revocations.size)
    metrics.set('revocation_set_age_seconds', revocations.ageSec())
  })
}

/** Sets the metrics of links and rooms at each scrape. Used only by one of several nodes. */
export function observeLinks(
  metrics: Metrics,
  links: { stats(): LinkTotals },
  rooms: Pick<Rooms, 'counts' | 'departures'>,
): void {
  const totals = new Totals(metrics)
  metrics.beforeScrape(() => {
    const { links: count, sentBytes, receivedBytes, bufferedBytes, rttSeconds } = links.stats()
    metrics.set('relay_links', count)
    metrics.add('relay_link_bytes_total', totals.since('sent', sentBytes), { direction: 'sent' })
    metrics.add('relay_link_bytes_total', totals.since('received', receivedBytes), { direction: 'received' })
    metrics.set('relay_link_buffered_bytes', bufferedBytes)
    metrics.set('relay_link_rtt_seconds', rttSeconds ?? 0)
    const { owned, edge, fenced, takeovers } = rooms.counts()
    totals.add('relay_fenced_total', fenced)
    for (const cause of ['silent', 'ended'] as const)
      metrics.add('relay_takeovers_total', totals.since(cause, takeovers[cause]), { cause })
    for (const seconds of rooms.departures.takeHandOverSeconds()) metrics.observe('relay_handover_seconds', seconds)
    metrics.set('relay_rooms', owned, { kind: 'owned' })
    metrics.set('relay_rooms', edge, { kind: 'edge' })
  })
}

/** Sets the metric for the lag of the change feed at each scrape. Used only by one of several nodes. */
export function observeFeed(metrics: Metrics, lagSec: () => number): void {
  metrics.beforeScrape(() => metrics.set('relay_feed_lag_seconds', lagSec()))
}

/** Records the durations of appends at each scrape. `appendSeconds` are those since the previous call. */
export function observeStorage(metrics: Metrics, stats: () => Promise<{ readonly appendSeconds: readonly number[] }>): void {
  metrics.beforeScrape(async () => {
    for (const seconds of (await stats()).appendSeconds) metrics.observe('relay_log_append_seconds', seconds)
  })
}

export function observeLive(metrics: Metrics, gateway: Gateway, rooms: Rooms): void {
  const totals = new Totals(metrics)
  metrics.beforeScrape(() => {
    const { connections, editors, viewers, bufferedBytes, counters } = gateway.metrics()
    for (const [role, count] of Object.entries(connections)) metrics.set('relay_ws_connections', count, { role })
    metrics.set('relay_active_editors_total', editors)
    metrics.set('relay_active_viewers_total', viewers)
    metrics.set('relay_active_docs_total', rooms.activeDocuments())
    metrics.set('relay_ws_buffered_bytes', bufferedBytes)
    totals.add('relay_slow_consumer_closes_total', counters.slowConsumerCloses)
    totals.add('relay_append_failures_total', counters.appendFailures)
    totals.add('relay_bad_updates_total', counters.badUpdates)
    totals.add('relay_sync_gaps_total', counters.syncGaps)
    totals.add('relay_handler_panics_total', counters.panics)
    for (const [code, total] of counters.closes)
      metrics.add('relay_ws_closes_total', totals.since(`close ${code}`, total), { code: String(code) })
    for (const [reason, total] of counters.authFailures)
      metrics.add('relay_auth_failures_total', totals.since(`auth ${reason}`, total), { reason })
    for (const surface of ['ws', 'join'] as const)
      metrics.add('relay_rate_limit_rejections_total', totals.since(surface, counters.rateLimited[surface]), { surface })
    for (const kind of ['connections', 'editors'] as const)
      metrics.add('relay_quota_rejections_total', totals.since(kind, counters.capRejections[kind]), { kind })
    observeWorkers(metrics, totals, rooms)
  })
}

function observeWorkers(metrics: Metrics, totals: Totals, rooms: Rooms): void {
  let cacheBytes = 0
  let oldestUnsavedMs = 0
  for (const [worker, report] of rooms.reports()) {
    cacheBytes += report.cacheBytes
    oldestUnsavedMs = Math.max(oldestUnsavedMs, report.oldestUnsavedMs)
    const counted = report.counters
    totals.add('relay_doc_over_cap_snapshots_total', counted['doc_over_cap_snapshots'] ?? 0, `over cap ${worker}`)
  }
  metrics.set('relay_doc_cache_bytes', cacheBytes)
  metrics.set('relay_persist_lag_seconds', oldestUnsavedMs / 1000)
}
