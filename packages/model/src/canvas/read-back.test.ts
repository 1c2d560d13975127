import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { json } from '../testing/arbitrary.ts'
import { body, canvasPage, group, prosePage, rectangle } from '../testing/builders.ts'
import { readablePage, readBack, shapesInOrder } from './read-back.ts'
import { getShape } from './shown-shapes.ts'

const hash = 'ab'.repeat(32)

function back(shape: JsonObject, ...others: readonly JsonObject[]): JsonObject {
  const page = body({ pages: [canvasPage('p', shape, ...others)] }).canvas.pages[0]
  const found = page?.shapes.find((other) => other.id === shape['id'])
  if (page === undefined || found === undefined) throw new Error('no such shape')
  return readBack(found, readablePage(page))
}

const base = { rotation: 0, opacity: 1, locked: false, visible: true, provenance: { source: 'mcp', at: 1 } }

describe('reading back a stored shape', () => {
  it('[CANVAS-16] a rectangle is read back with all its members', () => {
    const stored = {
      id: 'r',
      type: 'rectangle',
      ...base,
      x: 10,
      y: 20.5,
      width: 180,
      height: 72,
      cornerRadius: 0,
      fill: '#4a90d9',
      stroke: '#2c5282',
      strokeWidth: 2,
      label: 'Relay',
      labelColor: 'red',
      iconId: 'builtin:server',
      iconDisplayMode: 'badge',
      iconSize: 32,
    }
    expect(back(stored)).toEqual({
      id: 'r',
      kind: 'rectangle',
      type: 'rectangle',
      x: 10,
      y: 20.5,
      w: 180,
      h: 72,
      text: 'Relay',
      style: { fill: '#4a90d9', stroke: '#2c5282', strokeWidth: 2, labelColor: 'red' },
      iconId: 'builtin:server',
      iconDisplayMode: 'badge',
      iconSize: 32,
    })
  })

  it('[CANVAS-16] coordinates and sizes near the largest number stay finite when they are added and doubled', () => {
    const most = Number.MAX_VALUE
    expect(back({ id: 'e', type: 'ellipse', ...base, x: most, y: 0, radiusX: most, radiusY: 1.5e308 })).toMatchObject({
      w: most,
      h: most,
    })
    const box = (id: string, x: number, rotation: number) => rectangle(id, { x, y: -x, width: most, height: most, rotation })
    for (const rotation of [0, 45, 90, 1e308]) {
      const members = [box('a', most, rotation), box('b', -most, rotation), box('c', 1.7e308, rotation)]
      const shown = back({ id: 'g', type: 'group', ...base, childIds: ['a', 'b', 'c'] }, ...members)
      for (const name of ['x', 'y', 'w', 'h']) expect(shown[name], `${name} at ${rotation}`).toSatisfy(Number.isFinite)
    }
    const pair = [
      rectangle('a', { x: 1.7e308, y: 0, width: 2, height: 2 }),
      rectangle('b', { x: 1.7e308, y: 4, width: 2, height: 2 }),
    ]
    const group = back({ id: 'g', type: 'group', ...base, childIds: ['a', 'b'] }, ...pair)
    expect(group).toMatchObject({ x: 1.7e308, y: 2, w: 0, h: 6 })
  })

  it('[CANVAS-16] an ellipse is read back with its diameters, and without text and icon when it has none', () => {
    const stored = {
      id: 'e',
      type: 'ellipse',
      ...base,
      x: 0,
      y: 0,
      radiusX: 90,
      radiusY: 45.5,
      fill: 'auto',
      iconId: '',
      iconSize: 24,
    }
    expect(back(stored)).toEqual({
      id: 'e',
      kind: 'ellipse',
      type: 'ellipse',
      x: 0,
      y: 0,
      w: 180,
      h: 91,
      style: { fill: 'auto' },
    })
  })

  it('[CANVAS-16] a text is read back from text, else from content', () => {
    const stored = {
      id: 't',
      type: 'text',
      ...base,
      x: 1,
      y: 2,
      width: 200,
      height: 50,
      fill: 'auto',
      stroke: null,
      strokeWidth: 0,
    }
    const shown = { id: 't', kind: 'text', type: 'text', x: 1, y: 2, w: 200, h: 50, style: { fill: 'auto' } }
    expect(back({ ...stored, text: 'own', content: 'older' })).toEqual({ ...shown, text: 'own' })
    expect(back({ ...stored, content: 'older' })).toEqual({ ...shown, text: 'older' })
    expect(back(stored)).toEqual(shown)
  })

  it('[CANVAS-16] a connector is read back with its ends and routing instead of a size', () => {
    const stored = {
      id: 'c',
      type: 'connector',
      ...base,
      x: 0,
      y: 5,
      x2: 100,
      y2: 50,
      fill: null,
      stroke: 'auto',
      strokeWidth: 2,
      startShapeId: 'a',
      endShapeId: null,
      startAnchor: 'right',
      startArrowStyle: 'diamond',
      startArrow: true,
      endArrow: false,
      label: 'calls',
      routingMode: 'orthogonal',
      waypoints: [{ x: 50, y: 5 }],
      labelPosition: 0.35,
    }
    const ends = { x: 0, y: 5, x2: 100, y2: 50, startShapeId: 'a', endShapeId: null, startAnchor: 'right', endAnchor: 'center' }
    expect(back(stored)).toEqual({
      id: 'c',
      kind: 'connector',
      type: 'connector',
      ...ends,
      startArrowStyle: 'diamond',
      endArrowStyle: 'none',
      text: 'calls',
      routingMode: 'orthogonal',
      waypoints: [{ x: 50, y: 5 }],
      labelPosition: 0.35,
      style: { stroke: 'auto', strokeWidth: 2 },
    })
  })

  it('[CANVAS-16] a line has no default arrows, a connector has one at its end', () => {
    const shown = { x: 3, y: 4, x2: 3, y2: 4, startShapeId: null, endShapeId: null, startAnchor: 'center', endAnchor: 'center' }
    expect(back({ id: 'l', type: 'line', x: 3, y: 4 })).toMatchObject({
      ...shown,
      startArrowStyle: 'none',
      endArrowStyle: 'none',
    })
    expect(back({ id: 'c', type: 'connector', x: 3, y: 4 })).toMatchObject({ ...shown, endArrowStyle: 'triangle' })
  })

  it('[CANVAS-16, FILE-2] a file is read back with its reference as a bare hash', () => {
    const stored = {
      id: 'f',
      type: 'file',
      ...base,
      x: 0,
      y: 0,
      width: 200,
      height: 160,
      fill: '#f8fafc',
      stroke: '#cbd5e1',
      strokeWidth: 1,
      blobRef: `blob://${hash}`,
      fileName: 'a.pdf',
      mimeType: 'application/pdf',
      fileSize: 12,
      fileCategory: 'pdf',
      labelColor: '#475569',
    }
    expect(back(stored)).toEqual({
      id: 'f',
      kind: 'file',
      type: 'file',
      x: 0,
      y: 0,
      w: 200,
      h: 160,
      style: { fill: '#f8fafc', stroke: '#cbd5e1', strokeWidth: 1, labelColor: '#475569' },
      fileName: 'a.pdf',
      mimeType: 'application/pdf',
      size: 12,
      fileCategory: 'pdf',
      blobRef: hash,
    })
  })

  it('[CANVAS-16] a group is read back with its members and the box around them, including nested and rotated members', () => {
    const members = [
      rectangle('a', { x: 0, y: 0, width: 100, height: 40 }),
      group('inner', 'b', 'line'),
      rectangle('b', { x: 200, y: 100, width: 100, height: 20, rotation: 90 }),
      { id: 'line', type: 'line', x: 0, y: 0, x2: 10, y2: 180, waypoints: [{ x: -70, y: 3 }] },
    ]
    const outer = { ...group('g', 'a', 'inner', 'gone', 'a'), label: 'Both', x: 999 }
    expect(back(outer, ...members)).toEqual({
      id: 'g',
      kind: 'group',
      type: 'group',
      x: 70,
      y: 80,
      w: 280,
      h: 200,
      text: 'Both',
      style: {},
      childIds: ['a', 'inner'],
    })
    expect(back(group('g', 'g'))).toMatchObject({ x: 0, y: 0, w: 0, h: 0 })
  })

  it('[CANVAS-16] groups that share a member, contain each other, or are nested as deep as the page is long are read back', () => {
    const leaf = rectangle('leaf', { x: 5, y: 7, width: 10, height: 14 })
    const box = { x: 5, y: 7, w: 10, h: 14 }
    const shared = [group('one', 'leaf'), group('two', 'one', 'leaf'), leaf]
    for (const first of shared.slice(0, 2)) expect(back(first, ...shared.filter((other) => other !== first))).toMatchObject(box)
    const ring = [group('a', 'b'), group('b', 'a', 'leaf'), leaf] as const
    expect(back(ring[0], ...ring.slice(1))).toMatchObject(box)
    const deep = Array.from({ length: 20_000 }, (_, i) => group(`g${i}`, i === 19_999 ? 'leaf' : `g${i + 1}`))
    const page = body({ pages: [canvasPage('p', ...deep, leaf)] }).canvas.pages[0]
    if (page === undefined) throw new Error('there is a page')
    const readable = readablePage(page)
    const shown = shapesInOrder(page).map((shape) => readBack(shape, readable))
    expect(shown.map(({ id }) => id)).toEqual([...deep.map(({ id }) => id), 'leaf'])
    expect(shown[0]).toMatchObject(box)
  })

  it('[CANVAS-15] a shape of any other type is read back with its place, size and text', () => {
    expect(back({ id: 'd', type: 'database', x: 1, y: 2, width: 30, height: 40, text: 'T' })).toEqual({
      id: 'd',
      kind: 'database',
      type: 'database',
      x: 1,
      y: 2,
      w: 30,
      h: 40,
      text: 'T',
      style: {},
    })
    expect(back({ id: 'd' })).toEqual({ id: 'd', kind: 'unknown', type: 'unknown', x: 0, y: 0, style: {} })
  })

  it('[CANVAS-16] reading back any stored shape does not fail and names the shape', () => {
    const types = fc.constantFrom<Json>('rectangle', 'ellipse', 'text', 'connector', 'line', 'group', 'file', 'odd', 7, null)
    const names = [
      'x',
      'width',
      'radiusX',
      'style',
      'childIds',
      'waypoints',
      'label',
      'text',
      'startShapeId',
      'fill',
      'iconId',
      'fileSize',
    ]
    const value = fc.dictionary(fc.constantFrom(...names), json, { noNullPrototype: true })
    fc.assert(
      fc.property(types, value, (type, members) => {
        const shown = back({ ...(members as JsonObject), id: 's', type })
        expect(shown['id']).toBe('s')
        expect(shown['kind']).toBe(shown['type'])
        expect(isJsonObject(shown['style'])).toBe(true)
        expect(typeof shown['x']).toBe('number')
        expect(JSON.parse(JSON.stringify(shown))).toEqual(shown)
      }),
      { seed: 3, numRuns: 300 },
    )
  })
})

