import { sql } from 'kysely'
import { describe, it } from 'vitest'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/log.ts'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { REFUSE_MS, SUSPEND_MS } from '../../nodes/node-health.ts'
import { NodeLife } from '../../nodes/node-life.ts'
import { STORAGE_THREAD } from '../../test/relay-program.ts'
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy.ts'
import { openDatabase } from './database.ts'
import { onPostgres } from './testing/on-postgres.ts'
import { openStorage } from './storage.ts'

/** Returns a clock that moves only by `move`, apart from a tiny amount, so that the speed of the machine does not matter. */
function slowClock(): Clock & { move(byMs: number): void } {
  let movedMs = 0
  // The clock must move a little, because each heartbeat is identified by its time.
  const monotonicMs = () => movedMs + performance.now() / 1_000
  return { nowMs: systemClock.nowMs, monotonicMs, move: (byMs) => void (movedMs += byMs) }
}

/** The delay in ms that heartbeats (once a second) and checks (twice a second) may add. */
const LOOKS_MS = 2_000

await onPostgres((url) => {
  describe.concurrent('a node with its store in a thread and a network that a test can break', () => {
    /** Starts a node that reaches the server through its own proxy. `clock` measures how long the server is silent. */
    async function startNode(nodeId: string, onTestFinished: (end: () => Promise<void>) => void, clock: Clock = systemClock) {
      const { hostname, port } = new URL(url)
      const proxy: TcpProxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) })
      const proxied = new URL(url)
      proxied.host = `127.0.0.1:${proxy.port}`
      const storage = await openStorage({
        url: proxied.href,
        commitDelayMs: 0,
        log: silentLogger,
        onLoss: () => undefined,
        severalNodes: true,
        thread: STORAGE_THREAD,
      })
      const calls: string[] = []
      const life: NodeLife = new NodeLife({
        registry: storage.nodes,
        node: { nodeId, linkUrl: 'ws://10.0.0.1:9879', program: '1' },
        links: { peers: () => life.peers.map(({ inc }) => inc), reachesItself: () => null },
        clock,
        timers: systemTimers,
        log: silentLogger,
        callbacks: {
          onServe: (inc) => calls.push(`serve ${inc}`),
          onRefuse: () => calls.push('refuse'),
          onCutOff: () => calls.push('cut off'),
          onSuspend: () => calls.push('suspend'),
          onPeers: () => undefined,
          onRobbed: () => undefined,
          onLost: ({ message }) => calls.push(`lost: ${message}`),
        },
      })
      onTestFinished(async () => {
        await proxy.up()
        await life[Symbol.asyncDispose]()
        await storage[Symbol.asyncDispose]()
        await proxy[Symbol.asyncDispose]()
      })
      await life.start()
      return { life, proxy, calls }
    }

    it(
      '[LIFE-27] while the server is silent a node refuses after 4 s, suspends after 10 s, and later serves under a new incarnation',
      async ({ onTestFinished, expect }) => {
        const { life, proxy, calls } = await startNode('silent', onTestFinished)
        await expect.poll(() => life.mayTakeOver, { timeout: patience(10_000) }).toBe(true)
        const { inc } = life
        proxy.silent()
        const elapsedMs = stopwatch()
        await expect.poll(() => life.phase, { timeout: patience(10_000), interval: 20 }).toBe('refusing')
        expect(elapsedMs()).toBeLessThan(REFUSE_MS + LOOKS_MS)
        expect(life.mayTakeOver).toBe(false)
        await expect.poll(() => life.phase, { timeout: patience(15_000), interval: 20 }).toBe('suspended')
        expect(elapsedMs()).toBeLessThan(SUSPEND_MS + LOOKS_MS)
        await proxy.up()
        await expect.poll(() => life.phase, { timeout: patience(20_000) }).toBe('serving')
        expect(life.inc).toBeGreaterThan(inc ?? Number.POSITIVE_INFINITY)
        expect(calls).toEqual([`serve ${inc}`, 'refuse', 'suspend', `serve ${life.inc}`])
        const { reader, close } = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
        const { rows } = await sql<{ inc: number }>`select inc from nodes where node_id = 'silent'`.execute(reader)
        await close()
        expect(rows).toEqual([{ inc: life.inc }])
      },
      patience(60_000),
    )

    it(
      '[LIFE-27] after reset connections or 3 s without the server a node serves under the same incarnation',
      async ({ onTestFinished, expect }) => {
        const clock = slowClock()
        const { life, proxy, calls } = await startNode('reset', onTestFinished, clock)
        await expect.poll(() => life.mayTakeOver, { timeout: patience(10_000) }).toBe(true)
        const { inc } = life
        for (let i = 0; i < 3; i++) {
          await proxy.down()
          await proxy.up()
          await new Promise((resolve) => setTimeout(resolve, 300))
        }
        await proxy.down()
        // Waits long enough for a heartbeat to fail.
        await new Promise((resolve) => setTimeout(resolve, 2_000))
        clock.move(3_000)
        expect(life.mayTakeOver).toBe(false)
        await proxy.up()
        await expect.poll(() => life.mayTakeOver, { timeout: patience(10_000), interval: 20 }).toBe(true)
        expect([life.phase, life.inc, calls]).toEqual(['serving', inc, [`serve ${inc}`]])
      },
      patience(60_000),
    )

    it(
      '[LIFE-27] when the database server refuses connections, a node suspends after 10 s and later serves again',
      async ({ onTestFinished, expect }) => {
        const { life, proxy, calls } = await startNode('refused', onTestFinished)
        await expect.poll(() => life.phase, { timeout: patience(10_000) }).toBe('serving')
        const { inc } = life
        await proxy.down()
        await expect.poll(() => life.phase, { timeout: patience(20_000) }).toBe('suspended')
        await proxy.up()
        await expect.poll(() => life.phase, { timeout: patience(10_000) }).toBe('serving')
        expect(calls).toEqual([`serve ${inc}`, 'refuse', 'suspend', `serve ${life.inc}`])
      },
      patience(60_000),
    )
  })
})
