import { beforeEach, describe, expect, it } from 'vitest'
import { createMetrics } from '../kernel/metrics.ts'
import { silentLogger } from '../kernel/log.ts'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import { NodeLife } from './node-life.ts'
import { checkNode, observeNode } from './observe-node.ts'
import type { Beating, Heartbeat, NodeRegistry, Peer, Registration } from './registry.port.ts'

const OWN = { nodeId: 'a', linkUrl: 'ws://10.0.0.1:9879', program: '1' }
const peer = (inc: number, over: Partial<Peer> = {}): Peer => ({
  inc,
  nodeId: `n${inc}`,
  linkUrl: `ws://10.0.0.${inc}:9879`,
  program: '1',
  state: 'up',
  silentMs: 100,
  ...over,
})

let time: ManualTime
let database: FakeRegistry
let calls: string[]
let linked: number[]
let reachesItself: boolean | null

/** A registry whose database answers each heartbeat at once, unless a test says otherwise. Every pulse sends a heartbeat. */
class FakeRegistry implements NodeRegistry {
  inc = 10
  peers: Peer[] = []
  robbed = 0
  /** When true, heartbeats and registrations are not answered. */
  silent = false
  gone = false
  taken: string | null = null
  /** Answers arrive this long after their heartbeat was sent. */
  tookMs = 0
  readonly formers: (number | undefined)[] = []
  readonly left: number[] = []
  readonly drained: number[] = []
  #newest: Heartbeat | null = null

  async register(_node: unknown, former?: number): Promise<Registration> {
    this.formers.push(former)
    if (this.silent) throw new Error('the database does not answer')
    if (this.taken !== null) return { kind: 'taken', reason: this.taken }
    this.gone = false
    this.#newest = null
    return { kind: 'registered', inc: ++this.inc }
  }

