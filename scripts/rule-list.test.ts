import { describe, expect, it } from 'vitest'
import { citedRules, compareRules, namedRules, readRules, testNames } from './rule-list.ts'

const PAGE = [
  '- **CFG-1** A name.',
  '- **CFG-2** (not yet) See CFG-1. **Bold** is no rule.',
  '- **C6** (tested as CFG-1) A thread.',
  '| **WS-34** (in part) Bound | Limit |',
  '| TOOL-get_page | D |',
  '| PROSE-H3 (not yet) | a case |',
  'CFG-3 is only mentioned.',
].join('\n')
const RULES = readRules('wire/a.md', PAGE)

describe('rules of a spec page', () => {
  it('a rule is defined in a list item, in a table row or in the head of a table', () => {
    expect(RULES.map(({ id }) => id)).toEqual(['CFG-1', 'CFG-2', 'C6', 'WS-34', 'TOOL-get_page', 'PROSE-H3'])
  })

  it('a mark is read after the id', () => {
    const marks = Object.fromEntries(RULES.map(({ id, mark }) => [id, mark]))
    expect(marks).toEqual({
      'CFG-1': { kind: 'none' },
      'CFG-2': { kind: 'not yet' },
      C6: { kind: 'tested as', rule: 'CFG-1' },
      'WS-34': { kind: 'in part' },
      'TOOL-get_page': { kind: 'none' },
      'PROSE-H3': { kind: 'not yet' },
    })
  })
})

describe('comparing rules and tests', () => {
  const at = (file: string, ...rules: readonly string[]) => rules.map((rule) => ({ rule, file }))
  const built = ['CFG-1', 'WS-34', 'TOOL-get_page']

  it('nothing is reported when every built rule has a test and every cited one a text', () => {
    const { twice, unknown, early, untested } = compareRules(RULES, at('a.test.ts', ...built), at('a.ts', 'CFG-2', 'C6'))
    expect([...twice, ...unknown, ...early, ...untested]).toEqual([])
  })

  it('a built rule without a test is reported', () => {
    const { untested } = compareRules(RULES, at('a.test.ts', 'CFG-1'), [])
    expect(untested.map(({ id }) => id)).toEqual(['WS-34', 'TOOL-get_page'])
  })

  it('a cited rule without a text is reported', () => {
    const { unknown } = compareRules(RULES, at('a.test.ts', ...built), at('a.ts', 'CFG-3'))
    expect(unknown).toEqual([{ rule: 'CFG-3', file: 'a.ts' }])
  })

  it('a rule named by a test without a text is reported', () => {
    const { unknown } = compareRules(RULES, at('a.test.ts', ...built, 'CFG-99'), [])
    expect(unknown).toEqual([{ rule: 'CFG-99', file: 'a.test.ts' }])
  })

  it('a test for a rule marked not yet is reported', () => {
    const { early } = compareRules(RULES, at('a.test.ts', ...built, 'PROSE-H3'), [])
    expect(early).toEqual([{ rule: 'PROSE-H3', file: 'a.test.ts' }])
  })

  it('a mark that points to a rule without a text is reported', () => {
    const { unknown } = compareRules(readRules('b.md', '- **C6** (tested as CFG-9) A thread.'), [], [])
    expect(unknown).toEqual([{ rule: 'CFG-9', file: 'b.md' }])
  })

  it('a second text of one id is reported', () => {
    const { twice } = compareRules([...RULES, ...readRules('b.md', '- **CFG-1** Another name.')], at('a.test.ts', ...built), [])
    expect(twice).toMatchObject([{ id: 'CFG-1', file: 'b.md' }])
  })
})

describe('rules cited in a file', () => {
  const families = new Set(['WS-', 'PROSE-', 'TOOL-', 'D-', 'D', 'C'])

  it('every id of a known family is found anywhere in the text', () => {
    const source = '/** As WS-6 and PROSE-H3 say. [D-13, C6] */ x(`TOOL-get_page`) // WS-40..WS-42'
    expect(citedRules(source, families)).toEqual(['WS-6', 'PROSE-H3', 'D-13', 'TOOL-get_page', 'WS-40', 'WS-42', 'C6'])
  })

  it('a word that resembles an id is not found', () => {
    expect(citedRules('UTF-8, SHA-256, C4 outside brackets, [C6x], [S3], id-WS-6, WS-6a', families)).toEqual([])
  })
})

describe('rules named by tests', () => {
  it('rules are read from brackets at the beginning of a name, also several', () => {
    const source = [
      "it('[CFG-1] a', f)\nit.each(rows)('[CFG-2] [WS-3] %s', f)\nit(`[WS-4] ${x}`, f)\nit('about [WS-5]', f)\nconst x = rows[0]",
      "it('[C6] [CANVAS-16, FILE-2] b', f)\nit('[REST-14 STORAGE_QUOTA] c', f)\nit('[TOOL-get_page] d', f)",
    ].join('\n')
    expect(namedRules(source)).toEqual([
      'CFG-1',
      'CFG-2',
      'WS-3',
      'WS-4',
      'C6',
      'CANVAS-16',
      'FILE-2',
      'REST-14',
      'TOOL-get_page',
    ])
  })

  it('names are read after it, test, each and skipIf', () => {
    const source = "it('a', f)\ntest.skip('b', f)\nit.each([1, 2])('c %s', f)\nit.skipIf(x)(\n  'd',\n  f)\nsubmit('no')"
    expect(testNames(source)).toEqual(['a', 'b', 'c %s', 'd'])
  })
})
