import { describe, expect, it } from 'vitest'
import { type JsonObject, memberOf } from '../json.ts'
import { group, rectangle } from '../testing/builders.ts'
import type { Router } from './route.ts'
import { done, idsOf, page, provenance, run, stored } from './testing/shape-editing.ts'
import { withoutShapes } from './without-shapes.ts'

const a = rectangle('a', { x: 0, y: 0, width: 100, height: 80 })
const b = rectangle('b', { x: 300, y: 0, width: 100, height: 80 })

describe('connecting shapes', () => {
  it('[CANVAS-22] connect without anchors and routing makes an orthogonal connector between the facing sides', () => {
    const { body: after, result } = done(run('connect', page(a, b), { pageId: 'p', fromId: 'a', toId: 'b', label: 'calls' }))
    expect(stored(after, result.id)).toMatchObject({
      ...{ startAnchor: 'right', endAnchor: 'left', x: 50, y: 0, x2: 250, y2: 0 },
      ...{ label: 'calls', routingMode: 'orthogonal', waypoints: [] },
    })
  })

  it('[CANVAS-22] a straight connector has neither routing mode nor waypoints, and a wrong anchor is reported', () => {
    const args = { pageId: 'p', fromId: 'b', toId: 'a', routing: 'straight', fromAnchor: 'top', toAnchor: 'wrong' } as const
    const { body: after, result, fixes } = done(run('connect', page(a, b), args))
    const value = stored(after, result.id)
    expect(value).toMatchObject({ startAnchor: 'top', endAnchor: 'right' })
    expect([memberOf(value, 'routingMode'), memberOf(value, 'waypoints')]).toEqual([undefined, undefined])
    expect(fixes).toMatchObject([{ action: 'dropped_invalid', field: 'toAnchor' }])
  })

  it('[CANVAS-22] a connector from a shape to itself is a loop outside the shape', () => {
    const { body: after, result } = done(run('connect', page(a), { pageId: 'p', fromId: 'a', toId: 'a' }))
    const waypoints = [
      { x: 70, y: 0 },
      { x: 70, y: 60 },
      { x: 0, y: 60 },
    ]
    expect(stored(after, result.id)).toMatchObject({ x: 50, y: 0, x2: 0, y2: 40, waypoints })
  })

  it('[CANVAS-22] a connector without a clear way is drawn directly, with a warning', () => {
    const blocked: Router = (requests) => requests.map(() => null)
    const args = { pageId: 'p', fromId: 'a', toId: 'b' }
    const { body: after, result, warnings } = done(run('connect', page(a, b), args, blocked))
    expect(stored(after, result.id)).toMatchObject({ routingMode: 'orthogonal', waypoints: [] })
    expect(warnings[0]?.reason).toMatch(/^no clear way was found/)
  })

  it.each([
    [90, 'top', 'bottom', 'right'],
    [180, 'left', 'right', 'top'],
    [-90, 'bottom', 'top', 'left'],
    [30, 'right', 'left', 'bottom'],
  ])('[CANVAS-22, DIAG-13] connect uses the facing sides on the page of shapes turned by %d degrees', (...row) => {
    const [rotation, towards, from, below] = row
    const turned = page({ ...a, rotation }, { ...b, rotation })
    const { body: after, result } = done(run('connect', turned, { pageId: 'p', fromId: 'a', toId: 'b' }))
    expect(stored(after, result.id)).toMatchObject({ startAnchor: towards, endAnchor: from })
    const loop = done(run('connect', turned, { pageId: 'p', fromId: 'a', toId: 'a' }))
    expect(stored(loop.body, loop.result.id)).toMatchObject({ startAnchor: towards, endAnchor: below })
  })

  it('[CANVAS-4] [CANVAS-14] connectors of shapes with coordinates near the largest number have finite ends and waypoints', () => {
    const far = rectangle('far', { x: 1.7e308, y: -1.7e308, width: 1.7e308, height: 1.7e308, rotation: 45 })
    const near = rectangle('near', { x: -1.7e308, y: 1.7e308, width: 1.7e308, height: 1.7e308 })
    for (const [fromId, toId] of [
      ['far', 'near'],
      ['near', 'far'],
      ['far', 'far'],
      ['g', 'a'],
    ] as const) {
      const given = page(a, far, near, group('g', 'far', 'near'))
      const { body: after, result } = done(run('connect', given, { pageId: 'p', fromId, toId }))
      const value = stored(after, result.id)
      expect(JSON.parse(JSON.stringify(value))).toEqual(value)
    }
  })

  it('[CANVAS-9, CANVAS-22] an end at an unknown shape or at a connector is refused', () => {
    const given = page(a, { id: 'l', type: 'connector', x: 0, y: 0, x2: 9, y2: 9 })
    expect(run('connect', given, { pageId: 'p', fromId: 'a', toId: 'x' })).toMatchObject({
      code: 'ERR_SHAPE_NOT_FOUND',
      facts: { shapeId: 'x' },
    })
    expect(run('connect', given, { pageId: 'p', fromId: 'l', toId: 'a' })).toMatchObject({
      code: 'ERR_CONNECTOR_END',
      facts: { end: 'fromId', shapeId: 'l' },
    })
  })

  it('[CANVAS-22] the router gets the other shapes and connectors, and the members of a group that the connector ends at', () => {
    const scenes: Parameters<Router>[1][] = []
    const route: Router = (requests, scene) => {
      scenes.push(scene)
      return requests.map(() => [])
    }
    const line = { id: 'l', type: 'connector', x: 0, y: 300, x2: 9, y2: 300 }
    done(run('connect', page(a, b, group('g', 'a', 'l'), line), { pageId: 'p', fromId: 'g', toId: 'b' }, route))
    const [scene] = scenes
    expect([...(scene?.obstacles.keys() ?? [])].sort()).toEqual(['a', 'b'])
    expect([...(scene?.membersOf.get('g') ?? [])].sort()).toEqual(['a', 'l'])
    expect(scene?.lines.map(({ points }) => points)).toEqual([
      [
        { x: 0, y: 300 },
        { x: 9, y: 300 },
      ],
    ])
  })
})

