import { describe, expect, it } from 'vitest'
import type { CanvasPage, DocumentBody } from '../body.ts'
import { type JsonObject, memberOf } from '../json.ts'
import { group, rectangle } from '../testing/builders.ts'
import { readablePage, readBack } from './read-back.ts'
import { done, page, provenance, run, stored } from './testing/shape-editing.ts'

const a = rectangle('a', { x: 0, y: 0, width: 100, height: 80 })
const b = rectangle('b', { x: 300, y: 0, width: 100, height: 80 })
const ellipse = { id: 'e', type: 'ellipse', x: 0, y: 0, radiusX: 50, radiusY: 40, own: { kept: true } }

const update = (given: DocumentBody, id: string, patch: JsonObject) => run('update_shape', given, { pageId: 'p', id, patch })

/** A connector from the right of `a` to the left of `b`. */
const attached = (id: string, more: JsonObject = {}): JsonObject => ({
  ...{ id, type: 'connector', x: 50, y: 0, x2: 250, y2: 0 },
  ...{ startShapeId: 'a', endShapeId: 'b', startAnchor: 'right', endAnchor: 'left' },
  ...more,
})

interface Patched {
  readonly shape: JsonObject & { readonly id: string }
  readonly patch: JsonObject
  /** The stored members that the patch changes. */
  readonly members: JsonObject
  readonly paths: readonly string[]
}

/** For each kind a patch, the members that it stores and the changed paths that it reports. */
const patches: { readonly [kind: string]: Patched } = {
  rectangle: { shape: { ...a, id: 'a' }, patch: { x: 5, y: 0, w: 100, h: 90 }, members: { x: 5, height: 90 }, paths: ['x', 'h'] },
  ellipse: { shape: ellipse, patch: { w: 60, text: 'E' }, members: { radiusX: 30, label: 'E' }, paths: ['w', 'text'] },
  text: {
    shape: { id: 't', type: 'text', text: 'old' },
    patch: { text: 'new', style: { labelColor: 'red' } },
    members: { text: 'new', fill: 'red' },
    paths: ['text', 'style.fill'],
  },
  connector: {
    shape: { id: 'c', type: 'connector', x: 1, y: 1 },
    patch: { x2: 9, startArrowStyle: 'open', labelPosition: 0.2, style: { stroke: 'red', strokeWidth: 3 } },
    members: { x2: 9, startArrowStyle: 'open', startArrow: true, labelPosition: 0.2, stroke: 'red', strokeWidth: 3 },
    paths: ['style.stroke', 'style.strokeWidth', 'x2', 'startArrowStyle', 'labelPosition'],
  },
  file: {
    shape: { id: 'f', type: 'file', fileName: 'x' },
    patch: { text: 'new', w: 10 },
    members: { label: 'new', width: 10 },
    paths: ['w', 'text'],
  },
  line: {
    shape: { id: 'l', type: 'line', x: 1, y: 1 },
    patch: { x2: 10, endArrowStyle: 'open' },
    members: { x2: 10, endArrowStyle: 'open', endArrow: true },
    paths: ['x2', 'endArrowStyle'],
  },
  group: { shape: { ...group('g'), id: 'g' }, patch: { text: 'G', x: 4 }, members: { label: 'G', x: 4 }, paths: ['x', 'text'] },
  unknown: {
    shape: { id: 'n', type: 'note', text: 'old', width: 9 },
    patch: { text: 'new', w: 10 },
    members: { text: 'new', width: 10 },
    paths: ['w', 'text'],
  },
}

