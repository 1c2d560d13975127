import { anchorDirection, anchorPoint, facingSides, isRowAnchor, type Side, sideTowards } from './geometry/anchors.ts'
import { type Bounds, boundsOf, encloses, grown, holds, overlaps, type Point, unite } from './geometry/bounds.ts'
import { boundsOfBox } from './geometry/shape-box.ts'
import { loopCorners, type RouteEnd, type RouteRequest, type Router, type RouteScene } from './route.ts'
import {
  type Care,
  cares as allCares,
  type RouteEnd as GuidedEnd,
  type RouteRequest as GuidedRequest,
  type TakenRoute,
} from './router/care.ts'
import { Scratch } from './router/raster.ts'
import { routeAll } from './router/router.ts'

/** The limits of the search for ways. */
export interface RouterLimits {
  /** The search ends after this many steps, by default 5,000,000. Connectors without a way by then are drawn directly. */
  readonly steps?: number
  readonly whenSpent?: () => void
  /** Called with the number of steps just made. When it throws, the search ends with that error. */
  readonly spend?: (steps: number) => unknown
}

const maxSteps = 5_000_000
/**
 * The areas in which a way is looked for, in this order: first up to 160 units around the ends of the connector, then the whole page. Most ways are found
 * near the ends, where a page of any size has few shapes. `cares` says how much room a way leaves for other things.
 */
const windows: readonly { readonly around: number; readonly cares: readonly Care[]; readonly maxVisits: number }[] = [
  { around: 160, cares: allCares.slice(0, 2), maxVisits: 8_000 },
  { around: Number.POSITIVE_INFINITY, cares: allCares, maxVisits: 20_000 },
]
/** The most points of the raster in which a way is looked for. With more points the search takes longer, and the way is hardly shorter. */
const maxPoints = 10_000
/** Checking whether this many shapes, lines or ends are near costs as much as one step of the search. */
const lookedAtInStep = 16

/** Routes connectors around the shapes of their page, with the router of diagrams. Each call has 5,000,000 steps. [CANVAS-12, CANVAS-21, CANVAS-22, DIAG-14] */
export const pageRouter: Router = (requests, scene) => routerWithin({})(requests, scene)

/** Makes a router whose limits hold for all its calls together. */
export function routerWithin(limits: RouterLimits): Router {
  const budget = new Budget(limits)
  return (requests, scene) => routed(requests, scene, budget)
}

function routed(requests: readonly RouteRequest[], scene: RouteScene, budget: Budget): ReturnType<Router> {
  const found: (readonly Point[] | null)[] = requests.map(() => null)
  const loops = new Loops(scene)
  const open = requests.flatMap((request, i) => {
    found[i] = loops.next(request)
    return found[i] === null ? [{ i, request, guided: guidedRequest(request) }] : []
  })
  const surroundings = new PageSurroundings(
    scene,
    open.map(({ guided }) => guided),
  )
  const far = ({ from, to }: GuidedRequest) => Math.abs(from.point.x - to.point.x) + Math.abs(from.point.y - to.point.y)
  // The shortest connectors come first, since they have the fewest other ways.
  for (const { i, request, guided } of open.toSorted((a, b) => far(a.guided) - far(b.guided) || a.i - b.i))
    budget.during(() => {
      const points = surroundings.route(request, guided, budget.spend)
      if (points !== null) found[i] = points.slice(1, -1)
    })
  return found
}

interface Near<T> {
  readonly bounds: Bounds
  readonly value: T
}

/** The surroundings of connectors that are routed one after the other: shapes, ends, and the ways that are taken already. */
class PageSurroundings {
  readonly #scene: RouteScene
  readonly #obstacles: readonly Bounds[]
  readonly #taken: Near<TakenRoute>[] = []
  readonly #reserved: readonly GuidedEnd[]
  readonly #whole: Bounds | null
  readonly #scratch = new Scratch()

