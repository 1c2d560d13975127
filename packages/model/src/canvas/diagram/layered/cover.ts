import { type Bounds, boundsAround, boundsOf, grown, overlaps, type Point } from '../../geometry/bounds.ts'
import { alongPolyline, segmentsOf } from '../../geometry/polyline.ts'
import { at } from '../at.ts'
import type { Effort } from '../effort.ts'
import type { Part } from './part.ts'

/** What a label costs that lies on a node or on another label: it cannot be read. One on a line can. */
const HIDDEN = 20

/** What the labels of a part cover, as a cost. */
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
