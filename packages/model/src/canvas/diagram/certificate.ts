import { type Bounds, boundsOf, encloses, grown, holds, overlaps, type Point, unite } from '../geometry/bounds.ts'
import { type Segment, segmentsOf, simplified } from '../geometry/polyline.ts'
import { cross, passesThrough } from '../geometry/segment.ts'

/** The facts about a shape with a size that a certificate needs. */
export interface CertifiedBox {
  readonly id: string
  readonly bounds: Bounds
  /** Whether the label of the box needs more room than the box has. */
  readonly overflows: boolean
}

/** A connector by all its points; an end that is attached to no box is `null`. */
export interface CertifiedLine {
  readonly points: readonly Point[]
  readonly startId: string | null
  readonly endId: string | null
}

/** The quality of a drawing in numbers, counted on the stored shapes. [AG-108] */
export interface Certificate {
  /** Pairs of boxes that overlap. A box that lies wholly on a box behind it, its frame, does not count. */
  readonly overlaps: number
  /** Pairs of a connector and a box that it passes through. A box at which, or in which, the connector ends does not count. */
  readonly throughNodes: number
  /** Points at which two connectors cross, counted for each pair. */
  readonly crossings: number
  /** Corners of all connectors. */
  readonly bends: number
  readonly labelOverflow: number
  readonly width: number
  readonly height: number
}

/** Removes the points on straight stretches of a connector: a crossing exactly at such a point would not be counted. */
export function withoutNeedlessPoints<L extends CertifiedLine>(line: L): L {
  return { ...line, points: simplified(line.points) }
}

/** The counts for a part of a page, and the bounds of that part (`null` when it is empty); plain data. */
export interface Counts extends Omit<Certificate, 'width' | 'height'> {
  readonly bounds: Bounds | null
}

/**
 * Counts the faults of boxes and connectors. [AG-108]
 *
 * @param boxes from back to front
 */
export function countsOf(boxes: readonly CertifiedBox[], lines: readonly CertifiedLine[]): Counts {
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
    bounds,
  }
}

/** Adds the counts of two parts of a page. Returns `null` when the parts may touch: faults between them are in neither count. */
export function together(a: Counts, b: Counts): Counts | null {
  if (a.bounds !== null && b.bounds !== null && touch(a.bounds, b.bounds)) return null
  return {
    overlaps: a.overlaps + b.overlaps,
    throughNodes: a.throughNodes + b.throughNodes,
    crossings: a.crossings + b.crossings,
    bends: a.bends + b.bends,
    labelOverflow: a.labelOverflow + b.labelOverflow,
    bounds: unite(a.bounds, b.bounds),
  }
}

/** Makes the certificate that a caller sees, with a width and a height instead of bounds. [AG-108] */
export function certified({ bounds, ...counts }: Counts): Certificate {
  return {
    ...counts,
    width: bounds === null ? 0 : bounds.right - bounds.left,
    height: bounds === null ? 0 : bounds.bottom - bounds.top,
  }
}

function touch(a: Bounds, b: Bounds): boolean {
  return a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom
}

/** Counts the faults that a generator yields, without keeping them. */
function countOf(found: Iterable<unknown>): number {
  let count = 0
  for (const _ of found) count++
  return count
}

/**
 * Yields the pairs of boxes that overlap, the box behind first. A box that lies wholly on a box behind it does not count: the box behind is its frame.
 * [AG-108, AG-109]
 *
 * @param boxes from back to front
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

/** An end that lies at most this far inside the edge of a box counts as on the edge, not in the box. */
const edge = 0.5

/**
 * Yields the pairs of a connector and a box that it passes through. A box to which an end is attached does not count; nor does a box in which an end
 * lies, such as a frame around a shape. [AG-108, AG-109]
 */
export function* throughNodesOf<L extends CertifiedLine>(
  boxes: readonly CertifiedBox[],
  lines: readonly L[],
): Generator<readonly [L, CertifiedBox]> {
  const near = boxesBySide(boxes)
  for (const line of lines) {
    const { points, startId, endId } = line
    const met = new Set<number>()
    for (const segment of segmentsOf(points))
      for (const place of near(segment))
        if (!met.has(place) && passesThrough(...segment, (boxes[place] as CertifiedBox).bounds)) met.add(place)
    if (met.size === 0) continue
    const ends = [points[0], points.at(-1)]
    for (const place of [...met].sort((a, b) => a - b)) {
      const box = boxes[place] as CertifiedBox
      if (box.id === startId || box.id === endId) continue
      const inside = grown(box.bounds, -edge)
      if (!ends.some((end) => end !== undefined && holds(inside, end))) yield [line, box]
    }
  }
}

