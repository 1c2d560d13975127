import { Counter, Gauge, Histogram, Registry } from 'prom-client'

interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  /** Upper bounds of the histogram in seconds. */
  readonly buckets?: readonly number[]
}

const COMMIT_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * THE table of metrics. [OPS-4] docs/reference/metrics.md is rendered from it, and test/pins holds it. No label holds
 * the id of a workspace, document, user or token. [OPS-3]
 */
export const METRICS = {
  relay_build_info: { type: 'gauge', labels: ['version', 'commit'], help: 'Always 1; the labels say what runs.' },
  relay_ws_connections: {
    type: 'gauge',
    labels: ['role'],
    help: 'Open WebSockets by role: owner, member, viewer, unauthenticated.',
  },
  relay_active_editors_total: { type: 'gauge', labels: [], help: 'Editor seats held.' },
  relay_active_viewers_total: { type: 'gauge', labels: [], help: 'Authenticated sockets of viewers.' },
  relay_active_docs_total: { type: 'gauge', labels: [], help: 'Documents with a joined connection.' },
  relay_ws_buffered_bytes: { type: 'gauge', labels: [], help: 'Bytes waiting for all sockets.' },
  relay_slow_consumer_closes_total: { type: 'counter', labels: [], help: 'Sockets closed with 1013 for reading too slowly.' },
  relay_connections_refused_total: {
    type: 'counter',
    labels: ['listener'],
    help: 'Connections that a full listener answered 503 or closed, by listener: main, mcp, metrics.',
  },
  relay_ws_closes_total: { type: 'counter', labels: ['code'], help: 'Sockets closed by the server, by close code.' },
  relay_bad_updates_total: { type: 'counter', labels: [], help: 'Updates refused by the guard.' },
  relay_sync_gaps_total: { type: 'counter', labels: [], help: 'Updates not applied because one before them is missing.' },
  relay_log_append_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Append of an edit until it is durable.',
    buckets: COMMIT_SECONDS,
  },
  relay_persist_lag_seconds: { type: 'gauge', labels: [], help: 'Age of the oldest edit that is not yet in a stored body.' },
  relay_append_failures_total: { type: 'counter', labels: [], help: 'Appends that the log refused.' },
  relay_store_losses_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Losses of acknowledged writes that the store showed, by kind: log, missing, older, replaced (accepted with --accept-loss), tail.',
  },
  relay_damaged_blobs_total: {
    type: 'counter',
    labels: [],
    help: 'Blobs on the disk whose bytes were found not to have their hash, and were put aside.',
  },
  relay_doc_over_cap_snapshots_total: {
    type: 'counter',
    labels: [],
    help: 'Stored bodies above the size ceiling, written from live edits.',
  },
  relay_doc_cache_bytes: { type: 'gauge', labels: [], help: 'Estimated bytes of resident documents.' },
  relay_storage_bytes_total: {
    type: 'gauge',
    labels: [],
    help: 'Metered bytes, documents and blobs. As of the last count in the background: about a minute old, older where the store is large.',
  },
  relay_doc_bytes_total: {
    type: 'gauge',
    labels: [],
    help: 'Metered bytes of documents. As of the last count in the background: about a minute old, older where the store is large.',
  },
  relay_unowned_documents: {
    type: 'gauge',
    labels: [],
    help: 'Documents without owner. As of the last count in the background: about a minute old, older where the store is large.',
  },
  relay_call_records_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Bytes of the calls that can be undone. As of the last count in the background.',
  },
  relay_version_points_total: {
    type: 'gauge',
    labels: [],
    help: 'Stored recovery points. As of the last count in the background: about a minute old, older where the store is large.',
  },
  relay_auth_failures_total: { type: 'counter', labels: ['reason'], help: 'Refused tokens by reason.' },
  relay_jwks_cache_age_seconds: { type: 'gauge', labels: [], help: 'Seconds since the key set was last fetched; -1 never.' },
  relay_jwks_keys: { type: 'gauge', labels: [], help: 'Usable keys of the key set.' },
  relay_jwks_refresh_failures_total: { type: 'counter', labels: [], help: 'Fetches of the key set that failed.' },
  relay_revocation_set_size: { type: 'gauge', labels: [], help: 'Revoked tokens known.' },
  revocation_set_age_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Seconds since the last poll or push that succeeded; -1 without a transport.',
  },
  relay_revocations_unreadable_total: {
    type: 'counter',
    labels: [],
    help: 'Polled revocations without a jti that a token can have.',
  },
  relay_feed_lag_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Age of what this node knows of the changes of other nodes, usually below 2; 0 in a single relay.',
  },
  relay_rate_limit_rejections_total: {
    type: 'counter',
    labels: ['surface'],
    help: 'Refusals by an empty rate bucket, by surface.',
  },
  relay_bus_up: { type: 'gauge', labels: [], help: '1 while the bus answers, and with `memory:`; else 0.' },
  relay_rate_local_total: {
    type: 'counter',
    labels: [],
    help: 'Tokens that this node gave or refused by its own part of a bucket, because the bus did not answer.',
  },
  relay_mcp_calls_total: {
    type: 'counter',
    labels: ['tool', 'outcome'],
    help: 'MCP tool calls by tool (`unknown` when there is none of the name) and outcome: ok, error, limited.',
  },
  relay_quota_rejections_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Refusals by a limit: storage, doc_size, blob_size, connections, editors.',
  },
  relay_blob_store_calls_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Calls of the object store after their retries, by outcome: ok, connection (no answer), denied (keys, rights), bucket (name, region), answer (another failure that the store told).',
  },
  relay_deprecated_requests_total: { type: 'counter', labels: ['route'], help: 'Requests to routes that will be removed.' },
  relay_handler_panics_total: { type: 'counter', labels: [], help: 'Unexpected exceptions that were caught.' },
  http_server_request_duration_seconds: {
    type: 'histogram',
    labels: ['route', 'method', 'code'],
    help: 'Requests by route pattern (`other` when unknown), method and status.',
    buckets: REQUEST_SECONDS,
  },
  relay_cluster_nodes: {
    type: 'gauge',
    labels: ['state'],
    help: 'Nodes that use the store together, as this one knows them, by state: up, draining, silent (no heartbeat for 3 s). None in a relay that uses its store alone.',
  },
  relay_links: {
    type: 'gauge',
    labels: [],
    help: 'Other nodes that this node is linked with. 0 in a relay that uses its store alone.',
  },
  relay_link_bytes_total: {
    type: 'counter',
    labels: ['direction'],
    help: 'Bytes on the links to other nodes, by direction: sent, received.',
  },
  relay_link_buffered_bytes: { type: 'gauge', labels: [], help: 'Bytes that wait to be sent on the links to other nodes.' },
  relay_link_rtt_seconds: {
    type: 'gauge',
    labels: [],
    help: 'The longest of the newest round trips of all links; 0 without one.',
  },
  relay_rooms: {
    type: 'gauge',
    labels: ['kind'],
    help: 'Live documents of this node, by kind: owned by it, or edge, whose room another node runs. None in a relay that uses its store alone.',
  },
  relay_takeovers_total: {
    type: 'counter',
    labels: ['cause'],
    help: 'Documents that this node took from another one, by cause: silent (no heartbeat for 3 s, and out of reach), ended (it left, or its lease was over).',
  },
  relay_fenced_total: {
    type: 'counter',
    labels: [],
    help: 'Rooms of this node that found their document taken by another node.',
  },
  relay_handover_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Hand-over of a live document to another node at the stop.',
    buckets: COMMIT_SECONDS,
  },
  relay_lease_age_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Seconds since this node sent the newest heartbeat that the database answered. 0 in a relay that uses its store alone.',
  },
  nodejs_eventloop_lag_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Longest delay of the main event loop since the last scrape, seen by a timer that is due every 20 ms, every 200 ms while the loop is at rest.',
  },
  relay_process_rss_bytes: { type: 'gauge', labels: [], help: 'Resident memory of the process.' },
  relay_volume_total_bytes: { type: 'gauge', labels: [], help: 'Size of the volume of the data directory.' },
  relay_volume_used_bytes: { type: 'gauge', labels: [], help: 'Used bytes of that volume.' },
  relay_volume_available_bytes: { type: 'gauge', labels: [], help: 'Bytes of that volume that the relay may still write.' },
} as const satisfies Record<string, MetricRow>

