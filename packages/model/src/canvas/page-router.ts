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

/** The search for ways. */
export interface RouterLimits {
  /** It ends after so many steps; connectors without a way by then are drawn directly. */
  readonly steps?: number
  readonly whenSpent?: () => void
  /** Told of the steps that were made; what it throws ends the search. */
  readonly spend?: (steps: number) => unknown
}

const maxSteps = 5_000_000
/**
 * How far around the ends of a connector a way is looked for, and with how much room for others. Near the ends a page of any size has few shapes, and most
 * ways are there.
 */
const windows: readonly { readonly around: number; readonly cares: readonly Care[]; readonly maxVisits: number }[] = [
  { around: 160, cares: allCares.slice(0, 2), maxVisits: 8_000 },
  { around: Number.POSITIVE_INFINITY, cares: allCares, maxVisits: 20_000 },
]
/** Of the lines along which ways are looked for; with more of them each way takes longer to find, and is hardly shorter. */
const maxPoints = 10_000
/** What looking at a shape or line that may be near costs beside a step of the search. */
const lookedAtInStep = 16

/** Routes connectors around the shapes of their page, with the router of diagrams. [CANVAS-12, CANVAS-21, CANVAS-22, DIAG-14] */
export const pageRouter: Router = (requests, scene) => routerWithin({})(requests, scene)

/** A router with limits for all that it is asked together. */
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
  // The shortest first: it has the fewest other ways.
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

/** What lies around the connectors that are routed one after the other. */
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

  /** The whole way of a connector, which is in the way of others from now on; `null` where there is none. */
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
      // Nothing else is further out, so no other window is looked at.
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
    // A straight line has bounds without an inside, which nothing overlaps.
    if (bounds !== null) this.#taken.push({ bounds: grown(bounds, 1), value })
  }
}

/** Counts the steps of the search, and ends it when there were too many. */
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

  /** Does some work, or the part of it that there are steps for. */
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

/** The loops of shapes: each further one of a shape lies outside of those before it. [DIAG-13] */
class Loops {
  readonly #turns = new Map<string, number>()

  constructor({ lines }: RouteScene) {
    for (const { start, end } of lines) this.#turn(start, end)
  }

  /** The way of a connector that leaves a shape to the right and comes back from below; `null` for any other. */
  next({ start, end }: RouteRequest): readonly Point[] | null {
    const turn = this.#turn(start, end)
    if (turn === null || start.box === null || isRowAnchor(start.anchor) || isRowAnchor(end.anchor)) return null
    // By where they lie on the page: the sides of a turned shape face elsewhere.
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

/** An end at the centre of a shape leaves it in the middle of the side that faces the other end. */
function guidedEnd(end: RouteEnd, facing: Side, free: string): GuidedEnd {
  const { box, direction, point } = end
  if (box === null || direction !== null) {
    // Rows of a shape have places of their own, so only the place tells one from another.
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
 * What a connector keeps away from: every shape but one that an end of it lies in, such as a frame around others, and a group that it ends at as a whole,
 * outside of which it stays.
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
