import { describe, expect, it } from 'vitest'
import type { Bounds, Point } from '../geometry/bounds.ts'
import { isOrthogonal, polylinePassesThrough } from '../geometry/polyline.ts'
import type { RouteEnd } from './care.ts'
import { routeAll } from './router.ts'

const at = (x: number, y: number): Point => ({ x, y })
const box = (left: number, top: number, width = 160, height = 72): Bounds => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
})
const right = (of: Bounds, name: string): RouteEnd => ({
  point: at(of.right, (of.top + of.bottom) / 2),
  direction: at(1, 0),
  anchor: `${name} right`,
})
const left = (of: Bounds, name: string): RouteEnd => ({
  point: at(of.left, (of.top + of.bottom) / 2),
  direction: at(-1, 0),
  anchor: `${name} left`,
})

describe('routes with right angles', () => {
  const [a, b] = [box(0, 0), box(600, 0)]

  it('[DIAG-14] a connector route is straight when nothing is in the way', () => {
    expect(routeAll([{ from: right(a, 'a'), to: left(b, 'b') }], [a, b], [])).toEqual([[at(160, 36), at(600, 36)]])
  })

  it.each([380, 480])(
    '[DIAG-12] a later route avoids the label of an earlier route at x = %i when another way is as long',
    (x) => {
      const [c, d] = [box(300, -300), box(400, 300)]
      const from = { point: at(380, -228), direction: at(0, 1), anchor: 'c bottom' }
      const to = { point: at(480, 300), direction: at(0, -1), anchor: 'd top' }
      const label = { width: 60, height: 16, share: (x - 160) / 440 }
      const routes = routeAll(
        [
          { from: right(a, 'a'), to: left(b, 'b'), label },
          { from, to },
        ],
        [a, b, c, d],
        [],
      )
      expect(polylinePassesThrough(routes[1] as Point[], { left: x - 30, top: 28, right: x + 30, bottom: 44 })).toBe(false)
    },
  )

  it('[DIAG-14] a connector route goes around a shape with a clearance of 15 and stubs of 20', () => {
    const wall = box(300, -100, 100, 200)
    const [route] = routeAll([{ from: right(a, 'a'), to: left(b, 'b') }], [a, b, wall], [])
    expect(route).not.toBeNull()
    expect(isOrthogonal(route as Point[])).toBe(true)
    expect(polylinePassesThrough(route as Point[], wall, 15)).toBe(false)
    const [first, second] = route as Point[]
    expect((second as Point).x - (first as Point).x).toBeGreaterThanOrEqual(20)
  })

  it('[DIAG-14] a connector route takes a narrow gap with less clearance, and is not found without a gap', () => {
    const request = { from: right(a, 'a'), to: left(b, 'b') }
    const around = (gap: number) => [box(500, -200, 20, 236 - gap / 2), box(500, 36 + gap / 2, 20, 264)]
    const rest = [box(500, -200, 400, 50), box(500, 250, 400, 50), box(880, -200, 20, 500)]
    expect(routeAll([request], [a, b, ...rest, ...around(16)], [])).toEqual([[at(160, 36), at(600, 36)]])
    expect(routeAll([request], [a, b, ...rest, ...around(0)], [])).toEqual([null])
  })

  it('[DIAG-15] a connector route may cross an existing route but not lie on it', () => {
    const taken = { points: [at(300, -300), at(300, 36), at(450, 36), at(450, 400)], startAnchor: 'x', endAnchor: 'y' }
    const [route] = routeAll([{ from: right(a, 'a'), to: left(b, 'b') }], [a, b], [taken])
    expect(route?.some(({ y }) => Math.abs(y - 36) >= 12)).toBe(true)
  })

  it('[DIAG-15] connector routes at one anchor share their first part', () => {
    const targets = [box(600, -200), box(600, 0), box(600, 200), box(600, 400), box(600, 600)]
    const routes = routeAll(
      targets.map((target, i) => ({ from: right(a, 'a'), to: left(target, `t${i}`) })),
      [a, ...targets],
      [],
      { strict: true },
    )
    expect(routes).not.toContain(null)
  })

  it('[DIAG-14] a connector route leaves a free end in any direction', () => {
    const from: RouteEnd = { point: at(0, 300), direction: null, anchor: 'free 1' }
    const [route] = routeAll([{ from, to: left(b, 'b') }], [a, b], [])
    expect(route?.[0]).toEqual(at(0, 300))
    expect(route?.at(-1)).toEqual(at(600, 36))
    expect(isOrthogonal(route as Point[])).toBe(true)
  })
})
