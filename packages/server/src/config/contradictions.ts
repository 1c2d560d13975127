import { CLUSTER_SECRET_FORM, isSecureUrl } from './addresses.ts'
import type { Config } from './config.ts'
import { isOneOfSeveral } from './several-nodes.ts'

/**
 * Values that are valid one by one but not together. `about` is the key that the problem names; `with` are the other keys involved.
 */
export interface Contradiction {
  readonly about: string
  readonly with: readonly string[]
  readonly broken: (config: Config) => boolean
  readonly problem: string
  readonly allowed: string
}

const URL_OF_STORE = '[storage].url'
const SINGLE = '[cluster].single_node'
const SECRET = '[cluster].secret'
const BUS_URL = '[bus].url'
const MEMORY_BUS = 'memory:'
const POLL_URL = '[auth].revocation_polling_url'
const POLL_BEARER = '[auth].revocation_polling_bearer'
const JWKS_URL = '[auth].jwks_url'
const LOCAL_DIR = '[mcp].local_documents_dir'

/** Every combination of values that stops the start. [CFG-6] */
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
  ...ofSeveral([
    {
      about: SECRET,
      broken: ({ cluster }) => cluster.secret.length === 0,
      allowed: `a secret of ${CLUSTER_SECRET_FORM}, the same for all nodes`,
    },
    {
      about: BUS_URL,
      broken: ({ bus }) => bus.url === MEMORY_BUS,
      allowed: 'redis://… or rediss://…',
    },
    {
      about: '[blobs].url',
      broken: ({ blobs }) => blobs.url.startsWith('file:'),
      allowed: 's3://…, which all nodes reach',
    },
  ]),
  {
    about: BUS_URL,
    with: [URL_OF_STORE, SINGLE],
    broken: (config) => config.bus.url !== MEMORY_BUS && hasNobodyToConnect(config),
    problem: 'one relay has a sqlite: store for itself, so there is no other to connect',
    allowed: `${MEMORY_BUS}, or ${SINGLE} = true`,
  },
  {
    about: SECRET,
    with: [],
    broken: ({ cluster }) => cluster.secret.length > 2,
    problem: 'more than two secrets',
    allowed: 'one secret, or two while it is changed',
  },
  missingKey('[blobs].access_key_id', ({ blobs }) => blobs.accessKeyId),
  missingKey('[blobs].secret_access_key', ({ blobs }) => blobs.secretAccessKey),
  {
    about: '[tenancy].workspace_id',
    with: ['[tenancy].mode'],
    broken: ({ tenancy }) => tenancy.mode === 'shared' && tenancy.workspaceId !== null,
    problem: 'shared tenancy pins no workspace',
    allowed: 'nothing, or [tenancy].mode = "dedicated"',
  },
  {
    about: '[console].client_id',
    with: ['[console].enabled'],
    broken: ({ console }) => console.enabled && console.clientId === null,
    problem: 'needed by [console].enabled',
    allowed: 'the client id of the console at your identity provider, or [console].enabled = false',
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
  ...linkPorts([
    ['[server].port', ({ server }) => server.port],
    ['[mcp].port', ({ mcp }) => (mcpListens(mcp) ? mcp.port : 0)],
    ['[metrics].port', ({ metrics }) => (metrics.expose === 'local' ? metrics.port : 0)],
  ]),
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
    about: JWKS_URL,
    with: ['[auth].allow_http_jwks'],
    broken: ({ auth }) => !auth.allowHttpJwks && !isSecureUrl(auth.jwksUrl),
    problem: 'neither an https URL nor one of this host',
    allowed:
      'https://…, http://… on localhost, 127.0.0.1 or [::1], or http://… in a private network with [auth].allow_http_jwks = true',
  },
]

/** Makes the contradiction of an object store without this key; it needs both of its keys. */
function missingKey(about: string, keyOf: (config: Config) => string | null): Contradiction {
  return {
    about,
    with: ['[blobs].url'],
    broken: (config) => config.blobs.url.startsWith('s3:') && keyOf(config) === null,
    problem: 'needed by the s3: URL of [blobs].url',
    allowed: 'the key of the object store, or a file: URL',
  }
}

/**
 * Whether the relay is alone and needs no bus: a sqlite: store has one process. With `single_node` a bus is allowed, so that one configuration can
 * serve several deployments.
 */
function hasNobodyToConnect({ storage, cluster }: Config): boolean {
  return storage.url.startsWith('sqlite:') && !cluster.singleNode
}

/** Returns contradictions that concern only several nodes on one store. */
function ofSeveral(needs: readonly Pick<Contradiction, 'about' | 'broken' | 'allowed'>[]): readonly Contradiction[] {
  return needs.map(({ about, broken, allowed }) => ({
    about,
    with: [URL_OF_STORE, SINGLE],
    broken: (config) => isOneOfSeveral(config) && broken(config),
    problem: 'not enough for several relays on one postgres: store',
    allowed: `${allowed}; or ${SINGLE} = true`,
  }))
}

/** Returns the contradictions of two listeners with the same port as the links; port 0 means any free port. */
function linkPorts(others: readonly (readonly [string, (config: Config) => number])[]): readonly Contradiction[] {
  return others.map(([other, portOf]) =>
    samePort(
      '[cluster].link_port',
      other,
      (config) => isOneOfSeveral(config) && config.cluster.linkPort !== 0 && config.cluster.linkPort === portOf(config),
      [URL_OF_STORE, SINGLE],
    ),
  )
}

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

/** Existing editor clients cut chunks of this size, so with a smaller limit they cannot send. */
const EDITOR_CHUNK_BYTES = 262_144

/**
 * Returns lines for stderr about values that are allowed but probably not meant. Files that everybody can read are
 * found where files are read. [CFG-7]
 */
export function configWarnings(config: Config): readonly string[] {
  const warnings: string[] = []
  const { auth, tenancy, compat, server } = config
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
  if (!isSecureUrl(auth.jwksUrl)) {
    warnings.push(`${JWKS_URL}: plain http: whoever can change what this network carries can sign tokens`)
  }
  if (compat.editorClient && server.corsOrigins.length === 0) {
    warnings.push('[compat].editor_client: with an empty [server].cors_origins no editor in a browser can connect')
  }
  return warnings
}
