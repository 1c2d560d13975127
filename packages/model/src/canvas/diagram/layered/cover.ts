import { type Bounds, boundsAround, boundsOf, grown, overlaps, type Point } from '../../geometry/bounds.ts'
import { alongPolyline, segmentsOf } from '../../geometry/polyline.ts'
import { at } from '../at.ts'
import type { Effort } from '../effort.ts'
import type { Part } from './part.ts'

/** The cost of a label on a node or on another label, where the label cannot be read. A label on a line can be read, and costs 1. */
const HIDDEN = 20

/** Returns the cost of everything that the labels of a part cover. */
export function costOfLabels(
  { boxes, edges }: Part,
  centres: readonly Point[],
  routes: readonly (readonly Point[])[],
  effort: Effort,
): number {
  const nodes = boxes.map(({ halfWidth, halfHeight }, node) => boundsAround(at(centres, node), 2 * halfWidth, 2 * halfHeight))
  const lines = routes.map((points) => ({
    room: boundsOf(points) as Bounds,
    pieces: segmentsOf(points).map((piece) => grown(boundsOf(piece) as Bounds, 1)),
  }))
  const labels: Bounds[] = []
  let cost = 0
  edges.forEach(({ labelAcross, labelAlong, labelAt }, edge) => {
    if (labelAcross === 0) return
    const label = boundsAround(alongPolyline(at(routes, edge), labelAt), labelAcross, labelAlong)
    const covers = (box: Bounds) => overlaps(box, label)
    effort.spend(nodes.length + lines.length + labels.length)
    cost += HIDDEN * (nodes.filter(covers).length + labels.filter(covers).length)
    const around = grown(label, 1)
    lines.forEach(({ room, pieces }, other) => {
      if (other !== edge && overlaps(grown(room, 1), around) && pieces.some(covers)) cost++
    })
    labels.push(label)
  })
  return cost
}
