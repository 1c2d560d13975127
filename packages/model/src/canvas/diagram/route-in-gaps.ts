import { anchorPoint, facingSides } from '../geometry/anchors.ts'
import { boundsAround, type Point } from '../geometry/bounds.ts'
import { simplified } from '../geometry/polyline.ts'
import { uprightBox } from '../geometry/shape-box.ts'
import { at } from './at.ts'
import { type CellPlace, type Cells, cellsOf, evenGaps, type GapSizes, placesOf } from './cells.ts'
import type { DiagramEdge, DiagramNode, Side } from './diagram.ts'
import type { Drawn, DrawnRoute } from './drawn.ts'
import type { Effort } from './effort.ts'
import { BEFORE, BEHIND, Gap, MIDDLE, placeOfLine, placeOfZone, type Stretch, type Zone } from './gap.ts'
import { loopsOf } from './route-edges.ts'

/** The least gap between columns and between rows, also where no edge passes. [DIAG-6] */
const LEAST = 88

/**
 * Draws a grid whose edges run through the gaps between rows and columns, each on lanes of its own; a gap is as wide as its lanes need. This costs very
 * little for each edge, because it does not search for the shortest route. [DIAG-14, DIAG-15, DIAG-17]
 */
export function drawInGaps(
  nodes: readonly DiagramNode[],
  edges: readonly DiagramEdge[],
  direction: 'TB' | 'LR',
  effort: Effort,
): Drawn {
  // In wider gaps an edge may take other sides of its nodes, and so need other gaps. The loop ends: gaps only grow, and no further than all edges need.
  let sizes = evenGaps(nodes.length, direction, LEAST, edges)
  for (;;) {
    const cells = cellsOf(nodes, edges, direction, sizes)
    const plan = new Plan(edges, cells, direction, effort)
    const needed = plan.settle()
    const wider = { across: widest(sizes.across, needed.across), down: widest(sizes.down, needed.down) }
    if (isSame(wider.across, sizes.across) && isSame(wider.down, sizes.down))
      return { centres: cells.centres, routes: routesOf(nodes, edges, cells, plan) }
    sizes = wider
  }
}

function widest(a: ArrayLike<number>, b: ArrayLike<number>): number[] {
  return Array.from(a, (size, i) => Math.max(size, at(b, i)))
}

function isSame(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  return Array.from(a).every((size, i) => size === at(b, i))
}

/** 0: the edge joins a left and a right side, across columns; 1: it joins a top and a bottom side, across rows. */
type Axis = 0 | 1

/** The end of an edge, which leads into a gap. Ends at the same anchor have the same name, and one stretch in common. */
interface End {
  readonly gap: number
  readonly zone: Zone
  /** The row of the node, or its column for an edge across rows. */
  readonly line: number
  readonly name: string
}

/** How an edge gets from the gap at its start to the gap at its end. */
type Way =
  | { readonly kind: 'straight' }
  /** Both ends lie in one gap, and the edge gets from the row of one to the row of the other on the stretch of `end`. */
  | { readonly kind: 'on'; readonly end: End }
  | { readonly kind: 'through'; readonly gap: number; readonly stretch: Stretch }

interface Planned {
  readonly axis: Axis
  readonly sides: { readonly start: Side; readonly end: Side }
  readonly from: End
  readonly to: End
  readonly way: Way
}

/** Decides which gaps each edge takes, and on which lanes. */
class Plan {
  readonly edges: readonly (Planned | null)[]
  readonly #gaps: readonly [readonly Gap[], readonly Gap[]]
  readonly #stretches = new Map<string, Stretch>()
  readonly #gapStarts: Cells['gapStarts']

