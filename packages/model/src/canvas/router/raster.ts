import { type Bounds, grown, type Point } from '../geometry/bounds.ts'
import { type Care, type RouteEnd, type RouteRequest, stubOf, type TakenRoute } from './care.ts'

/** The most points of a raster by default. Above this number, the raster leaves out lanes, and then lines that are near other lines. */
const MAX_POINTS = 160_000
/** The most lanes beside each obstacle. */
const maxLanes = 5

/** This many of the cheapest operations count as one step. */
const TOUCHED_IN_STEP = 8

/** The obstacles, routes and ends around the routes that a raster is for. */
export interface Surroundings {
  readonly obstacles: readonly Bounds[]
  readonly requests: readonly RouteRequest[]
  readonly taken: readonly TakenRoute[]
  /** Ends of routes that are still to come; their stubs are kept free. */
  readonly reserved?: readonly RouteEnd[]
  /** Routes stay within these bounds, in which all ends must lie. `null`: routes may go anywhere. */
  readonly within?: Bounds | null
  readonly maxPoints?: number
}

/**
 * The memory of a search, by state; each point of a raster has twelve states. It is kept between searches and between rasters, because making and clearing
 * it costs more than most searches.
 */
export class Scratch {
  best = new Float64Array(0)
  cameFrom = new Int32Array(0)

  reach(states: number): void {
    if (this.best.length >= states) return
    this.best = new Float64Array(states).fill(Number.POSITIVE_INFINITY)
    this.cameFrom = new Int32Array(states)
  }
}

/** A route, or the stub of one that is still to come, that runs along pieces of the raster. */
interface Owner {
  readonly startAnchor: string
  readonly endAnchor: string
}

/** Who uses a piece of the raster, as seen from one route: nobody, routes at its start or end anchor, routes between its two anchors (`either`), others. */
export type Claim = 'free' | 'start' | 'end' | 'either' | 'others'

const none: readonly number[] = []

/**
 * The lines along which routes may run: beside every obstacle, at the ends, and on lanes next to those. Points are numbered row by row; a piece is
 * the way from a point to the next one right of it or below it, and has the number of that point.
 */
export class Raster {
  readonly xs: readonly number[]
  readonly ys: readonly number[]
  readonly scratch: Scratch
  private readonly care: Care
  private readonly spend: (steps: number) => boolean
  /** 1: an obstacle is in the way; 2: another route is too near. */
  private readonly acrossBlocked: Uint8Array
  private readonly downBlocked: Uint8Array
  private readonly acrossOwners = new Map<number, number[]>()
  private readonly downOwners = new Map<number, number[]>()
  private readonly owners: Owner[] = []
  /** The pieces within labels. A piece that leads right is stored as twice its number; a piece that leads down, as one more. */
  private readonly labelled = new Set<number>()

  constructor(
    { obstacles, requests, taken, reserved = [], within = null, maxPoints = MAX_POINTS }: Surroundings,
    care: Care,
    scratch: Scratch = new Scratch(),
    spend: (steps: number) => boolean = () => true,
  ) {
    this.care = care
    this.spend = spend
    const ends = [...requests.flatMap(({ from, to }) => [from, to]), ...reserved]
    const { xs, ys } = linesOf(obstacles, requests, taken, care, within, maxPoints)
    ;[this.xs, this.ys] = [xs, ys]
    this.scratch = scratch
    scratch.reach(12 * xs.length * ys.length)
    this.work(xs.length * ys.length + 200 * (obstacles.length + taken.length + ends.length))
    this.acrossBlocked = new Uint8Array(xs.length * ys.length)
    this.downBlocked = new Uint8Array(xs.length * ys.length)
    for (const box of obstacles) this.block(box)
    for (const route of taken) this.take(route)
    const begun = new Set<string>()
    for (const end of ends) {
      if (end.direction === null || begun.has(end.anchor)) continue
      begun.add(end.anchor)
      this.take({ points: [end.point, stubOf(end, care)], startAnchor: end.anchor, endAnchor: end.anchor })
    }
  }

  private work(touched: number): void {
    this.spend(Math.ceil(touched / TOUCHED_IN_STEP))
  }

  get width(): number {
    return this.xs.length
  }

