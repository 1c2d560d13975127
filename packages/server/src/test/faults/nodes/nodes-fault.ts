import type { Cluster, ClusterNode } from './cluster.ts'
import type { LoadName } from './nodes-load.ts'
import type { Recorder } from './recorder.ts'

/** What a fault works with. */
export interface Scene {
  readonly cluster: Cluster
  readonly recorder: Recorder
  readonly random: () => number
}

/** A kind of fault, and what people may notice of it. [LIFE-25, LIFE-26, LIFE-27] */
export interface NodesFault {
  /** The fewest nodes with which it can be played. */
  readonly nodes: 2 | 3
  readonly ownPostgres?: true
  /** `usual` when absent. */
  readonly load?: LoadName
  /** Variables of all nodes. */
  readonly env?: Readonly<Record<string, string>>
  /** The nodes run an earlier program at first, which the run names. */
  readonly startsFormer?: true
  /** How often the fault comes in each round of drawn faults; 0: it is played only when it is named. */
  readonly share: 0 | 1 | 2
  /** How long the load goes on after the fault has ended. */
  readonly tailMs: number
  readonly bounds: Bounds
  /** Resolves when the fault has ended, with the names of the nodes whose clients may notice it. */
  play(scene: Scene): Promise<readonly string[]>
}

/** What clients may notice at most; closes and pauses count only at nodes that the fault did not hit. `null`: not bounded. */
export interface Bounds {
  readonly closes: 0 | null
  readonly pauseMs: number | null
  readonly reconnectP99Ms: number | null
  /** Until all clients are told of a new document. */
  readonly eventsMs: number | null
}

export const EVERYBODY_RECONNECTS: Bounds = { closes: null, pauseMs: null, reconnectP99Ms: null, eventsMs: null }
export const UNNOTICED: Bounds = { ...EVERYBODY_RECONNECTS, closes: 0, pauseMs: 5_000 }

/** The node that owns the document; the first one when nobody does. */
export async function ownerOf({ nodes, audit }: Cluster, document: string): Promise<ClusterNode> {
  const name = await audit.ownerOf(document)
  return nodes.find((node) => node.name === name) ?? (nodes[0] as ClusterNode)
}

export function chosen({ nodes }: Cluster, random: () => number, except: readonly ClusterNode[] = []): ClusterNode {
  const left = nodes.filter((node) => !except.includes(node))
  return left[Math.floor(random() * left.length)] as ClusterNode
}
