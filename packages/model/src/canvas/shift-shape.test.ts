import { expect, it } from 'vitest'
import { shiftedLine } from './shift-shape.ts'

const line = { id: 'c', type: 'connector', x: 0, y: 0, x2: 10, y2: 20 }

it.each([
  [
    { start: false, end: false },
    { x: 5, y: 7, x2: 15, y2: 27 },
  ],
  [
    { start: true, end: false },
    { x: 0, y: 0, x2: 15, y2: 27 },
  ],
  [
    { start: false, end: true },
    { x: 5, y: 7, x2: 10, y2: 20 },
  ],
  [
    { start: true, end: true },
    { x: 0, y: 0, x2: 10, y2: 20 },
  ],
])('[CANVAS-20] a line that moves by (5, 7) with the held ends %j has the points %j', (held, points) => {
  expect(shiftedLine(line, 5, 7, held)).toMatchObject(points)
})
