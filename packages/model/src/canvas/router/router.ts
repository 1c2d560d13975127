import { type Bounds, boundsAround, type Point } from '../geometry/bounds.ts'
import { alongPolyline, simplified } from '../geometry/polyline.ts'
import { passesThrough } from '../geometry/segment.ts'
import { type Care, cares as allCares, type RouteEnd, type RouteRequest, stubOf, type TakenRoute } from './care.ts'
import { Raster, Scratch } from './raster.ts'
import { search } from './search.ts'

const MAX_VISITS = 100_000

export interface RouteOptions {
  /** Whether only routes that keep all distances of the rules count as found. */
  readonly strict?: boolean
  /** Called with the work in small steps. When it returns false, the routes that are still open are not found. It may throw to end the routing. */
  readonly spend?: (steps: number) => boolean
  /** The distances to try, the best first. */
  readonly cares?: readonly Care[]
  /** Ends of routes that are still to come; their stubs are kept free. */
  readonly reserved?: readonly RouteEnd[]
  /** How many points a search looks at before it gives up. */
  readonly maxVisits?: number
  /** The most points of the raster. With fewer points a way is found sooner, but may be longer. */
  readonly maxPoints?: number | undefined
  /** Routes stay within these bounds. */
  readonly within?: Bounds | null
  /** Memory of searches, for a caller that routes several times. */
  readonly scratch?: Scratch
}

export type Router = typeof routeAll

/**
 * Routes connectors in right angles around obstacles, which include the shapes that the connectors end at. Routes the shortest connectors first. Each route
 * keeps away from earlier routes and from `taken`. Returns for each request all points of its route, both ends included; `null` when there is no clear way.
 * [DIAG-14, CANVAS-21, CANVAS-22]
 */
export function routeAll(
  requests: readonly RouteRequest[],
  obstacles: readonly Bounds[],
  taken: readonly TakenRoute[],
  {
    strict = false,
    spend = () => true,
    cares = strict ? allCares.slice(0, 1) : allCares,
    reserved = [],
    maxVisits = MAX_VISITS,
    within = null,
    maxPoints,
    scratch = new Scratch(),
  }: RouteOptions = {},
): readonly (readonly Point[] | null)[] {
  const routes: (readonly Point[] | null)[] = requests.map(() => null)
  const far = ({ from, to }: RouteRequest) => Math.abs(from.point.x - to.point.x) + Math.abs(from.point.y - to.point.y)
  let open = requests.map((request, i) => ({ request, i })).sort((a, b) => far(a.request) - far(b.request) || a.i - b.i)
  const done = [...taken]
  for (const care of cares) {
    if (open.length === 0) break
    const wanted = open.map(({ request }) => request)
    const others = care.mindsOthers ? done : []
    const raster = new Raster(
      { obstacles, requests: wanted, taken: others, reserved, within, ...(maxPoints === undefined ? {} : { maxPoints }) },
      care,
      scratch,
      spend,
    )
    open = open.filter(({ request, i }) => {
      const points = routeOne(request, obstacles, raster, care, maxVisits, spend)
      if (points === null) return true
      const own = { points, startAnchor: request.from.anchor, endAnchor: request.to.anchor }
      done.push(own)
      if (care.mindsOthers) raster.take(own)
      const { label } = request
      if (label !== undefined) raster.mark(boundsAround(alongPolyline(points, label.share), label.width, label.height))
      routes[i] = points
      return false
    })
  }
  return routes
}

function routeOne(
  { from, to }: RouteRequest,
  obstacles: readonly Bounds[],
  raster: Raster,
  care: Care,
  maxVisits: number,
  spend: (steps: number) => boolean,
): readonly Point[] | null {
  const [start, end] = [stubOf(from, care), stubOf(to, care)]
  if ([from, to].some((one) => stubIsBlocked(one, stubOf(one, care), obstacles))) return null
  const middle = search(raster, { start, end, from, to, maxVisits }, spend)
  return middle === null ? null : simplified([from.point, ...middle, to.point])
}

/** Whether an obstacle lies on the stub of an end. */
function stubIsBlocked({ point }: RouteEnd, end: Point, obstacles: readonly Bounds[]): boolean {
  return obstacles.some((box) => passesThrough(point, end, box))
}
