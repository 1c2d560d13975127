import type { CanvasPage } from '../body.ts'
import type { JsonObject } from '../json.ts'
import { type Bounds, boundsOf, type Point, unite } from './geometry/bounds.ts'
import type { ConnectorCourse, ConnectorEnd, ShapeBoxes } from './geometry/connector-line.ts'
import { boundsOfBox, type ShapeBox, uprightBox } from './geometry/shape-box.ts'
import { kindOf } from './shape-kinds.ts'
import { centreOf, childrenOf, endOf, finite, numberOf, sizeOf, stringOf, waypointsOf } from './stored-shape.ts'

/** The shapes of a page by id. */
export type ShapeValues = ReadonlyMap<string, JsonObject>

/** Where everything on a page is. */
export interface PageGeometry {
  readonly shapes: ShapeValues
  /** Shapes with a size, and groups that have members with a place, as the box around these. */
  readonly boxes: ShapeBoxes
  /** By id of each group the bounds of what it holds, at any depth; `null` where nothing has a place. */
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

/** Where a stored shape with a size lies; `null` for a line or a group. */
export function boxOfShape(value: JsonObject): ShapeBox | null {
  const size = sizeOf(value)
  if (size === null) return null
  return { centre: centreOf(value), ...size, rotation: numberOf(value, 'rotation') ?? 0, outline: kindOf(value).look.outline }
}

/** Which way a stored connector or line takes. */
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
 * The bounds of a shape by what it stores: a turned box with its corners, a line with its ends and waypoints, a group with its members; `null` for a group
 * of nothing.
 */
export function boundsOfShape(id: string, { shapes, groups }: PageGeometry): Bounds | null {
  const value = shapes.get(id)
  if (value === undefined) return null
  return kindOf(value).form === 'group' ? (groups.get(id) ?? null) : ownBounds(value)
}

/** The bounds of everything on a page; `null` for an empty one. [DIAG-10] */
export function boundsOfPage(geometry: PageGeometry): Bounds | null {
  let bounds: Bounds | null = null
  for (const id of geometry.shapes.keys()) bounds = unite(bounds, boundsOfShape(id, geometry))
  return bounds
}

/** Of each group; what a group holds only by being inside itself does not count there. */
function groupBounds(shapes: ShapeValues): ReadonlyMap<string, Bounds | null> {
  const found = new Map<string, Bounds | null>()
  const begun = new Set<string>()
  // Members before their groups, each once and without recursion: groups may lie in each other as deep as a page has shapes.
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
  // Of numbers near the largest the differences have no number; then the upright box does.
  const bounds = Object.values(turned).every(Number.isFinite) ? turned : boundsOfBox({ ...box, rotation: 0 })
  return {
    left: finite(bounds.left),
    top: finite(bounds.top),
    right: finite(bounds.right),
    bottom: finite(bounds.bottom),
  }
}
