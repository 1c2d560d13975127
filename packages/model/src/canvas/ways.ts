import type { Edit } from '../edit.ts'
import { outdated } from '../edit.ts'
import { type Bounds, boundsOf, grown, holds, overlaps, type Point } from './geometry/bounds.ts'
import { polylinePassesThrough } from './geometry/polyline.ts'
import { type RouterLimits, routerWithin } from './page-router.ts'
import type { RouteRequest, Router, RouteScene } from './route.ts'

/** A way that was found for a connector before the write; plain data. */
export interface FoundWay {
  /** Between which ends. */
  readonly ends: string
  /** Its interior points; `null` where there is none. */
  readonly points: readonly Point[] | null
}

/**
 * How an edit gets the ways of connectors: `few` looks for them itself while that takes no longer than a live document may wait, and is outdated when there
 * are more; or they were looked for elsewhere. Absent: the edit finds all of them. [CONC-13]
 */
export type GivenWays = 'few' | readonly FoundWay[]

export interface WithWays {
  readonly ways?: GivenWays | undefined
}

/** About 50 ms. */
const FEW_STEPS = 500_000
/** Where nobody waits for the thread. */
const MANY_STEPS = 20_000_000

/** The edit with connectors routed as its call says. */
export function routedAs<A, R extends object>(make: (route: Router) => Edit<A, R>): Edit<A & WithWays, R> {
  return (body, args, environment) => {
    const { ways } = args
    let isSpent = false
    const few = routerWithin({ steps: FEW_STEPS, whenSpent: () => (isSpent = true) })
    const router = ways === undefined ? routerWithin({}) : ways === 'few' ? few : givenRouter(ways, few)
    const answer = make(router)(body, args, environment)
    return isSpent && ways === 'few' ? outdated('More connectors have to be routed than the document can wait for.') : answer
  }
}

/** A router that notes what it found. */
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

/** A router that takes the ways it is given while nothing came to lie on them, and looks for the others. */
function givenRouter(ways: readonly FoundWay[], rest: Router): Router {
  return (requests, scene) => {
    const byEnds = new Map<string, FoundWay[]>()
    for (const way of ways.toReversed()) byEnds.set(way.ends, [...(byEnds.get(way.ends) ?? []), way])
    const routes: (readonly Point[] | null)[] = requests.map(() => null)
    const taken: RouteScene['lines'][number][] = []
    const open = requests.flatMap((request, i) => {
      const points = byEnds.get(endsOf(request))?.pop()?.points
      if (points === null) return []
      if (points === undefined || !isClear(request, points, scene)) return [{ request, i }]
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
  const name = ({ shapeId, anchor, point, direction }: RouteRequest['start']) => [shapeId, anchor, point, direction]
  return JSON.stringify([name(start), name(end)])
}

/** Whether a way passes through no shape but those that its ends lie on or in. */
function isClear({ start, end }: RouteRequest, points: readonly Point[], { obstacles }: RouteScene): boolean {
  const way = [start.point, ...points, end.point]
  const around = grown(boundsOf(way) as Bounds, 1)
  for (const bounds of obstacles.values()) {
    if (!overlaps(bounds, around) || [start, end].some(({ point }) => holds(grown(bounds, 1), point))) continue
    if (polylinePassesThrough(way, bounds)) return false
  }
  return true
}
