import type { ProseNode } from '@docrelay/model/prose/node'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dice } from '../../kernel/testing/dice.ts'
import { mergeInline } from './prose-fragment-inline.ts'

const content = (text: string): readonly ProseNode[] => [{ type: 'text', text, marks: [] }]

function merged(before: string, after: string, live: string): string {
  const nodes = mergeInline(content(before), content(after), content(live))
  return nodes.map((node) => (node.type === 'text' ? node.text : '')).join('')
}

/** A change of the text after a piece: some characters are removed, others are inserted. */
const change = fc.record({
  remove: fc.constantFrom(0, 1, 5, 40),
  insert: fc.oneof(
    fc.constantFrom('', 'x', 'the ', '\u{1f680}', 'new words ', '\n        '),
    fc.string({ minLength: 1, maxLength: 400, unit: 'grapheme' }),
  ),
})

const sides = fc.constantFrom('ours', 'theirs')

/** Pieces of text. After each piece, one side made a change. */
const changedText = fc.record({
  seed: fc.nat(),
  letters: fc.constantFrom('abcdefghijklmnopqrstuvwxyz   ', '一二三四五六七八九十百千万上下左右', 'abcdefgh;{}()\n  '),
  pieces: fc.array(fc.record({ length: fc.integer({ min: 60, max: 900 }), side: sides, change }), {
    minLength: 3,
    maxLength: 30,
  }),
})

describe('laws of merging two versions of a long text', () => {
  it('[LIFE-14] a merged text has all changes that two versions made far apart, each in its place, and nothing twice', () => {
    fc.assert(
      fc.property(changedText, ({ seed, letters, pieces }) => {
        const roll = dice(seed)
        const random = (length: number) => Array.from({ length }, () => [...letters][roll([...letters].length)]).join('')
        const texts = { before: '', ours: '', theirs: '', both: '' }
        for (const { length, side, change } of pieces) {
          const [kept, gone] = [random(length), random(change.remove)]
          // Unique signs stand around each change. Otherwise a change could also be placed a few characters further among equal characters.
          const [start, end] = ['<', '>']
          texts.before += kept + start + gone + end
          texts.ours += kept + start + (side === 'ours' ? change.insert : gone) + end
          texts.theirs += kept + start + (side === 'theirs' ? change.insert : gone) + end
          texts.both += kept + start + change.insert + end
        }
        const last = random(50)
        const [before, ours, theirs] = [texts.before + last, texts.ours + last, texts.theirs + last]
        expect(merged(before, ours, theirs)).toBe(texts.both + last)
      }),
      { numRuns: 200 },
    )
  })

  it('[LIFE-14] when only one of two versions changed the text, the merged text is the text of this version', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(6_000), fc.nat(6_000), fc.integer({ min: 1, max: 26 }), (seed, before, after, count) => {
        const roll = dice(seed)
        const random = (length: number) => Array.from({ length }, () => String.fromCharCode(97 + roll(count))).join('')
        const [one, other] = [random(before + 1), random(after + 1)]
        // The second version changes only marks. So all its characters go through the comparison.
        const bold: readonly ProseNode[] = [{ type: 'text', text: one, marks: [{ type: 'bold', attrs: {} }] }]
        const nodes = mergeInline(content(one), content(other), bold)
        expect(nodes.map((node) => (node.type === 'text' ? node.text : '')).join('')).toBe(other)
      }),
      { numRuns: 100 },
    )
  })
})
