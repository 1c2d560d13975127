import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { startTestIssuer } from '../../auth/testing/test-issuer.ts'
import { type RunningRelay, startRelay } from '../../compose.ts'
import type { Config } from '../../config/config.ts'
import { loadConfig } from '../../config/load.ts'
import { openDatabase } from '../../drivers/sql/database.ts'
import { onPostgres } from '../../drivers/sql/testing/on-postgres.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { patience } from '../../kernel/testing/patience.ts'
import { freePort } from '../nodes/nodes-under-test.ts'
import { startTcpProxy } from '../tcp-proxy.ts'

/** The relays run in this process, without a bus. */
await onPostgres((url) => {
  async function startNode(
    nodeId: string,
    storageUrl: string,
  ): Promise<RunningRelay & { readonly baseUrl: string; end(): Promise<void> }> {
    const issuer = await startTestIssuer()
    const folder = mkdtempSync(join(tmpdir(), 'docrelay-node-'))
    const linkPort = await freePort()
    const env = {
      RELAY_JWT_ISSUER: issuer.issuer,
      RELAY_JWT_JWKS_URL: issuer.jwksUrl,
      RELAY_HOST: '127.0.0.1',
      RELAY_PORT: '0',
      RELAY_DATA_DIR: folder,
      RELAY_STORAGE_URL: storageUrl,
      RELAY_CLUSTER_SINGLE_NODE: 'yes',
      RELAY_CLUSTER_NODE_ID: nodeId,
      RELAY_CLUSTER_LINK_PORT: String(linkPort),
      RELAY_CLUSTER_LINK_URL: `ws://127.0.0.1:${linkPort}`,
      RELAY_CLUSTER_SECRET: 'a secret of all nodes of one test',
      RELAY_MCP_ENABLED: 'no',
      RELAY_METRICS_EXPOSE: 'public',
      RELAY_AUTH_TIMEOUT_SECS: '300',
    }
    const loaded = loadConfig({ options: {}, env, configPath: undefined, cwd: folder })
    if (loaded.kind === 'refused') throw new Error(JSON.stringify(loaded.problems))
    const config: Config = { ...loaded.config, cluster: { ...loaded.config.cluster, singleNode: false } }
    const relay = await startRelay({ config, log: silentLogger, clock: systemClock, random: systemRandom })
    const end = async (): Promise<void> => {
      await relay.drain()
      await issuer.close()
      rmSync(folder, { recursive: true, force: true })
    }
    return { ...relay, baseUrl: relay.listeners[0]?.url ?? '', end }
  }

  const readyz = async (baseUrl: string): Promise<{ readonly status: number; readonly cluster: unknown }> => {
    const answer = await fetch(`${baseUrl}/readyz`)
    const { checks } = (await answer.json()) as { readonly checks: Readonly<Record<string, unknown>> }
    return { status: answer.status, cluster: checks['cluster'] }
  }
  const nodesSeenBy = async (baseUrl: string): Promise<Record<string, number>> => {
    const text = await (await fetch(`${baseUrl}/metrics`)).text()
    return Object.fromEntries(
      [...text.matchAll(/^relay_cluster_nodes\{state="(\w+)"\} (\d+)$/gm)].map((match) => [match[1], Number(match[2])]),
    )
  }
  const soon = { timeout: patience(10_000), interval: 100 }

  describe('relays that use one store together', () => {
    it(
      '[OPS-2] [OPS-4] [LIFE-27] a node without its database turns red and closes sockets, and the other counts it as silent',
      async () => {
        const { hostname, port } = new URL(url)
        await using proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) })
        const proxied = new URL(url)
        proxied.host = `127.0.0.1:${proxy.port}`
        const [well, ill] = [await startNode('well', url), await startNode('ill', proxied.href)]
        try {
          for (const { baseUrl } of [well, ill]) {
            await expect.poll(() => readyz(baseUrl), soon).toEqual({ status: 200, cluster: { ok: true } })
            await expect.poll(() => nodesSeenBy(baseUrl), soon).toEqual({ up: 2, draining: 0, silent: 0 })
          }
          const socket = new WebSocket(`${ill.baseUrl.replace('http', 'ws')}/ws`)
          const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve))
          await new Promise((resolve) => socket.addEventListener('open', resolve))
          proxy.silent()
          await expect.poll(() => readyz(ill.baseUrl), soon).toMatchObject({ status: 503, cluster: { ok: false } })
          await expect.poll(() => nodesSeenBy(well.baseUrl), soon).toEqual({ up: 1, draining: 0, silent: 1 })
          expect(await readyz(well.baseUrl)).toMatchObject({ status: 200 })
          expect(await closed).toMatchObject({ code: 1012, reason: expect.stringMatching(/^unavailable;retry-after=/) })
          await proxy.up()
          await expect.poll(() => readyz(ill.baseUrl), soon).toEqual({ status: 200, cluster: { ok: true } })
          await expect.poll(() => nodesSeenBy(well.baseUrl), soon).toEqual({ up: 2, draining: 0, silent: 0 })
        } finally {
          await proxy.up()
          await ill.end()
          await well.end()
        }
        const { reader, close } = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
        const left = await sql`select 1 from nodes`.execute(reader)
        await close()
        expect(left.rows).toEqual([])
      },
      patience(60_000),
    )

    it(
      '[CFG-10] a second relay with the node_id of a running relay does not start',
      async () => {
        const first = await startNode('same', url)
        try {
          await expect(startNode('same', url)).rejects.toThrow('a node with [cluster] node_id "same" is running')
        } finally {
          await first.end()
        }
      },
      patience(30_000),
    )
  })
})
