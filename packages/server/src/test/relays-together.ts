import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { platform } from '@docrelay/client/environment'
import { RelayClient } from '@docrelay/client/rest/relay-client'
import { startTestIssuer, type TestIssuer, type TokenOptions } from '../auth/testing/test-issuer.ts'
import { startRelay } from '../compose.ts'
import { loadConfig } from '../config/load.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/ids.ts'
import { type Logger, silentLogger } from '../kernel/log.ts'
import { freePort } from './nodes/nodes-under-test.ts'

export interface RelayTogether {
  readonly baseUrl: string
  readonly wsUrl: string
  readonly mcpUrl: string
  rest(claims?: TokenOptions): RelayClient
}

export interface RelaysTogether extends AsyncDisposable {
  readonly nodes: readonly RelayTogether[]
  readonly issuer: TestIssuer
  readonly internalBearer: string
}

/** Starts several relays in this process on one database, like several nodes, without a bus. */
export async function startRelaysTogether(
  count: number,
  storageUrl: string,
  env = {},
  log: Logger = silentLogger,
): Promise<RelaysTogether> {
  await using opened = new AsyncDisposableStack()
  const issuer = opened.use(await startTestIssuer())
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-nodes-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const internalBearer = 'revocation-secret-for-tests'
  const nodes: RelayTogether[] = []
  for (let nth = 0; nth < count; nth++) {
    const linkPort = await freePort()
    const loaded = loadConfig({
      options: {},
      env: {
        RELAY_HOST: '127.0.0.1',
        RELAY_PORT: '0',
        RELAY_DATA_DIR: join(folder, `node-${nth}`),
        RELAY_BLOBS_URL: `file:${join(folder, 'blobs')}`,
        RELAY_STORAGE_URL: storageUrl,
        // The configuration of several nodes requires a bus and an object store, which these nodes lack. So it is read as that of
        // a single node, and `singleNode` is changed below.
        RELAY_CLUSTER_SINGLE_NODE: 'true',
        RELAY_CLUSTER_SECRET: 'a secret of all nodes of one test',
        RELAY_CLUSTER_LINK_PORT: String(linkPort),
        RELAY_CLUSTER_LINK_URL: `ws://127.0.0.1:${linkPort}`,
        RELAY_MCP_PORT: '0',
        RELAY_METRICS_EXPOSE: 'public',
        RELAY_TENANCY_MODE: 'shared',
        RELAY_JWT_ISSUER: issuer.issuer,
        RELAY_JWT_JWKS_URL: issuer.jwksUrl,
        RELAY_REVOCATION_BEARER: internalBearer,
        ...env,
      },
      configPath: undefined,
      cwd: folder,
    })
    if (loaded.kind === 'refused') throw new Error(JSON.stringify(loaded.problems))
    const config = { ...loaded.config, cluster: { ...loaded.config.cluster, singleNode: false } }
    const relay = await startRelay({ config, log, clock: systemClock, random: systemRandom })
    opened.defer(async () => void (await relay.drain()))
    const urlOf = (name: string) => relay.listeners.find((listener) => listener.name === name)?.url ?? ''
    const baseUrl = urlOf('main')
    nodes.push({
      baseUrl,
      wsUrl: `${baseUrl.replace('http', 'ws')}/ws`,
      mcpUrl: urlOf('mcp'),
      rest: (claims) => new RelayClient({ baseUrl, token: () => issuer.token(claims), environment: platform }),
    })
  }
  const resources = opened.move()
  return { nodes, issuer, internalBearer, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}
