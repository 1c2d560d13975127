import type { Config } from './config.ts'

/** Values that are fine alone and not together. `about` is the key that is named, `with` the others that take part. */
export interface Contradiction {
  readonly about: string
  readonly with: readonly string[]
  readonly broken: (config: Config) => boolean
  readonly problem: string
  readonly allowed: string
}

const URL_OF_STORE = '[storage].url'
const SINGLE = '[cluster].single_node'
const POLL_URL = '[auth].revocation_polling_url'
const POLL_BEARER = '[auth].revocation_polling_bearer'
const LOCAL_DIR = '[mcp].local_documents_dir'

/** Every combination that stops the start. [CFG-6] */
export const CONTRADICTIONS: readonly Contradiction[] = [
  {
    about: POLL_BEARER,
    with: [POLL_URL],
    broken: ({ auth }) => auth.revocationPollingUrl !== null && auth.revocationPollingBearer === null,
    problem: `needed by ${POLL_URL}`,
    allowed: 'both or none',
  },
  {
    about: POLL_URL,
    with: [POLL_BEARER],
    broken: ({ auth }) => auth.revocationPollingUrl === null && auth.revocationPollingBearer !== null,
    problem: `needed by ${POLL_BEARER}`,
    allowed: 'both or none',
  },
  {
    about: '[bus].url',
    with: [URL_OF_STORE, SINGLE],
    broken: ({ storage, bus, cluster }) => storage.url.startsWith('postgres:') && bus.url === 'memory:' && !cluster.singleNode,
    problem: 'several processes may share a postgres: store, and memory: does not connect them',
    allowed: `redis://…, or ${SINGLE} = true`,
  },
  {
    about: '[bus].url',
    with: [URL_OF_STORE, SINGLE],
    broken: ({ storage, bus, cluster }) =>
      storage.url.startsWith('sqlite:') && bus.url.startsWith('redis:') && !cluster.singleNode,
    problem: 'a sqlite: store has one process, which needs no redis: bus',
    allowed: `memory:, or ${SINGLE} = true`,
  },
  {
    about: '[tenancy].workspace_id',
    with: ['[tenancy].mode'],
    broken: ({ tenancy }) => tenancy.mode === 'shared' && tenancy.workspaceId !== null,
    problem: 'shared tenancy pins no workspace',
    allowed: 'nothing, or [tenancy].mode = "dedicated"',
  },
  samePort('[mcp].port', '[server].port', ({ mcp, server }) => mcpListens(mcp) && mcp.port === server.port && mcp.port !== 0, [
    '[mcp].enabled',
    '[mcp].expose',
  ]),
  samePort(
    '[metrics].port',
    '[server].port',
    ({ metrics, server }) => metrics.expose === 'local' && metrics.port === server.port && metrics.port !== 0,
    ['[metrics].expose'],
  ),
  samePort(
    '[metrics].port',
    '[mcp].port',
    ({ metrics, mcp }) => metrics.expose === 'local' && mcpListens(mcp) && metrics.port === mcp.port && mcp.port !== 0,
    ['[mcp].enabled', '[mcp].expose', '[metrics].expose'],
  ),
  {
    about: LOCAL_DIR,
    with: ['[mcp].expose'],
    broken: ({ mcp }) => mcp.localDocumentsDir !== null && mcp.expose === 'public',
    problem: 'local documents are not served by a public MCP endpoint',
    allowed: 'nothing, or [mcp].expose = "local"',
  },
  {
    about: LOCAL_DIR,
    with: ['[tenancy].mode'],
    broken: ({ mcp, tenancy }) => mcp.localDocumentsDir !== null && tenancy.mode === 'shared',
    problem: 'local documents are not served under shared tenancy',
    allowed: 'nothing, or [tenancy].mode = "dedicated"',
  },
  {
    about: '[tenancy.limits].writes_burst',
    with: ['[tenancy.limits].writes_per_sec'],
    broken: ({ tenancy: { limits } }) => limits.writesPerSec !== null && limits.writesBurst === 0,
    problem: 'a bucket of no size admits nothing',
    allowed: '1 or more, or [tenancy.limits].writes_per_sec = 0',
  },
  {
    about: '[tenancy.limits].reads_burst',
    with: ['[tenancy.limits].reads_per_sec'],
    broken: ({ tenancy: { limits } }) => limits.readsPerSec !== null && limits.readsBurst === 0,
    problem: 'a bucket of no size admits nothing',
    allowed: '1 or more, or [tenancy.limits].reads_per_sec = 0',
  },
]

function samePort(about: string, other: string, broken: (config: Config) => boolean, others: readonly string[]): Contradiction {
  return {
    about,
    with: [other, ...others],
    broken,
    problem: `two listeners on one port, the other is ${other}`,
    allowed: 'another port, or 0',
  }
}

function mcpListens(mcp: Config['mcp']): boolean {
  return mcp.enabled && mcp.expose === 'local'
}

/** Below this, existing editor clients cannot send: they cut chunks of that size. */
const EDITOR_CHUNK_BYTES = 262_144

/** What is allowed but probably not meant, as lines for stderr. World-readable files are found where files are read. [CFG-7] */
export function configWarnings(config: Config): readonly string[] {
  const warnings: string[] = []
  const { auth, tenancy, storage, blobs, cluster, compat, server } = config
  if (tenancy.mode === 'shared' && auth.revocationPushBearer === null && auth.revocationPollingUrl === null) {
    warnings.push(
      '[tenancy].mode: shared tenancy without [auth].revocation_push_bearer or revocation_polling_url: no token can be revoked',
    )
  }
  if (tenancy.limits.maxWsPayloadBytes < EDITOR_CHUNK_BYTES) {
    warnings.push(
      `[tenancy.limits].max_ws_payload_bytes: below ${EDITOR_CHUNK_BYTES}, existing editor clients send larger frames`,
    )
  }
  if (storage.url.startsWith('postgres:') && blobs.url.startsWith('file:') && !cluster.singleNode) {
    warnings.push(`[blobs].url: file: blobs are not seen by other processes of a postgres: store; use s3: or ${SINGLE} = true`)
  }
  if (compat.editorClient && server.corsOrigins.length === 0) {
    warnings.push('[compat].editor_client: with an empty [server].cors_origins no editor in a browser can connect')
  }
  return warnings
}