  async pulse(inc: number, atMs: number): Promise<Beating> {
    if (this.gone || inc !== this.inc) return { kind: 'gone' }
    if (!this.silent) {
      const { peers, robbed } = this
      const answer = { atMs, inRow: (this.#newest?.inRow ?? 0) + 1, robbed, peers }
      if (this.tookMs === 0) this.#newest = answer
      else time.timers.after(this.tookMs, () => (this.#newest = answer))
    }
    return { kind: 'beating', newest: this.#newest }
  }

  async drain(inc: number): Promise<void> {
    this.drained.push(inc)
  }

  async leave(inc: number): Promise<void> {
    this.left.push(inc)
  }
}

beforeEach(() => {
  time = manualTime()
  database = new FakeRegistry()
  calls = []
  linked = []
  reachesItself = true
})

const newLife = (): NodeLife =>
  new NodeLife({
    registry: database,
    node: OWN,
    links: { peers: () => linked, reachesItself: () => reachesItself },
    clock: time.clock,
    timers: time.timers,
    log: silentLogger,
    callbacks: {
      onServe: (inc) => calls.push(`serve ${inc}`),
      onRefuse: () => calls.push('refuse'),
      onCutOff: () => calls.push('cut off'),
      onSuspend: () => calls.push('suspend'),
      onPeers: (peers) => calls.push(`peers ${peers.map(({ inc }) => inc).join(' ')}`),
      onRobbed: () => calls.push('robbed'),
      onLost: ({ message }) => calls.push(`lost: ${message}`),
    },
  })

/** Starts a node and waits until it serves. Afterwards `calls` is empty. */
async function serving(): Promise<NodeLife> {
  const life = newLife()
  await life.start()
  await time.advance(3_000)
  calls = []
  return life
}

/** The callbacks that were called, without `onPeers`, which comes with each heartbeat. */
const changes = (): readonly string[] => calls.filter((call) => !call.startsWith('peers'))

describe('the start of a node', () => {
  it('[LIFE-26] a node serves from its first answered heartbeat on, and takes over no document before the third', async () => {
    const life = newLife()
    await life.start()
    expect([life.phase, life.inc, checkNode(life).ok]).toEqual(['joining', 11, false])
    await time.advance(0)
    expect([life.phase, life.mayTakeOver, checkNode(life)]).toEqual(['serving', false, { ok: true }])
    expect(calls).toEqual(['serve 11', 'peers '])
    await time.advance(1_000)
    expect(life.mayTakeOver).toBe(true)
  })

  it('[CFG-10] a node whose node_id is taken does not start', async () => {
    database.taken = 'somebody lives there'
    await expect(newLife().start()).rejects.toThrow('somebody lives there')
    expect(time.waiting()).toBe(0)
  })
})

describe('a node whose database is silent', () => {
  it('[LIFE-27] a node whose database is silent refuses after 4 s, and gives up its documents 10 s after it sent the last heartbeat that was answered', async () => {
    const life = await serving()
    database.silent = true
    await time.advance(2_500)
    expect([life.phase, life.mayTakeOver]).toEqual(['serving', false])
    await time.advance(1_000)
    expect([changes(), life.phase]).toEqual([[], 'serving'])
    await time.advance(1_000)
    expect([changes(), life.phase, life.mayTakeOver, checkNode(life).ok]).toEqual([['refuse'], 'refusing', false, false])
    await time.advance(5_000)
    expect(changes()).toEqual(['refuse'])
    await time.advance(1_000)
    expect([changes(), life.phase, life.inc, checkNode(life).ok]).toEqual([['refuse', 'suspend'], 'suspended', null, false])
  })

  it('[LIFE-27] a node whose database answers again within 10 s goes on serving under the same incarnation', async () => {
    const life = await serving()
    database.silent = true
    await time.advance(8_000)
    database.silent = false
    await time.advance(500)
    expect([changes(), life.phase, life.inc]).toEqual([['refuse', 'serve 11'], 'serving', 11])
  })

  it('[LIFE-27] a node whose database answers again after more than 10 s registers a new incarnation, which replaces the former one', async () => {
    const life = await serving()
    database.silent = true
    await time.advance(60_000)
    expect(changes()).toEqual(['refuse', 'suspend'])
    database.silent = false
    await time.advance(1_500)
    expect([changes(), life.inc]).toEqual([['refuse', 'suspend', 'serve 12'], 12])
    expect(new Set(database.formers.slice(1))).toEqual(new Set([11]))
  })

  it('[LIFE-27] an answer that took 9 s lets a node serve for one more second', async () => {
    await serving()
    database.tookMs = 9_000
    await time.advance(500)
    database.silent = true
    await time.advance(9_000)
    expect(changes()).toEqual(['refuse', 'serve 11'])
    await time.advance(1_500)
    expect(changes()).toEqual(['refuse', 'serve 11', 'suspend'])
  })

  it('[LIFE-27] a process that was paused gives up its documents before anything else', async () => {
    const life = await serving()
    database.silent = true
    await time.advance(0)
    // As after SIGCONT: the clock has moved, and no timer has run.
    time.pause(30_000)
    database.silent = false
    await time.advance(0)
    expect(changes()[0]).toBe('suspend')
    await time.advance(1_000)
    expect([life.phase, life.inc]).toEqual(['serving', 12])
  })
})

describe('the row of a node in the registry', () => {
  it('[LIFE-26] a node whose row is gone gives up its documents and registers again', async () => {
    const life = await serving()
    database.gone = true
    await time.advance(1_000)
    expect([changes(), life.inc]).toEqual([['suspend', 'serve 12'], 12])
  })

  it('[CFG-10] a node ends when another process lives under its node_id', async () => {
    const life = await serving()
    database.gone = true
    database.taken = 'another process has this node_id'
    await time.advance(1_000)
    expect([changes(), life.phase, checkNode(life).ok]).toEqual([
      ['suspend', 'lost: another process has this node_id'],
      'ended',
      false,
    ])
    expect(time.waiting()).toBe(0)
  })

  it('[LIFE-26] a node is notified once each time a heartbeat shows that others took documents from it', async () => {
    await serving()
    database.robbed = 2
    await time.advance(2_000)
    expect(changes()).toEqual(['robbed'])
    database.robbed = 3
    await time.advance(2_000)
    expect(changes()).toEqual(['robbed', 'robbed'])
  })

  it('[LIFE-28] a node that drains tells the others, and removes its row at the end', async () => {
    const life = await serving()
    await life.drain()
    expect([database.drained, life.state]).toEqual([[11], 'draining'])
    await life[Symbol.asyncDispose]()
    expect([database.left, life.phase, time.waiting()]).toEqual([[11], 'ended', 0])
  })

  it('[LIFE-28] a node that ends while it is suspended removes the row of its former incarnation', async () => {
    const life = await serving()
    database.silent = true
    await time.advance(20_000)
    const ended = life[Symbol.asyncDispose]()
    await time.advance(10_000)
    await ended
    expect([database.left, time.waiting()]).toEqual([[11], 0])
  })

  it('[LIFE-28] a node that has to register again while it drains tells the others again that it drains', async () => {
    const life = await serving()
    await life.drain()
    database.gone = true
    await time.advance(1_000)
    expect([changes(), database.drained, life.state]).toEqual([['suspend', 'serve 12'], [11, 12], 'draining'])
  })
})

describe('the links of a node', () => {
  it('[OPS-2] the younger of two nodes is cut off 5 s after their link broke, and serves when it is up again', async () => {
    database.peers = [peer(3)]
    linked = [3]
    const life = await serving()
    linked = []
    await time.advance(4_500)
    expect([changes(), checkNode(life).ok]).toEqual([[], true])
    await time.advance(1_500)
    expect([changes(), life.phase, checkNode(life)]).toEqual([
      ['cut off'],
      'cut-off',
      { ok: false, detail: 'too few of the other nodes are linked' },
    ])
    expect(life.mayTakeOver).toBe(false)
    linked = [3]
    await time.advance(500)
    expect([changes(), life.inc]).toEqual([['cut off', 'serve 11'], 11])
  })

  it('[OPS-2] the older of two nodes goes on without their link', async () => {
    database.peers = [peer(99)]
    await serving()
    await time.advance(20_000)
    expect(changes()).toEqual([])
  })

  it('[OPS-2] a node whose peer was killed goes on, because the peer is silent before the 5 s are over', async () => {
    database.peers = [peer(3)]
    linked = [3]
    await serving()
    linked = []
    await time.advance(2_500)
    database.peers = [peer(3, { silentMs: 3_100 })]
    await time.advance(20_000)
    expect(changes()).toEqual([])
  })

  it('[OPS-2] a node that cannot reach its own link_url is not ready, and the detail names no address', async () => {
    const life = await serving()
    reachesItself = false
    expect(checkNode(life)).toEqual({ ok: false, detail: 'the node cannot reach its own link_url' })
    reachesItself = null
    expect(checkNode(life)).toEqual({ ok: true })
  })
})

it('[OPS-4] the metrics count nodes by state, including the node itself, and show the age of its heartbeat', async () => {
  database.peers = [peer(1), peer(2, { state: 'draining' }), peer(3, { silentMs: 4_000 })]
  linked = [1, 2, 3]
  const life = await serving()
  // Advances to the next heartbeat.
  await time.advance(50)
  const metrics = createMetrics({ version: '1', commit: 'c' })
  observeNode(metrics, life)
  const shown = async () =>
    [...(await metrics.render()).text.matchAll(/^relay_(?:cluster_nodes|lease_age).*$/gm)].map(([line]) => line)
  expect(await shown()).toEqual([
    'relay_cluster_nodes{state="up"} 2',
    'relay_cluster_nodes{state="draining"} 1',
    'relay_cluster_nodes{state="silent"} 1',
    'relay_lease_age_seconds 0',
  ])
  database.silent = true
  await time.advance(12_000)
  expect(await shown()).toEqual([
    'relay_cluster_nodes{state="up"} 0',
    'relay_cluster_nodes{state="draining"} 0',
    'relay_cluster_nodes{state="silent"} 0',
    'relay_lease_age_seconds 12',
  ])
})

describe('facts that a node knows about other nodes', () => {
  it('[LIFE-25] a node never counts a heartbeat of another node as newer than it is', async () => {
    database.peers = [peer(2, { silentMs: 700 }), peer(3)]
    const life = await serving()
    // The last pulse was at this moment or up to 500 ms earlier.
    const nowMs = time.clock.monotonicMs()
    expect([life.hasBeatSince(2, nowMs - 1_200), life.hasBeatSince(2, nowMs - 699)]).toEqual([true, false])
    expect([life.hasBeatSince(4, 0), newLife().hasBeatSince(2, 0)]).toEqual([false, false])
  })

  it('[LIFE-28] a node knows which other nodes are ending', async () => {
    database.peers = [peer(2), peer(3, { state: 'draining' })]
    const life = await serving()
    expect([2, 3, 4].map((inc) => life.isDraining(inc))).toEqual([false, true, false])
  })
})
