import { at } from '../at.ts'
import type { Levels, Piece } from './levels.ts'

/**
 * Merges long edges that begin at the same place, or end at the same place, into one line (a trunk) for as long as they are neighbours in each layer.
 * Changes `levels.chains`, `levels.pieces` and `order`. [DIAG-15]
 */
export function bundle(levels: Levels, order: number[][]): void {
  for (let layer = 0; layer < order.length; layer++) joinNeighbours(levels, order, layer, -1)
  for (let layer = order.length - 1; layer >= 0; layer--) joinNeighbours(levels, order, layer, 1)
  rewritePieces(levels)
}

/** Joins neighbouring items of a layer that come from the same item (`towards` -1) or lead to the same item (1). */
function joinNeighbours(levels: Levels, order: number[][], layer: number, towards: 1 | -1): void {
  const items = at(order, layer)
  const kept: number[] = []
  for (const item of items) {
    const last = kept.at(-1)
    if (last !== undefined && mayJoin(levels, last, item, towards)) join(levels, last, item)
    else kept.push(item)
  }
  order[layer] = kept
}

function mayJoin(levels: Levels, a: number, b: number, towards: 1 | -1): boolean {
  if (levels.kind[a] === 'node' || levels.kind[a] !== levels.kind[b]) return false
  const [p, q] = [originOf(levels, a, towards), originOf(levels, b, towards)]
  if (p === null || p !== q) return false
  if (holdsLabel(levels, a) || holdsLabel(levels, b)) return false
  const known = new Set(at(levels.edgesOf, a).map((edge) => keyOf(levels, edge)))
  return at(levels.edgesOf, b).every((edge) => !known.has(keyOf(levels, edge)))
}

/** Whether the label of an edge will be about at this item: on a trunk it would not be clear which of the edges it names. [DIAG-12] */
function holdsLabel({ edgesOf, chains, part, back }: Levels, item: number): boolean {
  return at(edgesOf, item).some((edge) => {
    const { labelAcross, labelAt } = at(part.edges, edge)
    const chain = at(chains, edge)
    return (
      labelAcross > 0 && Math.abs(chain.indexOf(item) - (back[edge] === true ? 1 - labelAt : labelAt) * (chain.length - 1)) < 1.6
    )
  })
}

/** The item, or the side of a node, that all edges of an item come from or lead to; `null` when they differ. */
function originOf(levels: Levels, item: number, towards: 1 | -1): string | null {
  let origin: string | null = null
  for (const edge of at(levels.edgesOf, item)) {
    const chain = at(levels.chains, edge)
    const k = chain.indexOf(item)
    const next = chain[k + towards]
    const own = next === undefined ? `side ${at(levels.nodeOf, item)} ${k === 0}` : `${next}`
    // Edges that separate here may not join other edges on the far side.
    if (origin !== null && origin !== own) return null
    origin = own
  }
  if (levels.kind[item] === 'side' && !(origin ?? '').startsWith('side')) return null
  return origin
}

/** A key of the two nodes of an edge. Edges between the same two nodes are not joined. [DIAG-12] */
function keyOf({ part }: Levels, edge: number): string {
  const { from, to } = at(part.edges, edge)
  return from < to ? `${from} ${to}` : `${to} ${from}`
}

function join(levels: Levels, into: number, item: number): void {
  for (const edge of at(levels.edgesOf, item)) {
    const chain = at(levels.chains, edge)
    chain[chain.indexOf(item)] = into
    at(levels.edgesOf, into).push(edge)
  }
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
