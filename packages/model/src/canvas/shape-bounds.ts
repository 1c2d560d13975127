import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts'
import { type Bounds, boundsOf, type Point, rotated, unite } from '../render/geometry.ts'
import { centreOf, isConnecting, sizeOf, stringOf } from './stored-shape.ts'

/** The shapes of a page by id. */
export type ShapeValues = ReadonlyMap<string, JsonObject>

/** The box around a shape as it lies on the page, of a group the box around its members; `null` where nothing has a place. */
export function shapeBounds(id: string, shapes: ShapeValues): Bounds | null {
  let box: Bounds | null = null
  // Groups may hold each other, and hold each other deep: each is looked into once, without recursion.
  const ids = [id]
  const seen = new Set(ids)
  for (let next = ids.pop(); next !== undefined; next = ids.pop()) {
    const value = shapes.get(next)
    if (value === undefined) continue
    if (stringOf(value, 'type') !== 'group') box = unite(box, ownBounds(value))
    for (const child of childrenOf(value)) {
      if (seen.has(child)) continue
      seen.add(child)
      ids.push(child)
    }
  }
  return box
}

/** The members that a group names; none for any other shape. */
export function childrenOf(value: JsonObject): readonly string[] {
  const listed = memberOf(value, 'childIds')
  if (stringOf(value, 'type') !== 'group' || !Array.isArray(listed)) return []
  return (listed as readonly Json[]).filter((id): id is string => typeof id === 'string')
}

function ownBounds(value: JsonObject): Bounds | null {
  const type = stringOf(value, 'type') ?? ''
  const centre = centreOf(value)
  if (isConnecting(type)) return boundsOf([centre, endOf(value, centre), ...waypointsOf(value)])
  const { width, height } = sizeOf(value, type) ?? { width: 0, height: 0 }
  const turn = memberOf(value, 'rotation')
  const corners = [-1, 1].flatMap((dx) =>
    [-1, 1].map((dy) => ({ x: centre.x + (dx * width) / 2, y: centre.y + (dy * height) / 2 })),
  )
  return boundsOf(corners.map((corner) => rotated(corner, centre, typeof turn === 'number' ? turn : 0)))
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
