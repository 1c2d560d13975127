import { type AddressInfo, createServer } from 'node:net'
import { startTestIssuer, type TestIssuer } from '../../auth/testing/test-issuer.ts'
import { openRedisUnderTest, type RedisUnderTest } from '../../drivers/redis/testing/redis-under-test.ts'
import { startS3 } from '../../drivers/s3/testing/s3-under-test.ts'
import { openPostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { metric } from '../wire-client.ts'

/** Several relay processes that share one fresh database, one bus and one object store. */
export interface NodesUnderTest extends AsyncDisposable {
  /** The relays in the order of their `node_id`: node-1, node-2 and so on. */
  readonly relays: readonly RelayUnderTest[]
  readonly issuer: TestIssuer
  readonly bus: RedisUnderTest
  /** The URL of the database. */
  readonly url: string
  /** Starts one more node. Resolves when it is ready and linked with all running nodes. */
  add(env?: Readonly<Record<string, string>>): Promise<RelayUnderTest>
}

export interface NodesOptions {
  readonly count: number
  readonly mcp?: 'public'
  readonly env?: Readonly<Record<string, string>>
}

/** Starts the nodes. Returns a string with the reason when this machine lacks a server that they need. */
export async function startNodesUnderTest({ count, mcp, env = {} }: NodesOptions): Promise<NodesUnderTest | string> {
  await using opened = new AsyncDisposableStack()
  const database = await openPostgresUnderTest()
  if (typeof database === 'string') return database
  opened.use(database)
  const bus = await openRedisUnderTest()
  if (typeof bus === 'string') return bus
  opened.use(bus)
  const blobs = opened.use(await startS3())
  const issuer = await startTestIssuer()
  opened.defer(() => issuer.close())
  let started = 0

  const startNode = async (owner: AsyncDisposableStack, more: Readonly<Record<string, string>>): Promise<RelayUnderTest> => {
    const name = `node-${++started}`
    const port = await freePort()
    return owner.use(
      await startRelayUnderTest({
        issuer,
        ...(mcp && { mcp }),
        env: {
          RELAY_STORAGE_URL: database.url,
          RELAY_CLUSTER_SINGLE_NODE: 'no',
          RELAY_CLUSTER_NODE_ID: name,
          RELAY_CLUSTER_LINK_PORT: String(port),
          RELAY_CLUSTER_LINK_URL: `ws://127.0.0.1:${port}`,
          RELAY_CLUSTER_SECRET: 'a secret of all nodes of one test',
          RELAY_BUS_URL: bus.url,
          RELAY_BLOBS_URL: blobs.url,
          RELAY_S3_ACCESS_KEY_ID: blobs.credentials.accessKeyId,
          RELAY_S3_SECRET_ACCESS_KEY: blobs.credentials.secretAccessKey,
          RELAY_WRITES_PER_SEC: '0',
          ...env,
          ...more,
        },
      }),
    )
  }
  const relays = await Promise.all(Array.from({ length: count }, () => startNode(opened, {})))
  await linked(relays)
  const resources = opened.move()
  return {
    relays,
    issuer,
    bus,
    url: database.url,
    async add(more = {}) {
      const relay = await startNode(resources, more)
      relays.push(relay)
      await until('the new node to be linked', async () => ((await metric(relay, 'relay_links')) ?? 0) > 0)
      return relay
    },
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  }
}

/** Resolves when each node is linked with all others. */
export async function linked(relays: readonly RelayUnderTest[]): Promise<void> {
  await until('the nodes to be linked', async () => {
    const counts = await Promise.all(relays.map((relay) => metric(relay, 'relay_links')))
    return counts.every((count) => count === relays.length - 1)
  })
}

/** Returns a free port of this machine. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
