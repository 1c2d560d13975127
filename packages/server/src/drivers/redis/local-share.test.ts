import { expect, it } from 'vitest'
import type { Taker } from '../../access/rate-limiter.port.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { type LocalShare, openLocalShare } from './local-share.ts'

const BUCKET = { ratePerSec: 40, burst: 80 }
const PERSON: Taker = { kind: 'person' }
const AGENT: Taker = { kind: 'agent', leaves: 50 }

function takes(share: LocalShare, count: number, taker: Taker): number {
  return Array.from({ length: count }, () => share.take('write:w', BUCKET, 1, taker)).filter(({ taken }) => taken).length
}

it('[AG-86] [LIFE-27] without Redis each node keeps the share of its own people, whatever agents on another node take', async () => {
  const time = manualTime()
  const [here, there] = [openLocalShare(time.clock, () => 2), openLocalShare(time.clock, () => 2)]
  expect([takes(here, 1, PERSON), takes(there, 1, AGENT)]).toEqual([0, 0])
  await time.advance(10_000)
  expect(takes(here, 1, PERSON)).toBe(1)
  // The part of each of the two nodes is 40 of 80 tokens. On a node where a person has written, agents leave half of the part.
  expect([takes(here, 100, AGENT), takes(there, 100, AGENT)]).toEqual([19, 40])
  expect(takes(here, 100, PERSON)).toBe(20)
})
