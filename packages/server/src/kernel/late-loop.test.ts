import { expect, it } from 'vitest'
import { memoryRateLimiter } from '../drivers/memory-limits.ts'
import { manualTime } from './testing/manual-time.ts'
import { LateLoop } from './late-loop.ts'

/** A relay whose thread the test can block, with a bucket of 40 tokens a second and a burst of 80. */
function relay() {
  const { clock, timers, advance } = manualTime()
  let heldMs = 0
  const held = { nowMs: () => clock.nowMs() + heldMs, monotonicMs: () => clock.monotonicMs() + heldMs }
  const loop = new LateLoop(held, timers)
  const limiter = memoryRateLimiter(held, () => loop.delayMs())
  const given = (asked: number): number => {
    let count = 0
    for (let i = 0; i < asked; i++) if (limiter.take('ws', { ratePerSec: 40, burst: 80 }).taken) count++
    return count
  }
  return { advance, given, loop, hold: (ms: number) => void (heldMs += ms) }
}

it('[LIM-2] requests within their rate are not refused when a blocked relay receives 5 s of them at once', async () => {
  const { advance, given, hold } = relay()
  expect(given(40)).toBe(40)
  await advance(1_000)
  hold(5_000)
  expect(given(200)).toBe(200)
  await advance(100)
  expect(given(40)).toBe(40)
})

it('[LIM-2] after a delay a bucket gives no more than burst and rate allow, and the delay is forgotten after 1 s', async () => {
  const { advance, given, hold, loop } = relay()
  expect(given(1_000)).toBe(80)
  hold(5_000)
  await advance(100)
  expect(given(1_000)).toBe(204)
  await advance(1_500)
  expect([loop.delayMs(), given(1_000)]).toEqual([0, 60])
  await advance(60_000)
  expect(given(1_000)).toBe(80)
})

it('[LIM-2] without a delay a bucket holds its burst and no more', async () => {
  const { advance, given } = relay()
  await advance(60_000)
  expect(given(1_000)).toBe(80)
})

it('[LIM-2] a delay is noticed even if nobody has asked for a minute when it begins', async () => {
  const { advance, given, hold, loop } = relay()
  await advance(60_000)
  expect(loop.delayMs()).toBe(0)
  await advance(60_000)
  hold(5_000)
  expect(loop.delayMs()).toBeGreaterThan(4_000 - 100)
  expect(given(240)).toBe(240)
})