  constructor(scene: RouteScene, open: readonly GuidedRequest[]) {
    this.#scene = scene
    this.#obstacles = [...scene.obstacles.values()]
    scene.lines.forEach(({ points, start, end }, i) => {
      this.#take({ points, startAnchor: anchorName(start, `line ${i} start`), endAnchor: anchorName(end, `line ${i} end`) })
    })
    this.#reserved = open.flatMap(({ from, to }) => [from, to])
    let whole: Bounds | null = null
    for (const bounds of this.#obstacles) whole = unite(whole, bounds)
    for (const { bounds } of this.#taken) whole = unite(whole, bounds)
    this.#whole = whole
  }

  /** Finds the whole way of a connector, ends included. Later connectors keep away from this way. Returns `null` when there is no way. */
  route(request: RouteRequest, guided: GuidedRequest, spend: (steps: number) => boolean): readonly Point[] | null {
    const ends = boundsOf([guided.from.point, guided.to.point]) as Bounds
    for (const { around, cares, maxVisits } of windows) {
      const window = grown(ends, around)
      const isAll = this.#whole === null || encloses(window, this.#whole)
      const within = isAll ? null : window
      spend((this.#obstacles.length + this.#taken.length + this.#reserved.length) / lookedAtInStep)
      const isNear = (bounds: Bounds) => within === null || overlaps(bounds, within)
      const obstacles = ownObstacles(request, guided, this.#obstacles.filter(isNear), this.#scene)
      const taken = this.#taken.flatMap(({ bounds, value }) => (isNear(bounds) ? [value] : []))
      const reserved = this.#reserved.filter(({ point }) => within === null || holds(within, point))
      // A window that holds the whole page is the last one tried, so the way may leave as little room as any care allows.
      const options = { spend, within, reserved, scratch: this.#scratch, cares: isAll ? allCares : cares, maxVisits, maxPoints }
      const [points] = routeAll([guided], obstacles, taken, options)
      if (points !== undefined && points !== null) {
        this.#take({ points, startAnchor: guided.from.anchor, endAnchor: guided.to.anchor })
        return points
      }
      if (isAll) return null
    }
    return null
  }

  #take(value: TakenRoute): void {
    const bounds = boundsOf(value.points)
    // The bounds of a straight line have no area. They are grown, since `overlaps` is true only for bounds that share some area.
    if (bounds !== null) this.#taken.push({ bounds: grown(bounds, 1), value })
  }
}

/** Counts the steps of a search, and ends the search after too many steps. */
class Budget {
  #left: number
  readonly #limits: RouterLimits
  readonly #isSpent = new Error('no steps are left')

  constructor(limits: RouterLimits) {
    this.#left = limits.steps ?? maxSteps
    this.#limits = limits
  }

  readonly spend = (steps: number): true => {
    this.#left -= steps
    this.#limits.spend?.(steps)
    if (this.#left < 0) throw this.#isSpent
    return true
  }

  /** Does some work until the steps are used up. Does nothing when they are used up already. */
  during(work: () => void): void {
    if (this.#left < 0) return
    try {
      work()
    } catch (error) {
      if (error !== this.#isSpent) throw error
      this.#limits.whenSpent?.()
    }
  }
}

/** Finds the ways of loops. Each further loop at a shape lies outside the loops before it. [DIAG-13] */
class Loops {
  readonly #turns = new Map<string, number>()

  constructor({ lines }: RouteScene) {
    for (const { start, end } of lines) this.#turn(start, end)
  }

  /** Returns the corners of a loop that leaves its shape to the right and comes back from below; `null` for any other connector. */
  next({ start, end }: RouteRequest): readonly Point[] | null {
    const turn = this.#turn(start, end)
    if (turn === null || start.box === null || isRowAnchor(start.anchor) || isRowAnchor(end.anchor)) return null
    // Compares directions on the page, since the right side of a turned shape may face another way.
    return start.direction?.x === 1 && end.direction?.y === 1 ? loopCorners(start.box, start.point, end.point, turn) : null
  }

  #turn(start: Pick<RouteEnd, 'shapeId'>, end: Pick<RouteEnd, 'shapeId'>): number | null {
    const { shapeId } = start
    if (shapeId === null || shapeId !== end.shapeId) return null
    const turn = this.#turns.get(shapeId) ?? 0
    this.#turns.set(shapeId, turn + 1)
    return turn
  }
}

function anchorName({ shapeId, anchor }: Pick<RouteEnd, 'shapeId' | 'anchor'>, free: string): string {
  return shapeId === null ? free : `${shapeId} ${anchor}`
}

function guidedRequest({ id, start, end }: RouteRequest): GuidedRequest {
  const sides = facingSides(start.box?.centre ?? start.point, end.box?.centre ?? end.point)
  return { from: guidedEnd(start, sides.start, `${id} start`), to: guidedEnd(end, sides.end, `${id} end`) }
}

/** Returns where a search starts or ends. For the centre of a shape, this is the middle of the side that faces the other end. */
function guidedEnd(end: RouteEnd, facing: Side, free: string): GuidedEnd {
  const { box, direction, point } = end
  if (box === null || direction !== null) {
    // Only the editor knows where a row of a shape lies. So two ends count as at the same row anchor only when their stored places are equal too.
    const name = isRowAnchor(end.anchor) ? `${end.anchor} ${point.x} ${point.y}` : end.anchor
    return { point, direction, anchor: anchorName({ shapeId: end.shapeId, anchor: name }, free) }
  }
  const anchor = sideTowards(box, facing)
  return {
    point: anchorPoint(box, anchor),
    direction: anchorDirection(box, anchor),
    anchor: anchorName({ shapeId: end.shapeId, anchor }, free),
  }
}

/** Ends nearer than this to the edge of a box lie on the edge. */
const edge = 0.5

/**
 * Returns the obstacles of one connector: all shapes except those that one of its ends lies in, such as a frame around other shapes. A group that the
 * connector ends at is an obstacle as a whole, so that the way stays outside the group.
 */
function ownObstacles(
  request: RouteRequest,
  { from, to }: GuidedRequest,
  near: readonly Bounds[],
  { membersOf }: RouteScene,
): readonly Bounds[] {
  const isEntered = (bounds: Bounds) => [from, to].some(({ point }) => holds(grown(bounds, -edge), point))
  const groups = [request.start, request.end].flatMap(({ shapeId, box }) => {
    return shapeId === null || box === null || !membersOf.has(shapeId) ? [] : [boundsOfBox(box)]
  })
  return [...near, ...groups].filter((bounds) => !isEntered(bounds))
}
