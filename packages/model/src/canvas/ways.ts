import type { Edit } from '../edit.ts'
import { outdated } from '../edit.ts'
import { type Bounds, boundsOf, grown, holds, type Point } from './geometry/bounds.ts'
import { BoxIndex } from './geometry/box-index.ts'
import { segmentsOf } from './geometry/polyline.ts'
import { passesThrough } from './geometry/segment.ts'
import { type RouterLimits, routerWithin } from './page-router.ts'
import type { RouteRequest, Router, RouteScene } from './route.ts'

/** A way that was found for a connector before the write; plain data. */
export interface FoundWay {
  /** Names the two ends of a way by where they lie. Ids cannot name them: a new shape gets another id when the call is written. */
  readonly ends: string
  /** The interior points of the way; `null` when no way was found. */
  readonly points: readonly Point[] | null
}

/**
 * How an edit gets the ways of its connectors. A list holds ways that were found before the write. With `few` the edit searches for ways itself, but only as
 * long as a live document may wait; when the search takes longer, the edit is outdated. When absent, the edit searches without this limit. [CONC-13]
 */
export type GivenWays = 'few' | readonly FoundWay[]

export interface WithWays {
  readonly ways?: GivenWays | undefined
  /** Looks for the ways that were not prepared before the write. When absent, the edit has a router of its own. */
  readonly rest?: Router | undefined
}

/** The steps of a search that takes about 50 ms. */
const FEW_STEPS = 500_000
/** The steps of a search in a thread that nobody waits for. */
const MANY_STEPS = 20_000_000

/** Makes a router that searches only as long as a live document may wait: about 50 ms for all edits of one write together. [CONC-13] */
export function fewRouter(whenSpent: () => void = () => {}): Router {
  return routerWithin({ steps: FEW_STEPS, whenSpent })
}

/** Makes an edit that gets the ways of its connectors as the member `ways` of its arguments says. */
export function routedAs<A, R extends object>(make: (route: Router) => Edit<A, R>): Edit<A & WithWays, R> {
  return (body, args, environment) => {
    const { ways, rest } = args
    let isSpent = false
    const few = fewRouter(() => (isSpent = true))
    const router = ways === undefined ? routerWithin({}) : ways === 'few' ? few : givenRouter(ways, rest ?? few)
    const answer = make(router)(body, args, environment)
    return isSpent && ways === 'few' ? outdated('More connectors have to be routed than the document can wait for.') : answer
  }
}

/** Makes a router that also collects the ways that it finds, in `found`. */
export function notingRouter(limits: Omit<RouterLimits, 'steps'>): {
  readonly route: Router
  readonly found: readonly FoundWay[]
} {
  const route = routerWithin({ ...limits, steps: MANY_STEPS })
  const found: FoundWay[] = []
  return {
    found,
    route(requests, scene) {
      const routes = route(requests, scene)
      requests.forEach((request, i) => found.push({ ends: endsOf(request), points: routes[i] ?? null }))
      return routes
    },
  }
}

/** Makes a router that uses the given ways on which no shape lies now. Asks `rest` for all other ways, except where the search before found none. */
function givenRouter(ways: readonly FoundWay[], rest: Router): Router {
  const byEnds = new Map<string, FoundWay[]>()
  for (const way of ways.toReversed()) {
    const same = byEnds.get(way.ends)
    if (same === undefined) byEnds.set(way.ends, [way])
    else same.push(way)
  }
  return (requests, scene) => {
    const obstacles = new BoxIndex([...scene.obstacles.values()].map((bounds) => ({ bounds })))
    const routes: (readonly Point[] | null)[] = requests.map(() => null)
    const taken: RouteScene['lines'][number][] = []
    const open = requests.flatMap((request, i) => {
      const points = byEnds.get(endsOf(request))?.pop()?.points
      if (points === null) return []
      if (points === undefined || !isClear(request, points, obstacles)) return [{ request, i }]
      routes[i] = points
      taken.push({ points: [request.start.point, ...points, request.end.point], start: request.start, end: request.end })
      return []
    })
    const found = rest(
      open.map(({ request }) => request),
      { ...scene, lines: [...scene.lines, ...taken] },
    )
    open.forEach(({ i }, place) => (routes[i] = found[place] ?? null))
    return routes
  }
}

function endsOf({ start, end }: RouteRequest): string {
  const place = ({ anchor, point, direction, box }: RouteRequest['start']) => {
    return [anchor, point, direction, box === null ? null : [box.centre, box.width, box.height, box.rotation]]
  }
  const isLoop = start.shapeId !== null && start.shapeId === end.shapeId
  return JSON.stringify([place(start), place(end), isLoop])
}

/** Whether a way passes through no shape, except those that one of its ends lies on or in. */
function isClear(
  { start, end }: RouteRequest,
  points: readonly Point[],
  obstacles: BoxIndex<{ readonly bounds: Bounds }>,
): boolean {
  let isHit = false
  for (const segment of segmentsOf([start.point, ...points, end.point])) {
    // The bounds of a straight segment have no area. They are grown, since the index finds only bounds that share some area.
    obstacles.visit(grown(boundsOf(segment) as Bounds, 1), ({ bounds }) => {
      const isOwn = [start, end].some(({ point }) => holds(grown(bounds, 1), point))
      isHit ||= !isOwn && passesThrough(...segment, bounds)
      return !isHit
    })
    if (isHit) return false
  }
  return true
}