describe('reading a page', () => {
  it('[CANVAS-17] shapes are read bottom first, members directly after their group', () => {
    const shapes = [rectangle('m2'), rectangle('a'), group('g', 'm1', 'm2'), rectangle('m1'), rectangle('b')]
    const given = body({ pages: [canvasPage('p', ...shapes)] })
    const page = given.canvas.pages[0]
    expect(page && shapesInOrder(page).map(({ id }) => id)).toEqual(['a', 'g', 'm1', 'm2', 'b'])
  })

  it('[TOOL-26] an unknown shape is answered with the page that has it, or with the nearest ids', () => {
    const given = body({ pages: [canvasPage('p', rectangle('box-1')), canvasPage('q', rectangle('other'))] })
    expect(getShape(given, { pageId: 'p', id: 'other' })).toMatchObject({
      code: 'ERR_SHAPE_NOT_FOUND',
      facts: { shapeId: 'other', pageId: 'p', otherPage: 'q' },
    })
    expect(getShape(given, { pageId: 'p', id: 'box1' })).toMatchObject({
      code: 'ERR_SHAPE_NOT_FOUND',
      facts: { shapeId: 'box1', pageId: 'p' },
      message: expect.stringContaining('box-1') as string,
    })
  })

  it('[TOOL-26] an unknown page is answered with the canvas pages, and a prose page is named as such', () => {
    const given = body({ pages: [canvasPage('p')], richTextPages: [prosePage('t', '')] })
    expect(getShape(given, { pageId: 't', id: 'x' })).toMatchObject({
      code: 'ERR_PAGE_NOT_FOUND',
      facts: { pageId: 't', kind: 'canvas', otherKind: 'prose', pages: [{ id: 'p', name: 'p' }] },
    })
  })
})
