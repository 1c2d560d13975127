import { type Bounds, boundsOf, encloses, grown, holds, overlaps, type Point, unite } from '../geometry/bounds.ts'
import { type Segment, segmentsOf, simplified } from '../geometry/polyline.ts'
import { cross, passesThrough } from '../geometry/segment.ts'

/** A shape with a size as a certificate sees it. */
export interface CertifiedBox {
  readonly id: string
  readonly bounds: Bounds
  /** Whether its label needs more room than it has. */
  readonly overflows: boolean
}

/** A connector by all its points; an end that is attached to no box is `null`. */
export interface CertifiedLine {
  readonly points: readonly Point[]
  readonly startId: string | null
  readonly endId: string | null
}

/** What a drawing is like, counted on what is stored. [AG-108] */
export interface Certificate {
  /** Pairs of boxes that cover each other; a box on a frame is no such pair. */
  readonly overlaps: number
  /** Pairs of a connector and a box that it passes through and that it ends neither on nor in. */
  readonly throughNodes: number
  /** Places where connectors cross, counted for each pair. */
  readonly crossings: number
  /** Corners of all connectors. */
  readonly bends: number
  readonly labelOverflow: number
  readonly width: number
  readonly height: number
}

/** A connector as its crossings and corners are counted: a point on a straight stretch would hide a crossing there. */
export function withoutNeedlessPoints<L extends CertifiedLine>(line: L): L {
  return { ...line, points: simplified(line.points) }
}

/**
 * Counts on all boxes and connectors of a page. [AG-108]
 *
 * @param boxes back to front
 */
export function certificateOf(boxes: readonly CertifiedBox[], lines: readonly CertifiedLine[]): Certificate {
  const drawn = lines.map(withoutNeedlessPoints)
  let bounds: Bounds | null = null
  for (const box of boxes) bounds = unite(bounds, box.bounds)
  for (const { points } of drawn) bounds = unite(bounds, boundsOf(points))
  return {
    overlaps: countOf(overlapsOf(boxes)),
    throughNodes: countOf(throughNodesOf(boxes, drawn)),
    crossings: countOf(crossingsOf(drawn)),
    bends: drawn.reduce((sum, { points }) => sum + Math.max(0, points.length - 2), 0),
    labelOverflow: boxes.filter((box) => box.overflows).length,
    width: bounds === null ? 0 : bounds.right - bounds.left,
    height: bounds === null ? 0 : bounds.bottom - bounds.top,
  }
}

/** How many faults of one kind there are. */
function countOf(found: Iterable<unknown>): number {
  let count = 0
  for (const _ of found) count++
  return count
}

/**
 * The pairs of boxes that cover each other. A box that lies wholly on one behind it covers nothing: that one is a frame. [AG-108, AG-109]
 *
 * @param boxes back to front
 */
export function* overlapsOf(boxes: readonly CertifiedBox[]): Generator<readonly [CertifiedBox, CertifiedBox]> {
  const sorted = boxes.map((box, order) => ({ box, order })).sort((a, b) => a.box.bounds.left - b.box.bounds.left)
  for (const [i, one] of sorted.entries()) {
    for (let k = i + 1; k < sorted.length; k++) {
      const other = sorted[k] as (typeof sorted)[number]
      if (other.box.bounds.left >= one.box.bounds.right) break
      const [behind, before] = one.order < other.order ? [one.box, other.box] : [other.box, one.box]
      if (overlaps(behind.bounds, before.bounds) && !encloses(behind.bounds, before.bounds)) yield [behind, before]
    }
  }
}

/** Ends nearer than this to the edge of a box lie on the edge. */
const edge = 0.5

/**
 * The pairs of a connector and a box that it passes through. A box that one of its ends is attached to or lies in, such as a frame around a shape, is
 * none of them. [AG-108, AG-109]
 */
export function* throughNodesOf<L extends CertifiedLine>(
  boxes: readonly CertifiedBox[],
  lines: readonly L[],
): Generator<readonly [L, CertifiedBox]> {
  for (const line of lines) {
    const { points, startId, endId } = line
    const around = boundsOf(points)
    if (around === null) continue
    const segments = segmentsOf(points)
    const ends = [points[0], points.at(-1)]
    for (const box of boxes) {
      const { id, bounds } = box
      // A straight line has bounds without an inside, so touching counts here.
      const apart =
        bounds.left > around.right || bounds.right < around.left || bounds.top > around.bottom || bounds.bottom < around.top
      if (apart || id === startId || id === endId) continue
      if (!segments.some((segment) => isNear(segment, bounds) && passesThrough(...segment, bounds))) continue
      const inside = grown(bounds, -edge)
      if (!ends.some((end) => end !== undefined && holds(inside, end))) yield [line, box]
    }
  }
}

/** Whether a segment may pass through a box; says so of most pairs without a calculation. */
function isNear([a, b]: Segment, { left, top, right, bottom }: Bounds): boolean {
  return (a.x > left || b.x > left) && (a.x < right || b.x < right) && (a.y > top || b.y > top) && (a.y < bottom || b.y < bottom)
}

/** The pairs of connectors that cross, once for each place. [AG-108, AG-109] */
export function* crossingsOf<L extends CertifiedLine>(lines: readonly L[]): Generator<readonly [L, L]> {
  const segments = lines
    .flatMap((line) => segmentsOf(line.points).map((segment) => ({ segment, line, ...reachOf(segment) })))
    .sort((a, b) => a.left - b.left)
  for (const [i, one] of segments.entries()) {
    for (let k = i + 1; k < segments.length; k++) {
      const other = segments[k] as (typeof segments)[number]
      if (other.left > one.right) break
      if (other.line === one.line || other.top > one.bottom || other.bottom < one.top) continue
      if (cross(...one.segment, ...other.segment)) yield [one.line, other.line]
    }
  }
}

function reachOf([a, b]: Segment): Bounds {
  return { left: Math.min(a.x, b.x), top: Math.min(a.y, b.y), right: Math.max(a.x, b.x), bottom: Math.max(a.y, b.y) }
}
