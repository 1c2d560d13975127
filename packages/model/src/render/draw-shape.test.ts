import { describe, expect, it } from 'vitest'
import type { Shape } from '../body.ts'
import type { JsonObject } from '../json.ts'
import { pageGeometry, shapeValues } from '../canvas/page-geometry.ts'
import { type DrawnShape, drawShape, roomOf, stacked } from './draw-shape.ts'
import { distanceToWay, isEnclosed, isHit } from './hit-shape.ts'
import { renderPage } from './page-svg.ts'
import { svgText } from './svg-node.ts'
import { pageOf, SHOWCASE } from './testing/showcase.ts'

const { boxes } = pageGeometry(shapeValues(SHOWCASE))

const drawn = (value: JsonObject): DrawnShape =>
  drawShape({ id: 'a', value: { type: 'rectangle', x: 100, y: 100, width: 80, height: 40, ...value } }, { boxes }) as DrawnShape

const at = (x: number, y: number) => ({ x, y })

describe('one shape as it is drawn', () => {
  it('[CANVAS-25] the picture of a page is its shapes drawn one by one, bottom shape first', () => {
    const shapes = SHOWCASE.shapes.flatMap((shape) => drawShape(shape, { boxes }) ?? [])
    const parts = stacked(shapes).map(({ node }) => svgText(node))
    const page = renderPage(SHOWCASE, 1).svg
    expect(page.endsWith(`${parts.join('')}</svg>`)).toBe(true)
  })

  it('[CANVAS-25] each drawn element names its shape, and so does the label of a connector', () => {
    const shapes = SHOWCASE.shapes.flatMap((shape) => drawShape(shape, { boxes }) ?? [])
    for (const { node, isLabel, id } of stacked(shapes)) {
      expect(node.attributes['data-shape']).toBe(id)
      if (isLabel) expect(SHOWCASE.shapes.find((shape) => shape.id === id)?.value['type']).toBe('connector')
    }
    expect(stacked(shapes).filter(({ isLabel }) => isLabel)).toHaveLength(3)
  })

  it('[CANVAS-15] groups and invisible shapes are not drawn', () => {
    const values: readonly JsonObject[] = [
      { type: 'group', childIds: ['b'] },
      { type: 'rectangle', visible: false },
    ]
    for (const value of values) expect(drawShape({ id: 'a', value }, { boxes })).toBe(null)
  })

  it('[CANVAS-25] an icon is drawn when the caller has its path, and else shown by its name', () => {
    const shape: Shape = { id: 'a', value: { type: 'rectangle', iconId: 'builtin:cloud' } }
    const text = (icons?: () => string) => svgText((drawShape(shape, icons ? { boxes, icons } : { boxes }) as DrawnShape).node)
    expect(text()).toContain('>cloud<')
    expect(text(() => 'M1 1')).toContain('d="M1 1"')
  })

  it('[CANVAS-26] an id with quotes or angle brackets cannot end the attribute that holds it', () => {
    const page = pageOf({ id: '"><script>', type: 'rectangle' })
    expect(renderPage(page, 1).svg).toContain('data-shape="&quot;&gt;&lt;script&gt;"')
  })
})

describe('the shape under a pointer', () => {
  it('[CANVAS-25] a pointer hits a box inside it and near its edge, and not beside it', () => {
    const box = drawn({})
    expect([at(100, 100), at(61, 81), at(58, 100)].map((point) => isHit(box, point, 3))).toEqual([true, true, true])
    expect([at(40, 100), at(100, 130)].map((point) => isHit(box, point, 3))).toEqual([false, false])
  })

  it('[CANVAS-25] a pointer in a corner around an ellipse does not hit the ellipse', () => {
    const ellipse = drawn({ type: 'ellipse', radiusX: 40, radiusY: 20 })
    expect(isHit(ellipse, at(139, 100), 0)).toBe(true)
    expect(isHit(ellipse, at(62, 82), 1)).toBe(false)
  })

  it('[CANVAS-25] a pointer hits a turned box where the box is drawn', () => {
    const turned = drawn({ rotation: 90 })
    expect(isHit(turned, at(100, 138), 0)).toBe(true)
    expect(isHit(turned, at(138, 100), 0)).toBe(false)
  })

  it('[CANVAS-25] a pointer hits a box without fill and label only on its edge, so that shapes inside can be hit', () => {
    const frame = drawn({ fill: null })
    expect(isHit(frame, at(100, 100), 4)).toBe(false)
    expect(isHit(frame, at(61, 100), 4)).toBe(true)
    expect(isHit(drawn({ fill: null, label: 'words' }), at(100, 100), 4)).toBe(true)
  })

  it('[CANVAS-25] a pointer hits a connector near its way and on its label, wherever its ends are', () => {
    const line = drawn({ type: 'connector', x: 0, y: 0, x2: 100, y2: 100, label: 'over there' })
    expect(isHit(line, at(22, 18), 4)).toBe(true)
    expect(isHit(line, at(30, 10), 4)).toBe(false)
    expect(isHit(line, at(70, 50), 0)).toBe(true)
    expect(isHit(line, at(110, 110), 4)).toBe(false)
    expect(distanceToWay(at(3, 4), [at(0, 0)])).toBe(5)
    expect(distanceToWay(at(3, 4), [])).toBe(Number.POSITIVE_INFINITY)
    expect(distanceToWay(at(0, 5), [at(-10, 0), at(10, 0), at(10, 9)])).toBe(5)
  })

  it('[CANVAS-25] a rectangle around a whole shape encloses the shape', () => {
    expect(isEnclosed(drawn({}), { left: 60, top: 80, right: 140, bottom: 120 })).toBe(true)
    expect(isEnclosed(drawn({}), { left: 61, top: 80, right: 140, bottom: 120 })).toBe(false)
  })

  it('[CANVAS-25] the room of a connector includes its label', () => {
    const line = drawn({ type: 'connector', x: 0, y: 0, x2: 20, y2: 0, label: 'longer than its line' })
    expect(roomOf(line).right).toBeGreaterThan(20)
  })
})
