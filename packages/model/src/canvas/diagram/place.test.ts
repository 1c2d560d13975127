import fc from 'fast-check'
import { expect, it } from 'vitest'
import { boundsAround, overlaps } from '../geometry/bounds.ts'
import { cornerOutside } from './place.ts'

const room = { width: 1000, height: 600 }

it('[DIAG-10] a drawing without room below the content is placed right of it, else above it, else left of it', () => {
  const at = (left: number, top: number, right: number, bottom: number) => cornerOutside([{ left, top, right, bottom }], room)
  expect(at(0, 0, 100, 100)).toEqual({ x: 0, y: 220, isBelow: true })
  expect(at(0, 0, 100, 999_900)).toEqual({ x: 220, y: 0, isBelow: false })
  expect(at(0, 0, 999_900, 999_900)).toEqual({ x: 0, y: -720, isBelow: false })
  expect(at(0, -999_900, 999_900, 999_900)).toEqual({ x: -1120, y: -999_900, isBelow: false })
})

const far = fc.integer({ min: -1_500_000, max: 1_500_000 })

it('[DIAG-10] [CANVAS-4] a new drawing lies within the coordinates on any page, and covers nothing when one side has room', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ x: far, y: far }), { minLength: 1, maxLength: 3 }), (centres) => {
      const page = centres.map((centre) => boundsAround(centre, 100, 80))
      const { x, y } = cornerOutside(page, room)
      const own = { left: x, top: y, right: x + room.width, bottom: y + room.height }
      for (const side of Object.values(own)) expect(Math.abs(side)).toBeLessThanOrEqual(1_000_000)
      const [low, high] = [-1_000_000 + 1_200, 1_000_000 - 1_200]
      const hasRoom =
        page.every((box) => box.right < high) || page.every((box) => box.left > low) || page.every((box) => box.bottom < high)
      if (hasRoom) expect(page.some((box) => overlaps(box, own))).toBe(false)
    }),
    { seed: 10, numRuns: 500 },
  )
})