type Table = typeof METRICS
export type MetricName = keyof Table
type NameOf<T extends MetricRow['type']> = { [N in MetricName]: Table[N]['type'] extends T ? N : never }[MetricName]
export type CounterName = NameOf<'counter'>
export type GaugeName = NameOf<'gauge'>
export type HistogramName = NameOf<'histogram'>
/** No argument for a metric without labels, otherwise all its labels. */
type Labels<N extends MetricName> = Table[N]['labels'] extends readonly []
  ? []
  : [labels: Readonly<Record<Table[N]['labels'][number], string>>]

export interface Metrics {
  /** Adds `by`, which is at least 0, to a counter. */
  add<N extends CounterName>(name: N, by: number, ...labels: Labels<N>): void
  set<N extends GaugeName>(name: N, value: number, ...labels: Labels<N>): void
  observe<N extends HistogramName>(name: N, seconds: number, ...labels: Labels<N>): void
  /**
   * Runs `read` before each scrape, for gauges that are cheap to read. When `read` fails, the scrape shows the last
   * value.
   */
  beforeScrape(read: () => void | Promise<void>): void
  /** Returns the Prometheus text format 0.0.4. [OPS-3] */
  render(): Promise<{ readonly contentType: string; readonly text: string }>
}

/** Makes the metrics of one process in a registry of its own; nothing is global. */
export function createMetrics(build: { readonly version: string; readonly commit: string }): Metrics {
  const registry = new Registry()
  const instruments = new Map<string, Counter | Gauge | Histogram>()
  for (const [name, row] of Object.entries<MetricRow>(METRICS)) instruments.set(name, instrument(registry, name, row))
  const readers: (() => void | Promise<void>)[] = []
  const metrics: Metrics = {
    add: (name, by, ...[labels]) => (instruments.get(name) as Counter).inc(labels ?? {}, by),
    set: (name, value, ...[labels]) => (instruments.get(name) as Gauge).set(labels ?? {}, value),
    observe: (name, seconds, ...[labels]) => (instruments.get(name) as Histogram).observe(labels ?? {}, seconds),
    beforeScrape: (read) => {
      readers.push(read)
    },
    async render() {
      await Promise.allSettled(readers.map(async (read) => read()))
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
  metrics.set('relay_build_info', 1, build)
  return metrics
}

function instrument(registry: Registry, name: string, row: MetricRow): Counter | Gauge | Histogram {
  const shared = { name, help: row.help, labelNames: [...row.labels], registers: [registry] }
  switch (row.type) {
    case 'counter':
      return new Counter(shared)
    case 'gauge':
      return new Gauge(shared)
    case 'histogram':
      return new Histogram({ ...shared, buckets: [...(row.buckets ?? [])] })
  }
}
