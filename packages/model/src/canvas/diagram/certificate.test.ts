import { expect, it } from 'vitest'
import { boundsAround } from '../geometry/bounds.ts'
import { certificateOf } from './certificate.ts'

const at = (x: number, y: number) => ({ x, y })
const box = (id: string, x: number, y: number, overflows = false) => ({ id, bounds: boundsAround({ x, y }, 100, 60), overflows })

it('[AG-108] the counts of a page are overlaps, connectors through boxes, crossings, corners and labels without room, with its size', () => {
  const boxes = [box('a', 0, 0), box('b', 300, 0), box('c', 150, 10, true), box('d', 180, 40)]
  const lines = [
    { points: [at(50, 0), at(250, 0)], startId: 'a', endId: 'b' },
    { points: [at(70, -100), at(70, 0), at(70, 100), at(400, 100)], startId: null, endId: null },
  ]
  expect(certificateOf(boxes, lines)).toEqual({
    overlaps: 1,
    throughNodes: 1,
    crossings: 1,
    bends: 1,
    labelOverflow: 1,
    width: 450,
    height: 200,
  })
})

it('[AG-108] an empty page counts nothing, and neither do shapes that only touch', () => {
  expect(certificateOf([], [])).toMatchObject({ overlaps: 0, crossings: 0, width: 0, height: 0 })
  const boxes = [box('a', 0, 0), box('b', 100, 0)]
  const lines = [{ points: [at(-50, -30), at(150, -30)], startId: null, endId: null }]
  expect(certificateOf(boxes, lines)).toMatchObject({ overlaps: 0, throughNodes: 0 })
})
