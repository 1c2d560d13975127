import { describe, expect, it } from 'vitest'
import { isRefusal, type Refusal } from '../edit.ts'
import { type JsonObject, memberOf, omitMembers } from '../json.ts'
import { rectangle } from '../testing/builders.ts'
import { readablePage, readBack } from './read-back.ts'
import { getShape } from './shown-shapes.ts'
import { creatableNames } from './shape-kinds.ts'
import { madeShapes } from './testing/made-shapes.ts'
import { done, idsOf, page, run, stored } from './testing/shape-editing.ts'

const a = rectangle('a', { x: 0, y: 0, width: 100, height: 80 })
const b = rectangle('b', { x: 300, y: 0, width: 100, height: 80 })

const add = (shape: JsonObject, ...others: readonly JsonObject[]) => run('add_shape', page(...others), { pageId: 'p', shape })

describe('adding shapes', () => {
  it('[CANVAS-1] every kind of shape that tools create has a row in the table of these tests', () => {
    expect(Object.keys(madeShapes)).toEqual(creatableNames)
  })

  it.each(Object.entries(madeShapes))(
    '[CANVAS-15, CANVAS-2] a %s is stored with the defaults of its kind and the members of the call',
    (kind, row) => {
      const least = done(add({ kind }, a))
      expect(omitMembers(stored(least.body, least.result.id), 'id')).toEqual(row.least)
      expect(least.fixes).toEqual([])
      const most = done(add({ ...row.full, id: 'mine', type: kind, kind }, a))
      expect(most.result).toEqual({ id: 'mine' })
      expect(stored(most.body, 'mine')).toEqual({ ...row.fullStored, id: 'mine' })
      expect({ fixes: most.fixes, warnings: most.warnings }).toEqual({ fixes: [], warnings: [] })
    },
  )

  it.each(Object.entries(madeShapes))('[CANVAS-16] a %s made from its own read-back is equal', (kind, { full }) => {
    for (const shape of [{ kind }, { ...full, kind }]) {
      const first = done(add({ ...shape, id: 's' }, a))
      const read = getShape(first.body, { pageId: 'p', id: 's' })
      if (isRefusal(read)) throw new Error(read.code)
      const again = done(add(read.shape, a))
      expect(again.fixes).toEqual([])
      expect(stored(again.body, 's')).toEqual(stored(first.body, 's'))
    }
  })

  it('[CANVAS-16] one call creates all shapes of a page again from their read-back, equal to the first ones', () => {
    const shapes = Object.entries(madeShapes).map(([kind, { full }]) => ({ ...full, kind, id: `new-${kind}` }))
    const { body: after } = done(run('add_shapes', page(a), { pageId: 'p', shapes }))
    const [canvas] = after.canvas.pages
    if (canvas === undefined) throw new Error('there is a page')
    const read = canvas.shapes.map((shape) => readBack(shape, readablePage(canvas)))
    const again = done(run('add_shapes', page(), { pageId: 'p', shapes: read }))
    expect(again.fixes).toEqual([])
    for (const { id } of canvas.shapes.slice(1)) expect(stored(again.body, id)).toEqual(stored(after, id))
  })

  it('[CANVAS-23] new shapes lie on top in the given order, and the other shapes stay the same objects', () => {
    const before = page(a, b)
    const shapes: readonly JsonObject[] = [{ kind: 'text', id: 'one' }, { kind: 'ellipse', id: 'two' }, { kind: 'ellipse' }]
    const { body: after, result } = done(run('add_shapes', before, { pageId: 'p', shapes }))
    expect(result).toEqual({ ids: ['one', 'two', 'shape-0000000000'] })
    expect(idsOf(after)).toEqual(['a', 'b', 'one', 'two', 'shape-0000000000'])
    expect(after.canvas.pages[0]?.shapes[0]).toBe(before.canvas.pages[0]?.shapes[0])
  })

  it('[CANVAS-1, CANVAS-3, CANVAS-9] one invalid shape refuses the whole call, and the refusal has the index of the shape', () => {
    const allowed = creatableNames
    const refusals: readonly (readonly [JsonObject, string, object])[] = [
      [{}, 'ERR_SHAPE_KIND', { got: null, allowed }],
      [{ kind: 'group' }, 'ERR_SHAPE_KIND', { got: 'group', allowed }],
      [{ kind: 7 }, 'ERR_SHAPE_KIND', { got: '7', allowed }],
      [{ kind: 'text', type: 'ellipse' }, 'ERR_SHAPE_KIND', { got: 'text and ellipse', allowed }],
      [{ kind: 'text', id: 'a' }, 'ERR_SHAPE_ID_TAKEN', { id: 'a' }],
      [{ kind: 'text', id: 'first' }, 'ERR_SHAPE_ID_TAKEN', { id: 'first' }],
      [{ kind: 'connector', startShapeId: 'gone' }, 'ERR_CONNECTOR_END', { end: 'startShapeId', shapeId: 'gone' }],
      [{ kind: 'connector', endShapeId: 'first' }, 'ERR_CONNECTOR_END', { end: 'endShapeId', shapeId: 'first' }],
    ]
    for (const [shape, code, facts] of refusals) {
      const many = run('add_shapes', page(a), { pageId: 'p', shapes: [{ kind: 'connector', id: 'first' }, shape] })
      expect(many).toMatchObject({ kind: 'refused', code, facts: { ...facts, shape: 1 } })
      expect((many as Refusal).message).toMatch(/^shape\[1\]: /)
    }
    expect(add({})).toMatchObject({ code: 'ERR_SHAPE_KIND', facts: { got: null } })
    expect(add({ kind: 'text', id: 'a' }, a)).not.toHaveProperty('facts.shape')
    expect(run('add_shape', page(), { pageId: 'q', shape: { kind: 'text' } })).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND' })
  })

  it('[TOOL-12] [CONC-13] minting ids for a batch does not read the document once per shape, and no minted id equals one that the batch brings', () => {
    const [given] = page(a).canvas.pages
    if (given === undefined) throw new Error('there is a page')
    let looks = 0
    const other = {
      ...given,
      id: 'other',
      get shapes() {
        looks++
        return given.shapes
      },
    }
    const before = page(a)
    const body = { ...before, canvas: { ...before.canvas, pages: [...before.canvas.pages, other] } }
    const shapes: readonly JsonObject[] = [
      ...Array.from({ length: 100 }, () => ({ kind: 'text' })),
      { kind: 'text', id: 'shape-0000000003' },
    ]
    const { result } = done(run('add_shapes', body, { pageId: 'p', shapes }))
    expect(new Set(result.ids).size).toBe(101)
    expect(looks).toBeLessThan(10)
  })

  it('[TOOL-19] the warning of a shape that covers nine others names three of them, and a box that lies wholly on a larger box covers nothing', () => {
    const heap = Array.from({ length: 9 }, (_, i) => rectangle(`s${i}`, { x: i, y: 0, width: 90, height: 20 }))
    const covering = (...others: readonly JsonObject[]) =>
      done(add({ kind: 'rectangle', id: 'n', w: 200, h: 200 }, ...others)).warnings.map(({ reason }) => reason)
    expect(covering(...heap.slice(0, 3))).toEqual(['n covers s0, s1, s2'])
    expect(covering(...heap)).toEqual([expect.stringMatching(/^n covers s\d, s\d, s\d and others$/)])
    expect(covering(rectangle('frame', { width: 300, height: 300 }))).toEqual([])
  })

  it('[CANVAS-14] [TOOL-18] a DSL object with 150,000 unknown members becomes a shape, with one fix for each of them', () => {
    const unknown = Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`unknown${i}`, 1]))
    expect(done(add({ kind: 'text', ...unknown })).fixes).toHaveLength(150_000)
  })
})

