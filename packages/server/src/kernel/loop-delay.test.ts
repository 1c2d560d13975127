import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { LAG_TIMER_MS, longestDelaySecs, LoopDelay, RESTING_LAG_TIMER_MS } from './loop-delay.ts'
import { manualTime } from './testing/manual-time.ts'
import { systemTimers } from './timers.ts'

it('[OPS-4] a main loop that is never late has no delay, although its timer is due every 20 ms', () => {
  expect(LAG_TIMER_MS).toBe(20)
  expect(longestDelaySecs(20, LAG_TIMER_MS)).toBe(0)
  expect(longestDelaySecs(19.2, LAG_TIMER_MS)).toBe(0)
  expect(longestDelaySecs(72, LAG_TIMER_MS)).toBeCloseTo(0.052)
})

it('[OPS-4] a main loop that was busy for 100 ms reports a delay of at least 80 ms, once', async () => {
  using delay = new LoopDelay(systemTimers)
  await setTimeout(2 * LAG_TIMER_MS)
  const startedMs = performance.now()
  while (performance.now() - startedMs < 100);
  await setTimeout(2 * LAG_TIMER_MS)
  expect(delay.takeSecs()).toBeGreaterThanOrEqual(0.08)
  expect(delay.takeSecs()).toBe(0)
})

it('[OPS-4] after ten almost idle seconds the timer is due every 200 ms, until the loop works again', async () => {
  const time = manualTime()
  let share = 0.01
  using delay = new LoopDelay(time.timers, () => share)
  const after = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) await time.advance(1_000)
    return delay.timerMs
  }
  expect(await after(9)).toBe(LAG_TIMER_MS)
  expect(await after(1)).toBe(RESTING_LAG_TIMER_MS)
  share = 0.2
  expect(await after(1)).toBe(LAG_TIMER_MS)
  share = 0.01
  expect(await after(9)).toBe(LAG_TIMER_MS)
  expect(await after(1)).toBe(RESTING_LAG_TIMER_MS)
})

it('[OPS-4] a delay from before a change of the timer is still reported', async () => {
  const time = manualTime()
  using delay = new LoopDelay(time.timers, () => 0)
  await setTimeout(2 * LAG_TIMER_MS)
  const startedMs = performance.now()
  while (performance.now() - startedMs < 100);
  await setTimeout(2 * LAG_TIMER_MS)
  for (let i = 0; i < 10; i++) await time.advance(1_000)
  expect(delay.timerMs).toBe(RESTING_LAG_TIMER_MS)
  expect(delay.takeSecs()).toBeGreaterThanOrEqual(0.08)
})
