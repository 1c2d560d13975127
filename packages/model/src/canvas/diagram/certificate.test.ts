import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundsAround, grown, holds, moved } from '../geometry/bounds.ts'
import { polylinePassesThrough } from '../geometry/polyline.ts'
import {
  type CertifiedBox,
  type CertifiedLine,
  certified,
  countsOf,
  crossingsOf,
  throughNodesOf,
  together,
} from './certificate.ts'
import { segmentsOf } from '../geometry/polyline.ts'
import { cross } from '../geometry/segment.ts'
import { limitHere, threadTime } from '../../testing/thread-time.ts'

const at = (x: number, y: number) => ({ x, y })
const box = (id: string, x: number, y: number, overflows = false) => ({ id, bounds: boundsAround({ x, y }, 100, 60), overflows })

it('[AG-108] the counts of a page are overlaps, connectors through boxes, crossings, corners and labels without room, with its size', () => {
  const boxes = [box('a', 0, 0), box('b', 300, 0), box('c', 150, 10, true), box('d', 180, 40)]
  const lines = [
    { points: [at(50, 0), at(250, 0)], startId: 'a', endId: 'b' },
    { points: [at(70, -100), at(70, 0), at(70, 100), at(400, 100)], startId: null, endId: null },
  ]
  expect(certified(countsOf(boxes, lines))).toEqual({
    overlaps: 1,
    throughNodes: 1,
    crossings: 1,
    bends: 1,
    labelOverflow: 1,
    width: 450,
    height: 200,
  })
})

it('[AG-108] nothing is counted on an empty page or for shapes that only touch', () => {
  expect(certified(countsOf([], []))).toMatchObject({ overlaps: 0, crossings: 0, width: 0, height: 0 })
  const boxes = [box('a', 0, 0), box('b', 100, 0)]
  const lines = [{ points: [at(-50, -30), at(150, -30)], startId: null, endId: null }]
  expect(certified(countsOf(boxes, lines))).toMatchObject({ overlaps: 0, throughNodes: 0 })
})

const place = fc.integer({ min: -6, max: 6 }).map((n) => n * 25)
const point = fc.record({ x: place, y: place })
const boxesOf: fc.Arbitrary<readonly CertifiedBox[]> = fc
  .array(fc.record({ at: point, width: fc.constantFrom(10, 50, 400), height: fc.constantFrom(10, 50, 400) }), { maxLength: 12 })
  .map((all) =>
    all.map((each, i) => ({ id: `b${i}`, bounds: boundsAround(each.at, each.width, each.height), overflows: i % 5 === 0 })),
  )
const linesOf: fc.Arbitrary<readonly CertifiedLine[]> = fc
  .array(fc.array(point, { minLength: 1, maxLength: 5 }), { maxLength: 8 })
  .map((all) => all.map((points, i) => ({ points, startId: i % 2 === 0 ? `b${i}` : null, endId: null })))

it('[AG-108] the connectors through boxes are those that a comparison of each connector with each box finds', () => {
  fc.assert(
    fc.property(boxesOf, linesOf, (boxes, lines) => {
      const plain = lines.flatMap((line) =>
        boxes
          .filter(({ id, bounds }) => {
            if (id === line.startId || !polylinePassesThrough(line.points, bounds)) return false
            const inside = grown(bounds, -0.5)
            return ![line.points[0], line.points.at(-1)].some((end) => end !== undefined && holds(inside, end))
          })
          .map((each) => [line, each] as const),
      )
      expect([...throughNodesOf(boxes, lines)]).toEqual(plain)
    }),
    { seed: 108, numRuns: 500 },
  )
})

it('[AG-108] [AG-109] the crossings are those that a comparison of all pairs of segments finds, in the order of their left ends', () => {
  const many = fc.array(linesOf, { maxLength: 4 }).map((all) => all.flat())
  fc.assert(
    fc.property(many, (lines) => {
      const pieces = lines
        .flatMap((line) => segmentsOf(line.points).map((segment) => ({ line, segment })))
        .sort((a, b) => Math.min(a.segment[0].x, a.segment[1].x) - Math.min(b.segment[0].x, b.segment[1].x))
      const plain = pieces.flatMap((one, i) =>
        pieces
          .slice(i + 1)
          .filter((other) => other.line !== one.line && cross(...one.segment, ...other.segment))
          .map((other) => [one.line, other.line] as const),
      )
      expect([...crossingsOf(lines)]).toEqual(plain)
    }),
    { seed: 107, numRuns: 500 },
  )
})

describe('the time of counting crossings', () => {
  const wide = (i: number) => [at(0, 10 * i), at(10_000, 10 * i)]
  const high = (i: number) => [at(i, -100_000 + i), at(i + 0.5, 100_000 + i)]

  it.each([
    ['20,000 connectors that lie above each other', 20_000, wide],
    ['100,000 connectors from top to bottom that stand beside each other', 100_000, high],
  ] as const)('[AG-108] [CONC-13] the crossings of %s are counted in less than quadratic time', (_, count, pointsOf) => {
    const lines = Array.from({ length: count }, (_unused, i) => ({ points: pointsOf(i), startId: null, endId: null }))
    const took = threadTime()
    expect([...crossingsOf(lines)]).toEqual([])
    const used = took()
    expect(used).toBeLessThan(limitHere(used, 2_000))
  })
})

it('[AG-108] the counts of two parts that do not touch add up to those of the whole; parts that may touch have no sum', () => {
  const far = 2_000
  fc.assert(
    fc.property(boxesOf, linesOf, boxesOf, linesOf, (boxes, lines, others, ways) => {
      const movedBoxes = others.map((each) => ({ ...each, id: `far ${each.id}`, bounds: moved(each.bounds, far, 0) }))
      const movedLines = ways.map((way) => ({
        ...way,
        points: way.points.map(({ x, y }) => ({ x: x + far, y })),
        startId: way.startId && `far ${way.startId}`,
      }))
      const whole = countsOf([...boxes, ...movedBoxes], [...lines, ...movedLines])
      expect(together(countsOf(boxes, lines), countsOf(movedBoxes, movedLines))).toEqual(whole)
    }),
    { seed: 109, numRuns: 200 },
  )
  const [left, right] = [countsOf([box('a', 0, 0)], []), countsOf([box('b', 100, 0)], [])]
  expect(together(left, right)).toBeNull()
  expect(together(countsOf([], []), right)).toEqual(right)
})
