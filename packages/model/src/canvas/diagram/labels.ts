import { type Bounds, boundsAround, boundsOf, grown, holds, overlaps, type Point } from '../geometry/bounds.ts'
import { alongPolyline, type Segment, segmentsOf } from '../geometry/polyline.ts'
import { passesThrough } from '../geometry/segment.ts'
import { at } from './at.ts'
import type { DiagramEdge } from './diagram.ts'
import type { Effort } from './effort.ts'

/** What labels should not cover. */
export interface LabelGround {
  readonly boxes: readonly Bounds[]
  /** By edge its points. */
  readonly routes: readonly (readonly Point[])[]
}

/**
 * Where on its way the label of each edge is; `null` is the middle. Edges between the same two nodes have fixed places in turn, which a label only
 * leaves when it would lie on a box or another label. The label of an edge that is alone between its nodes starts in the middle and goes to the place
 * of its way where it covers least. [DIAG-12, DIAG-18]
 */
export function labelPositions(edges: readonly DiagramEdge[], ground: LabelGround, effort: Effort): readonly (number | null)[] {
  const wished = wishedPositions(edges)
  const counts = new Map<string, number>()
  for (const edge of edges) counts.set(pairOf(edge), (counts.get(pairOf(edge)) ?? 0) + 1)
  const isAlone = (edge: number) => counts.get(pairOf(at(edges, edge))) === 1
  const placed: (Bounds | null)[] = edges.map(() => null)
  const rooms = ground.routes.map((points) => grown(boundsOf(points) as Bounds, 1))
  return edges.map(({ label }, edge) => {
    if (label === null) return at(wished, edge)
    const route = at(ground.routes, edge)
    const boxAt = (share: number) => boundsAround(alongPolyline(route, share), label.width, label.height)
    const corners = route.slice(1, -1)
    const ends = [at(route, 0), at(route, route.length - 1)].map((end) => boundsAround(end, ARROW, ARROW))
    const room = grown(at(rooms, edge), Math.max(label.width, label.height))
    let best = at(wished, edge)
    if (!effort.spend(ground.boxes.length + rooms.length)) return best
    const near = nearbyOf(edge, room, { ...ground, rooms }, placed)
    let least = coveredBy(boxAt(best ?? 0.5), near, { ends, corners })
    const enough = isAlone(edge) ? 0 : HIDDEN - 1
    for (const share of SHARES) {
      if (least <= enough || !effort.spend(near.lines.length + near.boxes.length + near.labels.length)) break
      const covered = coveredBy(boxAt(share), near, { ends, corners })
      if (covered < least) [best, least] = [share === 0.5 ? null : share, covered]
    }
    placed[edge] = boxAt(best ?? 0.5)
    return best
  })
}

/** What a label costs that lies on a box or on another label; more than all the lines near it. */
const HIDDEN = 1_000

/** How far the arrow at an end of a line reaches. */
const ARROW = 24

/** Places of labels that have the choice, the better ones first. */
const SHARES = [0.5, 0.35, 0.65, 0.25, 0.75, 0.42, 0.58, 0.3, 0.7, 0.2, 0.8, 0.15, 0.85]
const TURNS: readonly (number | null)[] = [null, 0.35, 0.65, 0.25, 0.75]

function wishedPositions(edges: readonly DiagramEdge[]): readonly (number | null)[] {
  const seen = new Map<string, number>()
  return edges.map((edge) => {
    const key = pairOf(edge)
    const turn = seen.get(key) ?? 0
    seen.set(key, turn + 1)
    return TURNS[turn % TURNS.length] ?? null
  })
}

/** The two nodes of an edge, whatever its direction. */
function pairOf({ from, to }: DiagramEdge): string {
  return from < to ? `${from} ${to}` : `${to} ${from}`
}

interface Nearby {
  readonly boxes: readonly Bounds[]
  readonly labels: readonly Bounds[]
  readonly lines: readonly Segment[]
}

function nearbyOf(
  edge: number,
  room: Bounds,
  { boxes, routes, rooms }: LabelGround & { readonly rooms: readonly Bounds[] },
  placed: readonly (Bounds | null)[],
): Nearby {
  const isNear = (box: Bounds | null): box is Bounds => box !== null && overlaps(box, room)
  return {
    boxes: boxes.filter(isNear),
    labels: placed.filter(isNear),
    lines: routes.flatMap((points, other) => (other !== edge && isNear(at(rooms, other)) ? segmentsOf(points) : [])),
  }
}

/** A label on a box or on another one cannot be read, one on a line can, though it looks like that line's; one on an arrow hides where the line leads, which is worse than two lines. */
function coveredBy(
  label: Bounds,
  { boxes, labels, lines }: Nearby,
  own: { readonly ends: readonly Bounds[]; readonly corners: readonly Point[] },
): number {
  const hidden = [...boxes, ...labels].filter((box) => overlaps(box, label)).length
  const crossed = lines.filter(([a, b]) => passesThrough(a, b, label)).length
  const arrows = own.ends.filter((end) => overlaps(end, label)).length
  return HIDDEN * hidden + 4 * crossed + 9 * arrows + own.corners.filter((corner) => holds(label, corner)).length
}
