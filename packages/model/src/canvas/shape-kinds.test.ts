import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonObject, memberOf } from '../json.ts'
import { renderPage } from '../render/page-svg.ts'
import { pageOf } from '../render/testing/showcase.ts'
import { boundsOfBox } from './geometry/shape-box.ts'
import { boundsOfShape, boxOfShape, pageGeometry, shapeValues } from './page-geometry.ts'
import { readablePage, readBack } from './read-back.ts'
import { creatableNames, kindOf, shapeKinds } from './shape-kinds.ts'
import { labelOf, withLabel } from './stored-shape.ts'

/** For a shape with no members but its type: the member that a label is written to, its box, and the arrows at start and end of a line. */
const bare: { readonly [type: string]: { readonly label: string; readonly box: string | null; readonly line?: string } } = {
  rectangle: { label: 'label', box: '100x80 rectangle' },
  ellipse: { label: 'label', box: '100x80 ellipse' },
  text: { label: 'text', box: '200x50 rectangle' },
  connector: { label: 'label', box: null, line: 'none-triangle' },
  file: { label: 'label', box: '200x160 rectangle' },
  line: { label: 'label', box: null, line: 'none-none' },
  group: { label: 'label', box: null },
  unknown: { label: 'label', box: '100x80 rectangle' },
}

function shownAs(value: JsonObject & { readonly id: string }) {
  const page = pageOf(value)
  const shown = readBack({ id: value.id, value }, readablePage(page))
  return { shown, svg: renderPage(page, 1).svg }
}

describe('table of shape kinds', () => {
  it('[CANVAS-15] every kind has a row in the table of these tests, and tools create four kinds', () => {
    expect(shapeKinds.map(({ type }) => type).sort()).toEqual(Object.keys(bare).sort())
    expect(creatableNames).toEqual(['rectangle', 'ellipse', 'text', 'connector'])
  })

  it.each(Object.entries(bare))('[CANVAS-15] a %s with only a type has the size and arrows of its kind', (type, row) => {
    const value = { id: 's', type }
    const box = boxOfShape(value)
    expect(box === null ? null : `${box.width}x${box.height} ${box.outline}`).toBe(row.box)
    const { shown } = shownAs(value)
    expect(shown['startArrowStyle'] === undefined ? undefined : `${shown['startArrowStyle']}-${shown['endArrowStyle']}`).toBe(
      row.line,
    )
  })

  it.each(Object.entries(bare))(
    '[CANVAS-16] tools read the label that was written to a %s, and previews show it, except for a group',
    (type, row) => {
      const value: JsonObject & { readonly id: string } = { ...withLabel({ id: 's', type }, 'Zebra'), id: 's' }
      expect(memberOf(value, row.label)).toBe('Zebra')
      const { shown, svg } = shownAs(value)
      expect(shown['text']).toBe('Zebra')
      expect(svg.includes('Zebra')).toBe(type !== 'group')
    },
  )

  it('[CANVAS-16] tools and previews read the label from the same member, whichever members a shape has', () => {
    const types = fc.constantFrom(...Object.keys(bare).filter((type) => type !== 'group'))
    const members = fc.dictionary(
      fc.constantFrom('label', 'text', 'content', 'name', 'fileName'),
      fc.constantFrom('', 'Q1', 'Q2', 'Q3'),
    )
    fc.assert(
      fc.property(types, members, (type, texts) => {
        const { shown, svg } = shownAs({ ...texts, id: 's', type })
        const drawn = /Q\d/.exec(svg)?.[0] ?? ''
        const { instead } = kindOf({ type }).label
        expect(drawn).toBe(shown['text'] || (instead === null ? '' : (texts[instead] ?? '')))
      }),
      { seed: 31, numRuns: 200 },
    )
  })

  it('[CANVAS-16] a new text is written to the member of the old one, or to the first label member when tools do not write that one', () => {
    expect(withLabel({ type: 'sticky', text: 'old' }, 'new')).toEqual({ type: 'sticky', text: 'new' })
    expect(withLabel({ type: 'sticky', name: 'old' }, 'new')).toEqual({ type: 'sticky', name: 'old', label: 'new' })
    expect(withLabel({ type: 'text', content: 'old' }, 'new')).toEqual({ type: 'text', content: 'old', text: 'new' })
    const values: readonly JsonObject[] = [
      { type: 'sticky', name: 'a' },
      { type: 'group', name: 'a' },
      { type: 'text', content: 'a' },
    ]
    for (const value of values) expect(labelOf(withLabel(value, 'new'))).toBe('new')
  })

  it('[CANVAS-16] names that every object inherits, such as constructor, are unknown types', () => {
    for (const type of ['constructor', '__proto__', 'toString', 'unknown', '']) expect(kindOf({ type }).type).toBe('unknown')
  })
})

describe('bounds of shapes', () => {
  it('[CANVAS-16] the bounds of a line contain its ends and waypoints, those of a box its rotated corners', () => {
    const page = pageOf(
      { id: 'l', type: 'line', x: 0, y: 0, x2: 10, y2: 0, waypoints: [{ x: 5, y: -20 }, { x: 'no' }] },
      { id: 'r', type: 'rectangle', x: 0, y: 100, width: 40, height: 20, rotation: 180 },
    )
    const geometry = pageGeometry(shapeValues(page))
    expect(boundsOfShape('l', geometry)).toEqual({ left: 0, top: -20, right: 10, bottom: 0 })
    const { left, bottom } = boundsOfBox(
      geometry.boxes.get('r') ?? { centre: { x: 0, y: 0 }, width: 0, height: 0, rotation: 0, outline: 'rectangle' },
    )
    expect([left, bottom].map(Math.round)).toEqual([-20, 110])
    expect(geometry.boxes.has('l')).toBe(false)
    expect(boundsOfShape('nothing', geometry)).toBeNull()
  })

  it('[CANVAS-25] a connector attached to a group ends at the bounds of the group', () => {
    const { svg } = renderPage(
      pageOf(
        { id: 'g', type: 'group', childIds: ['a', 'b'] },
        { id: 'a', type: 'rectangle', x: 50, y: 50, width: 100, height: 100 },
        { id: 'b', type: 'rectangle', x: 250, y: 50, width: 100, height: 100 },
        {
          id: 'c',
          type: 'connector',
          x: 0,
          y: 0,
          x2: 600,
          y2: 50,
          startShapeId: 'g',
          startAnchor: 'right',
          endArrowStyle: 'none',
        },
        { id: 'd', type: 'connector', x: 0, y: 0, x2: 150, y2: 400, startShapeId: 'g', endArrowStyle: 'none' },
      ),
      1,
    )
    expect(svg).toContain('d="M300 50 L600 50"')
    expect(svg).toContain('d="M150 100 L150 400"')
  })
})
