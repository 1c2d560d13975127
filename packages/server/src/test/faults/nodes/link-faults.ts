import type { Cluster, ClusterNode } from './cluster.ts'
import { chosen, EVERYBODY_RECONNECTS, type NodesFault } from './nodes-fault.ts'
import { pause } from './requests.ts'

/** Faults of the network between nodes. Clients of other nodes may have to retry, because the owner of their document may be unreachable. */
export const LINK_FAULTS: Readonly<Record<string, NodesFault>> = {
  // Of two nodes the one with the higher incarnation closes its sockets; of three the one that is alone.
  'links-cut': {
    nodes: 2,
    share: 1,
    tailMs: 8_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ cluster, random }) {
      const alone = chosen(cluster, random)
      alone.links.cut()
      for (const other of othersOf(cluster, alone)) other.links.cut(alone.name)
      await pause(10_000)
      return healed(cluster)
    },
  },
  'links-silent-one-way': {
    nodes: 2,
    share: 1,
    tailMs: 8_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ cluster, random }) {
      const way = random() < 0.5 ? 'to-target' : 'from-target'
      const alone = chosen(cluster, random)
      alone.links.silence(way)
      for (const other of othersOf(cluster, alone)) other.links.silence(way, alone.name)
      await pause(10_000)
      return healed(cluster)
    },
  },
  'links-flicker': {
    nodes: 2,
    share: 1,
    tailMs: 5_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ cluster, random }) {
      for (let i = 0; i < 12; i++) {
        for (const { links } of cluster.nodes) links.reset()
        await pause(200 + 1_300 * random())
      }
      return healed(cluster)
    },
  },
  // Both nodes still reach the third one, so neither turns red. Their clients may have to retry.
  'links-of-two-cut': {
    nodes: 3,
    share: 2,
    tailMs: 8_000,
    bounds: EVERYBODY_RECONNECTS,
    async play({ cluster, random }) {
      const one = chosen(cluster, random)
      const other = chosen(cluster, random, [one])
      one.links.cut(other.name)
      other.links.cut(one.name)
      await pause(8_000)
      healed(cluster)
      return [one.name, other.name]
    },
  },
}

function othersOf({ nodes }: Cluster, one: ClusterNode): readonly ClusterNode[] {
  return nodes.filter((node) => node !== one)
}

function healed({ nodes }: Cluster): readonly string[] {
  for (const { links } of nodes) links.heal()
  return nodes.map(({ name }) => name)
}
