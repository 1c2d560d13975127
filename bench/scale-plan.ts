import type { Load } from './generator.ts'

/** A load that stays the same on one node and on four. */
interface Shape extends Pick<Load, 'clientsPerDoc'> {
  readonly docs: number
  /**
   * Whether the relays apply their default rates. Then every edit takes a token from a bucket that the nodes share in Redis. Without rates, for a
   * load above the default rate of a workspace, no edit costs Redis anything.
   */
  readonly hasRates: boolean
  /** Edits per second of each client that edits. */
  readonly rate: number
  /** How many clients of a document edit; all when absent. */
  readonly editorsPerDoc?: number
}

export type ShapeName = 'many' | 'hot' | 'readers'

export const SHAPES: Readonly<Record<ShapeName, Shape>> = {
  many: { docs: 400, clientsPerDoc: 5, rate: 1, hasRates: true },
  hot: { docs: 8, clientsPerDoc: 25, rate: 8, hasRates: false },
  readers: { docs: 1, clientsPerDoc: 1_000, editorsPerDoc: 4, rate: 2, hasRates: true },
}

/**
 * How clients choose their node. `random`: each client any node. `sticky`: all clients of a document the same node. `even`: the clients of a document
 * one node after the other. `alone`: the only relay, which has `single_node = true` and is no node, on the same database.
 */
type Spread = 'alone' | 'random' | 'sticky' | 'even'

export interface Run {
  readonly name: string
  readonly shape: ShapeName
  readonly nodes: number
  readonly spread: Spread
}

/** The runs of one round. With a single node, all clients of a document are at that node. */
export const RUNS: readonly Run[] = [
  ...(['many', 'hot'] as const).flatMap((shape): Run[] => [
    { name: `${shape}-1-alone`, shape, nodes: 1, spread: 'alone' },
    { name: `${shape}-1`, shape, nodes: 1, spread: 'sticky' },
    { name: `${shape}-2-random`, shape, nodes: 2, spread: 'random' },
    { name: `${shape}-2-sticky`, shape, nodes: 2, spread: 'sticky' },
    { name: `${shape}-4-random`, shape, nodes: 4, spread: 'random' },
    { name: `${shape}-4-sticky`, shape, nodes: 4, spread: 'sticky' },
  ]),
  { name: 'readers-1', shape: 'readers', nodes: 1, spread: 'even' },
  { name: 'readers-4', shape: 'readers', nodes: 4, spread: 'even' },
]

/** Returns the node of each client, by document. The nodes are the same in each round. */
export function placesOf({ shape, nodes, spread }: Run): readonly (readonly number[])[] {
  const { docs, clientsPerDoc } = SHAPES[shape]
  const random = numbers(docs * nodes)
  const nodeOf = (doc: number, client: number): number => {
    switch (spread) {
      case 'random':
        return Math.floor(random() * nodes)
      case 'even':
        return client % nodes
      case 'sticky':
      case 'alone':
        return doc % nodes
    }
  }
  return Array.from({ length: docs }, (_, doc) => Array.from({ length: clientsPerDoc }, (_, client) => nodeOf(doc, client)))
}

/**
 * Returns the share of the editing clients whose edits go to another node than their own. The first client of a document makes
 * its node the owner.
 */
export function forwardedShare(places: readonly (readonly number[])[], editorsPerDoc = Number.POSITIVE_INFINITY): number {
  let [edits, forwarded] = [0, 0]
  for (const [owner, ...others] of places.map((at) => at.slice(0, editorsPerDoc))) {
    edits += 1 + others.length
    forwarded += others.filter((node) => node !== owner).length
  }
  return forwarded / edits
}

/** How many documents each node owns. */
export function ownedBy(places: readonly (readonly number[])[], nodes: number): readonly number[] {
  return Array.from({ length: nodes }, (_, node) => places.filter(([owner]) => owner === node).length)
}

/** Returns a generator of numbers from 0 to 1; the same seed gives the same numbers. */
function numbers(seed: number): () => number {
  let state = seed
  return () => (state = (state * 48_271 + 11) % 2_147_483_647) / 2_147_483_647
}