describe('patching a shape', () => {
  it.each(Object.entries(patches))(
    '[CANVAS-18, CANVAS-19] each patched member of a %s is stored under the name that its kind uses, and changedPaths lists only changed values',
    (_, { shape, patch, members, paths }) => {
      const { body: after, result, fixes } = done(update(page(shape), shape.id, patch))
      expect(stored(after, shape.id)).toEqual({ ...shape, ...members, provenance })
      expect(result).toEqual({ id: shape.id, changedPaths: paths })
      expect(fixes).toEqual([])
    },
  )

  it('[CANVAS-18] an empty iconId removes all icon members, and the display of an icon can be changed', () => {
    const given = page(rectangle('i', { iconId: 'builtin:x', iconDisplayMode: 'badge', iconSize: 30 }))
    const { body: after, result } = done(update(given, 'i', { iconId: '' }))
    expect(stored(after, 'i')).toEqual({ ...rectangle('i'), provenance })
    expect(result.changedPaths).toEqual(['iconId', 'iconDisplayMode', 'iconSize'])
    expect(done(update(given, 'i', { iconSize: 40 })).result.changedPaths).toEqual(['iconSize'])
  })

  const useless: readonly (readonly [JsonObject & { readonly id: string }, JsonObject, string, string])[] = [
    [{ ...a, id: 'a' }, { routingMode: 'curved' }, 'dropped_invalid', 'routingMode'],
    [{ ...a, id: 'a' }, { rotation: 4 }, 'dropped_unknown', 'rotation'],
    [{ ...a, id: 'a' }, { style: { fill: 7 } }, 'dropped_invalid', 'style.fill'],
    [{ ...a, id: 'a' }, { iconSize: 9 }, 'dropped_invalid', 'iconSize'],
    [{ id: 'l', type: 'connector' }, { w: 4 }, 'dropped_invalid', 'w'],
    [{ id: 'l', type: 'connector' }, { iconId: 'builtin:x' }, 'dropped_invalid', 'iconId'],
    [{ id: 'l', type: 'line' }, { startShapeId: 'a' }, 'dropped_invalid', 'startShapeId'],
    [{ ...group('g', 'a'), id: 'g' }, { h: 4 }, 'dropped_invalid', 'h'],
    [{ ...group('g', 'a'), id: 'g' }, { style: { fill: 'red' } }, 'dropped_invalid', 'style'],
  ]

  it.each(useless.map((row) => [String(row[0]['type']), JSON.stringify(row[1]), ...row] as const))(
    '[CANVAS-18, CANVAS-19, CANVAS-20] a patch of a %s with only %s has nothing usable and is refused with its fixes',
    (_, __, shape, patch, action, field) => {
      expect(update(page(shape), shape.id, patch)).toMatchObject({
        code: 'ERR_EMPTY_PATCH',
        facts: { fixes: [{ action, field }] },
      })
    },
  )

  it('[CANVAS-19] an empty patch, an unknown shape and an unknown page are refused', () => {
    expect(update(page(a), 'a', {})).toMatchObject({ code: 'ERR_EMPTY_PATCH', facts: {} })
    expect(update(page(a), 'x', { x: 1 })).toMatchObject({ code: 'ERR_SHAPE_NOT_FOUND' })
    expect(run('update_shape', page(a), { pageId: 'q', id: 'a', patch: { x: 1 } })).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND' })
  })

  it('[CANVAS-19] a usable patch without a change leaves the document unchanged and reports that', () => {
    const given = page(a)
    const { body: after, result, warnings } = done(update(given, 'a', { x: 0, w: 100 }))
    expect(after).toBe(given)
    expect(result).toEqual({ id: 'a', changedPaths: [] })
    expect(warnings.map(({ reason }) => reason)).toEqual(['the shape already is as the patch says; nothing was changed'])
  })

  it('[CANVAS-18] an end point of a patch is stored when the start moves in the same patch', () => {
    const given = page({ id: 'l', type: 'line', x: 1, y: 1 })
    expect(stored(done(update(given, 'l', { x: 10, x2: 1 })).body, 'l')).toMatchObject({ x: 10, x2: 1 })
  })

  it('[TOOL-19] a text that a patch makes too long is reported', () => {
    expect(done(update(page(a), 'a', { text: 'word '.repeat(50) })).warnings).toMatchObject([{ field: 'text' }])
    expect(done(update(page(a), 'a', { text: 'word' })).warnings).toEqual([])
  })
})