  constructor(edges: readonly DiagramEdge[], { centres, places, gapStarts }: Cells, direction: 'TB' | 'LR', effort: Effort) {
    this.#gapStarts = gapStarts
    const { columns, rows } = placesOf(places.length, direction)
    const gaps = (lines: number) => Array.from({ length: lines + 1 }, () => new Gap())
    this.#gaps = [gaps(columns), gaps(rows)]
    const ends = edges.map(({ from, to }) => {
      if (from === to) return null
      const sides = facingSides(at(centres, from), at(centres, to))
      const axis: Axis = sides.start === 'left' || sides.start === 'right' ? 0 : 1
      return { axis, sides, ...endsOf(axis, at(places, from), at(places, to)) }
    })
    const used = new Set<string>()
    edges.forEach(({ from }, edge) => {
      const planned = at(ends, edge)
      if (planned !== null) for (const end of [planned.from, planned.to]) used.add(end.name)
      // A loop uses the right and the bottom anchor of its node. [DIAG-13]
      else for (const axis of [0, 1] as const) used.add(endOf(axis, at(places, from), 1).name)
    })
    const direct = new Set<string>()
    this.edges = ends.map((planned) => {
      if (planned === null) return null
      effort.spend(columns + rows)
      return { ...planned, way: this.#wayOf(planned, used, direct) }
    })
  }

  /** Gives every stretch its lane. Returns the width that each gap needs. */
  settle(): GapSizes {
    const [across, down] = this.#gaps.map((gaps) => gaps.map((gap) => gap.settle())) as [number[], number[]]
    return { across, down }
  }

  /** The corners of a planned edge between its end points `first` and `last`. */
  cornersOf({ axis, from, to, way }: Planned, first: Point, last: Point): readonly Point[] {
    const point = (along: number, across: number): Point => (axis === 0 ? { x: along, y: across } : { x: across, y: along })
    const heightOf = ({ x, y }: Point) => (axis === 0 ? y : x)
    const lineOf = (end: End) => this.#lineOf(axis, end.gap, end.zone, this.#stretches.get(end.name) as Stretch)
    switch (way.kind) {
      case 'straight':
        return []
      case 'on': {
        const line = lineOf(way.end)
        return [point(line, heightOf(first)), point(line, heightOf(last))]
      }
      case 'through': {
        const [start, end] = [lineOf(from), lineOf(to)]
        const height = this.#lineOf(other(axis), way.gap, MIDDLE, way.stretch)
        return [point(start, heightOf(first)), point(start, height), point(end, height), point(end, heightOf(last))]
      }
    }
  }

  #lineOf(axis: Axis, gap: number, zone: Zone, stretch: Stretch): number {
    const starts = axis === 0 ? this.#gapStarts.across : this.#gapStarts.down
    return at(starts, gap) + at(this.#gaps[axis], gap).offsetOf(zone, stretch)
  }

  #wayOf({ axis, from, to }: Omit<Planned, 'way'>, used: ReadonlySet<string>, direct: Set<string>): Way {
    const pair = from.name < to.name ? `${from.name} ${to.name}` : `${to.name} ${from.name}`
    // Of several edges between the same two anchors, only the first one can take the direct way. [DIAG-12]
    const isFirst = from.gap === to.gap && !direct.has(pair)
    if (isFirst && from.line === to.line) {
      direct.add(pair)
      return { kind: 'straight' }
    }
    for (const [end, facing] of [
      [from, to],
      [to, from],
    ] as const) {
      // This way crosses the gap in the row of the other end, over the anchor of the node that faces it. It is taken only when no edge uses that anchor.
      if (!isFirst || used.has(nameOf(axis, end.gap, end.zone, facing.line))) continue
      direct.add(pair)
      this.#reach(axis, end, placeOfLine(facing.line))
      return { kind: 'on', end }
    }
    const [low, high] = [placeOfZone(from.gap, from.zone), placeOfZone(to.gap, to.zone)].toSorted((a, b) => a - b) as [
      number,
      number,
    ]
    const gaps = this.#gaps[other(axis)]
    const own = this.#gaps[axis]
    /** The number of stretches that a way along a gap has beside it there, plus the number that it crosses. */
    const cost = (gap: number): number => {
      let sum = at(gaps, gap).loadBetween(low, high)
      for (let passed = Math.min(from.gap, to.gap); passed <= Math.max(from.gap, to.gap); passed++)
        sum += at(own, passed).passing(placeOfZone(gap, MIDDLE))
      for (const { gap: beside, zone, line } of [from, to]) {
        const [first, last] = gap <= line ? [gap + 1, line] : [line + 1, gap - 1]
        for (let passed = first; passed <= last; passed++) sum += at(gaps, passed).passing(placeOfZone(beside, zone))
      }
      return sum
    }
    const gap = leastOf(gapsBetween(from.line, to.line), cost)
    for (const end of [from, to]) this.#reach(axis, end, placeOfZone(gap, MIDDLE))
    return { kind: 'through', gap, stretch: at(gaps, gap).add(MIDDLE, low, high) }
  }

  /** Extends the stretch of an end to a position. */
  #reach(axis: Axis, { gap, zone, line, name }: End, place: number): void {
    const stretch = this.#stretches.get(name)
    if (stretch === undefined) {
      this.#stretches.set(name, at(this.#gaps[axis], gap).add(zone, placeOfLine(line), place))
      return
    }
    stretch.low = Math.min(stretch.low, place)
    stretch.high = Math.max(stretch.high, place)
  }
}

function routesOf(nodes: readonly DiagramNode[], edges: readonly DiagramEdge[], { centres }: Cells, plan: Plan): DrawnRoute[] {
  const loops = loopsOf(edges, nodes, centres)
  const anchor = (node: number, side: Side): Point => {
    const { width, height } = at(nodes, node)
    return anchorPoint(uprightBox(boundsAround(at(centres, node), width, height)), side)
  }
  return edges.map(({ from, to }, edge) => {
    const planned = at(plan.edges, edge)
    if (planned === null) return loops.get(edge) as DrawnRoute
    const { start, end } = planned.sides
    const [first, last] = [anchor(from, start), anchor(to, end)]
    const points = simplified([first, ...plan.cornersOf(planned, first, last), last])
    return { startAnchor: start, endAnchor: end, points }
  })
}

function endsOf(axis: Axis, from: CellPlace, to: CellPlace): { from: End; to: End } {
  const ahead = from[axis] < to[axis]
  return { from: endOf(axis, from, ahead ? 1 : -1), to: endOf(axis, to, ahead ? -1 : 1) }
}

/** The end at the side of a node that faces higher (1) or lower (-1) columns or rows. */
function endOf(axis: Axis, place: CellPlace, step: 1 | -1): End {
  const gap = place[axis] + (step === 1 ? 1 : 0)
  const zone = step === 1 ? BEFORE : BEHIND
  const line = place[other(axis)]
  return { gap, zone, line, name: nameOf(axis, gap, zone, line) }
}

function nameOf(axis: Axis, gap: number, zone: Zone, line: number): string {
  return `${axis} ${gap} ${zone} ${line}`
}

function other(axis: Axis): Axis {
  return axis === 0 ? 1 : 0
}

/** The gaps between two rows, the nearest to `from` first; for the same row, the gap after it and the gap before it. */
function gapsBetween(from: number, to: number): readonly number[] {
  if (from === to) return [from + 1, from]
  const count = Math.abs(from - to)
  return Array.from({ length: count }, (_, i) => (from < to ? from + 1 + i : from - i))
}

function leastOf(values: readonly number[], cost: (value: number) => number): number {
  let best = at(values, 0)
  let least = Number.POSITIVE_INFINITY
  for (const value of values) {
    const own = cost(value)
    if (own < least) [best, least] = [value, own]
  }
  return best
}
