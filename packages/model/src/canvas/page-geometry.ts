import type { CanvasPage } from '../body.ts'
import type { JsonObject } from '../json.ts'
import { type Bounds, boundsOf, type Point, unite } from './geometry/bounds.ts'
import type { ConnectorCourse, ConnectorEnd, ShapeBoxes } from './geometry/connector-line.ts'
import { boundsOfBox, type ShapeBox, uprightBox } from './geometry/shape-box.ts'
import { kindOf } from './shape-kinds.ts'
import { centreOf, childrenOf, endOf, finite, numberOf, sizeOf, stringOf, waypointsOf } from './stored-shape.ts'

/** The stored shapes of a page by id. */
export type ShapeValues = ReadonlyMap<string, JsonObject>

/** The place and size of everything on a page. */
export interface PageGeometry {
  readonly shapes: ShapeValues
  /** The boxes of shapes with a size, and of groups: the box around the members. A group has no box when none of its members has a place. */
  readonly boxes: ShapeBoxes
  /** By the id of each group, the bounds of its members at any depth; `null` when no member has a place. */
  readonly groups: ReadonlyMap<string, Bounds | null>
}

export function shapeValues(page: CanvasPage): ShapeValues {
  return new Map(page.shapes.map((shape) => [shape.id, shape.value]))
}

export function pageGeometry(shapes: ShapeValues): PageGeometry {
  const groups = groupBounds(shapes)
  const boxes = new Map<string, ShapeBox>()
  for (const [id, value] of shapes) {
    const bounds = groups.get(id) ?? null
    const box = bounds === null ? boxOfShape(value) : uprightBox(bounds)
    if (box !== null) boxes.set(id, box)
  }
  return { shapes, boxes, groups }
}

/** Returns the box of a stored shape by its own members; `null` for a line or a group. */
export function boxOfShape(value: JsonObject): ShapeBox | null {
  const size = sizeOf(value)
  if (size === null) return null
  return { centre: centreOf(value), ...size, rotation: numberOf(value, 'rotation') ?? 0, outline: kindOf(value).look.outline }
}

/** Reads the members that decide the way of a stored connector or line: ends, routing mode and waypoints. */
export function courseOf(value: JsonObject): ConnectorCourse {
  const routing = stringOf(value, 'routingMode')
  return {
    start: connectorEnd(value, 'start', centreOf(value)),
    end: connectorEnd(value, 'end', endOf(value)),
    routing: routing === 'orthogonal' || routing === 'curved' ? routing : 'straight',
    waypoints: waypointsOf(value),
  }
}

function connectorEnd(value: JsonObject, side: 'start' | 'end', stored: Point): ConnectorEnd {
  return {
    stored,
    shapeId: stringOf(value, `${side}ShapeId`) || null,
    anchor: stringOf(value, `${side}Anchor`) || 'center',
  }
}

/**
 * Returns the bounds of a shape as it is stored: of the corners of a box as it is turned, of the ends and waypoints of a line, of the members of a group.
 * Returns `null` for a missing shape, and for a group in which no member has a place.
 */
export function boundsOfShape(id: string, { shapes, groups }: PageGeometry): Bounds | null {
  const value = shapes.get(id)
  if (value === undefined) return null
  return kindOf(value).form === 'group' ? (groups.get(id) ?? null) : ownBounds(value)
}

/** Returns the bounds of everything on a page; `null` for an empty page. [DIAG-10] */
export function boundsOfPage(geometry: PageGeometry): Bounds | null {
  let bounds: Bounds | null = null
  for (const id of geometry.shapes.keys()) bounds = unite(bounds, boundsOfShape(id, geometry))
  return bounds
}

/** Returns the bounds of each group. Groups may contain each other. No group is entered twice, so the bounds of such a group may lack members. */
function groupBounds(shapes: ShapeValues): ReadonlyMap<string, Bounds | null> {
  const found = new Map<string, Bounds | null>()
  const begun = new Set<string>()
  // Visits members before their groups, and each shape once. There is no recursion, since groups may be nested as deep as a page has shapes.
  for (const root of shapes.keys()) {
    const path = [root]
    for (let id = path.at(-1); id !== undefined; id = path.at(-1)) {
      const value = shapes.get(id)
      if (value === undefined || kindOf(value).form !== 'group' || found.has(id)) {
        path.pop()
      } else if (begun.has(id)) {
        found.set(id, boundsOfMembers(childrenOf(value), shapes, found))
        path.pop()
      } else {
        begun.add(id)
        for (const child of childrenOf(value)) if (!begun.has(child)) path.push(child)
      }
    }
  }
  return found
}

function boundsOfMembers(ids: readonly string[], shapes: ShapeValues, groups: ReadonlyMap<string, Bounds | null>): Bounds | null {
  let bounds: Bounds | null = null
  for (const id of ids) {
    const value = shapes.get(id)
    if (value !== undefined) bounds = unite(bounds, kindOf(value).form === 'group' ? (groups.get(id) ?? null) : ownBounds(value))
  }
  return bounds
}

function ownBounds(value: JsonObject): Bounds | null {
  const box = boxOfShape(value)
  if (box === null) return boundsOf([centreOf(value), ...waypointsOf(value), endOf(value)])
  const turned = boundsOfBox(box)
  // Turning coordinates near the largest number may give Infinity or NaN. The box is then measured as if it were not turned.
  const bounds = Object.values(turned).every(Number.isFinite) ? turned : boundsOfBox({ ...box, rotation: 0 })
  return {
    left: finite(bounds.left),
    top: finite(bounds.top),
    right: finite(bounds.right),
    bottom: finite(bounds.bottom),
  }
}