/** Makes the function that finds the indexes of the boxes that a segment may pass through, without looking at each box. */
function boxesBySide(boxes: readonly CertifiedBox[]): (segment: Segment) => readonly number[] {
  const sorted = boxes.map(({ bounds }, place) => ({ bounds, place })).sort((a, b) => a.bounds.left - b.bounds.left)
  // `reach[i]` is the rightmost side of the boxes 0 to i. A binary search skips the first boxes, which all end left of a segment.
  const reach: number[] = []
  for (const { bounds } of sorted) reach.push(Math.max(bounds.right, reach.at(-1) ?? bounds.right))
  return (segment) => {
    const [{ x: from }, { x: to }] = segment
    const [left, right] = from < to ? [from, to] : [to, from]
    const found: number[] = []
    for (let i = firstAbove(reach, left); i < sorted.length; i++) {
      const { bounds, place } = sorted[i] as (typeof sorted)[number]
      if (bounds.left >= right) break
      if (isNear(segment, bounds)) found.push(place)
    }
    return found
  }
}

/** The index of the first number above `limit`, in numbers in ascending order. */
function firstAbove(rising: readonly number[], limit: number): number {
  let [low, high] = [0, rising.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rising[middle] as number) > limit) high = middle
    else low = middle + 1
  }
  return low
}

/** Whether a segment may pass through a box. This quick check by comparisons rules out most pairs. */
function isNear([a, b]: Segment, { left, top, right, bottom }: Bounds): boolean {
  return (a.x > left || b.x > left) && (a.x < right || b.x < right) && (a.y > top || b.y > top) && (a.y < bottom || b.y < bottom)
}

/** Yields the pairs of connectors that cross, once for each point. [AG-108, AG-109] */
export function* crossingsOf<L extends CertifiedLine>(lines: readonly L[]): Generator<readonly [L, L]> {
  const segments = lines
    .flatMap((line) => segmentsOf(line.points).map((segment) => ({ segment, line, ...reachOf(segment) })))
    .sort((a, b) => a.left - b.left)
  const near = laterBeside(segments)
  for (const [i, one] of segments.entries())
    for (const k of near(i)) {
      const other = segments[k] as (typeof segments)[number]
      if (other.line === one.line || other.top > one.bottom || other.bottom < one.top) continue
      if (cross(...one.segment, ...other.segment)) yield [one.line, other.line]
    }
}

/**
 * A segment may be in at most this many bands on average. High segments reach through many bands; with more bands, memory and time would grow faster
 * than the number of segments.
 */
const MOST_BANDS_OF_ONE = 8

/**
 * Makes the function that finds, for each of the bounds in `sorted`, the later bounds that may touch it. `sorted` is in ascending order of left sides. The
 * page is cut into horizontal bands, so that only bounds of the same bands are looked at.
 */
function laterBeside(sorted: readonly Bounds[]): (place: number) => readonly number[] {
  const tops = sorted.map(({ top }) => top).sort((a, b) => a - b)
  const size = Math.ceil(Math.sqrt(sorted.length))
  /** Where each band but the first begins. */
  let starts = [...new Set(tops.filter((_, i) => i > 0 && i % size === 0))]
  const places = () => sorted.reduce((sum, { top, bottom }) => sum + 1 + firstAbove(starts, bottom) - firstAbove(starts, top), 0)
  while (starts.length > 0 && places() > MOST_BANDS_OF_ONE * sorted.length) starts = starts.filter((_, i) => i % 2 === 1)
  const bandOf = (y: number) => firstAbove(starts, y)
  const bands: number[][] = Array.from({ length: starts.length + 1 }, () => [])
  const first = sorted.map(({ top }) => bandOf(top))
  sorted.forEach(({ bottom }, place) => {
    const last = bandOf(bottom)
    for (let band = first[place] as number; band <= last; band++) bands[band]?.push(place)
  })
  return (place) => {
    const { right, bottom } = sorted[place] as Bounds
    const [from, to] = [first[place] as number, bandOf(bottom)]
    const found: number[] = []
    for (let band = from; band <= to; band++) {
      const own = bands[band] as number[]
      for (let i = firstAbove(own, place); i < own.length; i++) {
        const other = own[i] as number
        if ((sorted[other] as Bounds).left > right) break
        // Bounds that share several bands with this one are added only in the first of these bands.
        if (band === Math.max(from, first[other] as number)) found.push(other)
      }
    }
    return found.sort((a, b) => a - b)
  }
}

function reachOf([a, b]: Segment): Bounds {
  return { left: Math.min(a.x, b.x), top: Math.min(a.y, b.y), right: Math.max(a.x, b.x), bottom: Math.max(a.y, b.y) }
}
