import { expect, it } from 'vitest'
import { type Experience, faultsOf, KINDS, type Kind, p99 } from './noisy-figures.ts'

const experience = (
  ms: number,
  slow: Partial<Record<Kind, readonly number[]>> = {},
  refusals: readonly string[] = [],
): Experience => ({
  samplesMs: { ...(Object.fromEntries(KINDS.map((kind) => [kind, [ms]])) as Record<Kind, number[]>), ...slow },
  refusals,
})

it('[N-12] the 99th percentile of few samples is their maximum', () => {
  expect([p99([]), p99([3, 1, 2]), p99(Array.from({ length: 200 }, (_, i) => i + 1))]).toEqual([0, 3, 198])
})

it('[N-12] an answer may take 100 ms, or twice its undisturbed time if that is more', () => {
  expect(faultsOf({ before: experience(10), during: experience(100), after: experience(10) })).toEqual([])
  expect(faultsOf({ before: experience(80), during: experience(160), after: experience(80) })).toEqual([])
  const slow = faultsOf({ before: experience(80), during: experience(80, { get: [161] }), after: experience(80) })
  expect(slow).toEqual(['get: p99 161 ms is above 160 ms'])
})

it('[N-12] a refusal in any phase counts as a fault, and so does a kind of request without any answer', () => {
  const refused = faultsOf({
    before: experience(1),
    during: experience(1, { put: [] }, ['PUT 503']),
    after: experience(1, {}, ['closed 1013']),
  })
  expect(refused).toEqual([
    'put: nothing was answered',
    '1 refused during, the first: PUT 503',
    '1 refused after, the first: closed 1013',
  ])
})
