import { expect, it } from 'vitest'
import { median, medianInterval } from './medians.ts'

it('the median of an even number of values lies between the middle two', () => {
  expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([7])]).toEqual([2, 2.5, 7])
  expect(median([])).toBeNaN()
})

it('the interval of five rounds is their whole range and has a confidence of 94 %', () => {
  expect(medianInterval([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 1, high: 5, confidence: 0.9375 })
})

it('with more rounds the interval omits values at both ends while its confidence stays at least 90 %', () => {
  expect(medianInterval([1, 2, 3, 4, 5, 6, 7])).toMatchObject({ low: 1, high: 7 })
  expect(medianInterval([1, 2, 3, 4, 5, 6, 7, 8])).toEqual({ median: 4.5, low: 2, high: 7, confidence: 1 - 18 / 256 })
  const of20 = medianInterval(Array.from({ length: 20 }, (_, i) => i + 1))
  expect([of20.low, of20.high]).toEqual([6, 15])
  expect(of20.confidence).toBeCloseTo(0.959, 3)
})

it('the interval of fewer than five rounds reports a confidence below 90 %', () => {
  expect(medianInterval([2, 1, 3])).toEqual({ median: 2, low: 1, high: 3, confidence: 0.75 })
  expect(medianInterval([2])).toEqual({ median: 2, low: 2, high: 2, confidence: 0 })
})

it('the interval contains the median of the distribution about as often as its confidence says', () => {
  // A fixed sequence of numbers between 0 and 1, whose median is a half.
  let state = 42
  const next = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
  let held = 0
  for (let i = 0; i < 4_000; i++) {
    const { low, high } = medianInterval(Array.from({ length: 5 }, next))
    if (low <= 0.5 && 0.5 <= high) held++
  }
  expect(held / 4_000).toBeCloseTo(0.9375, 1)
})
