import { at } from '../at.ts'
import type { Effort } from '../effort.ts'
import type { Levels, Piece } from './levels.ts'

/**
 * Merges long edges that begin at the same place, or end at the same place, into one line (a trunk) for as long as they are neighbours in each layer.
 * Changes `levels.chains`, `levels.pieces` and `order`. [DIAG-15]
 */
export function bundle(levels: Levels, order: number[][], effort: Effort): void {
  for (let layer = 0; layer < order.length; layer++) joinNeighbours(levels, order, layer, -1, effort)
  for (let layer = order.length - 1; layer >= 0; layer--) joinNeighbours(levels, order, layer, 1, effort)
  rewritePieces(levels)
}

/** Joins neighbouring items of a layer that come from the same item (`towards` -1) or lead to the same item (1). */
function joinNeighbours(levels: Levels, order: number[][], layer: number, towards: 1 | -1, effort: Effort): void {
  const kept: number[] = []
  let last: Trunk | null = null
  for (const item of at(order, layer)) {
    effort.spend(1 + at(levels.edgesOf, item).length)
    const own = trunkOf(levels, item, towards)
    if (last !== null && own !== null && mayJoin(last, own)) join(levels, last, own)
    else {
      kept.push(item)
      last = own
    }
  }
  order[layer] = kept
}

/** An item that other items may join, with the facts that decide whether they may. `kind` and `origin` stay the same when an item joins. */
interface Trunk {
  readonly item: number
  readonly kind: 'way' | 'side'
  readonly origin: string
  /** For each edge of the trunk, a key of the two nodes. Edges between the same two nodes are not joined. [DIAG-12] */
  readonly ends: Set<number>
}

/** Returns `null` when nothing may join this item. */
function trunkOf(levels: Levels, item: number, towards: 1 | -1): Trunk | null {
  const kind = at(levels.kind, item)
  if (kind === 'node' || holdsLabel(levels, item)) return null
  const origin = originOf(levels, item, towards)
  if (origin === null) return null
  return { item, kind, origin, ends: new Set(at(levels.edgesOf, item).map((edge) => keyOf(levels, edge))) }
}

function mayJoin(a: Trunk, b: Trunk): boolean {
  return a.kind === b.kind && a.origin === b.origin && [...b.ends].every((key) => !a.ends.has(key))
}

/** Whether the label of an edge will lie near this item. On a trunk, nobody could tell which of its edges the label belongs to. [DIAG-12] */
function holdsLabel(levels: Levels, item: number): boolean {
  const { edgesOf, chains, part, back } = levels
  return at(edgesOf, item).some((edge) => {
    const { labelAcross, labelAt } = at(part.edges, edge)
    const chain = at(chains, edge)
    return (
      labelAcross > 0 &&
      Math.abs(placeIn(levels, chain, item) - (back[edge] === true ? 1 - labelAt : labelAt) * (chain.length - 1)) < 1.6
    )
  })
}

/** The item, or the side of a node, that all edges of an item come from or lead to; `null` when they differ. */
function originOf(levels: Levels, item: number, towards: 1 | -1): string | null {
  let origin: string | null = null
  for (const edge of at(levels.edgesOf, item)) {
    const chain = at(levels.chains, edge)
    const k = placeIn(levels, chain, item)
    const next = chain[k + towards]
    const own = next === undefined ? `side ${at(levels.nodeOf, item)} ${k === 0}` : `${next}`
    // The edges of this item separate here, so it joins no other item.
    if (origin !== null && origin !== own) return null
    origin = own
  }
  if (levels.kind[item] === 'side' && !(origin ?? '').startsWith('side')) return null
  return origin
}

/** The index of an item in the chain of an edge, which has one item in each layer. */
function placeIn({ layerOf }: Levels, chain: readonly number[], item: number): number {
  return at(layerOf, item) - at(layerOf, at(chain, 0))
}

function keyOf({ part }: Levels, edge: number): number {
  const { from, to } = at(part.edges, edge)
  return Math.min(from, to) * part.boxes.length + Math.max(from, to)
}

function join(levels: Levels, into: Trunk, { item, ends }: Trunk): void {
  for (const edge of at(levels.edgesOf, item)) {
    const chain = at(levels.chains, edge)
    chain[placeIn(levels, chain, item)] = into.item
    at(levels.edgesOf, into.item).push(edge)
  }
  for (const key of ends) into.ends.add(key)
  levels.edgesOf[item] = []
}

function rewritePieces(levels: Levels): void {
  const known = new Map<string, Piece>()
  levels.pieces.length = 0
  levels.chains.forEach((chain, edge) => {
    for (let k = 1; k < chain.length; k++) {
      const [upper, lower] = [at(chain, k - 1), at(chain, k)]
      const shared = levels.kind[upper] !== 'node' || levels.kind[lower] !== 'node'
      const piece = shared ? known.get(`${upper} ${lower}`) : undefined
      if (piece !== undefined) {
        piece.edges.push(edge)
        continue
      }
      const own: Piece = { upper, lower, edges: [edge] }
      known.set(`${upper} ${lower}`, own)
      levels.pieces.push(own)
    }
  })
}
