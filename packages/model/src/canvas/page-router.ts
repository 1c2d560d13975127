import { loopRoute } from './diagram/loop.ts'
import { anchorDirection, anchorPoint, facingSides, isRowAnchor } from './geometry/anchors.ts'
import { type Bounds, grown, holds, type Point } from './geometry/bounds.ts'
import { boundsOfBox } from './geometry/shape-box.ts'
import type { RouteEnd, RouteRequest, Router, RouteScene } from './route.ts'
import type { RouteEnd as GuidedEnd, RouteRequest as GuidedRequest, TakenRoute } from './router/care.ts'
import { routeAll } from './router/router.ts'

/** The search for the ways of one call ends after so many steps; connectors without a way by then are drawn directly. */
const maxSteps = 5_000_000
/** Connectors that are routed together, and lost together when the steps end among them. */
const atOnce = 20

/** Routes connectors around the shapes of their page, with the router of diagrams. [CANVAS-12, CANVAS-21, CANVAS-22, DIAG-14] */
export const pageRouter: Router = (requests, scene) => {
  const budget = new Budget(maxSteps)
  const found: (readonly Point[] | null)[] = requests.map(() => null)
  const taken = scene.lines.map(({ points, start, end }, i): TakenRoute => {
    return { points, startAnchor: anchorName(start, `line ${i} start`), endAnchor: anchorName(end, `line ${i} end`) }
  })
  const loops = new Loops(scene)
  const open = requests.flatMap((request, i) => {
    found[i] = loops.next(request)
    return found[i] === null ? [{ i, guided: guidedRequest(request), obstacles: ownObstacles(request, scene) }] : []
  })
  const route = (parts: typeof open, obstacles: readonly Bounds[]) => {
    const guided = parts.map((part) => part.guided)
    budget.during(parts, () =>
      routeAll(guided, obstacles, taken, { spend: budget.spend }).forEach((points, at) => {
        const part = parts[at]
        if (points === null || part === undefined) return
        taken.push({ points, startAnchor: part.guided.from.anchor, endAnchor: part.guided.to.anchor })
        found[part.i] = points.slice(1, -1)
      }),
    )
  }
  const all = [...scene.obstacles.values()]
  const plain = open.filter(({ obstacles }) => obstacles === null)
  for (let from = 0; from < plain.length; from += atOnce) route(plain.slice(from, from + atOnce), all)
  for (const part of open) if (part.obstacles !== null) route([part], part.obstacles)
  return found
}

/** Counts the steps of the search, and ends it when there were too many. */
class Budget {
  #left: number
  readonly #isSpent = new Error('no steps are left')

  constructor(steps: number) {
    this.#left = steps
  }

  readonly spend = (steps: number): true => {
    this.#left -= steps
    if (this.#left < 0) throw this.#isSpent
    return true
  }

  /** Does some work, or the part of it that there are steps for. */
  during(parts: readonly unknown[], work: () => void): void {
    if (parts.length === 0 || this.#left < 0) return
    try {
      work()
    } catch (error) {
      if (error !== this.#isSpent) throw error
    }
  }
}

/** The loops of shapes: each further one of a shape lies outside of those before it. [DIAG-13] */
class Loops {
  readonly #turns = new Map<string, number>()

  constructor({ lines }: RouteScene) {
    for (const { start, end } of lines) this.#turn(start, end)
  }

  /** The way of a connector from the right of a shape to its bottom; `null` for any other. */
  next({ start, end }: RouteRequest): readonly Point[] | null {
    const turn = this.#turn(start, end)
    if (turn === null || start.box === null || start.anchor !== 'right' || end.anchor !== 'bottom') return null
    const { left, top, right, bottom } = boundsOfBox(start.box)
    return loopRoute(start.box.centre, { width: right - left, height: bottom - top }, turn).points.slice(1, -1)
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
function guidedEnd(end: RouteEnd, side: string, free: string): GuidedEnd {
  const { box, direction, point } = end
  if (box === null || direction !== null) {
    // Rows of a shape have places of their own, so only the place tells one from another.
    const name = isRowAnchor(end.anchor) ? `${end.anchor} ${point.x} ${point.y}` : end.anchor
    return { point, direction, anchor: anchorName({ shapeId: end.shapeId, anchor: name }, free) }
  }
  return {
    point: anchorPoint(box, side),
    direction: anchorDirection(box, side),
    anchor: anchorName({ shapeId: end.shapeId, anchor: side }, free),
  }
}

/** Ends nearer than this to the edge of a box lie on the edge. */
const edge = 0.5

/**
 * What one connector keeps away from where that is not simply every shape: not from a shape that one of its ends lies in, such as a frame around others, and
 * from a group that it ends at as a whole. `null` where it is every shape.
 */
function ownObstacles(request: RouteRequest, { obstacles, membersOf }: RouteScene): readonly Bounds[] | null {
  const { from, to } = guidedRequest(request)
  const isEntered = (bounds: Bounds) => [from, to].some(({ point }) => holds(grown(bounds, -edge), point))
  const groups = [request.start, request.end].flatMap(({ shapeId, box }) => {
    return shapeId === null || box === null || !membersOf.has(shapeId) ? [] : [boundsOfBox(box)]
  })
  const all = [...obstacles.values(), ...groups]
  const kept = all.filter((bounds) => !isEntered(bounds))
  return groups.length === 0 && kept.length === all.length ? null : kept
}
