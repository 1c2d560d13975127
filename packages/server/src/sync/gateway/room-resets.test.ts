import { expect, it } from 'vitest'
import { NO_RESETS, oneMore, type RoomResets } from './room-resets.ts'

/** Returns how many resets are tolerated, at most `most`, when a reset comes every `everyMs` and `stored` records are stored before each. */
function borne(everyMs: number, stored: number, most: number): number {
  let resets: RoomResets = NO_RESETS
  for (let count = 0; count < most; count++) {
    const next = oneMore({ resets, since: count * stored }, count * everyMs)
    if (next === null) return count
    resets = next
  }
  return most
}

it('[LIFE-6] three resets with nothing stored between them are tolerated, however they are spread over a minute', () => {
  expect([borne(1, 0, 99), borne(15_000, 0, 99)]).toEqual([3, 3])
})

it('[LIFE-6] twenty resets within a minute are tolerated when something is stored between them', () => {
  expect([borne(1, 1, 99), borne(2_900, 1, 99)]).toEqual([20, 20])
})

it('[LIFE-6] resets of a room that are far apart are always tolerated', () => {
  expect([borne(61_000, 0, 999), borne(3_100, 1, 999)]).toEqual([999, 999])
})
