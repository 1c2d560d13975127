import { expect, it } from 'vitest'
import { handOverTarget } from './room-departures.ts'

const EDGES = [
  { edge: 2, members: 1 },
  { edge: 3, members: 9 },
  { edge: 4, members: 5 },
]
const target = (linked: readonly number[], draining: readonly number[] = []) =>
  handOverTarget(EDGES, linked, (node) => draining.includes(node))

it('[LIFE-28] a document goes to the linked node with most connections in it', () => {
  expect([target([2, 3, 4]), target([2, 4]), target([])]).toEqual([3, 4, null])
})

it('[LIFE-28] a node that is ending as well gets a document only when every linked one is ending', () => {
  expect(target([2, 3, 4], [3])).toBe(4)
  expect(target([2, 3, 4, 5], [2, 3, 4])).toBe(5)
  expect(target([2, 3, 4], [2, 3, 4])).toBe(3)
})

it('[LIFE-28] a document without a connection of a linked node goes to nobody', () => {
  expect(target([5])).toBeNull()
})