describe('deleting shapes', () => {
  it('[CANVAS-24] deleting a shape also deletes connectors that end at it and groups without remaining members', () => {
    const line = { id: 'c', type: 'connector', startShapeId: 'a', endShapeId: 'b' }
    const toGroup = { id: 'd', type: 'connector', startShapeId: 'g', endShapeId: 'b' }
    const given = page(group('g', 'a'), b, line, toGroup, group('h', 'b', 'c'), a)
    const { body: after, result } = done(run('delete_shape', given, { pageId: 'p', id: 'a' }))
    expect(result.deleted).toEqual(['a', 'g', 'd', 'c'])
    expect(idsOf(after)).toEqual(['h', 'b'])
    expect(stored(after, 'h')).toEqual({ ...group('h', 'b'), provenance })
    expect(stored(after, 'b')).toBe(stored(given, 'b'))
  })

  it('[CANVAS-24] the members of a deleted group take its place, also within an outer group', () => {
    const shapes = [group('outer', 'x', 'g', 'y'), group('g', 'a', 'b'), a, b, rectangle('x'), rectangle('y'), rectangle('top')]
    const nested = done(run('delete_shape', page(...shapes), { pageId: 'p', id: 'g' }))
    expect(nested.result.deleted).toEqual(['g'])
    expect(memberOf(stored(nested.body, 'outer'), 'childIds')).toEqual(['x', 'a', 'b', 'y'])
    expect(idsOf(nested.body)).toEqual(['outer', 'x', 'a', 'b', 'y', 'top'])
    const flat = page(rectangle('x'), group('g', 'a', 'b'), a, b, rectangle('top'))
    expect(idsOf(done(run('delete_shape', flat, { pageId: 'p', id: 'g' })).body)).toEqual(['x', 'a', 'b', 'top'])
  })

  it('[CANVAS-21, CANVAS-14] when a group loses a member, its connectors follow, and the answer lists those that were routed again', () => {
    const c = rectangle('c', { x: 0, y: 300, width: 100, height: 80 })
    const line = (id: string, more: JsonObject): JsonObject => {
      const ends = { startShapeId: 'g', endShapeId: 'b', startAnchor: 'right', endAnchor: 'bottom' }
      return { id, type: 'connector', x: 50, y: 150, x2: 300, y2: 40, ...ends, ...more }
    }
    const given = page(a, b, c, group('g', 'a', 'c'), line('k', { routingMode: 'orthogonal', waypoints: [] }), line('l', {}))
    const { body: after, result } = done(run('delete_shape', given, { pageId: 'p', id: 'a' }))
    expect(result).toEqual({ deleted: ['a'], rerouted: ['k'] })
    expect(stored(after, 'k')).toMatchObject({ x: 50, y: 300, waypoints: [{ x: 300, y: 300 }], provenance })
    expect(stored(after, 'l')).toMatchObject({ x: 50, y: 300, x2: 300, y2: 40, provenance })
    expect(done(run('delete_shape', given, { pageId: 'p', id: 'l' })).result).toEqual({ deleted: ['l'] })
  })

  it('[CANVAS-24] an outer group takes over the members of a deleted group, except those that are deleted too', () => {
    const line = { id: 'k', type: 'connector', startShapeId: 'a', endShapeId: 'b' }
    const given = page(group('outer', 'g', 'h'), group('g', 'k', 'a'), group('h', 'x'), a, b, rectangle('x'), line)
    const one = done(run('delete_shape', given, { pageId: 'p', id: 'g' }))
    expect(memberOf(stored(one.body, 'outer'), 'childIds')).toEqual(['k', 'a', 'h'])
    const shapes = new Map([...(given.canvas.pages[0]?.shapes ?? [])].map(({ id, value }) => [id, value]))
    const { gone, kept } = withoutShapes(['g', 'b', 'x'], shapes)
    expect([...gone].sort()).toEqual(['b', 'g', 'h', 'k', 'x'])
    expect([...kept].map(([id, value]) => [id, memberOf(value, 'childIds')])).toEqual([['outer', ['a']]])
  })

  it('[CANVAS-24] deleting a member of groups that contain each other terminates', () => {
    const given = page(group('g', 'h', 'a'), group('h', 'g', 'a'), a, b)
    const { body: after, result } = done(run('delete_shape', given, { pageId: 'p', id: 'a' }))
    expect(result.deleted).toEqual(['a'])
    expect([...idsOf(after)].sort()).toEqual(['b', 'g', 'h'])
    expect(run('delete_shape', given, { pageId: 'p', id: 'nothing' })).toMatchObject({ code: 'ERR_SHAPE_NOT_FOUND' })
  })
})

describe('reordering shapes', () => {
  const given = page(a, group('g', 'm', 'n'), rectangle('m'), rectangle('n'), b)

  it('[CANVAS-17] shapes get the given order, and members stay with their groups', () => {
    const { body: after, result } = done(run('reorder_shapes', given, { pageId: 'p', order: ['b', 'g', 'a'] }))
    expect(result).toEqual({ pageId: 'p', order: ['b', 'g', 'a'], ok: true })
    expect(idsOf(after)).toEqual(['b', 'g', 'm', 'n', 'a'])
    expect(stored(after, 'a')).toBe(stored(given, 'a'))
    expect(done(run('reorder_shapes', given, { pageId: 'p', order: ['a', 'g', 'b'] })).body).toBe(given)
  })

  it('[CANVAS-17] an order that does not list each ungrouped shape once is refused', () => {
    expect(run('reorder_shapes', given, { pageId: 'p', order: ['a', 'm', 'a'] })).toMatchObject({
      code: 'ERR_NOT_PERMUTATION',
      facts: { missing: ['g', 'b'], unknown: ['m'], duplicate: ['a'] },
    })
  })
})
