import { expect, it } from 'vitest'
import { METRICS } from '../../kernel/metrics.ts'

const PINNED = `
gauge relay_build_info{version,commit}
gauge relay_ws_connections{role}
gauge relay_active_editors_total
gauge relay_active_viewers_total
gauge relay_active_docs_total
gauge relay_ws_buffered_bytes
counter relay_slow_consumer_closes_total
counter relay_connections_refused_total{listener}
counter relay_ws_closes_total{code}
counter relay_bad_updates_total
counter relay_sync_gaps_total
histogram relay_log_append_seconds
gauge relay_persist_lag_seconds
counter relay_append_failures_total
counter relay_store_losses_total{kind}
counter relay_damaged_blobs_total
counter relay_doc_over_cap_snapshots_total
gauge relay_doc_cache_bytes
gauge relay_storage_bytes_total
gauge relay_doc_bytes_total
gauge relay_unowned_documents
gauge relay_call_records_bytes
gauge relay_version_points_total
counter relay_auth_failures_total{reason}
gauge relay_jwks_cache_age_seconds
gauge relay_jwks_keys
counter relay_jwks_refresh_failures_total
gauge relay_revocation_set_size
gauge revocation_set_age_seconds
counter relay_revocations_unreadable_total
gauge relay_feed_lag_seconds
counter relay_rate_limit_rejections_total{surface}
gauge relay_bus_up
counter relay_rate_local_total
counter relay_mcp_calls_total{tool,outcome}
counter relay_quota_rejections_total{kind}
counter relay_blob_store_calls_total{outcome}
counter relay_deprecated_requests_total{route}
counter relay_handler_panics_total
histogram http_server_request_duration_seconds{route,method,code}
gauge relay_cluster_nodes{state}
gauge relay_links
counter relay_link_bytes_total{direction}
gauge relay_link_buffered_bytes
gauge relay_link_rtt_seconds
gauge relay_rooms{kind}
counter relay_takeovers_total{cause}
counter relay_fenced_total
histogram relay_handover_seconds
gauge relay_lease_age_seconds
gauge nodejs_eventloop_lag_seconds
gauge relay_process_rss_bytes
gauge relay_volume_total_bytes
gauge relay_volume_used_bytes
gauge relay_volume_available_bytes
`

it('[OPS-4] the metrics have exactly the pinned types and labels', () => {
  const rows = Object.entries(METRICS).map(
    ([name, row]) => `${row.type} ${name}${row.labels.length > 0 ? `{${row.labels.join(',')}}` : ''}`,
  )
  expect(rows).toEqual(PINNED.trim().split('\n'))
})
