import { describe, expect, it } from 'vitest'
import { systemClock } from './clock.ts'
import { Pacer } from './pacer.ts'

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('Pacer', () => {
  it('[LIFE-4] a lone request runs at once', async () => {
    let runs = 0
    using pacer = new Pacer({ widestMs: 20, clock: systemClock, run: () => runs++ })
    pacer.request()
    expect(runs).toBe(1)
    await sleep(60)
    pacer.request()
    expect(runs).toBe(2)
  })

  it('[LIFE-4] under load runs are spaced, and nothing asked for is forgotten', async () => {
    let runs = 0
    using pacer = new Pacer({ widestMs: 20, clock: systemClock, run: () => runs++ })
    const until = performance.now() + 300
    let last = 0
    for (let requests = 0; performance.now() < until; requests++) {
      pacer.request(10)
      last = requests
      await sleep(0)
    }
    expect(last).toBeGreaterThan(40)
    expect(runs).toBeLessThan(25)
    const before = runs
    pacer.request(10)
    await sleep(40)
    expect(runs).toBeGreaterThan(before)
  })

  it('[LIFE-4] what must not be late runs now and takes the waiting request along', async () => {
    let runs = 0
    using pacer = new Pacer({ widestMs: 50, clock: systemClock, run: () => runs++ })
    for (let i = 0; i < 3; i++) pacer.request(100)
    expect(runs).toBe(1)
    pacer.now()
    expect(runs).toBe(2)
    await sleep(80)
    expect(runs).toBe(2)
  })
})
