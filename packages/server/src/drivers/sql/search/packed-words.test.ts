import { wordsOf } from '@docrelay/model/search/words'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packWords, writtenWords } from './packed-words.ts'

/** Texts in several scripts. */
const texts = fc
  .array(fc.constantFrom('Plan', 'plän', 'grød', 'łódź', 'план', 'Ελλάδα', '東京都', 'ภาษา', 'كتاب', '𝒳', '𠮷', 'x1', 'ı', '٣'), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(' '))
const words = fc.oneof(texts, fc.string({ unit: 'grapheme' })).map(wordsOf)

describe('words as PostgreSQL keeps them', () => {
  it('[AG-64] the packed words in base64 are the written words, so PostgreSQL can unpack them', () => {
    fc.assert(
      fc.property(words, (given) => {
        const [, unpacked] = /^\+(.*?)\+{1,4}$/.exec(packWords(given.join(' ')).toString('base64')) ?? []
        expect(unpacked?.split('+')).toEqual(given.length === 0 ? [''] : given.map(writtenWords))
      }),
    )
  })

  it('[AG-60] one written word is a prefix of another exactly when the word itself is', () => {
    fc.assert(
      fc.property(words, words, fc.nat({ max: 6 }), ([a = ''], [b = ''], length) => {
        const start = [...a].slice(0, length).join('')
        expect(writtenWords(a).startsWith(writtenWords(start))).toBe(true)
        expect(writtenWords(b).startsWith(writtenWords(start))).toBe(b.startsWith(start))
      }),
    )
  })

  it('[AG-64] packed words take three bytes for four Latin letters, and at most three bytes more than UTF-8 in other scripts', () => {
    const bytes = (text: string): readonly number[] => [packWords(text).byteLength, Buffer.byteLength(text)]
    expect(bytes('thirty two letters and separators')).toEqual([27, 33])
    for (const text of ['документ', 'έγγραφο', 'كتاب', '東京', 'ภาษาไทย']) {
      const [packed = 0, plain = 0] = bytes(text.normalize('NFKD').replace(/\p{M}/gu, ''))
      expect(packed).toBeLessThanOrEqual(plain + 3)
    }
  })
})
