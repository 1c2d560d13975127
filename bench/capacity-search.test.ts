import { expect, it } from 'vitest'
import { isCarried, nextStep, SIZES } from './capacity-search.ts'

/** Searches a server that carries the sizes up to index `largest`; returns the index that was found, and the indexes that were tried. */
function search(largest: number, first: { readonly start: number; readonly hop: number }) {
  const tried = new Map<number, boolean>()
  for (let i = 0; i < 100; i++) {
    const step = nextStep(tried, first)
    if (step.kind === 'found') return { found: step.index, tried: [...tried.keys()] }
    expect(tried.has(step.index)).toBe(false)
    tried.set(step.index, step.index <= largest)
  }
  throw new Error('the search does not end')
}

it('the search for a capacity finds the largest carried size from any start, and tries no size twice', () => {
  for (const start of SIZES.keys()) {
    for (const hop of [1, 4]) {
      for (const largest of SIZES.keys()) expect(search(largest, { start, hop }).found).toBe(largest)
      expect(search(-1, { start, hop }).found).toBeNull()
    }
  }
})

it('the search tries two sizes when an earlier round found the same capacity, otherwise at most eight', () => {
  expect(search(12, { start: 12, hop: 1 }).tried).toEqual([12, 13])
  for (const largest of SIZES.keys()) expect(search(largest, { start: 8, hop: 4 }).tried.length).toBeLessThanOrEqual(8)
})

it('a load is carried when all was sent, arrived within the window, and 99 of 100 deliveries took at most 100 ms', () => {
  const load = { docs: 100, clientsPerDoc: 5, rate: 1 }
  const good = { edits: 5_500, deliveries: 22_000, seconds: 11, missing: 0, deliveryMs: { p50: 1, p99: 100 } }
  expect(isCarried(good, load)).toBe(true)
  expect(isCarried({ ...good, deliveryMs: { p50: 1, p99: 101 } }, load)).toBe(false)
  expect(isCarried({ ...good, missing: 1 }, load)).toBe(false)
  expect(isCarried({ ...good, deliveries: 20_000 }, load)).toBe(false)
  expect(isCarried({ ...good, edits: 5_000 }, load)).toBe(false)
  expect(isCarried({ ...good, deliveries: 0, deliveryMs: { p50: Number.NaN, p99: Number.NaN } }, load)).toBe(false)
})
