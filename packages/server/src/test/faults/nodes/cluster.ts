import { createServer } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestIssuer } from '../../../auth/testing/test-issuer.ts'
import { startTestIssuer } from '../../../auth/testing/test-issuer.ts'
import { openPostgresUnderTest } from '../../../drivers/sql/testing/postgres-under-test.ts'
import { openRedisUnderTest, type OwnRedis } from '../../../drivers/redis/testing/redis-under-test.ts'
import { startS3 } from '../../../drivers/s3/testing/s3-under-test.ts'
import { type CommitHold, commitHold } from '../../commit-hold.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../../relay-under-test.ts'
import { RELAY_PROGRAM } from '../../relay-program.ts'
import { OPEN_LIMITS } from '../mixed-load.ts'
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'
import { type Front, startFront } from './front.ts'
import { type OwnPostgres, startOwnPostgres } from './own-postgres.ts'
import { ownerOfSocket } from './socket-owner.ts'
import { NODE_SETTING, type StoreAudit, openStoreAudit } from './store-audit.ts'

/** One relay process of several on a store. */
export interface ClusterNode {
  readonly name: string
  readonly relay: RelayUnderTest
  /** A balancer that prefers this node, and takes another while this one is not ready. */
  readonly front: Front
  /** The proxy between this node and its database. */
  readonly database: FaultyProxy
  /** The proxy between this node and Redis. */
  readonly bus: FaultyProxy
  /** The proxy in front of this node's listener for links; its sources are the names of nodes. */
  readonly links: FaultyProxy
  /** Holds the commits of this node. */
  readonly commits: CommitHold
  /** Whether the process runs; false after `kill` and `stop`. */
  isUp: boolean
  /** Sends SIGKILL. */
  kill(): Promise<void>
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number>
  /** Starts the process again from the present sources. Resolves when the node is ready. */
  start(): Promise<void>
  /** Sends SIGSTOP; `thaw` sends SIGCONT. */
  freeze(): void
  thaw(): void
}

/** Several relay processes with a database and a Redis of their own, and proxies between all of them. */
export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly ClusterNode[]
  readonly issuer: TestIssuer
  readonly redis: OwnRedis
  readonly redisUrl: string
  readonly audit: StoreAudit
  /** The cluster's own database server; `null` when it uses a shared one. */
  readonly postgres: OwnPostgres | null
  /** Whether all nodes report that they are ready. */
  areReady(): Promise<boolean>
  /** Starts one more relay on the same store, which the load never uses. It stops with the cluster. */
  startFresh(): Promise<RelayUnderTest>
}

export interface ClusterPlan {
  readonly nodes: number
  /** Whether to start an own database server, which a fault can restart. */
  readonly ownPostgres: boolean
  /** Leaves the epoch out of the appends, so that a former owner can still write into the log. */
  readonly sabotaged: boolean
  /** The program of all nodes at the start; that of the present sources when absent. */
  readonly program?: string
  /** More environment variables of all nodes. */
  readonly env?: Readonly<Record<string, string>>
}

const NAMES = ['a', 'b', 'c', 'd'] as const
const SECRET = 'secret-of-the-nodes-in-fault-runs'
const READY_WITHIN_MS = 60_000

