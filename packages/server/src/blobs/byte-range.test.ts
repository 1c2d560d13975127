import { expect, it } from 'vitest'
import { readRange } from './byte-range.ts'

it.each([
  [undefined, 'whole'],
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=0-99', { start: 0, end: 99 }],
  ['bytes=10-', { start: 10, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-1000', { start: 0, end: 99 }],
  ['bytes=90-1000', { start: 90, end: 99 }],
  ['Bytes= 5-6 ', { start: 5, end: 6 }],
  ['bytes=0-99999999999999999999999', { start: 0, end: 99 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=100-200', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', 'whole'],
  ['bytes=0-1,3-4', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=0x1-2', 'whole'],
  ['items=0-1', 'whole'],
  ['', 'whole'],
] as const)('[BLOB-7] the Range header %s for a blob of a hundred bytes is resolved', (header, expected) => {
  expect(readRange(header, 100)).toEqual(expected)
})

it('[BLOB-7] no range of an empty blob is satisfiable', () => {
  expect(['bytes=0-', 'bytes=0-0', 'bytes=-5'].map((header) => readRange(header, 0))).toEqual(Array(3).fill('unsatisfiable'))
})
