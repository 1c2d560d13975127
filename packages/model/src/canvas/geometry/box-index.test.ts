import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bounds, boundsAround, encloses, overlaps } from './bounds.ts'
import { BoxIndex } from './box-index.ts'

const place = fc.integer({ min: -300, max: 300 })
const size = fc.integer({ min: 0, max: 200 })
const rectangle = fc.tuple(place, place, size, size).map(([x, y, w, h]) => boundsAround({ x, y }, w, h))

/** An entry that counts how often it is looked at. */
function counted(bounds: Bounds, look: () => void) {
  return {
    get bounds() {
      look()
      return bounds
    },
  }
}

describe('rectangles by where they lie', () => {
  it('[CONC-13] exactly the rectangles that share some area with a given one are found, each once', () => {
    fc.assert(
      fc.property(fc.array(rectangle, { maxLength: 120 }), rectangle, (all, area) => {
        const entries = all.map((bounds) => ({ bounds }))
        const index = new BoxIndex(entries)
        const [found, cut]: [{ readonly bounds: Bounds }[], { readonly bounds: Bounds }[]] = [[], []]
        index.visit(area, (entry) => found.push(entry) > 0)
        index.visitCut(area, (entry) => cut.push(entry) > 0)
        const places = (some: readonly object[]) =>
          entries.flatMap((entry, i) => some.filter((one) => one === entry).map(() => i))
        const meant = entries.filter(({ bounds }) => overlaps(bounds, area))
        expect(places(found)).toEqual(places(meant))
        expect(places(cut)).toEqual(places(meant.filter(({ bounds }) => !encloses(bounds, area))))
      }),
      { seed: 51, numRuns: 300 },
    )
  })

  it('[CONC-13] fewer than 100 of 10,000 rectangles are looked at for a small part of their page, or when the search ends early', () => {
    let looks = 0
    const entries = Array.from({ length: 10_000 }, (_, i) =>
      counted(boundsAround({ x: (i % 100) * 20, y: Math.floor(i / 100) * 20 }, 18, 18), () => looks++),
    )
    const index = new BoxIndex(entries)
    looks = 0
    index.visit(boundsAround({ x: 1000, y: 1000 }, 30, 30), () => true)
    expect(looks).toBeLessThan(100)
    looks = 0
    let found = 0
    index.visit(boundsAround({ x: 1000, y: 1000 }, 9000, 9000), () => ++found < 4)
    expect(found).toBe(4)
    expect(looks).toBeLessThan(100)
    const heap = new BoxIndex(
      Array.from({ length: 10_000 }, (_, i) => counted(boundsAround({ x: i % 7, y: 0 }, 300, 300), () => looks++)),
    )
    looks = 0
    heap.visitCut(boundsAround({ x: 0, y: 0 }, 90, 90), () => true)
    expect(looks).toBeLessThan(100)
  })
})
