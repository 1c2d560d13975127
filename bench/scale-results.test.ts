import { expect, it } from 'vitest'
import type { Cost } from './scale-figures.ts'
import { added, parse, type RecordedRow, render, rowsOf, type Section, type Setup } from './scale-results.ts'

const setup: Setup = { commit: 'abc1234', machine: '2 × AMD EPYC, Node 24.1.0', warmUpSec: 20, seconds: 10, rate: 1 }
const cost: Cost = {
  relays: 60.125,
  owner: 30,
  postgres: 20.5,
  redis: 0.25,
  cores: 0.75,
  keptUp: 0.99,
  deliveries: 80_000,
  missing: 0,
}
const recorded = (round: number, run: string, of: Cost | null): RecordedRow => ({
  ...{ round, run, date: '2026-11-27', forwarded: 0.125, cost: of },
})

it('rows that were recorded are read again unchanged', () => {
  const sections: readonly Section[] = [
    { setup, rows: [recorded(1, 'many-1', cost), recorded(1, 'many-2-random', { ...cost, missing: 3 })] },
    { setup: { ...setup, commit: 'def5678+', rate: 0.5 }, rows: [recorded(1, 'many-1', null)] },
  ]
  expect(parse(render(sections))).toEqual(sections)
  expect(render(parse(render(sections)))).toBe(render(sections))
})

it('the rounds of one setup are in one section, and those of another setup in another section', () => {
  const other = { ...setup, commit: 'def5678' }
  let sections: readonly Section[] = added([], setup, recorded(1, 'many-1', cost))
  sections = added(sections, other, recorded(1, 'many-1', cost))
  sections = added(sections, setup, recorded(2, 'many-1', cost))
  expect(rowsOf(sections, setup).map(({ round }) => round)).toEqual([1, 2])
  expect(rowsOf(sections, other).map(({ round }) => round)).toEqual([1])
  expect(rowsOf(sections, { ...setup, seconds: 11 })).toEqual([])
})

it('a file that this bench did not write is refused, since writing it again would lose its content', () => {
  expect(() => parse('## Something else\n')).toThrow(/## Something else/)
  const text = render([{ setup, rows: [recorded(1, 'many-1', cost)] }])
  expect(() => parse(text.replace('| 60.125 |', '| sixty |'))).toThrow(/sixty/)
  expect(() => parse(text.replace('| 60.125 |', '|'))).toThrow(/this bench did not write/)
  expect(() => parse('| 1 | many-1 |')).toThrow(/this bench did not write/)
})
