import { describe, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { dice } from '../../kernel/testing/dice.ts'
import { page, reconcile, root, shown } from '../testing/live-page.ts'
import { diffText } from './prose-fragment-diff.ts'

const letters = (text: string) => Array.from(text, (letter) => ({ text: letter }))

/** Returns the removed and the added text of each hunk. */
function hunksOf(a: string, b: string): readonly string[] {
  return diffText(letters(a), letters(b)).map(
    ({ aFrom, aTo, bFrom, bTo }) => `-${[...a].slice(aFrom, aTo).join('')}+${[...b].slice(bFrom, bTo).join('')}`,
  )
}

const VOCABULARY =
  'the of and to a in that is was he for it with as his on be at by had not are but from or have an they which'.split(' ')

describe('differences between two versions of a text', () => {
  it('[PROSE-50] the difference of two texts is exactly the changed letters, at any position', () => {
    expect(hunksOf('same words', 'same words')).toEqual([])
    expect(hunksOf('a smal mistake', 'a small mistake')).toEqual(['-+l'])
    expect(hunksOf('ends', 'ends here')).toEqual(['-+ here'])
    expect(hunksOf('一二三四五', '一二六四五')).toEqual(['-三+六'])
    expect(hunksOf('\u{1f600}\u{1f601}', '\u{1f600}\u{1f602}')).toEqual(['-\u{1f601}+\u{1f602}'])
    expect(
      hunksOf(
        'Teh first of two sentences. The second one, wiht a mistake.',
        'The first of two sentences. The second one, with a mistake.',
      ),
    ).toEqual(['-eh+he', '-ht+th'])
  })

  it('[CONC-8] in the difference of two texts unchanged text between two changes is kept unless it is shorter than the changes', () => {
    expect(hunksOf('one long sentence that stays as it was two', '1 long sentence that stays as it was 2')).toEqual([
      '-one+1',
      '-two+2',
    ])
    expect(hunksOf('a river runs to the sea', 'some people walk to the hills')).toEqual([
      '-a river runs to the sea+some people walk to the hills',
    ])
  })

  it('[PROSE-50] [CONC-13] a block rewritten 200 times leaves little deleted content in the live document', () => {
    const roll = dice(5)
    const sentence = () => `<p id="blk-a">${Array.from({ length: 40 }, () => VOCABULARY[roll(VOCABULARY.length)]).join(' ')}</p>`
    let html = sentence()
    const doc = page(html)
    const structs = () => [...doc.store.clients.values()].reduce((sum, of) => sum + of.length, 0)
    const live = (doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0)
    const before = structs()
    for (let turn = 0; turn < 200; turn++) {
      const next = sentence()
      reconcile(doc, html, next)
      html = next
    }
    expect(shown(doc)).toBe(html)
    expect((doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0)).toBe(live)
    expect((structs() - before) / 200).toBeLessThan(3)
  })
})
