import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Beats, untilBeat } from './beats.ts'
import { manualTime } from './testing/manual-time.ts'

describe('waiting on shared beats', () => {
  it('[LIFE-4] a wait ends on a beat, after between 0.25 and 1.25 of its step', () => {
    const times = fc.tuple(fc.integer({ min: 0, max: 2 ** 41 }), fc.integer({ min: 1, max: 5_000 }))
    fc.assert(
      fc.property(times, ([nowMs, waitMs]) => {
        const ms = untilBeat(nowMs, waitMs)
        const stepMs = 2 ** Math.floor(Math.log2(waitMs))
        expect((nowMs + ms) % stepMs).toBe(0)
        expect(ms).toBeGreaterThanOrEqual(1)
        expect(ms * 4).toBeGreaterThan(stepMs)
        expect(ms * 4).toBeLessThanOrEqual(stepMs * 5)
      }),
      { seed: 16 },
    )
  })

  it('[LIFE-4] waits that begin apart end in one run, and a cancelled wait does not run', async () => {
    const time = manualTime()
    const runs: string[][] = []
    let run: string[] = []
    const beats = new Beats({
      ...time,
      run: (work) => {
        run = []
        runs.push(run)
        work()
      },
    })
    await time.advance(untilBeat(time.clock.nowMs(), 256) + 20)
    beats.after(256, () => run.push('early'))
    const takeBack = beats.after(256, () => run.push('never'))
    await time.advance(20)
    beats.after(256, () => run.push('late'))
    takeBack()
    await time.advance(400)
    expect(runs).toEqual([['early', 'late']])
  })
})
