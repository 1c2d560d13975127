import { describe, expect, it } from 'vitest'
import { filesToRunAgain, NO_NOTES, summarise, type VitestReport, withSecondRun } from './test-report.ts'

const file = (name: string, status: string, tests: VitestReport['testResults'][number]['assertionResults'], message = '') => ({
  name,
  status,
  message,
  assertionResults: tests,
})

const NONE = NO_NOTES

describe('the last line of npm test', () => {
  it('each test and each check is counted once', () => {
    const report: VitestReport = {
      testResults: [
        file('a.test.ts', 'failed', [
          { fullName: 'one', status: 'passed' },
          { fullName: 'two', status: 'failed', failureMessages: ['expected 1 to be 2'] },
          { fullName: 'three', status: 'skipped' },
          { fullName: 'four (skipped: no PostgreSQL)', status: 'pending' },
          { fullName: 'five', status: 'todo' },
        ]),
      ],
    }
    expect(
      summarise(report, { ...NONE, skips: { three: 'needs root' }, diffs: { two: '- 2\n+ 1' } }, [true, true, false]),
    ).toEqual({
      passed: 3,
      failed: 2,
      skipped: 3,
      failures: [{ name: 'a.test.ts: two', message: 'expected 1 to be 2\n- 2\n+ 1' }],
      skips: [
        { name: 'three', reason: 'needs root' },
        { name: 'four (skipped: no PostgreSQL)', reason: 'no PostgreSQL' },
        { name: 'five', reason: 'no reason given' },
      ],
      slowest: [],
      costs: [],
    })
  })

  it('a file that cannot be loaded counts as one failure', () => {
    const report = { testResults: [file('broken.test.ts', 'failed', [], 'SyntaxError')] }
    expect(summarise(report, NONE, [])).toMatchObject({
      passed: 0,
      failed: 1,
      failures: [{ name: 'broken.test.ts', message: 'SyntaxError' }],
    })
  })

  it('an error outside tests counts as a failure', () => {
    const report = { testResults: [file('a.test.ts', 'passed', [{ fullName: 'one', status: 'passed' }])] }
    expect(summarise(report, { ...NONE, unhandled: ['Error: leaked'] }, [])).toMatchObject({ passed: 1, failed: 1 })
  })

  it('of a stack only the lines of the repository are shown', () => {
    const stack =
      'Error: x\n    at f (/repo/a.ts:1:1)\n    at g (file:///repo/node_modules/vitest/dist/run.js:1:1)\n    at new Promise (<anonymous>)'
    const report = {
      testResults: [file('a.test.ts', 'failed', [{ fullName: 'one', status: 'failed', failureMessages: [stack] }])],
    }
    expect(summarise(report, NONE, []).failures[0]?.message).toBe('Error: x\n    at f (/repo/a.ts:1:1)')
  })

  it('the files that took a second or longer are named with their seconds and when they began', () => {
    const files = Array.from({ length: 20 }, (_, i) => ({
      ...file(`${i}.test.ts`, 'passed', []),
      startTime: 1_000 + i * 100,
      endTime: 1_000 + i * 600,
    }))
    const { slowest } = summarise({ testResults: files }, NONE, [])
    expect(slowest.slice(0, 2)).toEqual([
      { name: '19.test.ts', seconds: 9.5, atSecond: 1.9 },
      { name: '18.test.ts', seconds: 9, atSecond: 1.8 },
    ])
    expect(slowest.at(-1)).toEqual({ name: '2.test.ts', seconds: 1, atSecond: 0.2 })
  })

  it('every file that ended has its processor time, the costliest first', () => {
    expect(summarise(null, { ...NONE, processorSeconds: { a: 1.5, b: 20, c: 0 } }, []).costs).toEqual([
      { name: 'b', processorSeconds: 20 },
      { name: 'a', processorSeconds: 1.5 },
      { name: 'c', processorSeconds: 0 },
    ])
  })

  it('without a report of the runner the line has only the checks', () => {
    expect(summarise(null, NONE, [true, false])).toMatchObject({ passed: 1, failed: 1, skipped: 0 })
  })
})

describe('a second run of failed files', () => {
  const failed = (name: string) => file(name, 'failed', [{ fullName: name, status: 'failed' }])
  const passed = (name: string) => file(name, 'passed', [{ fullName: name, status: 'passed' }])

  it('up to three failed files run again, and none when more failed', () => {
    const three = [failed('a'), passed('b'), failed('c'), failed('d')]
    expect(filesToRunAgain({ testResults: three }, NONE)).toEqual(['a', 'c', 'd'])
    expect(filesToRunAgain({ testResults: [...three, failed('e')] }, NONE)).toEqual([])
  })

  it('no file runs again after an error outside tests, or without a report', () => {
    expect(filesToRunAgain({ testResults: [failed('a')] }, { ...NONE, unhandled: ['Error: leaked'] })).toEqual([])
    expect(filesToRunAgain(null, NONE)).toEqual([])
  })

  it('the result of the second run counts, and the first for files missing in it', () => {
    const first = { testResults: [failed('a'), passed('b'), failed('c')] }
    const count = (second: VitestReport | null) => summarise(withSecondRun(first, second), NONE, [])
    expect(count({ testResults: [passed('a'), failed('c')] })).toMatchObject({ passed: 2, failed: 1 })
    expect(count(null)).toMatchObject({ passed: 1, failed: 2 })
  })
})
