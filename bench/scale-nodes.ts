import { type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestIssuer } from '@docrelay/server/auth/testing/test-issuer'
import { openRedisUnderTest } from '@docrelay/server/drivers/redis/testing/redis-under-test'
import { startS3 } from '@docrelay/server/drivers/s3/testing/s3-under-test'
import { startOwnPostgres } from '@docrelay/server/test/faults/nodes/own-postgres'
import { until } from '@docrelay/server/test/relay-under-test'
import { metric } from '@docrelay/server/test/wire-client'
import { createDocuments, spawnRelay } from './relay-server.ts'
import { freePort, stopChild } from './servers.ts'

/** The PostgreSQL and Redis that all relays of a bench use. Each cluster of relays has a database of its own. */
export interface Stores extends AsyncDisposable {
  /** Process ids of the servers, whose children also belong to them. */
  readonly pids: { readonly postgres: number; readonly redis: number }
  /** Creates an empty database. Returns the environment for relays on it, and `drop`, which deletes the database once the relays have ended. */
  fresh(): Promise<{ readonly env: Readonly<Record<string, string>>; readonly drop: () => Promise<void> }>
}

export async function startStores(): Promise<Stores> {
  await using opened = new AsyncDisposableStack()
  const postgres = opened.use(await startOwnPostgres(await freePort()))
  const redis = await openRedisUnderTest()
  if (typeof redis === 'string') throw new Error(redis)
  opened.use(redis)
  if (redis.own === null)
    throw new Error('the program redis-server is needed, since the CPU time of a Redis that others use says nothing')
  const blobs = opened.use(await startS3())
  const pids = { postgres: postgres.pid(), redis: redis.own.pid() }
  const all = opened.move()
  let made = 0
  return {
    pids,
    async fresh() {
      const name = `scale_${++made}`
      const env = {
        RELAY_STORAGE_URL: await postgres.createDatabase(name),
        RELAY_BUS_URL: redis.url,
        RELAY_BLOBS_URL: blobs.url,
        RELAY_S3_ACCESS_KEY_ID: blobs.credentials.accessKeyId,
        RELAY_S3_SECRET_ACCESS_KEY: blobs.credentials.secretAccessKey,
      }
      const isDropped = () =>
        postgres.dropDatabase(name).then(
          () => true,
          () => false,
        )
      // The server notices a moment later that a relay has ended.
      return { env, drop: () => until('the database to be unused', isDropped) }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Running relays on one database: ready, linked to each other, with all documents created. */
export interface Nodes extends AsyncDisposable {
  readonly servers: readonly { readonly pid: number; readonly port: number }[]
  /** One token for each document, in the order of the documents. */
  readonly tokens: readonly string[]
  /** Resolves with the number of documents that each node owns at the moment. */
  owned(): Promise<readonly number[]>
}

const SECRET = 'a secret of all nodes of one benchmark'

/** Starts the relays. `isAlone` starts one relay with `single_node = true`, which registers no node and has no bus. */
export async function startNodes(
  stores: Stores,
  given: {
    readonly count: number
    readonly isAlone: boolean
    readonly docs: readonly string[]
    readonly hasRates: boolean
    readonly profile: string | null
  },
): Promise<Nodes> {
  await using opened = new AsyncDisposableStack()
  const issuer = opened.adopt(await startTestIssuer(), (one) => one.close())
  const folder = opened.adopt(mkdtempSync(join(tmpdir(), 'docrelay-scale-')), (path) =>
    rmSync(path, { recursive: true, force: true }),
  )
  const { env: stored, drop } = await stores.fresh()
  opened.defer(drop)
  const start = async (index: number) => {
    const linkPort = await freePort()
    const { RELAY_BUS_URL: _bus, ...withoutBus } = stored
    const mode = given.isAlone
      ? { ...withoutBus, RELAY_CLUSTER_SINGLE_NODE: 'true' }
      : {
          ...stored,
          RELAY_CLUSTER_SINGLE_NODE: 'false',
          RELAY_CLUSTER_SECRET: SECRET,
          RELAY_CLUSTER_NODE_ID: `node-${index}`,
          RELAY_CLUSTER_LINK_PORT: String(linkPort),
          RELAY_CLUSTER_LINK_URL: `ws://127.0.0.1:${linkPort}`,
        }
    const own = join(folder, String(index))
    mkdirSync(own)
    const profiled: Record<string, string> =
      given.profile === null ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${join(given.profile, `node-${index}`)}` }
    const env = { RELAY_METRICS_EXPOSE: 'public', ...mode, ...profiled }
    return spawnRelay({ issuer, folder: own, limits: given.hasRates ? 'connections raised' : 'raised', env })
  }
  const relays: { readonly child: ChildProcess; readonly port: number; readonly baseUrl: string }[] = []
  // The relays start one after the other, because the first one creates the tables.
  for (let index = 0; index < given.count; index++) {
    const relay = await start(index)
    // Kills the relays: a clean end would hand documents from node to node. Only a CPU profile needs a clean end, to be written.
    opened.defer(() => stopChild(relay.child, undefined, given.profile === null ? 'SIGKILL' : 'SIGTERM'))
    relays.push(relay)
  }
  const [first] = relays as [(typeof relays)[number]]
  await until('the nodes to be linked', async () => {
    const links = await Promise.all(relays.map((relay) => metric(relay, 'relay_links')))
    return links.every((count) => count === given.count - 1)
  })
  const tokens = given.docs.map((_, i) => issuer.token({ workspace: `bench-${i}`, role: 'owner' }))
  await createDocuments(first.baseUrl, given.docs, tokens)
  const all = opened.move()
  return {
    servers: relays.map(({ child, port }) => ({ pid: child.pid as number, port })),
    tokens,
    owned: () => Promise.all(relays.map((relay) => metric(relay, 'relay_rooms', { kind: 'owned' }))),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
