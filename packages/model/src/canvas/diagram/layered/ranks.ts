import { at } from '../at.ts'
import type { Effort } from '../effort.ts'
import { addArc, type Arcs, leastSum, lowestPlaces, noArcs } from '../network-simplex.ts'
import type { PartEdge } from './part.ts'

/** Finds the layer of each node, from 0 on. Edges lead down by at least one layer, back edges up; the sum of their lengths is small. [DIAG-7] */
export function rankNodes(count: number, edges: readonly PartEdge[], back: readonly boolean[], effort: Effort): Int32Array {
  const arcs: Arcs = noArcs()
  const known = new Map<number, number>()
  edges.forEach(({ from, to }, i) => {
    const [tail, head] = back[i] === true ? [to, from] : [from, to]
    const key = tail * count + head
    const arc = known.get(key)
    if (arc !== undefined) {
      arcs.weight[arc] = at(arcs.weight, arc) + 1
      return
    }
    known.set(key, arcs.tail.length)
    addArc(arcs, tail, head, 1, 1)
  })
  const ranks = leastSum(count, arcs, lowestPlaces(count, arcs), effort)
  const lowest = ranks.reduce((low, rank) => Math.min(low, rank), Infinity)
  return ranks.map((rank) => rank - lowest)
}
