import { awarenessFrame } from '@docrelay/protocol/codec'
import { expect, it } from 'vitest'
import { writeAwareness } from '../room/awareness.ts'
import { clocksIn, noteClocks } from './presence-clocks.ts'

const state = new TextEncoder().encode('{"user":{}}')

it('[WS-47] the clocks of all states in a frame are read, including removed states, and those before the damage in a broken frame', () => {
  const frame = awarenessFrame(
    writeAwareness([
      { client: 7, clock: 3, state },
      { client: 2 ** 32 - 1, clock: 2 ** 31, state: null },
    ]),
  )
  expect(clocksIn(frame)).toEqual([
    [7, 3],
    [2 ** 32 - 1, 2 ** 31],
  ])
  for (let length = 0; length < frame.length; length++) expect(clocksIn(frame.subarray(0, length)).length).toBeLessThan(2)
})

it('[WS-47] a noted clock never falls, and only the 2,048 ids that were seen last are kept', () => {
  const seen = new Map<number, number>()
  noteClocks(seen, [
    [1, 5],
    [2, 1],
  ])
  noteClocks(seen, [
    [1, 4],
    [2, 9],
  ])
  expect([...seen]).toEqual([
    [1, 5],
    [2, 9],
  ])
  for (let client = 10; client < 3_000; client++) noteClocks(seen, [[client, 1]])
  expect([seen.size, seen.has(1), seen.has(2_999)]).toEqual([2_048, false, true])
})
