import type { ProseNode } from '@docrelay/model/prose/node'
import { limitHere, threadTime } from '@docrelay/model/testing/thread-time'
import { describe, expect, it } from 'vitest'
import { dice } from '../../kernel/testing/dice.ts'
import { page, reconcile, shown } from '../testing/live-page.ts'
import { mergeInline } from './prose-fragment-inline.ts'

const content = (text: string): readonly ProseNode[] => (text === '' ? [] : [{ type: 'text', text, marks: [] }])
const textOf = (nodes: readonly ProseNode[]) => nodes.map((node) => (node.type === 'text' ? node.text : '￼')).join('')

function merged(before: string, after: string, live: string): string {
  return textOf(mergeInline(content(before), content(after), content(live)))
}

/** Returns words of four letters, the same ones in every run. */
function words(count: number, seed: number): string {
  const roll = dice(seed)
  const word = () => Array.from({ length: 4 }, () => String.fromCharCode(97 + roll(26))).join('')
  return Array.from({ length: count }, word).join(' ')
}

function randomLetters(length: number, seed: number, from: number, count: number): string {
  const roll = dice(seed)
  return Array.from({ length }, () => String.fromCodePoint(from + roll(count))).join('')
}

const MIDDLE = words(220, 1)

describe('merging two versions of the text of one block', () => {
  it('[LIFE-14] words typed into a long text stay where they are when the other version changes both ends of the text', () => {
    const typed = `${MIDDLE.slice(0, 550)}x${MIDDLE.slice(550)}`
    expect(merged(`A${MIDDLE}Z`, `1${MIDDLE}2`, `A${typed}Z`)).toBe(`1${typed}2`)
  })

  it('[LIFE-14] a long text stands once in the merged text when both versions changed both its ends', () => {
    expect(merged(`A${MIDDLE}Z`, `1${MIDDLE}2`, `B${MIDDLE}Y`)).toBe(`B1${MIDDLE}Y2`)
  })

  it('[LIFE-13] a PUT that changes both ends of a long code block leaves live typing where it is', () => {
    const block = (text: string) => `<pre id="blk-a"><code>${text}</code></pre>`
    const typed = `${MIDDLE.slice(0, 550)} typed ${MIDDLE.slice(550)}`
    const doc = page(block(`A${MIDDLE}Z`))
    reconcile(doc, block(`A${MIDDLE}Z`), block(`A${typed}Z`))
    reconcile(doc, block(`A${MIDDLE}Z`), block(`1${MIDDLE}2`))
    expect(shown(doc)).toBe(block(`1${typed}2`))
  })

  it('[LIFE-14] words typed into code stay on their line when the other version indents every line', () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => words(8, i + 10))
    const typed = lines.map((line, i) => (i === 500 ? `${line.slice(0, 10)}<typed>${line.slice(10)}` : line))
    const indented = (of: readonly string[]) => of.map((line) => `        ${line}`).join('\n')
    expect(merged(lines.join('\n'), indented(lines), typed.join('\n'))).toBe(indented(typed))
  })

  it('[LIFE-14] words typed into a long text stay where they are when the other version adds much more text than there was', () => {
    const [start, end] = [words(400, 2), words(400, 3)]
    const typed = `${end.slice(0, 900)}x${end.slice(900)}`
    const [added, put] = [words(3_000, 4), `0${start}`]
    expect(merged(`A${start} ${end}Z`, `${put} ${added} ${end}9`, `A${start} ${typed}Z`)).toBe(`${put} ${added} ${typed}9`)
  })

  it('[LIFE-14] words typed into a long text without spaces stay where they are', () => {
    const base = randomLetters(4_000, 5, 0x4e00, 2_000)
    const typed = `${base.slice(0, 1_800)}一二三${base.slice(1_800)}`
    const put = (text: string) => `${randomLetters(1_500, 6, 0x4e00, 2_000)}${text.slice(30)}完`
    expect(merged(base, put(base), typed)).toBe(put(typed))
  })

  it('[LIFE-14] merging versions of a long text with changes far apart splits no surrogate pair', () => {
    const faces = randomLetters(3_000, 7, 0x1f600, 64)
    const [first, last] = ['\u{1f300}', '\u{1f301}']
    const typed = `${faces.slice(0, 1_000)}\u{1f680}${faces.slice(1_000)}`
    expect(merged(`A${faces}Z`, `${first}${faces}${last}`, `B${typed}Z`)).toBe(`B${first}${typed}${last}`)
  })

  it('[LIFE-14] an atom in a long text with changes far apart stands once in the merged text', () => {
    const before = [...content(`A${MIDDLE}`), atom('r'), ...content(`${MIDDLE}Z`)]
    const after = [...content(`1${MIDDLE}`), atom('r'), ...content(`${MIDDLE}2`)]
    const live = [...content(`B${MIDDLE}`), atom('r'), ...content(` new ${MIDDLE}Y`)]
    expect(mergeInline(before, after, live)).toEqual([...content(`B1${MIDDLE}`), atom('r'), ...content(` new ${MIDDLE}Y2`)])
  })

  it('[LIFE-14] [G9] merging three texts of 100,000 characters without anything in common takes less than a second', () => {
    const [before, after, live] = [1, 2, 3].map((seed) => content(randomLetters(100_000, seed, 97, 4)))
    const took = threadTime()
    mergeInline(before as readonly ProseNode[], after as readonly ProseNode[], live as readonly ProseNode[])
    const usedMs = took()
    // An algorithm with quadratic time would need 10,000 million comparisons.
    expect(usedMs).toBeLessThan(limitHere(usedMs, 1_000))
  })
})

function atom(refId: string): ProseNode {
  return { type: 'citationInline', attrs: { refId }, content: [] }
}
