import { connect } from 'node:net'
import type { Cluster, ClusterNode } from './cluster.ts'
import { liveDocument, quietDocument } from './nodes-load.ts'
import { pause } from './requests.ts'
import { until } from '../../relay-under-test.ts'

/** A kind of fault, and what people may notice of it. [LIFE-25, LIFE-26, LIFE-27] */
export interface NodesFault {
  readonly nodes: 2 | 3
  readonly ownPostgres?: true
  /** The load: all of it, or only people of whom each is the only writer of a document. */
  readonly load?: 'writers alone'
  /** How long the load goes on after the fault has ended. */
  readonly tailMs: number
  readonly bounds: Bounds
  /** Resolves when the fault has ended, with the names of the nodes whose clients may notice it. */
  play(cluster: Cluster, random: () => number): Promise<readonly string[]>
}

/** What clients of nodes that the fault did not hit may notice at most. `null`: not bounded. */
interface Bounds {
  readonly closes: 0 | null
  readonly pauseMs: number | null
  readonly reconnectP99Ms: number | null
}

const UNNOTICED: Bounds = { closes: 0, pauseMs: 5_000, reconnectP99Ms: null }
const EVERYBODY_RECONNECTS: Bounds = { closes: null, pauseMs: null, reconnectP99Ms: null }
const HELD_WITHIN_MS = 10_000

export const NODES_FAULTS: Readonly<Record<string, NodesFault>> = {
  'kill-owner': {
    nodes: 3,
    tailMs: 6_000,
    bounds: UNNOTICED,
    async play(cluster, random) {
      const owner = await ownerOf(cluster, liveDocument(0))
      await owner.kill()
      await pause(4_000 + 4_000 * random())
      await owner.start()
      return [owner.name]
    },
  },
  'kill-edge': {
    nodes: 3,
    tailMs: 4_000,
    bounds: UNNOTICED,
    async play(cluster, random) {
      const owner = await ownerOf(cluster, liveDocument(0))
      const edge = chosen(cluster, random, [owner])
      await edge.kill()
      await pause(4_000 + 4_000 * random())
      await edge.start()
      return [edge.name]
    },
  },
  'freeze-owner': freezing({ seconds: () => 30 }),
  // Shorter than the time after which a node gives its documents up by itself: only the fence keeps it from writing.
  'freeze-briefly': freezing({ seconds: (random) => 4.5 + 3 * random() }),
  // Nobody else writes, so the log ends where the frozen node believes it to end, and only the epoch refuses its appends.
  'freeze-briefly-alone': { ...freezing({ seconds: (random) => 4.5 + 3 * random() }), load: 'writers alone' },
  'freeze-in-commit': freezing({ seconds: () => 30, isInCommit: true }),
  'freeze-briefly-in-commit': freezing({ seconds: (random) => 4.5 + 3 * random(), isInCommit: true }),
  'database-silent-5': databaseSilent(5),
  'database-silent-20': databaseSilent(20),
  'database-silent-60': databaseSilent(60),
  'database-resets': {
    nodes: 2,
    tailMs: 6_000,
    bounds: { ...UNNOTICED, pauseMs: null },
    async play(cluster, random) {
      const node = chosen(cluster, random)
      for (let i = 0; i < 40; i++) {
        node.database.reset()
        await pause(50 + 300 * random())
      }
      return [node.name]
    },
  },
  'database-cut-in-answer': {
    nodes: 2,
    tailMs: 5_000,
    bounds: { ...UNNOTICED, pauseMs: null },
    async play(cluster, random) {
      const node = chosen(cluster, random)
      for (let bytes = 1; bytes <= 40; bytes++) {
        node.database.cutAnswerAfter(bytes)
        await pause(150 + 200 * random())
      }
      return [node.name]
    },
  },
  'database-restarts': {
    nodes: 3,
    ownPostgres: true,
    tailMs: 12_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ nodes, postgres }) {
      await postgres?.restartImmediately()
      return nodes.map(({ name }) => name)
    },
  },
  'bus-stops': {
    nodes: 2,
    tailMs: 4_000,
    bounds: UNNOTICED,
    async play({ redis }) {
      await redis.kill('SIGKILL')
      await pause(8_000)
      await redis.restart()
      return []
    },
  },
  'bus-hangs': {
    nodes: 2,
    tailMs: 4_000,
    bounds: UNNOTICED,
    async play({ redis }) {
      await redis.kill('SIGSTOP')
      await pause(10_000)
      await redis.kill('SIGCONT')
      return []
    },
  },
  'bus-slow': {
    nodes: 2,
    tailMs: 4_000,
    bounds: UNNOTICED,
    async play({ nodes }) {
      for (const { bus } of nodes) bus.delay(10_000)
      await pause(12_000)
      for (const { bus } of nodes) bus.heal()
      return []
    },
  },
  'bus-flushed': {
    nodes: 2,
    tailMs: 4_000,
    bounds: UNNOTICED,
    async play({ redisUrl }, random) {
      for (let i = 0; i < 20; i++) {
        await redisCommand(redisUrl, ['FLUSHALL'])
        await pause(100 + 300 * random())
      }
      return []
    },
  },
  'bus-garbage': {
    nodes: 2,
    tailMs: 4_000,
    bounds: UNNOTICED,
    async play({ redisUrl }, random) {
      const garbage = ['', '{', 'null', '{"id":-1}', '[[[[', 'x'.repeat(100_000), '{"kind":"deleted","id":"live-0"}']
      for (let i = 0; i < 60; i++) {
        const text = garbage[Math.floor(random() * garbage.length)] as string
        for (const channel of ['h:{default}', 'h:default', 'mcp:x', 'b:{default}:write']) {
          await redisCommand(redisUrl, ['PUBLISH', channel, text])
          await redisCommand(redisUrl, ['SET', channel, text])
        }
        await pause(100)
      }
      return []
    },
  },
  'links-cut': {
    nodes: 2,
    tailMs: 8_000,
    // Of two nodes one gives its sockets up, which is the higher incarnation.
    bounds: EVERYBODY_RECONNECTS,
    async play({ nodes }) {
      for (const { links } of nodes) links.cut()
      await pause(10_000)
      for (const { links } of nodes) links.heal()
      return nodes.map(({ name }) => name)
    },
  },
  'links-silent-one-way': {
    nodes: 2,
    tailMs: 8_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ nodes }, random) {
      const way = random() < 0.5 ? 'to-target' : 'from-target'
      for (const { links } of nodes) links.silence(way)
      await pause(10_000)
      for (const { links } of nodes) links.heal()
      return nodes.map(({ name }) => name)
    },
  },
  'links-flicker': {
    nodes: 2,
    tailMs: 5_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ nodes }, random) {
      for (let i = 0; i < 12; i++) {
        for (const { links } of nodes) links.reset()
        await pause(200 + 1_300 * random())
      }
      return nodes.map(({ name }) => name)
    },
  },
  // Both still see the third, and so is neither red; clients of the two may have to try again.
  'links-of-two-cut': {
    nodes: 3,
    tailMs: 8_000,
    bounds: EVERYBODY_RECONNECTS,
    async play(cluster, random) {
      const one = chosen(cluster, random)
      const other = chosen(cluster, random, [one])
      one.links.cut(other.name)
      other.links.cut(one.name)
      await pause(8_000)
      one.links.heal()
      other.links.heal()
      return [one.name, other.name]
    },
  },
  // The short form for `npm test`: the links break, the owner sleeps, and the other one is killed.
  'one-after-another': {
    nodes: 2,
    tailMs: 3_000,
    bounds: EVERYBODY_RECONNECTS,
    async play(cluster) {
      const owner = await ownerOf(cluster, liveDocument(0))
      const [edge] = cluster.nodes.filter((node) => node !== owner)
      for (const { links } of cluster.nodes) links.reset()
      await pause(1_500)
      owner.freeze()
      await pause(5_000)
      owner.thaw()
      await pause(3_000)
      await edge?.kill()
      await pause(1_000)
      await edge?.start()
      return cluster.nodes.map(({ name }) => name)
    },
  },
  'rolling-restart': rolling((nodes) => nodes),
  'rolling-restart-backwards': rolling((nodes) => nodes.toReversed()),
}

