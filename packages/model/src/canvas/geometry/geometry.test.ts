import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anchorDirection, anchorPoint, commonAnchors, edgePoint, facingSides, isRowAnchor, sideOf } from './anchors.ts'
import { boundsAround, type Bounds, encloses, grown, holds, moved, overlaps, type Point } from './bounds.ts'
import { isOrthogonal, lengthOf, polylinePassesThrough, segmentsOf, simplified } from './polyline.ts'
import { between, cross, passesThrough, sharedLength } from './segment.ts'
import { boundsOfBox, type ShapeBox, uprightBox } from './shape-box.ts'

const at = (x: number, y: number): Point => ({ x, y })
const square: Bounds = { left: 0, top: 0, right: 100, bottom: 100 }
const box: ShapeBox = { centre: at(200, 100), width: 80, height: 40, rotation: 0, outline: 'rectangle' }
const coordinate = fc.integer({ min: -50, max: 150 })
const point = fc.record({ x: coordinate, y: coordinate })

describe('rectangles', () => {
  it('[CANVAS-16] rectangles that only touch do not overlap, and a rectangle encloses itself', () => {
    expect(overlaps(square, moved(square, 100, 0))).toBe(false)
    expect(overlaps(square, moved(square, 99, 99))).toBe(true)
    expect(encloses(square, square)).toBe(true)
    expect(encloses(square, grown(square, 1))).toBe(false)
  })

  it('[CANVAS-16] the bounds of a rotated box contain its corners, and those of an upright one are its sides', () => {
    expect(boundsOfBox(uprightBox(square))).toEqual(square)
    const { left, right } = boundsOfBox({ ...box, rotation: 90 })
    expect([left, right].map(Math.round)).toEqual([180, 220])
  })
})

describe('segments and boxes', () => {
  it('[DIAG-14] a way along the side of a box does not pass through it, and a way inside or across the box does', () => {
    expect(passesThrough(at(-10, 0), at(110, 0), square)).toBe(false)
    expect(passesThrough(at(-10, 1), at(110, 1), square)).toBe(true)
    expect(passesThrough(at(40, 40), at(60, 60), square)).toBe(true)
    expect(passesThrough(at(50, 50), at(50, 50), square)).toBe(true)
    expect(passesThrough(at(-10, 50), at(10, -50), square)).toBe(false)
    expect(polylinePassesThrough([at(-10, -10), at(110, -10), at(110, 50), at(50, 50)], square)).toBe(true)
  })

  it('[DIAG-14] a way exactly at the clearance keeps it, and a nearer one does not', () => {
    expect(passesThrough(at(-10, -15), at(110, -15), square, 15)).toBe(false)
    expect(passesThrough(at(-10, -14), at(110, -14), square, 15)).toBe(true)
  })

  it('[DIAG-14] a way with a point inside a box passes through it, and a way that misses a larger box misses the box too', () => {
    fc.assert(
      fc.property(point, point, (a, b) => {
        const isSampledInside = Array.from({ length: 2001 }, (_, i) => between(a, b, i / 2000)).some((sample) =>
          holds(grown(square, -0.1), sample),
        )
        if (isSampledInside) expect(passesThrough(a, b, square)).toBe(true)
        if (!passesThrough(a, b, square)) expect(isSampledInside).toBe(false)
        if (!passesThrough(a, b, grown(square, 1))) expect(passesThrough(a, b, square)).toBe(false)
      }),
      { seed: 11, numRuns: 300 },
    )
  })

  it('[DIAG-14] segments cross at a point inside both, and not where they touch or lie along each other', () => {
    expect(cross(at(0, 0), at(10, 10), at(0, 10), at(10, 0))).toBe(true)
    expect(cross(at(0, 0), at(10, 0), at(5, 0), at(5, 10))).toBe(false)
    expect(cross(at(0, 0), at(10, 0), at(5, 0), at(20, 0))).toBe(false)
  })

  it('[DIAG-14] the shared length of two segments is the length of their common part, in any direction', () => {
    expect(sharedLength(at(0, 0), at(10, 0), at(14, 0), at(4, 0))).toBe(6)
    expect(sharedLength(at(0, 0), at(10, 0), at(10, 0), at(20, 0))).toBe(0)
    expect(sharedLength(at(0, 0), at(10, 0), at(0, 1), at(10, 1))).toBe(0)
  })
})

