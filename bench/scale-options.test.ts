import { expect, it } from 'vitest'
import { readOptions } from './scale-options.ts'
import { RUNS } from './scale-plan.ts'

it('without arguments bench:scale makes ten rounds of all runs and records none', () => {
  expect(readOptions([])).toEqual({
    ...{ rounds: 10, seconds: 10, warmUpSec: 20, rate: 1, runs: RUNS, record: 'no', profile: null },
  })
})

it('names on the command line select loads and runs, in the order of a round', () => {
  const names = (...args: string[]) => readOptions(args).runs.map(({ name }) => name)
  expect(names('many-2-random', 'readers', 'many-1')).toEqual(['many-1', 'many-2-random', 'readers-1', 'readers-4'])
})

it('--resume records the runs that are missing, and --record adds rounds', () => {
  expect(readOptions(['--record']).record).toBe('append')
  expect(readOptions(['--resume']).record).toBe('resume')
  expect(readOptions(['--record', '--resume']).record).toBe('resume')
})

it.each([
  [['--rounds', '0'], '--rounds is a whole number from 1 to 1000, not "0"'],
  [['--rounds', '2.5'], '--rounds is a whole number from 1 to 1000, not "2.5"'],
  [['--rounds', 'many'], '--rounds is a whole number from 1 to 1000, not "many"'],
  [['--seconds', ''], '--seconds is a number from 1 to 600, not ""'],
  [['--seconds', '601'], '--seconds is a number from 1 to 600, not "601"'],
  [['--warm-up', '1e9'], '--warm-up is a number from 0 to 600, not "1e9"'],
  [['--rate', '0'], '--rate is a number from 0.1 to 4, not "0"'],
  [['--profile', ''], '--profile needs a folder'],
  [['--profile', 'p', '--record'], '--profile goes without --record and --resume: a profiled relay costs more'],
  [['lots'], 'no load or run is named lots; there are many, hot, readers, many-1-alone,'],
  [['--round', '1'], "Unknown option '--round'"],
])('the arguments %j are refused with a text that says what is allowed', (args, text) => {
  expect(() => readOptions(args)).toThrow(text)
})
