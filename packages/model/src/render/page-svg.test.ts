import { anyCharacter } from '../testing/any-character.ts'
import { parseFragment } from 'parse5'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../json.ts'
import { xssVectors } from '../prose/testing/xss-vectors.ts'
import { renderPage } from './page-svg.ts'
import { pageOf, SHOWCASE } from './testing/showcase.ts'
import { threadTime } from '../testing/thread-time.ts'

/** Every element and attribute that a preview may have. With any other one, a document could run code or load data in the browser of its reader. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  svg: ['xmlns', 'width', 'height', 'viewBox'],
  g: ['data-shape', 'transform', 'opacity'],
  rect: ['x', 'y', 'width', 'height', 'rx', 'fill', 'stroke', 'stroke-width'],
  ellipse: ['cx', 'cy', 'rx', 'ry', 'fill', 'stroke', 'stroke-width'],
  path: ['d', 'fill', 'stroke', 'stroke-width'],
  text: ['font-family', 'font-size', 'text-anchor', 'fill'],
  tspan: ['x', 'y'],
}

interface ParsedNode {
  readonly nodeName: string
  readonly attrs?: readonly { readonly name: string; readonly value: string }[]
  readonly childNodes?: readonly ParsedNode[]
}

function expectHarmless(svg: string): void {
  const visit = (node: ParsedNode): void => {
    if (node.nodeName !== '#text') {
      expect(Object.keys(ALLOWED)).toContain(node.nodeName)
      for (const { name, value } of node.attrs ?? []) {
        expect(ALLOWED[node.nodeName]).toContain(name)
        // An id is any text, and no browser acts on this attribute.
        if (name === 'data-shape') continue
        expect(value).not.toMatch(/url\(|javascript:|data:|NaN|Infinity|undefined/i)
      }
    }
    for (const child of node.childNodes ?? []) visit(child)
  }
  const errors: string[] = []
  const parsed = parseFragment(svg, { onParseError: ({ code }) => void errors.push(code) }) as unknown as ParsedNode
  expect(errors).toEqual([])
  for (const child of parsed.childNodes ?? []) visit(child)
}

const value: fc.Arbitrary<Json> = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom(
    ...xssVectors.slice(0, 60),
    'rectangle',
    'ellipse',
    'text',
    'connector',
    'line',
    'file',
    'a',
    'b',
    'center',
    'left',
    'orthogonal',
    'curved',
    'open',
    'auto',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -500, max: 500 }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.record({ x: fc.integer(), y: fc.integer() }), { maxLength: 4 }),
)
const MEMBERS = [
  ...[
    'x',
    'y',
    'x2',
    'y2',
    'width',
    'height',
    'radiusX',
    'radiusY',
    'rotation',
    'opacity',
    'fill',
    'stroke',
    'strokeWidth',
    'label',
  ],
  ...[
    'text',
    'fontSize',
    'fontFamily',
    'labelColor',
    'labelPosition',
    'iconId',
    'iconDisplayMode',
    'fileName',
    'startShapeId',
    'endShapeId',
  ],
  ...['startAnchor', 'endAnchor', 'startArrowStyle', 'endArrowStyle', 'routingMode', 'waypoints', 'visible', 'cornerRadius'],
]
const shape: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.constantFrom<Json>('rectangle', 'ellipse', 'text', 'connector', 'line', 'file', 'group', 'other', 7),
    fc.dictionary(fc.constantFrom(...MEMBERS), value),
  )
  .map(([type, members]) => ({ ...members, type }))

describe('canvas pages as SVG', () => {
  it('[CANVAS-25] every kind of shape, connector, arrow, label and icon is drawn as in the golden file', async () => {
    // The catalogue has a drawing for one of the two icons.
    const icons = (slug: string) => (slug === 'database' ? 'M2 2h20v20H2z' : null)
    const { svg, width, height } = renderPage(SHOWCASE, 1, icons)
    await expect(svg.replaceAll('><', '>\n<')).toMatchFileSnapshot('golden/showcase.svg')
    expect({ width, height }).toMatchObject({ width: 1070, height: 552.5 })
    expectHarmless(svg)
  })

  it('[CANVAS-25] the picture of an empty page is 400 by 300', () => {
    const { svg } = renderPage(pageOf(), 1)
    expect(svg).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300" viewBox="0 0 400 300"><rect x="0" y="0" width="400" height="300" fill="#ffffff"/></svg>',
    )
  })

  it('[CANVAS-25] the view box of a picture is the content with 40 around it, also for rotated shapes', () => {
    const square = { id: 'a', type: 'rectangle', x: 10, y: 20, width: 100, height: 100 }
    expect(renderPage(pageOf(square), 1).svg).toContain('viewBox="-80 -70 180 180"')
    const { width } = renderPage(pageOf({ ...square, rotation: 45 }), 1)
    expect(width).toBeCloseTo(100 * Math.SQRT2 + 80, 5)
  })

  it('[CANVAS-25] text larger than its shape and the label of a line at the edge are within the view box', () => {
    const viewBox = (shape: JsonObject & { readonly id: string }) => {
      const [left = 0, top = 0, width = 0, height = 0] = (/viewBox="([^"]*)"/.exec(renderPage(pageOf(shape), 1).svg)?.[1] ?? '')
        .split(' ')
        .map(Number)
      return { left, top, right: left + width, bottom: top + height }
    }
    const text = { id: 't', type: 'text', x: 100, y: 100, width: 100, height: 20, fontSize: 20, text: 'a\nb\nc\nd' }
    expect(viewBox(text)).toEqual({ left: 10, top: 50, right: 190, bottom: 90 + 4 * 25 + 40 })
    expect(viewBox({ ...text, verticalAlign: 'middle' })).toEqual({ left: 10, top: 10, right: 190, bottom: 190 })
    expect(viewBox({ ...text, rotation: 180 })).toEqual({ left: 10, top: 110 - 4 * 25 - 40, right: 190, bottom: 150 })
    const line = { id: 'l', type: 'connector', x: 0, y: 0, x2: 0, y2: 300, label: 'a label beside the page' }
    expect(viewBox(line)).toMatchObject({ top: -40, bottom: 340 })
    expect(viewBox(line).left).toBeLessThan(-90)
    expect(viewBox(line).right).toBeGreaterThan(90)
  })

  it('[CANVAS-25] an icon of the catalogue is drawn above the label, at a corner, or instead of its shape', () => {
    const box = {
      id: 'a',
      type: 'rectangle',
      x: 100,
      y: 100,
      width: 120,
      height: 100,
      label: 'Zebra',
      iconId: 'builtin:x',
      iconSize: 48,
    }
    const drawn = (more: JsonObject) =>
      renderPage(pageOf({ ...box, ...more, id: 'a' }), 1, (slug) => (slug === 'x' ? 'M1 1h2' : null)).svg
    const icon = (transform: string) => `<g transform="${transform}"><path d="M1 1h2" fill="#1f2937"/></g>`
    expect(drawn({ label: '' })).toContain(icon('translate(76 76) scale(2)'))
    expect(drawn({})).toContain(icon('translate(76 65.25) scale(2)'))
    expect(drawn({ iconDisplayMode: 'badge' })).toContain(icon('translate(136 26) scale(2)'))
    const alone = drawn({ iconDisplayMode: 'icon-only', label: '' })
    expect(alone).toContain(icon('translate(50 50) scale(4.1667)'))
    expect(alone).not.toContain('fill="#4a90d9"')
    for (const iconId of ['builtin:y', 'a'.repeat(64)]) expect(drawn({ iconId })).not.toContain('M1 1h2')
    expect(drawn({ iconId: 'builtin:y' })).toContain('>y</tspan>')
  })

  it('[CANVAS-25] shapes are drawn in the order of the page', () => {
    const { svg } = renderPage(
      pageOf(
        { id: 'a', type: 'rectangle', fill: '#111111' },
        { id: 'b', type: 'ellipse', fill: '#222222' },
        { id: 'c', type: 'rectangle', fill: '#333333' },
      ),
      1,
    )
    const places = ['#111111', '#222222', '#333333'].map((fill) => svg.indexOf(fill))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places.every((place) => place > 0)).toBe(true)
  })

  it('[CANVAS-25] the label of a connector is drawn above every line, and below a shape in front of the connector that covers it', () => {
    const line = (id: string, label: string) => ({ id, type: 'connector', x: 0, y: 0, x2: 200, y2: 0, label, stroke: `#${id}` })
    const box = (id: string, x: number) => ({ id, type: 'rectangle', x, y: 0, width: 80, height: 40, fill: `#${id}` })
    const { svg } = renderPage(
      pageOf(line('111111', 'one'), box('222222', 100), line('333333', 'two'), box('444444', 400), line('555555', '')),
      1,
    )
    const places = ['"#111111"', '>one<', '"#222222"', '"#333333"', '"#444444"', '"#555555"', '>two<'].map((part) =>
      svg.indexOf(part),
    )
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places.every((place) => place > 0)).toBe(true)
  })

  it('[CANVAS-26] the colour auto is dark ink on white, and unknown colours become the default', () => {
    const svgOf = (fill: Json) => renderPage(pageOf({ id: 'a', type: 'rectangle', fill, stroke: null }), 1).svg
    expect(svgOf('AUTO')).toContain('fill="#1f2937"')
    expect(svgOf('url(#x)')).toContain('fill="#4a90d9"')
    expect(svgOf('hsla(10, 50%, 50%, .5)')).toContain('fill="hsla(10, 50%, 50%, .5)"')
    expect(svgOf('transparent')).toContain('fill="none"')
  })

  it('[CANVAS-26] hostile text is drawn as text', () => {
    for (const vector of xssVectors) {
      const hostile = {
        label: vector,
        text: vector,
        fill: vector,
        stroke: vector,
        iconId: `builtin:${vector}`,
        fontFamily: vector,
        fileName: vector,
      }
      for (const type of ['rectangle', 'text', 'connector', 'file', vector]) {
        expectHarmless(renderPage(pageOf({ ...hostile, id: vector, type, x2: 100, y2: 50 }), 1).svg)
      }
    }
  })

  it('[CANVAS-26] any page gives the same well-formed bytes twice, with finite numbers only', () => {
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 6 }), fc.double({ min: 0.1, max: 4, noNaN: true }), (shapes, scale) => {
        const page = pageOf(...shapes.map((members, i) => ({ ...members, id: 'ab'.charAt(i) || String(i) })))
        const { svg, width, height } = renderPage(page, scale)
        expect(renderPage(structuredClone(page), scale).svg).toBe(svg)
        expect(Number.isFinite(width) && Number.isFinite(height) && width > 0 && height > 0).toBe(true)
        expectHarmless(svg)
      }),
      { seed: 34, numRuns: 300 },
    )
  })

  it('[REST-34] the scale multiplies width and height and does not change the drawing', () => {
    const [one, two] = [renderPage(SHOWCASE, 1).svg, renderPage(SHOWCASE, 2).svg]
    expect(two).toContain('width="2140" height="1105')
    expect(two.slice(two.indexOf('viewBox'))).toBe(one.slice(one.indexOf('viewBox')))
  })

  it('[REST-34] a page of 20,000 shapes with long labels is drawn in linear time', () => {
    const long = 'word '.repeat(2000)
    const shapes = Array.from({ length: 20_000 }, (_, i) => ({
      id: String(i),
      type: i % 2 ? 'rectangle' : 'text',
      x: i,
      y: i,
      label: long,
      text: i < 200 ? long : 'short',
    }))
    const lines = Array.from({ length: 20_000 }, (_, i) => ({
      ...{ id: String(i), type: i % 2 ? 'rectangle' : 'connector', width: 10, height: 10 },
      ...{ x: i % 2 ? 30 * i : -i, y: -i, x2: -i, y2: -i, label: 'word' },
    }))
    for (const page of [pageOf(...shapes), pageOf(...lines.toSorted((a, b) => a.type.localeCompare(b.type)))]) {
      const took = threadTime()
      renderPage(page, 1)
      expect(took()).toBeLessThan(5_000)
    }
  })
})
