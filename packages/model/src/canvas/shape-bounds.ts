import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts'
import { type Bounds, boundsOf, type Point, rotated, unite } from '../render/geometry.ts'
import { centreOf, finite, isConnecting, sizeOf, stringOf } from './stored-shape.ts'

/** The shapes of a page by id. */
export type ShapeValues = ReadonlyMap<string, JsonObject>

/**
 * By id of each group of a page the box around what it holds, at any depth; `null` where nothing has a place. What a group holds only by being
 * inside itself does not count there.
 */
export function groupBoxes(shapes: ShapeValues): ReadonlyMap<string, Bounds | null> {
  const boxes = new Map<string, Bounds | null>()
  const begun = new Set<string>()
  // Members before their groups, each once and without recursion: groups may lie in each other as deep as a page has shapes.
  for (const root of shapes.keys()) {
    const path = [root]
    for (let id = path.at(-1); id !== undefined; id = path.at(-1)) {
      const value = shapes.get(id)
      if (value === undefined || !isGroup(value) || boxes.has(id)) {
        path.pop()
      } else if (begun.has(id)) {
        boxes.set(id, boxOf(childrenOf(value), shapes, boxes))
        path.pop()
      } else {
        begun.add(id)
        for (const child of childrenOf(value)) if (!begun.has(child)) path.push(child)
      }
    }
  }
  return boxes
}

function boxOf(ids: readonly string[], shapes: ShapeValues, boxes: ReadonlyMap<string, Bounds | null>): Bounds | null {
  let box: Bounds | null = null
  for (const id of ids) {
    const value = shapes.get(id)
    if (value !== undefined) box = unite(box, isGroup(value) ? (boxes.get(id) ?? null) : ownBounds(value))
  }
  return box
}

function isGroup(value: JsonObject): boolean {
  return stringOf(value, 'type') === 'group'
}

/** The members that a group names; none for any other shape. */
export function childrenOf(value: JsonObject): readonly string[] {
  const listed = memberOf(value, 'childIds')
  if (!isGroup(value) || !Array.isArray(listed)) return []
  return (listed as readonly Json[]).filter((id): id is string => typeof id === 'string')
}

function ownBounds(value: JsonObject): Bounds | null {
  const type = stringOf(value, 'type') ?? ''
  const centre = centreOf(value)
  if (isConnecting(type)) return boundsOf([centre, endOf(value, centre), ...waypointsOf(value)])
  const { width, height } = sizeOf(value, type) ?? { width: 0, height: 0 }
  const turn = memberOf(value, 'rotation')
  const degrees = typeof turn === 'number' ? turn : 0
  const corners = [-1, 1].flatMap((dx) =>
    [-1, 1].map((dy) => ({ x: finite(centre.x + (dx * width) / 2), y: finite(centre.y + (dy * height) / 2) })),
  )
  return boundsOf(
    corners.map((corner) => {
      const { x, y } = rotated(corner, centre, degrees)
      // Of numbers near the largest the difference has no number.
      return Number.isFinite(x) && Number.isFinite(y) ? { x, y } : corner
    }),
  )
}

function endOf(value: JsonObject, start: Point): Point {
  const [x, y] = [memberOf(value, 'x2'), memberOf(value, 'y2')]
  return { x: typeof x === 'number' ? x : start.x, y: typeof y === 'number' ? y : start.y }
}

function waypointsOf(value: JsonObject): readonly Point[] {
  const points = memberOf(value, 'waypoints')
  if (!Array.isArray(points)) return []
  return (points as readonly Json[]).flatMap((point) => {
    if (!isJsonObject(point)) return []
    const [x, y] = [memberOf(point, 'x'), memberOf(point, 'y')]
    return typeof x === 'number' && typeof y === 'number' ? [{ x, y }] : []
  })
}