  /** The number of the point at a place, which must be on two of the lines. */
  pointAt({ x, y }: Point): number {
    return firstFrom(this.ys, y) * this.width + firstFrom(this.xs, x)
  }

  placeOf(point: number): Point {
    const row = Math.floor(point / this.width)
    return { x: this.xs[point - row * this.width] as number, y: this.ys[row] as number }
  }

  isBlocked(piece: number, across: boolean): boolean {
    return ((across ? this.acrossBlocked : this.downBlocked)[piece] as number) !== 0
  }

  isLabelled(piece: number, across: boolean): boolean {
    return this.labelled.size > 0 && this.labelled.has(2 * piece + (across ? 0 : 1))
  }

  ownersOf(piece: number, across: boolean): readonly number[] {
    return (across ? this.acrossOwners : this.downOwners).get(piece) ?? none
  }

  /** Who uses a piece, as seen from a route between two anchors. Unless all owners share the same end with the route, the answer is `others`. */
  claimOf(owners: readonly number[], from: RouteEnd, to: RouteEnd): Claim {
    let claim: Claim = 'free'
    for (const owner of owners) {
      const { startAnchor, endAnchor } = this.owners[owner] as Owner
      const atStart = startAnchor === from.anchor || endAnchor === from.anchor
      const atEnd = startAnchor === to.anchor || endAnchor === to.anchor
      if (!atStart && !atEnd) return 'others'
      if (atStart && atEnd) {
        if (claim === 'free') claim = 'either'
        continue
      }
      const own = atStart ? 'start' : 'end'
      if (claim !== own && (claim === 'start' || claim === 'end')) return 'others'
      claim = own
    }
    return claim
  }

  /** Whether the recorded route `owner` has no anchor in common with a route between two ends. */
  isStranger(owner: number, from: RouteEnd, to: RouteEnd): boolean {
    const { startAnchor, endAnchor } = this.owners[owner] as Owner
    return [from.anchor, to.anchor].every((anchor) => anchor !== startAnchor && anchor !== endAnchor)
  }

  /** Records a route. Other routes may cross this route, but not run nearer than a lane beside it. Only routes with a common anchor may lie on it. */
  take({ points, startAnchor, endAnchor }: TakenRoute): void {
    const owner = this.owners.push({ startAnchor, endAnchor }) - 1
    for (let i = 1; i < points.length; i++) {
      const [a, b] = [points[i - 1] as Point, points[i] as Point]
      if (a.y === b.y) this.takeStretch(owner, true, a.y, Math.min(a.x, b.x), Math.max(a.x, b.x))
      else if (a.x === b.x) this.takeStretch(owner, false, a.x, Math.min(a.y, b.y), Math.max(a.y, b.y))
    }
  }

  private takeStretch(owner: number, across: boolean, line: number, from: number, to: number): void {
    const [lines, marks] = across ? [this.ys, this.xs] : [this.xs, this.ys]
    const [blocked, owners] = across ? [this.acrossBlocked, this.acrossOwners] : [this.downBlocked, this.downOwners]
    for (
      let l = firstFrom(lines, line - this.care.lane + 0.001);
      l < lines.length && (lines[l] as number) < line + this.care.lane;
      l++
    ) {
      const isOn = lines[l] === line
      this.work(8)
      for (let m = Math.max(0, firstFrom(marks, from) - 1); m + 1 < marks.length && (marks[m] as number) < to; m++) {
        if ((marks[m + 1] as number) <= from) continue
        const piece = across ? l * this.width + m : m * this.width + l
        this.work(isOn ? 8 : 1)
        if (!isOn) blocked[piece] = (blocked[piece] as number) | 2
        else if (owners.has(piece)) owners.get(piece)?.push(owner)
        else owners.set(piece, [owner])
      }
    }
  }

  /** Blocks the pieces that come nearer to an obstacle than the clearance. */
  private block(box: Bounds): void {
    this.piecesIn(grown(box, this.care.clearance), (piece, across) => {
      const blocked = across ? this.acrossBlocked : this.downBlocked
      blocked[piece] = 1
    })
  }

  /** Records a label. Other routes may pass through it, but at a cost. */
  mark(label: Bounds): void {
    this.piecesIn(label, (piece, across) => this.labelled.add(2 * piece + (across ? 0 : 1)))
  }

