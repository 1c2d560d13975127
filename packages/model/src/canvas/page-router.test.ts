import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import type { JsonObject } from '../json.ts'
import { group, rectangle } from '../testing/builders.ts'
import type { Point } from './geometry/bounds.ts'
import { isOrthogonal, polylinePassesThrough, simplified } from './geometry/polyline.ts'
import { boundsOfBox, type ShapeBox } from './geometry/shape-box.ts'
import { connectorLine } from './geometry/connector-line.ts'
import { boxOfShape, courseOf, pageGeometry, shapeValues } from './page-geometry.ts'
import { pageRouter } from './page-router.ts'
import { done, page, run, stored } from './testing/shape-editing.ts'

const box = (id: string, x: number, y: number, more: JsonObject = {}) => rectangle(id, { x, y, width: 100, height: 80, ...more })

/** The way of a connector as it is drawn, and the shapes that the way passes through, except the shapes at its ends. */
function wayOf(given: DocumentBody, id: string): { readonly points: readonly Point[]; readonly hit: readonly string[] } {
  const [canvas] = given.canvas.pages
  if (canvas === undefined) throw new Error('there is a page')
  const { boxes } = pageGeometry(shapeValues(canvas))
  const course = courseOf(stored(given, id))
  const points = connectorLine(course, boxes).outline
  const hit = [...boxes].filter(([other, at]) => {
    const isEnd = other === course.start.shapeId || other === course.end.shapeId
    return !isEnd && polylinePassesThrough(points, boundsOfBox(at), 4)
  })
  return { points, hit: hit.map(([other]) => other) }
}

const connect = (given: DocumentBody, args: JsonObject) => {
  const edited = done(run('connect', given, { pageId: 'p', fromId: 'a', toId: 'b', ...args }, pageRouter))
  return { ...edited, way: wayOf(edited.body, edited.result.id) }
}