describe('arguments of a shape', () => {
  const boxes: readonly (readonly [JsonObject, string, string, JsonObject])[] = [
    [{ x: 2e6 }, 'clamped', 'x', { x: 1_000_000 }],
    [{ y: '4' }, 'dropped_invalid', 'y', {}],
    [{ x: Number.POSITIVE_INFINITY }, 'dropped_invalid', 'x', {}],
    [{ w: 0 }, 'clamped', 'w', { width: 1 }],
    [{ h: 100_001 }, 'clamped', 'h', { height: 100_000 }],
    [{ text: 5 }, 'dropped_invalid', 'text', {}],
    [{ text: 'a\ud800' }, 'dropped_invalid', 'text', { label: 'a\ufffd' }],
    [{ text: '𝒳'.repeat(10_001) }, 'clamped', 'text', { label: '𝒳'.repeat(10_000) }],
    [{ text: `a${'𝒳'.repeat(10_001)}` }, 'clamped', 'text', { label: `a${'𝒳'.repeat(9_999)}` }],
    [{ text: `${'\0'.repeat(19_000)}${'x'.repeat(5_000)}` }, 'dropped_invalid', 'text', { label: 'x'.repeat(5_000) }],
    [{ style: 'red' }, 'dropped_invalid', 'style', {}],
    [{ style: { fill: 'url(#x)' } }, 'dropped_invalid', 'style.fill', {}],
    [{ style: { stroke: null } }, 'dropped_invalid', 'style.stroke', {}],
    [{ style: { strokeWidth: 101 } }, 'clamped', 'style.strokeWidth', { strokeWidth: 100 }],
    [{ style: { shadow: 1 } }, 'dropped_unknown', 'style.shadow', {}],
    [{ iconId: 'server' }, 'dropped_invalid', 'iconId', {}],
    [{ iconSize: 32 }, 'dropped_invalid', 'iconSize', {}],
    [{ iconId: '', iconDisplayMode: 'badge' }, 'dropped_invalid', 'iconDisplayMode', {}],
    [{ iconId: 'builtin:a', iconSize: 4 }, 'clamped', 'iconSize', { iconId: 'builtin:a', iconSize: 8 }],
    [{ iconId: 'builtin:a', iconDisplayMode: 'big' }, 'dropped_invalid', 'iconDisplayMode', { iconId: 'builtin:a' }],
    [{ waypoints: [] }, 'dropped_unknown', 'waypoints', {}],
    [{ label: 'x' }, 'dropped_unknown', 'label', {}],
    [{ __proto__x: 'x' }, 'dropped_unknown', '__proto__x', {}],
    [{ id: 'no spaces' }, 'dropped_invalid', 'id', {}],
  ]

  it.each(boxes.map((row) => [JSON.stringify(row[0]).slice(0, 50), ...row] as const))(
    '[CANVAS-4, CANVAS-5, CANVAS-6, CANVAS-7, CANVAS-8, CANVAS-14] a rectangle with %s is created, with one fix',
    (_, given, action, field, members) => {
      const { body: after, result, fixes } = done(add({ kind: 'rectangle', ...given }))
      expect(fixes).toMatchObject([{ action, field }])
      expect(omitMembers(stored(after, result.id), 'id')).toEqual({ ...madeShapes['rectangle']?.least, ...members })
    },
  )

  const connectors: readonly (readonly [JsonObject, string, string])[] = [
    [{ iconId: 'builtin:a' }, 'dropped_invalid', 'iconId'],
    [{ startShapeId: 5 }, 'dropped_invalid', 'startShapeId'],
    [{ startAnchor: 'middle' }, 'dropped_invalid', 'startAnchor'],
    [{ endAnchor: 'attr-1-left' }, 'dropped_invalid', 'endAnchor'],
    [{ startShapeId: 'a', startAnchor: 'attr-1-left' }, 'dropped_invalid', 'startAnchor'],
    [{ endArrowStyle: 'arrow' }, 'dropped_invalid', 'endArrowStyle'],
    [{ routingMode: 'elbow' }, 'dropped_invalid', 'routingMode'],
    [{ waypoints: {} }, 'dropped_invalid', 'waypoints'],
    [{ waypoints: [{ x: 1 }] }, 'dropped_invalid', 'waypoints[0]'],
    [{ waypoints: [{ x: 1e7, y: 1 }] }, 'clamped', 'waypoints[0]'],
    [{ waypoints: Array.from({ length: 501 }, () => ({ x: 1, y: 1 })) }, 'clamped', 'waypoints'],
    [{ labelPosition: 2 }, 'clamped', 'labelPosition'],
    [{ w: 5 }, 'dropped_unknown', 'w'],
  ]

  it.each(connectors.map((row) => [JSON.stringify(row[0]).slice(0, 50), ...row] as const))(
    '[CANVAS-9, CANVAS-10, CANVAS-11] [CANVAS-12, CANVAS-13] a connector with %s is created, with one fix',
    (_, given, action, field) => {
      expect(done(add({ kind: 'connector', ...given }, a)).fixes).toMatchObject([{ action, field }])
    },
  )

  it('[CANVAS-14] a fix for a member name of other drawing programs suggests the right name, such as w for width', () => {
    const { fixes } = done(add({ kind: 'rectangle', label: 'x', width: 5, colour: 'red', shap: 1 }))
    expect(fixes.map(({ reason }) => /did you mean (\w+)/.exec(reason)?.[1])).toEqual(['text', 'w', 'style', undefined])
  })

  it('[CANVAS-10] a connector can end at a row anchor of a shape that tools do not create, such as attr-2-right of an entity', () => {
    const table = { id: 't', type: 'entity', x: 0, y: 0, width: 100, height: 200 }
    const { body: after, fixes } = done(
      add({ kind: 'connector', id: 'c', startShapeId: 't', startAnchor: 'attr-2-right' }, table),
    )
    expect(fixes).toEqual([])
    expect(stored(after, 'c')).toMatchObject({ startAnchor: 'attr-2-right', x: 50, y: 0 })
  })

  it('[CANVAS-6] every form of colour is accepted, and a text that only looks like a colour is dropped', () => {
    const good = ['auto', 'Auto', '#fff', '#FFFFFF80', 'rebeccapurple', 'rgb(1,2,3)', 'rgba(1, 2, 3, .5)', 'rgb(1 2 3 / 50%)']
    const more = ['hsl(120, 50%, 50%)', 'hsla(120deg 50% 50% / .3)', 'transparent', ' red ']
    const bad = ['', '#ff', '#ggg', 'reddish', 'rgb(1,2)', 'rgb(red)', 'url(x)', 'expression(1)', 'var(--x)', 'currentColor']
    const fixesOf = (fill: string) => done(add({ kind: 'rectangle', style: { fill } })).fixes
    for (const colour of [...good, ...more]) expect(fixesOf(colour), colour).toEqual([])
    for (const colour of [...bad, `#fff${' '.repeat(70)}`])
      expect(fixesOf(colour), colour).toMatchObject([{ action: 'dropped_invalid', field: 'style.fill' }])
  })

  it('[CANVAS-15] a text takes the colour of its letters from fill, and drops a labelColor beside it', () => {
    const { body: after, fixes } = done(add({ kind: 'text', id: 't', style: { fill: 'red', labelColor: 'blue' } }))
    expect(stored(after, 't')).toMatchObject({ fill: 'red' })
    expect(fixes).toMatchObject([{ action: 'dropped_invalid', field: 'style.labelColor' }])
  })

  it('[ICON-3, ICON-4] an unknown icon id is kept with a warning, and a malformed one is dropped with the nearest ids in its fix', () => {
    const unknownIcons = { 'builtin:servr': ['builtin:server'], server: ['builtin:server'] }
    const withIcon = (iconId: string) =>
      done(run('add_shapes', page(), { pageId: 'p', shapes: [{ kind: 'ellipse', id: 'e', iconId }], unknownIcons }))
    const kept = withIcon('builtin:servr')
    expect(stored(kept.body, 'e')).toMatchObject({ iconId: 'builtin:servr' })
    expect(kept.fixes).toEqual([])
    expect(kept.warnings).toMatchObject([{ field: 'iconId', nearest: ['builtin:server'], shape: 0 }])
    const dropped = withIcon('server')
    expect(dropped.fixes).toMatchObject([{ action: 'dropped_invalid', field: 'iconId', shape: 0 }])
    expect(dropped.fixes[0]?.reason).toContain('builtin:server')
  })

  it('[ICON-5] icon settings are not stored without an icon', () => {
    const { body: after, fixes } = done(
      add({ kind: 'ellipse', id: 'e', iconId: 'no icon', iconSize: 30, iconDisplayMode: 'badge' }),
    )
    expect(Object.keys(stored(after, 'e')).filter((name) => name.startsWith('icon'))).toEqual([])
    expect(fixes.map(({ field }) => field).sort()).toEqual(['iconDisplayMode', 'iconId', 'iconSize'])
  })

  it('[CANVAS-12, CANVAS-14] a connector between shapes of one call ends at their anchors, and an orthogonal one is routed', () => {
    const sides = { startAnchor: 'right', endAnchor: 'left', routingMode: 'orthogonal' }
    const shapes: readonly JsonObject[] = [
      { kind: 'connector', id: 'c', startShapeId: 'r', endShapeId: 'e', ...sides },
      { kind: 'rectangle', id: 'r' },
      { kind: 'ellipse', id: 'e', x: 300, y: 100 },
    ]
    const { body: after } = done(run('add_shapes', page(), { pageId: 'p', shapes }))
    const waypoints = [
      { x: 150, y: 0 },
      { x: 150, y: 100 },
    ]
    expect(stored(after, 'c')).toMatchObject({ x: 50, y: 0, x2: 250, y2: 100, waypoints })
    const free = done(add({ kind: 'connector', id: 'f', x2: 9, y2: 9, routingMode: 'orthogonal' }))
    expect(memberOf(stored(free.body, 'f'), 'waypoints')).toBeUndefined()
  })

  it('[TOOL-19] a text that is too long for its box and a shape that covers another one are reported as warnings', () => {
    const shapes: readonly JsonObject[] = [
      { kind: 'rectangle', id: 'big', x: 10, text: 'word '.repeat(40) },
      { kind: 'text', id: 'in', x: 300, w: 50, h: 20, text: 'in' },
    ]
    const { warnings } = done(run('add_shapes', page(a, b), { pageId: 'p', shapes }))
    expect(warnings).toMatchObject([{ field: 'text', shape: 0 }, { shape: 0 }])
    expect(warnings[1]?.reason).toBe('big covers a')
  })
})