function freezing({
  seconds,
  isInCommit = false,
}: {
  readonly seconds: (random: () => number) => number
  readonly isInCommit?: boolean
}): NodesFault {
  return {
    nodes: 2,
    tailMs: 8_000,
    bounds: UNNOTICED,
    async play(cluster, random) {
      // The only writer of this document goes on typing into the socket of the frozen node.
      const owner = await ownerOf(cluster, quietDocument((cluster.nodes[0] as ClusterNode).name))
      if (isInCommit) {
        owner.commits.hold()
        await until('a commit to be held', () => cluster.audit.isWithinTransaction(owner.database.localPorts), HELD_WITHIN_MS)
      }
      owner.freeze()
      owner.commits.release()
      await pause(1_000 * seconds(random))
      owner.thaw()
      return [owner.name]
    },
  }
}

function databaseSilent(seconds: number): NodesFault {
  return {
    nodes: 2,
    tailMs: 10_000,
    bounds: { ...UNNOTICED, pauseMs: 20_000 },
    async play(cluster) {
      const owner = await ownerOf(cluster, liveDocument(0))
      owner.database.silence('both')
      await pause(1_000 * seconds)
      owner.database.heal()
      return [owner.name]
    },
  }
}

function rolling(inOrder: (nodes: readonly ClusterNode[]) => readonly ClusterNode[]): NodesFault {
  return {
    nodes: 3,
    tailMs: 5_000,
    bounds: { closes: null, pauseMs: null, reconnectP99Ms: 2_000 },
    async play({ nodes }) {
      for (const node of inOrder(nodes)) {
        const code = await node.stop()
        if (code !== 0) throw new Error(`node ${node.name} ended with ${code} after SIGTERM`)
        await node.start()
        await pause(1_500)
      }
      return nodes.map(({ name }) => name)
    },
  }
}

/** The node that owns the document; the first one when nobody does. */
async function ownerOf({ nodes, audit }: Cluster, document: string): Promise<ClusterNode> {
  const name = await audit.ownerOf(document)
  return nodes.find((node) => node.name === name) ?? (nodes[0] as ClusterNode)
}

function chosen({ nodes }: Cluster, random: () => number, except: readonly ClusterNode[] = []): ClusterNode {
  const left = nodes.filter((node) => !except.includes(node))
  return left[Math.floor(random() * left.length)] as ClusterNode
}

/** One command, whatever the answer. */
async function redisCommand(url: string, words: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await new Promise<void>((resolve) => {
    socket.once('data', () => resolve())
    socket.once('error', () => resolve())
    socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`)
  })
  socket.destroy()
}
