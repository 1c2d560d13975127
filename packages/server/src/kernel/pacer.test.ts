import { describe, expect, it } from 'vitest'
import { Pacer } from './pacer.ts'
import { manualTime } from './testing/manual-time.ts'

/** Makes a pacer with a manual clock, and records the times of its runs. */
function paced(widestMs: number) {
  const time = manualTime()
  const beganMs = time.clock.monotonicMs()
  const runs: number[] = []
  const run = (): void => void runs.push(time.clock.monotonicMs() - beganMs)
  return { time, runs, pacer: new Pacer({ widestMs, ...time, run }) }
}

describe('Pacer, which spaces out repeated work', () => {
  it('[LIFE-4] a single request runs at once', async () => {
    const { time, runs, pacer } = paced(20)
    pacer.request()
    await time.advance(60)
    pacer.request()
    expect(runs).toEqual([0, 60])
  })

  it('[LIFE-4] under load runs are spaced by the widest requested gap, and every request is served', async () => {
    const { time, runs, pacer } = paced(20)
    for (let ms = 0; ms < 300; ms++) {
      pacer.request(10)
      await time.advance(1)
    }
    const gaps = runs.slice(1).map((atMs, i) => atMs - (runs[i] ?? 0))
    expect(gaps.slice(-10)).toEqual(Array(10).fill(20))
    expect(Math.max(...gaps)).toBe(20)
    const before = runs.length
    pacer.request(10)
    await time.advance(20)
    expect(runs).toHaveLength(before + 1)
    await time.advance(1_000)
    expect(runs).toHaveLength(before + 1)
  })

  it('[LIFE-4] an urgent request runs at once and includes the waiting one', async () => {
    const { time, runs, pacer } = paced(50)
    for (let i = 0; i < 3; i++) pacer.request(100)
    expect(runs).toEqual([0])
    await time.advance(1)
    pacer.now()
    expect(runs).toEqual([0, 1])
    await time.advance(1_000)
    expect(runs).toEqual([0, 1])
  })

  it('[LIFE-4] an ended pacer runs nothing', async () => {
    const { time, runs, pacer } = paced(50)
    for (let i = 0; i < 3; i++) pacer.request(100)
    pacer[Symbol.dispose]()
    await time.advance(1_000)
    expect(runs).toEqual([0])
  })
})