  private piecesIn({ left: x1, top: y1, right: x2, bottom: y2 }: Bounds, found: (piece: number, across: boolean) => void): void {
    const [i1, i2] = [firstFrom(this.xs, x1), firstFrom(this.xs, x2)]
    const [j1, j2] = [firstFrom(this.ys, y1), firstFrom(this.ys, y2)]
    this.work((i2 - i1 + 1) * (j2 - j1 + 1))
    for (let j = Math.max(0, j1 - 1); j < Math.min(j2 + 1, this.ys.length); j++)
      for (let i = Math.max(0, i1 - 1); i < Math.min(i2 + 1, this.xs.length); i++) {
        const [x, y] = [this.xs[i] as number, this.ys[j] as number]
        const piece = j * this.width + i
        if (y > y1 && y < y2 && x < x2 && (this.xs[i + 1] ?? x) > x1) found(piece, true)
        if (x > x1 && x < x2 && y < y2 && (this.ys[j + 1] ?? y) > y1) found(piece, false)
      }
  }
}

/** The place of the first number that is not below a value; the numbers are in ascending order. */
function firstFrom(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}

function linesOf(
  obstacles: readonly Bounds[],
  requests: readonly RouteRequest[],
  taken: readonly TakenRoute[],
  care: Care,
  within: Bounds | null,
  maxPoints: number,
): { xs: readonly number[]; ys: readonly number[] } {
  const inX = (x: number) => within === null || (x >= within.left && x <= within.right)
  const inY = (y: number) => within === null || (y >= within.top && y <= within.bottom)
  const needed = { xs: new Set<number>(), ys: new Set<number>() }
  for (const { from, to } of requests) {
    const [start, end] = [stubOf(from, care), stubOf(to, care)]
    for (const { x, y } of [from.point, start, to.point, end]) {
      needed.xs.add(x)
      needed.ys.add(y)
    }
    needed.xs.add(Math.round((start.x + end.x) / 2))
    needed.ys.add(Math.round((start.y + end.y) / 2))
  }
  const lanes = Array.from({ length: maxLanes }, (_, k) => {
    const { xs, ys } = beside(obstacles, care, k)
    return { xs: xs.filter(inX), ys: ys.filter(inY) }
  })
  for (let most = maxLanes; ; most--) {
    const xs = new Set([...needed.xs, ...lanes.slice(0, most).flatMap((lane) => lane.xs)])
    const ys = new Set([...needed.ys, ...lanes.slice(0, most).flatMap((lane) => lane.ys)])
    for (const { points } of taken)
      points.forEach((b, i) => {
        const a = points[i - 1]
        if (a?.x === b.x && inX(b.x)) xs.add(b.x)
        if (a?.y === b.y && inY(b.y)) ys.add(b.y)
      })
    if (xs.size * ys.size <= maxPoints) return { xs: ascending(xs), ys: ascending(ys) }
    if (most === 1) return { xs: thinned(xs, needed.xs, maxPoints), ys: thinned(ys, needed.ys, maxPoints) }
  }
}

function beside(obstacles: readonly Bounds[], care: Care, lane: number): { xs: number[]; ys: number[] } {
  const away = Math.max(care.stub, care.clearance) + lane * care.lane
  return {
    xs: obstacles.flatMap(({ left, right }) => [Math.floor(left) - away, Math.ceil(right) + away]),
    ys: obstacles.flatMap(({ top, bottom }) => [Math.floor(top) - away, Math.ceil(bottom) + away]),
  }
}

function ascending(values: ReadonlySet<number>): number[] {
  return [...values].sort((a, b) => a - b)
}

/** Leaves out lines that are near other lines, until few enough are left. The `needed` lines, at the ends of routes, stay. */
function thinned(values: ReadonlySet<number>, needed: ReadonlySet<number>, maxPoints: number): number[] {
  const most = Math.max(Math.sqrt(maxPoints), needed.size)
  for (let apart = 4; ; apart *= 2) {
    let last = Number.NEGATIVE_INFINITY
    const kept = ascending(values).filter((value) => {
      const stays = value - last >= apart || needed.has(value)
      if (stays) last = value
      return stays
    })
    if (kept.length <= most || apart > 1e6) return kept
  }
}
