import { limitHere, threadTime } from '@docrelay/model/testing/thread-time'
import { proseSchema } from '@docrelay/prosemirror'
import type { Node } from 'prosemirror-model'
import { describe, expect, it } from 'vitest'
import { type BlockChange, diffBlocks, tallyOf } from './block-diff.ts'

const node = (type: string, attrs: Record<string, unknown> | null, content: readonly Node[] | string = []): Node =>
  proseSchema.node(type, attrs, typeof content === 'string' ? (content === '' ? [] : [proseSchema.text(content)]) : content)
const paragraph = (text: string, id: string | null = null) => node('paragraph', { id }, text)
const page = (...blocks: readonly Node[]) => node('doc', null, blocks)
const items = (...texts: readonly string[]) =>
  node(
    'bulletList',
    null,
    texts.map((text) => node('listItem', null, [paragraph(text)])),
  )

/** Formats a change as one line: `=` same, `+` added, `-` removed, `~` with `[-gone-]{+come+}` for words. */
function line(change: BlockChange): string {
  if (change.kind === 'parts') return `~${change.block.type.name}(${change.parts.map(line).join(' ')})`
  if (change.kind !== 'text') return { same: '=', added: '+', removed: '-' }[change.kind] + change.block.textContent
  const runs = change.runs.map(({ kind, content }) => {
    const text = content.textBetween(0, content.size, '', (leaf) => `<${leaf.type.name}>`)
    return { same: text, added: `{+${text}+}`, removed: `[-${text}-]` }[kind]
  })
  return `~${runs.join('')}`
}
const diff = (before: Node, after: Node) => diffBlocks(before, after).map(line)

describe('the difference of two pages', () => {
  it('finds no change between equal pages', () => {
    const changes = diffBlocks(page(paragraph('one'), items('a')), page(paragraph('one'), items('a')))
    expect([changes.map(line), tallyOf(changes)]).toEqual([['=one', '=a'], { added: 0, removed: 0, changed: 0 }])
  })

  it('ignores ids that blocks got between the two states', () => {
    expect(diff(page(paragraph('one')), page(paragraph('one', 'blk-1')))).toEqual(['=one'])
  })

  it('lists added and removed blocks in the order of the page', () => {
    const before = page(paragraph('one'), paragraph('two'), paragraph('three'))
    const after = page(paragraph('zero'), paragraph('one'), paragraph('three'), paragraph('four'))
    expect(diff(before, after)).toEqual(['+zero', '=one', '-two', '=three', '+four'])
  })

  it('marks the words that changed inside a block', () => {
    const changes = diff(page(paragraph('Present: Ann and Ben.')), page(paragraph('Present: Ann and Carla.')))
    expect(changes).toEqual(['~Present: Ann and [-Ben-]{+Carla+}.'])
  })

  it('joins changed words with only a space between them', () => {
    const before = page(paragraph('the quick brown fox jumps over the lazy dog'))
    const after = page(paragraph('the slow red fox jumps over the lazy dog'))
    expect(diff(before, after)).toEqual(['~the [-quick brown-]{+slow red+} fox jumps over the lazy dog'])
  })

  it('pairs a block by its id when all its words changed', () => {
    const before = page(paragraph('alpha beta', 'blk-1'), paragraph('gamma', 'blk-2'))
    const after = page(paragraph('new'), paragraph('delta epsilon', 'blk-1'), paragraph('gamma', 'blk-2'))
    expect(diff(before, after)).toEqual(['+new', '~[-alpha beta-]{+delta epsilon+}', '=gamma'])
  })

  it('does not pair two blocks that have neither an id nor words in common', () => {
    expect(diff(page(paragraph('alpha beta')), page(paragraph('gamma delta')))).toEqual(['-alpha beta', '+gamma delta'])
  })

  it('shows a paragraph that became a heading as changed', () => {
    const [change] = diffBlocks(page(paragraph('Agenda')), page(node('heading', { level: 2 }, 'Agenda')))
    expect(change?.kind).toBe('text')
    expect(tallyOf([change as BlockChange]).changed).toBe(1)
  })

  it('shows a word that became bold', () => {
    const bold = proseSchema.text('now', [proseSchema.mark('bold')])
    const after = page(node('paragraph', null, [proseSchema.text('act '), bold]))
    expect(diff(page(paragraph('act now')), after)).toEqual(['~act [-now-]{+now+}'])
  })

  it('shows a chip of another field as removed and added', () => {
    const chip = (name: string) => node('paragraph', null, [proseSchema.text('for '), node('fieldRef', { name })])
    expect(diff(page(chip('a')), page(chip('b')))).toEqual(['~for [-<fieldRef>-]{+<fieldRef>+}'])
  })

  it('compares the items of lists', () => {
    const changes = diffBlocks(page(items('milk', 'two eggs', 'bread')), page(items('milk', 'six eggs', 'bread', 'salt')))
    expect(changes.map(line)).toEqual(['~bulletList(=milk ~listItem(~[-two-]{+six+} eggs) =bread +salt)'])
  })

  it('compares the cells of tables', () => {
    const table = (...rows: readonly (readonly string[])[]) =>
      node(
        'table',
        null,
        rows.map((cells) =>
          node(
            'tableRow',
            null,
            cells.map((text) => node('tableCell', null, [paragraph(text)])),
          ),
        ),
      )
    const changes = diff(page(table(['a', 'b'], ['c', 'd'])), page(table(['a', 'b'], ['c', 'd e'])))
    expect(changes).toEqual(['~table(=ab ~tableRow(=c ~tableCell(~d{+ e+})))'])
  })

  it('finds the few changes of a text of 2,000 words, which is too long to compare each word with each', () => {
    const words = Array.from({ length: 2_000 }, (_, n) => (n % 3 === 0 ? 'the' : `word${n}`))
    const changed = words.with(0, 'First').with(1_000, 'middle').with(1_999, 'last')
    const [change] = diffBlocks(page(paragraph(words.join(' '))), page(paragraph(changed.join(' '))))
    const runs = change?.kind === 'text' ? change.runs : []
    const told = runs.flatMap(({ kind, content }) => (kind === 'same' ? [] : [`${kind} ${content.textBetween(0, content.size)}`]))
    expect(told).toEqual([
      ...['removed the', 'added First', 'removed word1000', 'added middle'],
      ...['removed word1999', 'added last'],
    ])
  })

  it('compares 40 paragraphs of 900 words, all rewritten with the same few words, in at most 3 seconds of work', () => {
    const text = (seed: number) =>
      Array.from({ length: 900 }, (_, n) => `w${(Math.imul(n * 1009 + seed, 2_654_435_761) >>> 16) % 97}`).join(' ')
    const blocks = (from: number) => Array.from({ length: 40 }, (_, n) => paragraph(text(from + n)))
    const [before, after] = [page(...blocks(1)), page(...blocks(101))]
    const took = threadTime()
    diffBlocks(before, after)
    const usedMs = took()
    expect(usedMs).toBeLessThan(limitHere(usedMs, 3_000))
  })

  it('compares 3,000 blocks with a change at both ends and in the middle', () => {
    const blocks = Array.from({ length: 3000 }, (_, n) => paragraph(`Line number ${n} of this long page.`))
    const changed = blocks.map((block, n) =>
      [0, 1500, 2999].includes(n) ? paragraph(`Line number ${n} of that long page.`) : block,
    )
    expect(tallyOf(diffBlocks(page(...blocks), page(...changed)))).toEqual({ added: 0, removed: 0, changed: 3 })
  })
})