export async function startCluster(plan: ClusterPlan): Promise<Cluster> {
  await using opened = new AsyncDisposableStack()
  const issuer = opened.adopt(await startTestIssuer(), (one) => one.close())
  const postgres = plan.ownPostgres ? opened.use(await startOwnPostgres(await freePort())) : null
  const databaseUrl = postgres?.url ?? opened.use(orThrow(await openPostgresUnderTest())).url
  const redis = opened.use(orThrow(await openRedisUnderTest()))
  if (redis.own === null) throw new Error('a fault run needs the program redis-server, as it ends and empties its Redis')
  const blobs = opened.use(await startS3())
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-nodes-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))

  const shared = {
    ...OPEN_LIMITS,
    RELAY_READS_PER_SEC: '0',
    RELAY_LOG_LEVEL: 'info',
    RELAY_CLUSTER_SINGLE_NODE: 'false',
    RELAY_CLUSTER_SECRET: SECRET,
    RELAY_BLOBS_URL: blobs.url,
    RELAY_S3_ACCESS_KEY_ID: blobs.credentials.accessKeyId,
    RELAY_S3_SECRET_ACCESS_KEY: blobs.credentials.secretAccessKey,
    ...(plan.sabotaged && { RELAY_TEST_APPEND_WITHOUT_EPOCH: '1' }),
    ...plan.env,
  }
  const nodes: ClusterNode[] = []
  const nameOf = (port: number): string => {
    const pid = ownerOfSocket(
      port,
      nodes.filter(({ isUp }) => isUp).map(({ relay }) => relay.pid),
    )
    return nodes.find(({ relay }) => relay.pid === pid)?.name ?? 'itself or a stranger'
  }
  const open = async (name: string) => {
    const linkPort = await freePort()
    const database = opened.use(await startFaultyProxy({ target: addressOf(databaseUrl, 5432) }))
    const bus = opened.use(await startFaultyProxy({ target: addressOf(redis.url, 6379) }))
    const links = opened.use(await startFaultyProxy({ target: { host: '127.0.0.1', port: linkPort }, sourceOf: nameOf }))
    const commits = commitHold()
    opened.defer(() => commits.remove())
    const env = {
      ...shared,
      ...commits.env,
      RELAY_STORAGE_URL: namedAs(name, through(databaseUrl, database.port)),
      RELAY_BUS_URL: through(redis.url, bus.port),
      RELAY_CLUSTER_NODE_ID: name,
      RELAY_CLUSTER_LINK_PORT: String(linkPort),
      RELAY_CLUSTER_LINK_URL: `ws://127.0.0.1:${links.port}`,
    }
    const { program = RELAY_PROGRAM } = plan
    const relay = opened.use(await startRelayUnderTest({ env, mcp: 'public', issuer, dataDir: join(folder, name), program }))
    return { name, relay, database, bus, links, commits }
  }
  const names = NAMES.slice(0, plan.nodes)
  const [first, ...others] = names
  // The first node creates the tables.
  const opening = [await open(first as string), ...(await Promise.all(others.map(open)))]
  nodes.push(...opening.map((parts) => clusterNode({ ...parts, front: PENDING })))
  const behind = nodes.map(({ name, relay }) => ({ name, port: Number(new URL(relay.baseUrl).port) }))
  for (const [i, node] of nodes.entries()) {
    const front = opened.use(await startFront([...behind.slice(i), ...behind.slice(0, i)]))
    nodes[i] = clusterNode({ ...node, front })
  }
  await Promise.all(nodes.map(ready))
  const audit = opened.use(await openStoreAudit(databaseUrl))
  const rest = opened.move()
  const startFresh = async (): Promise<RelayUnderTest> => {
    const linkPort = await freePort()
    const env = {
      ...shared,
      RELAY_STORAGE_URL: databaseUrl,
      RELAY_BUS_URL: redis.url,
      RELAY_CLUSTER_NODE_ID: 'fresh',
      RELAY_CLUSTER_LINK_PORT: String(linkPort),
      RELAY_CLUSTER_LINK_URL: `ws://127.0.0.1:${linkPort}`,
    }
    return rest.use(await startRelayUnderTest({ env, mcp: 'public', issuer, dataDir: join(folder, 'fresh') }))
  }
  return {
    nodes,
    issuer,
    redis: redis.own,
    redisUrl: redis.url,
    audit,
    postgres,
    async areReady() {
      const answers = await Promise.all(nodes.map((node) => isReady(node)))
      return answers.every((answer) => answer)
    },
    startFresh,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}

/** A placeholder for the fronts until all nodes have ports. */
const PENDING: Front = {
  baseUrl: '',
  wsUrl: '',
  nodeOf: () => null,
  [Symbol.asyncDispose]: async () => undefined,
}

function clusterNode(
  parts: Pick<ClusterNode, 'name' | 'relay' | 'front' | 'database' | 'bus' | 'links' | 'commits'>,
): ClusterNode {
  const { relay } = parts
  const signal = (name: NodeJS.Signals): void => void process.kill(relay.pid, name)
  const node: ClusterNode = {
    ...parts,
    isUp: true,
    async kill() {
      node.isUp = false
      await relay.kill()
    },
    async stop() {
      node.isUp = false
      return relay.stop()
    },
    async start() {
      await relay.restart()
      node.isUp = true
      await ready(node)
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  }
  return node
}

/** Waits until the node itself reports that it is ready. */
async function ready(node: Pick<ClusterNode, 'name' | 'relay'>): Promise<void> {
  await until(`node ${node.name} to be ready`, () => isReady(node), READY_WITHIN_MS)
}

function isReady({ relay }: Pick<ClusterNode, 'relay'>): Promise<boolean> {
  return fetch(`${relay.baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    async (answer) => (await answer.arrayBuffer(), answer.status === 200),
    () => false,
  )
}

function addressOf(url: string, defaultPort: number): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: port === '' ? defaultPort : Number(port) }
}

function through(url: string, port: number): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(port)
  return changed.href
}

/** Adds a setting to each connection, which tells the audit of the store to which node the connection belongs. */
function namedAs(node: string, url: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', `-c ${NODE_SETTING}=${node}`)
  return changed.href.replaceAll('+', '%20')
}

/** Returns a free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

function orThrow<T>(opened: T | string): T {
  if (typeof opened === 'string') throw new Error(opened)
  return opened
}
