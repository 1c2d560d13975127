import { afterAll, beforeAll, describe, it, type TestContext } from 'vitest'
import { patience } from '../kernel/testing/patience.ts'
import { type Heartbeat, type NodeRegistry, type Peer, SILENT_MS } from './registry.port.ts'

/** A store that several processes share. */
export interface OpenNodeStore extends AsyncDisposable {
  /** Opens the registry of another process. `kill` ends that process as kill -9 does: its row stays. */
  process(): Promise<{ readonly nodes: NodeRegistry; kill(): Promise<void> }>
  /** Lets another node take a document from this incarnation. */
  rob(inc: number): Promise<void>
  /** Ends the lease of this incarnation. */
  endLease(inc: number): Promise<void>
}

const PULSE_MS = 200
/** The time limit of a test that waits until a node is silent. */
const SILENCE_TEST_MS = patience(30_000)

/**
 * Registers the contract of every driver of `NodeRegistry`. The tests mostly wait, so they run concurrently, each with its own
 * nodes.
 */
export function describeNodeRegistryContract(name: string, open: () => Promise<OpenNodeStore>): void {
  describe.concurrent(`NodeRegistry: ${name}`, () => {
    let store: OpenNodeStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    let names = 0
    const another = () => ({ nodeId: `node-${++names}`, linkUrl: `ws://10.0.0.${names}:9879`, program: '1.2.3' })

    /** Starts a process with a registered node, whose main thread pulses until `hang`. */
    async function startNode({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, node = another()) {
      const { nodes, kill } = await store.process()
      const registered = await nodes.register(node)
      if (registered.kind === 'taken') {
        await kill()
        throw new Error(registered.reason)
      }
      const { inc } = registered
      let atMs = 0
      const pulse = () => nodes.pulse(inc, ++atMs)
      const pulsing = setInterval(() => void pulse(), PULSE_MS)
      void pulse()
      const hang = () => clearInterval(pulsing)
      const newest = async (): Promise<Heartbeat | null> => {
        const beating = await pulse()
        return beating.kind === 'gone' ? null : beating.newest
      }
      const stop = async () => {
        hang()
        await kill()
      }
      onTestFinished(stop)
      const peers = async (): Promise<readonly Peer[]> => (await newest())?.peers ?? []
      const peer = async (other: number) => (await peers()).find((one) => one.inc === other)
      return { node, nodes, inc, pulse, newest, peers, peer, hang, stop, atMs: () => atMs }
    }
    const soon = { timeout: patience(12_000), interval: 50 }

    it('[LIFE-26] each registration gets a new incarnation, also after all nodes have left', async (test) => {
      const { expect } = test
      const { nodes } = await startNode(test)
      const given: number[] = []
      for (let i = 0; i < 3; i++) {
        const registered = await nodes.register(another())
        if (registered.kind === 'taken') throw new Error(registered.reason)
        given.push(registered.inc)
        await nodes.leave(registered.inc)
      }
      expect([...given].sort((a, b) => a - b)).toEqual(given)
      expect(new Set(given).size).toBe(3)
    })

    it('[LIFE-26] heartbeats tell a node which other nodes there are, their state, and which have left', async (test) => {
      const { expect } = test
      const [a, b] = [await startNode(test), await startNode(test)]
      await expect.poll(() => a.peer(b.inc), soon).toMatchObject({ ...b.node, state: 'up' })
      expect(await a.peer(a.inc)).toBeUndefined()
      expect(await b.peer(a.inc)).toMatchObject(a.node)
      await b.nodes.drain(b.inc)
      await expect.poll(async () => (await a.peer(b.inc))?.state, soon).toBe('draining')
      await b.nodes.leave(b.inc)
      await expect.poll(() => a.peer(b.inc), soon).toBeUndefined()
      expect(await b.pulse()).toEqual({ kind: 'gone' })
    })

    it(
      '[LIFE-26] heartbeats go on while the main thread pulses, and end 2 s after its last pulse',
      async (test) => {
        const { expect } = test
        const [a, b] = [await startNode(test), await startNode(test)]
        await expect.poll(() => a.peer(b.inc), soon).toBeDefined()
        let [heartbeats, silentMs] = [0, 0]
        const look = async (): Promise<number> => {
          const now = (await a.peer(b.inc))?.silentMs ?? Number.NaN
          if (now < silentMs) heartbeats++
          silentMs = now
          return heartbeats
        }
        await expect.poll(look, { timeout: 15_000, interval: 100 }).toBeGreaterThan(1)
        b.hang()
        await expect
          .poll(async () => (await a.peer(b.inc))?.silentMs, { timeout: 15_000, interval: 100 })
          .toBeGreaterThan(SILENT_MS)
        // A pulse after the pause: the main thread runs again.
        await b.pulse()
        await expect.poll(async () => (await a.peer(b.inc))?.silentMs, soon).toBeLessThan(SILENT_MS)
      },
      SILENCE_TEST_MS,
    )

    it('[LIFE-26] a node whose lease is over is no peer until its next heartbeat', async (test) => {
      const { expect } = test
      const [a, b] = [await startNode(test), await startNode(test)]
      await expect.poll(() => a.peer(b.inc), soon).toBeDefined()
      b.hang()
      await expect
        .poll(async () => {
          await store.endLease(b.inc)
          return a.peer(b.inc)
        }, soon)
        .toBeUndefined()
      await expect
        .poll(async () => {
          await b.pulse()
          return a.peer(b.inc)
        }, soon)
        .toBeDefined()
    })

    it('[LIFE-27] a heartbeat tells after which pulse it was sent, and how many in a row were answered', async (test) => {
      const { expect } = test
      const a = await startNode(test)
      await expect.poll(async () => (await a.newest())?.inRow, soon).toBe(2)
      const newest = await a.newest()
      expect(newest?.atMs).toBeGreaterThan(0)
      expect(newest?.atMs).toBeLessThanOrEqual(a.atMs())
      await expect.poll(async () => (await a.newest())?.inRow, soon).toBe(3)
      expect((await a.newest())?.atMs).toBeGreaterThan(newest?.atMs ?? 0)
    })

    it(
      '[LIFE-26] a silence of the main thread restarts the count of heartbeats answered in a row',
      async (test) => {
        const { expect } = test
        const a = await startNode(test)
        await expect.poll(async () => (await a.newest())?.inRow, soon).toBeGreaterThanOrEqual(2)
        a.hang()
        await new Promise((resolve) => setTimeout(resolve, 4_000))
        await a.pulse()
        await expect.poll(async () => (await a.newest())?.inRow, soon).toBe(1)
      },
      SILENCE_TEST_MS,
    )

    it('[LIFE-26] a heartbeat tells how often others have taken documents from the node', async (test) => {
      const { expect } = test
      const a = await startNode(test)
      await expect.poll(async () => (await a.newest())?.robbed, soon).toBe(0)
      await store.rob(a.inc)
      await store.rob(a.inc)
      await expect.poll(async () => (await a.newest())?.robbed, soon).toBe(2)
    })

    it(
      '[CFG-10] a process with the same node_id is refused while the first has heartbeats, and replaces it after its end',
      async (test) => {
        const { expect } = test
        const first = await startNode(test)
        await expect(startNode(test, first.node)).rejects.toThrow(`node_id "${first.node.nodeId}" is running`)
        expect(await first.pulse()).toMatchObject({ kind: 'beating' })
        await first.stop()
        const second = await startNode(test, first.node)
        expect(second.inc).toBeGreaterThan(first.inc)
        const witness = await startNode(test)
        await expect.poll(() => witness.peer(second.inc), soon).toBeDefined()
        expect(await witness.peer(first.inc)).toBeUndefined()
      },
      SILENCE_TEST_MS,
    )

    it(
      '[CFG-10] [LIFE-26] a process that hung while another took its node_id learns that its own row is gone',
      async (test) => {
        const { expect } = test
        const first = await startNode(test)
        await expect.poll(() => first.newest(), soon).not.toBeNull()
        first.hang()
        // Heartbeats end 2 s after the last pulse.
        await new Promise((resolve) => setTimeout(resolve, 2_500))
        const second = await startNode(test, first.node)
        await expect.poll(() => first.pulse(), soon).toEqual({ kind: 'gone' })
        expect(await second.pulse()).toMatchObject({ kind: 'beating' })
      },
      SILENCE_TEST_MS,
    )

    it('[LIFE-27] a process replaces its own earlier incarnation at once', async (test) => {
      const { expect } = test
      const a = await startNode(test)
      const startedMs = performance.now()
      const registered = await a.nodes.register(a.node, a.inc)
      expect(performance.now() - startedMs).toBeLessThan(SILENT_MS)
      if (registered.kind === 'taken') throw new Error(registered.reason)
      expect(registered.inc).toBeGreaterThan(a.inc)
      expect(await a.pulse()).toEqual({ kind: 'gone' })
      expect(await a.nodes.pulse(registered.inc, 1)).toMatchObject({ kind: 'beating' })
      await a.nodes.leave(registered.inc)
    })

    it('[CFG-10] one of two processes that start with the same node_id at once is refused', async (test) => {
      const { expect } = test
      const node = another()
      const both = await Promise.allSettled([startNode(test, node), startNode(test, node)])
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })
  })
}