describe('moving shapes', () => {
  it('[CANVAS-21] connector ends follow a moved shape, orthogonal connectors are routed again, others keep their waypoints', () => {
    const own = { waypoints: [{ x: 150, y: 7 }] }
    const far = { id: 'far', type: 'connector', x: 1, y: 1, x2: 2, y2: 2, routingMode: 'orthogonal' }
    const given = page(a, b, attached('c', { ...own, routingMode: 'orthogonal' }), attached('d', own), far)
    const { body: after, result } = done(update(given, 'a', { y: 100 }))
    expect(result).toEqual({ id: 'a', changedPaths: ['y'], rerouted: ['c'] })
    const waypoints = [
      { x: 150, y: 100 },
      { x: 150, y: 0 },
    ]
    expect(stored(after, 'c')).toMatchObject({ x: 50, y: 100, x2: 250, y2: 0, waypoints, provenance })
    expect(stored(after, 'd')).toMatchObject({ x: 50, y: 100, ...own, provenance })
    expect(stored(after, 'far')).toBe(stored(given, 'far'))
    expect(done(update(given, 'a', { text: 'x' })).result).toEqual({ id: 'a', changedPaths: ['text'] })
    expect(stored(done(update(given, 'b', { w: 200 })).body, 'd')).toMatchObject({ x2: 200 })
  })

  it('[CANVAS-21] connectors of a group follow when one of its members moves', () => {
    const given = page(a, b, group('g', 'a'), attached('c', { startShapeId: 'g' }))
    expect(stored(done(update(given, 'a', { x: -100 })).body, 'c')).toMatchObject({ x: -50, y: 0, x2: 250 })
  })

  it('[CANVAS-21] an end on a row of a typed shape keeps its place on the shape', () => {
    const table = { id: 'a', type: 'entity', x: 0, y: 0, width: 100, height: 200 }
    const given = page(table, b, attached('c', { startAnchor: 'attr-1-right', y: -50 }))
    expect(stored(done(update(given, 'a', { x: 10, h: 400 })).body, 'c')).toMatchObject({ x: 60, y: -100 })
  })

  it('[CANVAS-20] moving a group moves its members at any depth, and connectors follow', () => {
    const line = { id: 'line', type: 'line', x: 0, y: 0, x2: 10, y2: 10, waypoints: [{ x: 5, y: 6, note: 1 }, 'odd'] }
    const given = page(a, b, line, group('inner', 'line'), { ...group('g', 'a', 'inner'), x: 900 }, attached('c'))
    const { body: after, result } = done(update(given, 'g', { x: 100 }))
    expect(result).toEqual({ id: 'g', changedPaths: ['x'] })
    expect(stored(after, 'a')).toMatchObject({ x: 100, y: 0 })
    expect(stored(after, 'line')).toMatchObject({ x: 100, x2: 110, waypoints: [{ x: 105, y: 6, note: 1 }, 'odd'] })
    expect(stored(after, 'c')).toMatchObject({ x: 150, x2: 250 })
    expect(stored(after, 'g')).toMatchObject({ x: 1000 })
    expect(memberOf(stored(after, 'inner'), 'x')).toBeUndefined()
    expect(stored(after, 'b')).toBe(stored(given, 'b'))
  })
})

describe('moving a group with connectors', () => {
  const c = rectangle('c', { x: 300, y: 400, width: 100, height: 80 })
  const line = (id: string, more: JsonObject) => ({ id, type: 'connector', x: 0, y: 0, x2: 0, y2: 0, ...more })
  const outer = line('outer', {
    ...{ x: 300, y: 40, x2: 300, y2: 360, startShapeId: 'b', endShapeId: 'c', startAnchor: 'bottom', endAnchor: 'top' },
    ...{ routingMode: 'orthogonal', waypoints: [] },
  })

  it('[CANVAS-14] [CANVAS-20] a connector between shapes outside the group stays where it is', () => {
    const given = page(a, b, c, outer, group('g', 'a', 'outer'))
    const { body: after, result } = done(update(given, 'g', { y: 500 }))
    expect(stored(after, 'outer')).toBe(stored(given, 'outer'))
    expect(memberOf(stored(after, 'a'), 'y')).toBeGreaterThan(100)
    expect(result.rerouted).toBeUndefined()
  })

  it('[CANVAS-20] the free end of a connector moves with the group although the connector stores no end point', () => {
    const free = { id: 'free', type: 'connector', x: 350, y: 0, startShapeId: 'b', startAnchor: 'right' }
    const given = page(a, b, free, group('g', 'a', 'free'))
    const [before] = given.canvas.pages
    const { x } = readBack({ id: 'g', value: stored(given, 'g') }, readablePage(before as CanvasPage))
    const { body: after } = done(update(given, 'g', { x: Number(x) + 100 }))
    expect([stored(after, 'a'), stored(after, 'free')]).toMatchObject([{ x: 100 }, { x: 350, x2: 450 }])
  })

  it('[CANVAS-14] [CANVAS-21] a connector with an end outside the group is routed again, and that end stays at its anchor', () => {
    const half = line('half', {
      ...{ x: 300, y: 40, x2: 300, y2: 700, startShapeId: 'b', startAnchor: 'bottom', routingMode: 'orthogonal', waypoints: [] },
    })
    const bound = line('bound', {
      x: 50,
      y: 0,
      x2: 250,
      y2: 400,
      startShapeId: 'a',
      endShapeId: 'c',
      waypoints: [{ x: 9, y: 9 }],
    })
    const anchored = { ...bound, startAnchor: 'right', endAnchor: 'left' }
    const given = page(a, b, c, half, anchored, group('g', 'a', 'half', 'bound'))
    const [before] = given.canvas.pages
    const { x } = readBack({ id: 'g', value: stored(given, 'g') }, readablePage(before as CanvasPage))
    const { body: after, result } = done(update(given, 'g', { x: Number(x) + 100 }))
    expect(result.rerouted).toEqual(['half'])
    expect(stored(after, 'half')).toMatchObject({ x: 300, y: 40, x2: 400, y2: 700, waypoints: [{ x: 300 }, { x: 400 }] })
    expect(stored(after, 'bound')).toMatchObject({ x: 150, y: 0, x2: 250, y2: 400, waypoints: [{ x: 109, y: 9 }] })
  })

  it('[CANVAS-14] [CANVAS-21] an end on a row of a typed shape keeps its row when connector and shape are moved as one group', () => {
    const table = { id: 'a', type: 'entity', x: 0, y: 0, width: 100, height: 200 }
    const row = line('row', { x: 50, y: -50, x2: 250, startShapeId: 'a', endShapeId: 'b', startAnchor: 'attr-1-right' })
    const { body: after } = done(update(page(table, b, row, group('g', 'a', 'row', 'b')), 'g', { y: 300 }))
    const { y } = stored(after, 'a')
    expect(stored(after, 'row')).toMatchObject({ x: 50, y: Number(y) - 50 })
  })
})

