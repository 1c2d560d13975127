import { expect, it } from 'vitest'
import {
  confidenceLine,
  type Cost,
  costTable,
  RATIOS,
  type Ratio,
  ratiosOf,
  ratioTable,
  type Row,
  verdictOf,
} from './scale-figures.ts'

const cost = (relays: number, more: Partial<Cost> = {}): Cost => ({
  ...{ relays, owner: relays, postgres: 10, redis: 1, cores: 0.5, deliveries: 1_000, keptUp: 1, missing: 0 },
  ...more,
})
const ran = (round: number, run: string, of: Cost | null, forwarded = 0): Row => ({ round, run, forwarded, cost: of })
const ratio = (name: string): Ratio => RATIOS.find((one) => one.name === name) as Ratio

it('a ratio compares what was measured in the same round, whatever the order of the rows is', () => {
  const rows = [
    ran(2, 'many-2-random', cost(60)),
    ran(1, 'many-1', cost(100)),
    ran(2, 'many-1', cost(50)),
    ran(1, 'many-2-random', cost(110)),
  ]
  expect(ratiosOf(rows, ratio('many: R(2), random'))).toEqual([1.1, 1.2])
})

it('a round has no ratio when its generator gave up or one of its runs is missing', () => {
  const rows = [
    ran(1, 'hot-1', cost(10)),
    ran(1, 'hot-2-sticky', null),
    ran(2, 'hot-1', null),
    ran(2, 'hot-2-sticky', cost(10)),
    ran(3, 'hot-2-sticky', cost(10)),
    ran(4, 'hot-1', cost(0)),
    ran(4, 'hot-2-sticky', cost(10)),
  ]
  expect(ratiosOf(rows, ratio('hot: R(2), sticky'))).toEqual([])
  expect(ratioTable(rows)).toEqual([])
})

it('the cost of readers is compared only at the owner of the document', () => {
  const rows = [ran(1, 'readers-1', cost(8, { owner: 8 })), ran(1, 'readers-4', cost(9, { owner: 2 }))]
  expect(ratiosOf(rows, ratio('readers: owner on 4 nodes to 1'))).toEqual([0.25])
})

it('the goals of the ratios are those that bench/README.md publishes', () => {
  const goals = RATIOS.filter(({ most }) => most !== null).map(({ name, most }) => `${name} ${most?.toFixed(2)}`)
  expect(goals).toEqual([
    'many: R(2), random 1.25',
    'many: R(2), sticky 1.10',
    'many: R(4)/R(2), random 1.15',
    'many: R(4)/R(2), sticky 1.15',
    'hot: R(2), random 1.25',
    'hot: R(2), sticky 1.10',
    'hot: R(4)/R(2), random 1.15',
    'hot: R(4)/R(2), sticky 1.15',
    'readers: owner on 4 nodes to 1 0.33',
  ])
})

it('a verdict compares the median with the goal, and says when the interval contains the goal', () => {
  expect(verdictOf([1, 1.1, 1.2], 1.2)).toBe('met')
  expect(verdictOf([1, 1.1, 1.3], 1.2)).toBe('met, not surely')
  expect(verdictOf([1.1, 1.3, 1.4], 1.2)).toBe('missed, not surely')
  expect(verdictOf([1.3, 1.4, 1.5], 1.2)).toBe('missed')
  expect(verdictOf([], 1.2)).toBe('not measured')
})

it('the result tables show the medians, every round, and what is missing', () => {
  const rows = [
    ran(1, 'many-1', cost(100, { missing: 2 })),
    ran(1, 'many-2-random', cost(140), 0.4),
    ran(2, 'many-1', cost(100)),
    ran(2, 'many-2-random', cost(130), 0.4),
    ran(3, 'many-1', null),
  ]
  expect(ratioTable(rows)).toEqual([
    '| ratio | median | goal | verdict | of each round |',
    '| --- | --- | --- | --- | --- |',
    '| many: R(2), random | 1.35 (1.30–1.40) | ≤ 1.25 | **missed** | 1.40; 1.30 |',
  ])
  expect(costTable(rows).slice(2)).toEqual([
    '| many-1 | 0.00 | 100.00 | – | 10.00 | 1.00 | 0.50 | 1.00 | 2 | 1 |',
    '| many-2-random | 0.40 | 135.00 | – | 10.00 | 1.00 | 0.50 | 1.00 | 0 | 0 |',
  ])
})

it('the line below the result tables states the confidence of the medians', () => {
  const rounds = (count: number) => Array.from({ length: count }, (_, i) => ran(i + 1, 'many-1', cost(1)))
  expect(confidenceLine([])).toBe('No rounds.')
  expect(confidenceLine(rounds(1))).toBe('One round.')
  expect(confidenceLine(rounds(10))).toContain(
    'Medians of 10 interleaved rounds; an interval in parentheses holds the true median with 98 %',
  )
})