describe('routing connectors on a page', () => {
  it('[CANVAS-22, DIAG-14] an orthogonal connector goes around the shapes between its ends', () => {
    const { way, warnings } = connect(page(box('a', 0, 0), box('b', 600, 0), box('wall', 300, 0, { height: 400 })), {})
    expect(warnings).toEqual([])
    expect(way.hit).toEqual([])
    expect(isOrthogonal(way.points)).toBe(true)
    expect(way.points.length).toBeGreaterThan(2)
    expect(simplified(way.points)).toEqual(way.points)
  })

  it('[CANVAS-22] a connector between two centres leaves both shapes at right angles', () => {
    const given = page(box('a', 0, 0), box('b', 600, 300), box('wall', 300, 150))
    const { way } = connect(given, { fromAnchor: 'center', toAnchor: 'center' })
    expect(way.hit).toEqual([])
    expect(isOrthogonal(way.points)).toBe(true)
  })

  it('[CANVAS-22] a connector leaves a frame around its shape, and avoids the other shapes in the frame', () => {
    const frame = rectangle('frame', { x: 150, y: 0, width: 600, height: 400 })
    const { way, warnings } = connect(page(frame, box('a', 0, 0), box('wall', 200, 0), box('b', 800, 0)), {})
    expect(warnings).toEqual([])
    expect(way.hit).toEqual(['frame'])
  })

  it('[CANVAS-22] a connector at a group avoids the members of the group', () => {
    const members = [box('m', 0, 0), box('n', 0, 300)]
    const given = page(group('a', 'm', 'n'), ...members, box('b', 600, 150))
    const { way, warnings } = connect(given, { fromAnchor: 'left' })
    expect(warnings).toEqual([])
    expect(way.hit).toEqual([])
    expect(isOrthogonal(way.points)).toBe(true)
  })

  it('[CANVAS-22, DIAG-13] each further loop at a shape lies outside the loops before it', () => {
    const first = connect(page(box('a', 0, 0)), { toId: 'a' })
    const second = connect(first.body, { toId: 'a' })
    expect(first.way.points[1]).toEqual({ x: 70, y: 0 })
    expect(second.way.points[1]).toEqual({ x: 82, y: 0 })
  })

  it.each([30, 90, 200, 270])(
    '[CANVAS-22, DIAG-13, DIAG-14] a loop at a shape turned by %d degrees is orthogonal and lies outside the shape',
    (rotation) => {
      const first = connect(page(box('a', 0, 0, { width: 200, rotation })), { toId: 'a' })
      const second = connect(first.body, { toId: 'a' })
      for (const { way } of [first, second]) {
        expect(isOrthogonal(way.points)).toBe(true)
        expect(way.points).toHaveLength(5)
      }
      const bounds = boundsOfBox(boxOfShape(stored(first.body, 'a')) as ShapeBox)
      expect(first.way.points[2]).toEqual({ x: bounds.right + 20, y: bounds.bottom + 20 })
      expect(second.way.points[2]).toEqual({ x: bounds.right + 32, y: bounds.bottom + 32 })
    },
  )

  it('[CANVAS-22] a connector between the centres of turned shapes leaves them on the sides that face each other on the page', () => {
    const turned = page(box('a', 0, 0, { rotation: 90 }), box('b', 600, 0, { rotation: 90 }))
    const { way, body: after, result } = connect(turned, { fromAnchor: 'center', toAnchor: 'center' })
    expect(way.points).toHaveLength(2)
    expect(stored(after, result.id)['waypoints']).toEqual([])
  })

  it('[CANVAS-21] connectors are routed again around shapes on their new way', () => {
    const given = page(box('a', 0, 0), box('b', 600, 0), box('wall', 300, 300))
    const { body: connected, result } = connect(given, {})
    const moved = done(run('update_shape', connected, { pageId: 'p', id: 'a', patch: { y: 300 } }, pageRouter))
    const again = done(run('update_shape', moved.body, { pageId: 'p', id: 'b', patch: { y: 300 } }, pageRouter))
    expect(again.result.rerouted).toEqual([result.id])
    expect(wayOf(again.body, result.id).hit).toEqual([])
  })

  it('[CANVAS-21] on a page of 500 shapes all 60 connectors of one hub find a clear way, and find one again when the hub moves', () => {
    const shapes = Array.from({ length: 500 }, (_, i) => box(`s${i}`, (i % 23) * 260 + ((i * 7) % 40), Math.floor(i / 23) * 160))
    const connectors = Array.from({ length: 60 }, (_, i) => ({
      ...{ kind: 'connector', routingMode: 'orthogonal', id: `k${i}` },
      ...{ startShapeId: 's250', startAnchor: ['top', 'right', 'bottom', 'left'][i % 4] as string },
      ...{ endShapeId: `s${(i * 83 + 11) % 500}`, endAnchor: ['left', 'top', 'right', 'bottom'][(i >> 1) % 4] as string },
    }))
    const drawn = done(run('add_shapes', page(...shapes), { pageId: 'p', shapes: connectors }, pageRouter))
    expect(drawn.warnings).toEqual([])
    const moved = done(run('update_shape', drawn.body, { pageId: 'p', id: 's250', patch: { x: 6100 } }, pageRouter))
    expect(moved.warnings).toEqual([])
    expect(moved.result.rerouted).toHaveLength(60)
    for (const given of [drawn.body, moved.body])
      for (const { id } of connectors.filter((_, i) => i % 10 === 0)) expect(wayOf(given, id).hit).toEqual([])
  })

  it('[CANVAS-22] a connector from a shape that is enclosed on all sides is drawn directly, with a warning', () => {
    const walls = [box('n', 0, -85), box('s', 0, 85), box('e', 105, 0, { height: 260 }), box('w', -105, 0, { height: 260 })]
    const { way, warnings } = connect(page(box('a', 0, 0), ...walls, box('b', 600, 0)), {})
    expect(warnings).toHaveLength(1)
    expect(way.points).toEqual([
      { x: 50, y: 0 },
      { x: 550, y: 0 },
    ])
  })
})