describe('patching a connector', () => {
  it('[CANVAS-21] a shape of the type line gets no way of its own, whatever routing mode it stores', () => {
    const line = {
      id: 'l',
      type: 'line',
      x: 50,
      y: 0,
      x2: 400,
      y2: 90,
      startShapeId: 'a',
      startAnchor: 'right',
      routingMode: 'orthogonal',
    }
    expect(memberOf(stored(done(update(page(a, line), 'l', { x2: 500 })).body, 'l'), 'waypoints')).toBeUndefined()
  })

  const free = { id: 'c', type: 'connector', x: 0, y: 300, x2: 250, y2: 0, endShapeId: 'b', endAnchor: 'left' }
  const join = { startShapeId: 'a', startAnchor: 'bottom', routingMode: 'orthogonal' }

  it('[CANVAS-18, CANVAS-12] attaching an end sets its point and routes an orthogonal connector', () => {
    const { body: after, result } = done(update(page(a, b, free), 'c', join))
    expect(result.changedPaths).toEqual(['y', 'startShapeId', 'startAnchor', 'routingMode', 'waypoints'])
    expect(result.rerouted).toBeUndefined()
    expect(stored(after, 'c')).toMatchObject({ x: 0, y: 40, waypoints: [{ x: 0, y: 0 }] })
  })

  it('[CANVAS-14] an attached end stays at its anchor, and null detaches it', () => {
    const { body: joined } = done(update(page(a, b, free), 'c', join))
    const ignored = done(update(joined, 'c', { x: 5, text: 'new' }))
    expect(ignored.fixes).toMatchObject([{ action: 'dropped_invalid', field: 'x' }])
    expect(ignored.result.changedPaths).toEqual(['text'])
    const { body: freed } = done(update(joined, 'c', { startShapeId: null, x: 5, routingMode: 'straight' }))
    expect(stored(freed, 'c')).toMatchObject({ startShapeId: null, x: 5, y: 40, routingMode: 'straight' })
    expect(memberOf(stored(freed, 'c'), 'waypoints')).toBeUndefined()
  })

  it('[CANVAS-9] an end at an unknown shape or at a connector is refused', () => {
    const given = page(a, b, free)
    expect(update(given, 'c', { endShapeId: 'gone' })).toMatchObject({
      code: 'ERR_CONNECTOR_END',
      facts: { end: 'endShapeId', shapeId: 'gone' },
    })
    expect(update(given, 'c', { endShapeId: 'c' })).toMatchObject({ code: 'ERR_CONNECTOR_END' })
  })

  it('[CANVAS-19] end points that an editor stored stay when a patch changes something else', () => {
    const odd = attached('c', { x: 47, startAnchor: 'center', routingMode: 'orthogonal', waypoints: [{ x: 60, y: 0 }] })
    const { body: after, result } = done(update(page(a, b, odd), 'c', { style: { stroke: 'red' } }))
    expect(result.changedPaths).toEqual(['style.stroke'])
    expect(stored(after, 'c')).toEqual({ ...odd, stroke: 'red', provenance })
  })

  it('[CANVAS-18] waypoints of a patch are stored as given', () => {
    const given = page(a, b, attached('c', { routingMode: 'orthogonal', waypoints: [] }))
    const waypoints = [
      { x: 70, y: 0 },
      { x: 70, y: 90 },
    ]
    const { body: after, result } = done(update(given, 'c', { waypoints }))
    expect(result.changedPaths).toEqual(['waypoints'])
    expect(stored(after, 'c')).toMatchObject({ waypoints })
  })
})