describe('polylines', () => {
  it('[DIAG-14] simplifying removes repeated and collinear points and keeps a way that turns back', () => {
    expect(simplified([at(0, 0), at(0, 0), at(5, 0), at(9, 0), at(9, 4)])).toEqual([at(0, 0), at(9, 0), at(9, 4)])
    expect(simplified([at(0, 0), at(9, 0), at(5, 0)])).toEqual([at(0, 0), at(9, 0), at(5, 0)])
    expect(simplified([])).toEqual([])
  })

  it('[DIAG-14] a simplified way has the same length, and no two of its pieces could be joined', () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 12 }), (points) => {
        const simple = simplified(points)
        expect(lengthOf(simple)).toBeCloseTo(lengthOf(points), 6)
        expect(simplified(simple)).toEqual(simple)
        expect(isOrthogonal(simple)).toBe(isOrthogonal(points))
        expect(segmentsOf(simple).every(([a, b]) => a.x !== b.x || a.y !== b.y)).toBe(true)
      }),
      { seed: 12, numRuns: 300 },
    )
  })
})

describe('anchors', () => {
  it('[CANVAS-10] each anchor has its point, and its direction along the axis of its side', () => {
    const shown = commonAnchors.map((anchor) => [anchor, anchorPoint(box, anchor), anchorDirection(box, anchor)])
    expect(shown).toEqual([
      ['center', at(200, 100), null],
      ['top', at(200, 80), at(0, -1)],
      ['right', at(240, 100), at(1, 0)],
      ['bottom', at(200, 120), at(0, 1)],
      ['left', at(160, 100), at(-1, 0)],
    ])
  })

  it('[CANVAS-10] an anchor on a row is on its side', () => {
    expect(anchorPoint(box, 'attr-3-left')).toEqual(at(160, 100))
    expect(anchorDirection(box, 'attr-3-left')).toEqual(at(-1, 0))
    const kinds = ['attr-0-top', 'attr-12-right', 'attr--left', 'attr-01-left', 'attr-1-center', 'left', 'Left', '']
    expect(kinds.filter(isRowAnchor)).toEqual(['attr-0-top', 'attr-12-right'])
    expect(kinds.map(sideOf)).toEqual(['top', 'right', null, null, null, 'left', null, null])
  })

  it('[CANVAS-10] anchors rotate with their shape', () => {
    const turned = { ...box, rotation: -270 }
    const top = anchorPoint(turned, 'top')
    expect([Math.round(top.x), Math.round(top.y)]).toEqual([220, 100])
    expect(anchorDirection(turned, 'top')).toEqual(at(1, 0))
  })

  it('[CANVAS-10] anchors of an ellipse are on its curve, for every direction', () => {
    const ellipse: ShapeBox = { ...box, outline: 'ellipse' }
    const onCurve = ({ x, y }: Point) => ((x - 200) / 40) ** 2 + ((y - 100) / 20) ** 2
    for (const anchor of ['top', 'right', 'bottom', 'left']) expect(onCurve(anchorPoint(ellipse, anchor))).toBeCloseTo(1, 9)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 359 }), (degrees) => {
        const angle = (degrees * Math.PI) / 180
        const far = at(200 + 500 * Math.cos(angle), 100 + 500 * Math.sin(angle))
        expect(onCurve(edgePoint(ellipse, far))).toBeCloseTo(1, 6)
        const edge = edgePoint(box, far)
        expect(holds(grown(boundsAround(box.centre, 80, 40), 1e-6), edge)).toBe(true)
        expect(holds(grown(boundsAround(box.centre, 80, 40), -1e-6), edge)).toBe(false)
      }),
      { seed: 13, numRuns: 100 },
    )
    expect(edgePoint(ellipse, at(210, 105))).toEqual(at(200, 100))
  })

  it('[CANVAS-22] the facing sides lie on the longer axis of the distance, and on the horizontal one when equal', () => {
    expect(facingSides(at(0, 0), at(10, -10))).toEqual({ start: 'right', end: 'left' })
    expect(facingSides(at(0, 0), at(-10, 3))).toEqual({ start: 'left', end: 'right' })
    expect(facingSides(at(0, 0), at(3, 10))).toEqual({ start: 'bottom', end: 'top' })
    expect(facingSides(at(0, 0), at(3, -10))).toEqual({ start: 'top', end: 'bottom' })
  })
})
