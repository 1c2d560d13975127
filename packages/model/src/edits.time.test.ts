import { describe, expect, it } from 'vitest'
import { editFlaw, type EditName } from './edits.ts'
import { readFlaw } from './reads.ts'
import { threadTime } from './testing/thread-time.ts'

/** As much as a request may hold. */
const LENGTH = 8_000_000
const TEXTS = Object.entries({
  letters: 'x'.repeat(LENGTH),
  words: ' a'.repeat(LENGTH / 2),
  emoji: '\u{1f642}'.repeat(LENGTH / 4),
  blanks: ' '.repeat(LENGTH),
  controls: '\u0001'.repeat(LENGTH),
})
const CALLS: readonly (readonly [edit: EditName, argsOf: (text: string) => object])[] = [
  ['rename_document', (name) => ({ name })],
  ['set_prose', (content) => ({ content })],
  ['delete_block', (anchor) => ({ anchor })],
  ['delete_block', (id) => ({ id })],
  ['insert_section', (title) => ({ title, level: 1 })],
  ['edit_table', (align) => ({ op: 'setCellAttrs', row: 0, col: 0, align })],
  ['set_fields', (name) => ({ fields: [{ name }] })],
  [
    'set_fields',
    (text) => ({ fields: Array.from({ length: 120 }, (_, i) => ({ name: `f${i}`, value: text.slice(0, 32_768) })) }),
  ],
]

describe('time of checking arguments', () => {
  it.each(TEXTS)('[CONC-13] %s of 8 MB are checked without blocking', (_, text) => {
    for (const [edit, argsOf] of CALLS)
      expect(
        bestOf(() => editFlaw(edit, argsOf(text))),
        edit,
      ).toBeLessThan(100)
    const cursor = '1.0.1.abc'
    expect(bestOf(() => readFlaw('get_prose', 'd', { pageId: text, cursor }))).toBeLessThan(100)
    expect(bestOf(() => readFlaw('list_files', 'd', { cursor: text }))).toBeLessThan(100)
  })
})

function bestOf(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const took = threadTime()
    work()
    return took()
  })
  return Math.min(...times)
}
