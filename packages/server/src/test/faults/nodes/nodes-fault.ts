import type { Cluster, ClusterNode } from './cluster.ts'
import type { LoadName } from './nodes-load.ts'
import type { Recorder } from './recorder.ts'

/** The parts of a run that a fault uses. */
export interface Scene {
  readonly cluster: Cluster
  readonly recorder: Recorder
  readonly random: () => number
}

/** A kind of fault, and what people may notice of the fault. [LIFE-25, LIFE-26, LIFE-27] */
export interface NodesFault {
  /** The fewest nodes that the fault needs. */
  readonly nodes: 2 | 3
  readonly ownPostgres?: true
  /** The load during the fault; `usual` when absent. */
  readonly load?: LoadName
  /** Environment variables of all nodes. */
  readonly env?: Readonly<Record<string, string>>
  /** The nodes start with an earlier program, which the run names. */
  readonly startsFormer?: true
  /** How often the fault comes in each round of drawn faults. 0: only when it is named. */
  readonly share: 0 | 1 | 2
  /** How long the load continues after the end of the fault, in ms. */
  readonly tailMs: number
  readonly bounds: Bounds
  /** Plays the fault. Resolves at its end with the names of the nodes whose clients may notice it. */
  play(scene: Scene): Promise<readonly string[]>
}

/** The most that clients may notice. Closes and pauses count only at nodes that the fault did not hit. `null`: not bounded. */
export interface Bounds {
  readonly closes: 0 | null
  readonly pauseMs: number | null
  readonly reconnectP99Ms: number | null
  /** Longest time until all clients get the event of a new document. */
  readonly eventsMs: number | null
}

export const EVERYBODY_RECONNECTS: Bounds = { closes: null, pauseMs: null, reconnectP99Ms: null, eventsMs: null }
export const UNNOTICED: Bounds = { ...EVERYBODY_RECONNECTS, closes: 0, pauseMs: 5_000 }

/** Returns the node that owns the document; the first node when none does. */
export async function ownerOf({ nodes, audit }: Cluster, document: string): Promise<ClusterNode> {
  const name = await audit.ownerOf(document)
  return nodes.find((node) => node.name === name) ?? (nodes[0] as ClusterNode)
}

export function chosen({ nodes }: Cluster, random: () => number, except: readonly ClusterNode[] = []): ClusterNode {
  const left = nodes.filter((node) => !except.includes(node))
  return left[Math.floor(random() * left.length)] as ClusterNode
}
