import type { Bounds, Point } from '../geometry/bounds.ts'
import { boundsAround, boundsOf, unite } from '../geometry/bounds.ts'
import { at } from './at.ts'
import type { DiagramNode, Side } from './diagram.ts'

/** Nodes and routes at any place of a page; the caller moves them to their final place. */
export interface Drawn {
  readonly centres: Point[]
  readonly routes: DrawnRoute[]
}

export interface DrawnRoute {
  readonly startAnchor: Side
  readonly endAnchor: Side
  /** All points of the route, both ends included, without points on straight stretches. */
  readonly points: readonly Point[]
  /** `false`: no clear way was found, so this route passes through whatever lies in between. */
  readonly isClear?: false
}

/** The box around all nodes and routes; there is at least one node. */
export function boundsOfDrawn({ centres, routes }: Drawn, nodes: readonly DiagramNode[]): Bounds {
  let bounds: Bounds | null = null
  nodes.forEach(({ width, height }, node) => {
    bounds = unite(bounds, boundsAround(at(centres, node), width, height))
  })
  for (const { points } of routes) bounds = unite(bounds, boundsOf(points))
  return bounds as unknown as Bounds
}

/** Moves all nodes and routes by (`dx`, `dy`). */
export function movedBy({ centres, routes }: Drawn, dx: number, dy: number): Drawn {
  const move = ({ x, y }: Point): Point => ({ x: x + dx, y: y + dy })
  return { centres: centres.map(move), routes: routes.map((route) => ({ ...route, points: route.points.map(move) })) }
}
