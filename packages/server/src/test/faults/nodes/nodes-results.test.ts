import { expect, it } from 'vitest'
import { generator } from '../mixed-load.ts'
import { drawFaults, NODES_FAULTS } from './fault-table.ts'
import { totalOf } from './nodes-results.ts'

const KEPT =
  '| kill-owner | 1 | compared | 40 | 1,714, 0 | 20, 1 | 7, 0 | 509, 2 | equal after 0.0 s | 3 | 4, 2 | 0.0 s | 5.2 s | 4 | kept |'
const SEVERAL =
  '| 20 of a sequence | 1 | compared | 40 | 10, 0 | 0, 0 | 0, 0 | 5, 0 | DIFFERENT | 0 | 4, 2 | 0.0 s | – | 4 | NOT KEPT; only 7 were played; missed: pause (a), 5xx (b) |'
const SABOTAGED = KEPT.replace('compared', 'left out')

it('[LIFE-26] the totals count faults, losses and missed bounds of all runs that compared the epoch', () => {
  expect(totalOf([KEPT, SEVERAL, SABOTAGED]).replaceAll('\n', ' ')).toBe(
    '**In all, with the epoch compared: 8 faults in 2 runs; 1,751 edits acknowledged, 1 of them missing; 2 foreign appends; 3 stale reads; ' +
      '1 runs with different replicas; 1 runs not kept; 2 bounds missed.**',
  )
})

it('[LIFE-26] faults are drawn by the seed, and each comes as often as its share before any comes again', () => {
  const once = Object.entries(NODES_FAULTS).flatMap(([name, { share }]) => Array.from({ length: share }, () => name))
  const drawn = drawFaults(once.length + 3, generator(5))
  expect(drawn.slice(0, once.length).toSorted()).toEqual(once.toSorted())
  expect(drawFaults(once.length + 3, generator(5))).toEqual(drawn)
  expect(drawFaults(once.length + 3, generator(6))).not.toEqual(drawn)
})
