import { describe, expect, it } from 'vitest'
import { compareRules, namedRules, readRuleList, testNames } from './rule-list.ts'

const LIST = '# The rules.\n\n# now: wire, 1. Names\nCFG-1\nCFG-2\n\n# later: wire, 6. Blobs\nBLOB-1\n'

describe('the list of rules', () => {
  it('holds ids under headings that say whether they are in scope', () => {
    expect(readRuleList(LIST)).toEqual([
      { id: 'CFG-1', scope: 'now', group: 'wire, 1. Names' },
      { id: 'CFG-2', scope: 'now', group: 'wire, 1. Names' },
      { id: 'BLOB-1', scope: 'later', group: 'wire, 6. Blobs' },
    ])
    expect(() => readRuleList('CFG-1')).toThrow('no heading')
    expect(() => readRuleList('# now: x\nCFG1')).toThrow('not a rule id')
  })

  it('is compared with what tests name', () => {
    const named = [
      { rule: 'CFG-1', file: 'a.test.ts' },
      { rule: 'CFG-99', file: 'b.test.ts' },
    ]
    expect(compareRules(readRuleList(LIST), named)).toEqual({
      untested: [{ id: 'CFG-2', scope: 'now', group: 'wire, 1. Names' }],
      unknown: [{ rule: 'CFG-99', file: 'b.test.ts' }],
    })
  })
})

describe('what tests name', () => {
  it('rules stand in brackets at the beginning, several of them too', () => {
    const source =
      "it('[CFG-1] a', f)\nit.each(rows)('[CFG-2] [WS-3] %s', f)\nit(`[WS-4] ${x}`, f)\nit('about [WS-5]', f)\nconst x = rows[0]"
    expect(namedRules(source)).toEqual(['CFG-1', 'CFG-2', 'WS-3', 'WS-4'])
  })

  it('names are found behind it, test, each and skipIf', () => {
    const source = "it('a', f)\ntest.skip('b', f)\nit.each([1, 2])('c %s', f)\nit.skipIf(x)(\n  'd',\n  f)\nsubmit('no')"
    expect(testNames(source)).toEqual(['a', 'b', 'c %s', 'd'])
  })
})
