import { expect, it } from 'vitest'
import { Load } from './load.ts'

it('a steady load is reported as its rate, and decays to nothing', () => {
  const load = new Load(100)
  expect(load.at(0)).toBe(0)
  for (let ms = 0; ms < 1_000; ms++) load.add(2, ms)
  expect(load.perSecond(999)).toBeGreaterThan(1_950)
  expect(load.perSecond(999)).toBeLessThan(2_050)
  expect(load.perSecond(1_099) / load.perSecond(999)).toBeCloseTo(Math.exp(-1))
  expect(load.perSecond(5_000)).toBeLessThan(0.001)
})

it('a clock that stands still or goes back does not raise the load', () => {
  const load = new Load(100)
  load.add(1, 50)
  load.add(1, 50)
  expect(load.at(50)).toBe(2)
  expect(load.at(10)).toBe(2)
})
