import { at } from '../at.ts'
import type { Part } from './part.ts'

/**
 * The layers of a part with the items in them. An item is a `node`; a `way`, where a long edge passes through a layer; or a `side`, the place right of
 * a node where an edge that leads back turns up or down.
 */
export interface Levels {
  readonly part: Part
  readonly back: readonly boolean[]
  readonly kind: ('node' | 'way' | 'side')[]
  readonly layerOf: number[]
  /** The node of a `node` or `side`; -1 for a `way`. */
  readonly nodeOf: number[]
  /** The edges of a `way` or `side`; several when they are bundled. */
  readonly edgesOf: number[][]
  readonly layers: number[][]
  /** The pieces of edges between one layer and the next. */
  readonly pieces: Piece[]
  /** By item, half the room that labels near the item need; 0 for a node. */
  readonly labelHalf: number[]
  /** By edge, its items from the upper layer to the lower one. */
  readonly chains: number[][]
}

/** The piece of one edge, or of a bundle of edges, from an item to an item in the layer below. */
export interface Piece {
  upper: number
  lower: number
  readonly edges: number[]
}

export function levelsOf(part: Part, back: readonly boolean[], ranks: Int32Array): Levels {
  const count = part.boxes.length
  const levels: Levels = {
    part,
    back,
    kind: part.boxes.map(() => 'node'),
    layerOf: Array.from(ranks),
    nodeOf: part.boxes.map((_, i) => i),
    edgesOf: part.boxes.map(() => []),
    layers: Array.from({ length: ranks.reduce((most, rank) => Math.max(most, rank), 0) + 1 }, () => []),
    pieces: [],
    labelHalf: [],
    chains: [],
  }
  for (let v = 0; v < count; v++) at(levels.layers, at(ranks, v)).push(v)
  part.edges.forEach(({ from, to }, edge) => {
    const isBack = back[edge] === true
    const [top, bottom] = isBack ? [to, from] : [from, to]
    const chain = [isBack ? addItem(levels, 'side', at(ranks, top), top, edge) : top]
    for (let layer = at(ranks, top) + 1; layer < at(ranks, bottom); layer++) chain.push(addItem(levels, 'way', layer, -1, edge))
    chain.push(isBack ? addItem(levels, 'side', at(ranks, bottom), bottom, edge) : bottom)
    for (let k = 1; k < chain.length; k++) levels.pieces.push({ upper: at(chain, k - 1), lower: at(chain, k), edges: [edge] })
    levels.chains.push(chain)
  })
  return levels
}

/** Sets `labelHalf` where labels will lie: at the items halfway along the edges that pass layers. */
export function makeRoomForLabels(levels: Levels): void {
  levels.kind.forEach((_, item) => (levels.labelHalf[item] = 0))
  levels.chains.forEach((chain, edge) => {
    const { labelAcross } = at(levels.part.edges, edge)
    const middle = (chain.length - 1) / 2
    for (const item of [at(chain, Math.floor(middle)), at(chain, Math.ceil(middle))])
      if (levels.kind[item] !== 'node') levels.labelHalf[item] = Math.max(at(levels.labelHalf, item), labelAcross / 2)
  })
}

function addItem(levels: Levels, kind: 'way' | 'side', layer: number, node: number, edge: number): number {
  const item = levels.kind.length
  levels.kind.push(kind)
  levels.layerOf.push(layer)
  levels.nodeOf.push(node)
  levels.edgesOf.push([edge])
  at(levels.layers, layer).push(item)
  return item
}
