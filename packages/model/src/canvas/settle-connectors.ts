import type { Warning } from '../edit.ts'
import { equalJson, type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import { quote } from '../quote.ts'
import { anchorDirection, anchorPoint, isRowAnchor, type Side, sideOf } from './geometry/anchors.ts'
import { type Bounds, type Point, rotated } from './geometry/bounds.ts'
import { type ConnectorEnd, connectorLine } from './geometry/connector-line.ts'
import { boundsOfBox, type ShapeBox } from './geometry/shape-box.ts'
import { courseOf, type PageGeometry, pageGeometry, type ShapeValues } from './page-geometry.ts'
import { directRoute, type RouteEnd, type Router, type RouteRequest, type RouteScene } from './route.ts'
import { kindOf } from './shape-kinds.ts'
import { childrenOf, finite } from './stored-shape.ts'

/** The shapes of a page before and after a write that has not adjusted the connectors yet. */
export interface Unsettled {
  readonly before: PageGeometry
  readonly after: ShapeValues
  /** The connectors that the call itself writes. `isRouted` says whether the relay has to find their way. */
  readonly written: ReadonlyMap<string, { readonly isRouted: boolean }>
  /** Connectors that the write moved as members of a group. The shapes at their ends may not have moved. */
  readonly carried?: ReadonlySet<string>
  /** Connectors that stay as they are, even when their shapes move. */
  readonly fixed?: ReadonlySet<string>
}

export interface Settled {
  readonly shapes: ShapeValues
  /** Connectors that were routed although the call does not write them: they moved with a group, or a shape at one of their ends moved. */
  readonly rerouted: readonly string[]
  readonly warnings: readonly Warning[]
}

/**
 * Adjusts the connectors of a page after a write. Changes only attached connectors: those that the write itself wrote or carried, and those whose shape
 * changed its place or size. Puts their attached ends at their anchors. Routes the orthogonal ones, but a written one only with `isRouted`; the others
 * keep their waypoints. A connector without a clear way gets the direct one, with a warning. [CANVAS-14, CANVAS-21]
 */
export function settleConnectors({ before, after, written, carried, fixed }: Unsettled, route: Router): Settled {
  const geometry = pageGeometry(after)
  const shapes = new Map(after)
  const requests: RouteRequest[] = []
  for (const [id, value] of after) {
    if (kindOf(value).form !== 'line' || fixed?.has(id) === true) continue
    const { start, end } = courseOf(value)
    const isAttached = [start, end].some((side) => side.shapeId !== null && geometry.boxes.has(side.shapeId))
    const isWritten = written.get(id)
    const isPulled = [start, end].some((side) => side.shapeId !== null && hasMoved(side.shapeId, before, geometry))
    if (!isAttached || (isWritten === undefined && !isPulled && carried?.has(id) !== true)) continue
    const settled = withEnds(value, before, geometry)
    shapes.set(id, settled)
    if (isWritten?.isRouted ?? isRoutedByItself(value)) requests.push(requestOf(id, settled, geometry))
  }
  const routes = requests.length === 0 ? [] : route(requests, sceneOf(requests, { ...geometry, shapes }))
  const warnings = requests.flatMap((request, i): readonly Warning[] => {
    const found = routes[i] ?? null
    const points = (found ?? directRoute(request)).map(({ x, y }): Json => {
      return { x: storable(x, request.start.point.x), y: storable(y, request.start.point.y) }
    })
    const value = shapes.get(request.id) as JsonObject
    if (!equalJson(memberOf(value, 'waypoints'), points)) shapes.set(request.id, setMember(value, 'waypoints', points))
    if (found !== null) return []
    return [{ reason: `no clear way was found for the connector ${quote(request.id)}; it takes the direct one` }]
  })
  return { shapes, rerouted: requests.map(({ id }) => id).filter((id) => !written.has(id)), warnings }
}

/** Whether the relay routes a connector again when its shapes move: only an orthogonal one, and no shape of the type `line`. [CANVAS-21] */
export function isRoutedByItself(value: JsonObject): boolean {
  return memberOf(value, 'routingMode') === 'orthogonal' && kindOf(value).settable.includes('routingMode')
}

function hasMoved(id: string, before: PageGeometry, after: PageGeometry): boolean {
  const [old, now] = [before.boxes.get(id), after.boxes.get(id)]
  if (old === undefined || now === undefined) return old !== now
  return (
    old.centre.x !== now.centre.x ||
    old.centre.y !== now.centre.y ||
    old.width !== now.width ||
    old.height !== now.height ||
    old.rotation !== now.rotation ||
    old.outline !== now.outline
  )
}

/** Whether the attached ends of a connector lie at their anchors. Always true for other shapes. */
export function isInPlace(value: JsonObject, before: PageGeometry, after: PageGeometry): boolean {
  return kindOf(value).form !== 'line' || withEnds(value, before, after) === value
}

/** Puts the attached ends of a connector at their anchors. Returns `value` itself when they lie there already. */
function withEnds(value: JsonObject, before: PageGeometry, after: PageGeometry): JsonObject {
  const course = courseOf(value)
  const [start, end] = [endPlace(course.start, before, after), endPlace(course.end, before, after)]
  let settled = value
  const [from, to] = [course.start.stored, course.end.stored]
  const places = {
    ...{ x: storable(start.x, from.x), y: storable(start.y, from.y) },
    ...{ x2: storable(end.x, to.x), y2: storable(end.y, to.y) },
  }
  for (const [name, place] of Object.entries(places))
    if (memberOf(settled, name) !== place) settled = setMember(settled, name, place)
  return settled
}

/** Makes a coordinate storable as JSON. Sums near the largest number may give Infinity, which is limited, or NaN, which `otherwise` replaces. */
function storable(place: number, otherwise: number): number {
  return Number.isNaN(place) ? otherwise : finite(place)
}

function endPlace({ shapeId, anchor, stored }: ConnectorEnd, before: PageGeometry, after: PageGeometry): Point {
  const box = shapeId === null ? undefined : after.boxes.get(shapeId)
  if (box === undefined) return stored
  const old = shapeId === null ? undefined : before.boxes.get(shapeId)
  const isKnown = anchor === 'center' || (sideOf(anchor) !== null && !isRowAnchor(anchor))
  if (isKnown) return anchorPoint(box, anchor)
  // Only the editor knows where on its side a row anchor is. So a stored end on that side keeps its place relative to the shape.
  const from = old ?? box
  return liesOn(from, sideOf(anchor), stored) ? carried(stored, from, box) : anchorPoint(box, anchor)
}

const nearness = 1

/** Whether a stored end lies on a side of a box; with `side` as `null`, whether it lies on or in the box. */
function liesOn({ centre, width, height, rotation }: ShapeBox, side: Side | null, stored: Point): boolean {
  const { x, y } = rotated(stored, centre, -rotation)
  const [dx, dy] = [x - centre.x, y - centre.y]
  if (Math.abs(dx) > width / 2 + nearness || Math.abs(dy) > height / 2 + nearness) return false
  if (side === 'left' || side === 'right') return Math.abs(dx - (side === 'right' ? width : -width) / 2) <= nearness
  return side === null || Math.abs(dy - (side === 'bottom' ? height : -height) / 2) <= nearness
}

/** Moves a point of one box to the same relative place on another box. */
function carried(point: Point, from: ShapeBox, to: ShapeBox): Point {
  const { x, y } = rotated(point, from.centre, -from.rotation)
  const scaled = {
    x: to.centre.x + (x - from.centre.x) * (from.width === 0 ? 1 : to.width / from.width),
    y: to.centre.y + (y - from.centre.y) * (from.height === 0 ? 1 : to.height / from.height),
  }
  return rotated(scaled, to.centre, to.rotation)
}

function requestOf(id: string, value: JsonObject, geometry: PageGeometry): RouteRequest {
  const { start, end } = courseOf(value)
  return { id, start: routeEnd(start, geometry), end: routeEnd(end, geometry) }
}

function routeEnd({ shapeId, anchor, stored }: ConnectorEnd, { boxes }: PageGeometry): RouteEnd {
  const box = shapeId === null ? null : (boxes.get(shapeId) ?? null)
  return {
    point: stored,
    direction: box === null ? null : anchorDirection(box, anchor),
    shapeId: box === null ? null : shapeId,
    anchor,
    box,
  }
}

function sceneOf(requests: readonly RouteRequest[], { shapes, boxes }: PageGeometry): RouteScene {
  const routed = new Set(requests.map(({ id }) => id))
  const obstacles = new Map<string, Bounds>()
  const lines: RouteScene['lines'][number][] = []
  for (const [id, value] of shapes) {
    const { form } = kindOf(value)
    const box = boxes.get(id)
    if (form === 'box' && box !== undefined) obstacles.set(id, boundsOfBox(box))
    if (form === 'line' && !routed.has(id)) {
      const course = courseOf(value)
      lines.push({ points: connectorLine(course, boxes).outline, start: course.start, end: course.end })
    }
  }
  const ends = new Set(requests.flatMap(({ start, end }) => [start.shapeId, end.shapeId]))
  const membersOf = new Map<string, ReadonlySet<string>>()
  for (const id of ends) if (id !== null && !obstacles.has(id)) membersOf.set(id, descendantsOf(id, shapes))
  return { obstacles, membersOf, lines }
}

/** Returns the ids of the members of a group, at any depth, without the group itself. */
export function descendantsOf(group: string, shapes: ShapeValues): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [group]
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const child of childrenOf(shapes.get(id)))
      if (child !== group && shapes.has(child) && !found.has(child)) {
        found.add(child)
        open.push(child)
      }
  return found
}
