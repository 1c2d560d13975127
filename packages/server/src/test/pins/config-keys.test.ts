import { expect, it } from 'vitest'
import { CONFIG_KEYS, type KeyEntry } from '../../config/schema.ts'

/** Columns: key, environment, default, form, option, secret */
const PINNED = `
server.host | RELAY_HOST | "0.0.0.0" | listen-host | --host |
server.port | RELAY_PORT | 9876 | port, 0 free port, to 65535 | --port |
server.region | RELAY_REGION | null | text | --region |
server.cors_origins | RELAY_CORS_ORIGINS | ["*"] | origins-or-star |  |
server.docs_url | RELAY_DOCS_URL | null | http-url |  |
server.shutdown_grace_secs | RELAY_SHUTDOWN_GRACE_SECS | 20 | s, 0 at once, to 2147483 |  |
server.auth_timeout_secs | RELAY_AUTH_TIMEOUT_SECS | 10 | s, 0 refused, to 2147483 |  |
server.max_connections | RELAY_MAX_CONNECTIONS | 10000 | count, 0 refused |  |
server.max_unauthenticated_sockets | RELAY_MAX_UNAUTHENTICATED_SOCKETS | 256 | count, 0 refused |  |
server.trusted_proxies | RELAY_TRUSTED_PROXIES | [] | cidrs |  |
server.ws_buffer_bytes | RELAY_WS_BUFFER_BYTES | 8388608 | bytes, 0 refused |  |
storage.data_dir | RELAY_DATA_DIR | "data" | path | --data-dir |
storage.url | RELAY_STORAGE_URL | null | storage-url |  | secret
storage.commit_delay_ms | RELAY_COMMIT_DELAY_MS | 4 | ms, 0 at once, to 50 |  |
storage.doc_cache_max_bytes | RELAY_DOC_CACHE_MAX_BYTES | 268435456 | bytes, 0 unlimited |  |
storage.tombstone_days | RELAY_TOMBSTONE_TTL_DAYS | 30 | days, 0 at once |  |
blobs.url | RELAY_BLOBS_URL | null | blobs-url |  |
blobs.access_key_id | RELAY_S3_ACCESS_KEY_ID | null | text |  | secret
blobs.secret_access_key | RELAY_S3_SECRET_ACCESS_KEY | null | text |  | secret
blobs.presign_ttl_secs | RELAY_PRESIGN_TTL_SECS | 3600 | s, 0 refused, to 604800 |  |
bus.url | RELAY_BUS_URL | "memory:" | bus-url |  | secret
cluster.single_node | RELAY_CLUSTER_SINGLE_NODE | false | boolean |  |
cluster.node_id | RELAY_CLUSTER_NODE_ID | null | text |  |
cluster.link_port | RELAY_CLUSTER_LINK_PORT | 9879 | port, 0 free port, to 65535 |  |
cluster.link_url | RELAY_CLUSTER_LINK_URL | null | node-url |  |
cluster.secret | RELAY_CLUSTER_SECRET | [] | cluster-secrets |  | secret
auth.issuer | RELAY_JWT_ISSUER | null | issuer |  |
auth.jwks_url | RELAY_JWT_JWKS_URL | null | http-url |  |
auth.allow_http_jwks | RELAY_JWT_ALLOW_HTTP_JWKS | false | boolean |  |
auth.audience | RELAY_JWT_AUDIENCE | "service-relay" | text |  |
auth.resource | RELAY_JWT_RESOURCE | null | text |  |
auth.revocation_push_bearer | RELAY_REVOCATION_BEARER | null | shared-secret |  | secret
auth.revocation_polling_url | RELAY_REVOCATION_POLLING_URL | null | secure-url |  |
auth.revocation_polling_bearer | RELAY_REVOCATION_POLLING_BEARER | null | shared-secret |  | secret
auth.revocation_polling_interval_seconds | RELAY_REVOCATION_POLLING_INTERVAL_SECONDS | 60 | s, 0 refused, from 1, to 2147483 |  |
mcp.enabled | RELAY_MCP_ENABLED | true | boolean |  |
mcp.port | RELAY_MCP_PORT | 9877 | port, 0 free port, to 65535 |  |
mcp.expose | RELAY_MCP_EXPOSE | "local" | local/public |  |
mcp.allowed_origins | RELAY_MCP_ALLOWED_ORIGINS | [] | origins |  |
mcp.extra_tools | RELAY_MCP_EXTRA_TOOLS | true | boolean |  |
mcp.blind_writes | RELAY_MCP_BLIND_WRITES | "warn" | warn/refuse |  |
mcp.static_token_share | RELAY_MCP_STATIC_TOKEN_SHARE | "none" | none/view/edit |  |
mcp.undo_bytes | RELAY_MCP_UNDO_BYTES | 67108864 | bytes, 0 refused |  |
mcp.blob_url_ttl_secs | RELAY_MCP_BLOB_URL_TTL_SECS | 300 | s, 0 refused, to 604800 |  |
mcp.local_documents_dir | RELAY_MCP_LOCAL_DOCUMENTS_DIR | null | path |  |
feed.keep_days | RELAY_FEED_KEEP_DAYS | 7 | days, 0 refused |  |
citations.doi_resolver | RELAY_CITATIONS_DOI_RESOLVER | "https://doi.org" | secure-url |  |
tenancy.mode | RELAY_TENANCY_MODE | "dedicated" | dedicated/shared | --tenancy |
tenancy.workspace_id | RELAY_TENANCY_WORKSPACE | null | text | --tenancy-workspace |
tenancy.limits.writes_per_sec | RELAY_WRITES_PER_SEC | 40 | 1/s, 0 unlimited |  |
tenancy.limits.writes_burst | RELAY_WRITES_BURST | 80 | count, 0 unlimited |  |
tenancy.limits.people_share | RELAY_PEOPLE_SHARE | 50 | percent, 0 off, to 90 |  |
tenancy.limits.reads_per_sec | RELAY_READS_PER_SEC | 100 | 1/s, 0 unlimited |  |
tenancy.limits.reads_burst | RELAY_READS_BURST | 200 | count, 0 unlimited |  |
tenancy.limits.max_ws_connections_per_workspace | RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE | 25 | count, 0 refused |  |
tenancy.limits.max_ws_payload_bytes | RELAY_MAX_WS_PAYLOAD_BYTES | 262144 | bytes, 0 refused, from 256, to 16777216 |  |
tenancy.limits.storage_quota_bytes | RELAY_STORAGE_QUOTA_BYTES | 0 | bytes, 0 unlimited |  |
tenancy.limits.max_doc_bytes | RELAY_MAX_DOC_BYTES | 0 | bytes, 0 unlimited |  |
tenancy.limits.max_editors_per_workspace | RELAY_MAX_EDITORS_PER_WORKSPACE | 0 | count, 0 unlimited |  |
tenancy.limits.max_blob_bytes | RELAY_MAX_BLOB_BYTES | 157286400 | bytes, 0 refused |  |
tenancy.limits.max_concurrent_blob_uploads | RELAY_MAX_CONCURRENT_BLOB_UPLOADS | 4 | count, 0 refused |  |
tenancy.limits.max_config_bytes | RELAY_MAX_CONFIG_BYTES | 2097152 | bytes, 0 refused |  |
tenancy.limits.blob_gc_grace_secs | RELAY_BLOB_GC_GRACE_SECS | 300 | s, 0 at once |  |
tenancy.limits.blob_ingest_allowed_hosts | RELAY_BLOB_INGEST_ALLOWED_HOSTS | [] | hosts |  |
permissions.enforce_private_docs | RELAY_ENFORCE_PRIVATE_DOCS | true | boolean |  |
permissions.enforce_private_blobs | RELAY_ENFORCE_PRIVATE_BLOBS | false | boolean |  |
recovery.ring | RELAY_RECOVERY_RING | 20 | count, 0 refused, from 1, to 1000 |  |
recovery.interval_secs | RELAY_RECOVERY_INTERVAL_SECS | 600 | s, 0 refused, to 2147483 |  |
compat.editor_client | RELAY_COMPAT_EDITOR_CLIENT | false | boolean |  |
share.link_base | RELAY_SHARE_LINK_BASE | null | link-url |  |
console.enabled | RELAY_CONSOLE_ENABLED | false | boolean |  |
console.path | RELAY_CONSOLE_PATH | "/console" | page-path |  |
console.client_id | RELAY_CONSOLE_CLIENT_ID | null | text |  |
console.scope | RELAY_CONSOLE_SCOPE | "openid offline_access" | text |  |
console.authorize_params | RELAY_CONSOLE_AUTHORIZE_PARAMS | null | authorize-params |  |
console.connect_origins | RELAY_CONSOLE_CONNECT_ORIGINS | [] | http-origins |  |
console.dir | RELAY_CONSOLE_DIR | null | path |  |
metrics.expose | RELAY_METRICS_EXPOSE | "local" | local/public/off |  |
metrics.port | RELAY_METRICS_PORT | 9878 | port, 0 free port, to 65535 |  |
log.level | RELAY_LOG_LEVEL | "info" | debug/info/warn/error |  |
log.format | RELAY_LOG_FORMAT | "json" | json/pretty |  |
`

function pinned({ section, name, key }: KeyEntry): string {
  const cells = [
    `${section}.${name}`,
    key.env,
    JSON.stringify(key.default),
    formOf(key),
    key.flag ?? '',
    key.secret === true ? 'secret' : '',
  ]
  return cells.join(' | ').trimEnd()
}

function formOf(key: KeyEntry['key']): string {
  switch (key.kind) {
    case 'integer':
      return `${key.unit}, 0 ${key.zero}${key.min === undefined ? '' : `, from ${key.min}`}${key.max === undefined ? '' : `, to ${key.max}`}`
    case 'choice':
      return key.choices.join('/')
    case 'boolean':
      return 'boolean'
    default:
      return key.format
  }
}

it('[CFG-9] [CFG-10] the configuration keys have exactly the pinned variables, defaults and bounds', () => {
  expect(CONFIG_KEYS.map(pinned)).toEqual(PINNED.trim().split('\n'))
})
