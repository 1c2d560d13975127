import { until } from '../../relay-under-test.ts'
import type { ClusterNode } from './cluster.ts'
import { chosen, EVERYBODY_RECONNECTS, type NodesFault, ownerOf, UNNOTICED } from './nodes-fault.ts'
import { liveDocument, quietDocument } from './nodes-load.ts'
import { pause } from './requests.ts'

const HELD_WITHIN_MS = 10_000

/** Faults of a whole process: it is killed, frozen, or stopped and started again. */
export const NODE_FAULTS: Readonly<Record<string, NodesFault>> = {
  'kill-owner': {
    nodes: 3,
    share: 2,
    tailMs: 6_000,
    bounds: UNNOTICED,
    async play({ cluster, random }) {
      const owner = await ownerOf(cluster, liveDocument(0))
      await owner.kill()
      await pause(4_000 + 4_000 * random())
      await owner.start()
      return [owner.name]
    },
  },
  'kill-edge': {
    nodes: 3,
    share: 2,
    tailMs: 4_000,
    bounds: UNNOTICED,
    async play({ cluster, random }) {
      const owner = await ownerOf(cluster, liveDocument(0))
      const edge = chosen(cluster, random, [owner])
      await edge.kill()
      await pause(4_000 + 4_000 * random())
      await edge.start()
      return [edge.name]
    },
  },
  'freeze-owner': freezing({ seconds: () => 30 }),
  // Shorter than the time after which a node gives its documents up by itself, so only the fence keeps it from writing.
  'freeze-briefly': { ...freezing({ seconds: (random) => 4.5 + 3 * random() }), share: 2 },
  // Nobody else writes, so the log ends where the frozen node believes, and only the epoch refuses its appends.
  'freeze-briefly-alone': { ...freezing({ seconds: (random) => 4.5 + 3 * random() }), share: 0, load: 'writers alone' },
  'freeze-in-commit': freezing({ seconds: () => 30, isInCommit: true }),
  'freeze-briefly-in-commit': { ...freezing({ seconds: (random) => 4.5 + 3 * random(), isInCommit: true }), share: 2 },
  // The short form for `npm test`: the links break, the owner is frozen, and the other node is killed.
  'one-after-another': {
    nodes: 2,
    share: 0,
    tailMs: 3_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ cluster }) {
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
  'rolling-restart-of-sixty': { ...rolling((nodes) => nodes), share: 0, load: 'sixty typists' },
  'rolling-restart-of-sixty-backwards': { ...rolling((nodes) => nodes.toReversed()), share: 0, load: 'sixty typists' },
  // Each node is stopped with the earlier program and started with the present one, so both run beside each other.
  'rolling-upgrade': { ...rolling((nodes) => nodes), share: 0, startsFormer: true },
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
    share: 1,
    tailMs: 8_000,
    bounds: UNNOTICED,
    async play({ cluster, random }) {
      // The only writer of this document keeps typing into the socket of the frozen node.
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

function rolling(inOrder: (nodes: readonly ClusterNode[]) => readonly ClusterNode[]): NodesFault {
  return {
    nodes: 3,
    share: 1,
    tailMs: 5_000,
    bounds: { ...EVERYBODY_RECONNECTS, reconnectP99Ms: 2_000 },
    async play({ cluster: { nodes } }) {
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
