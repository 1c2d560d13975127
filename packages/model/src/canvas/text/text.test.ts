import { anyCharacter } from '../../testing/any-character.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { charactersOf, measureText } from './measure-text.ts'
import { widestWord, wrapLabel } from './wrap-label.ts'

const wrap = (label: string, maxWidth: number, maxLines?: number) =>
  wrapLabel(label, { fontSizePx: 10, maxWidth, ...(maxLines === undefined ? {} : { maxLines }) })
const seen = (text: string) => Array.from(charactersOf(text), (character) => character.text)

describe('width of text', () => {
  it('[DIAG-5] Latin, Greek, Cyrillic, digits and punctuation have the widths of the font, scaled by its size', () => {
    expect(measureText('A', 1000)).toBeCloseTo(684, 6)
    expect(measureText('é', 1000)).toBeCloseTo(615, 6)
    expect(measureText('ω', 1000)).toBeCloseTo(837, 6)
    expect(measureText('Ж', 1000)).toBeCloseTo(1077, 6)
    expect(measureText('7…', 1000)).toBeCloseTo(1636, 6)
    expect(measureText('Hello', 14)).toBeCloseTo(measureText('Hello', 7) * 2, 6)
    expect(measureText('', 14)).toBe(0)
  })

  it('[DIAG-5] wide characters are 1 em wide, half-wide ones 0.5 em, and unknown ones have a common width', () => {
    expect(['中', 'か', '한', 'Ａ', '𠀀'].map((text) => measureText(text, 1))).toEqual([1, 1, 1, 1, 1])
    expect(measureText('ｶ', 1)).toBe(0.5)
    expect(measureText('ሀ', 1)).toBe(0.636)
    expect(measureText('\ud800', 1)).toBe(0.636)
    expect(measureText('iW', 10, 'monospace')).toBeCloseTo(12.04, 6)
  })

  it('[DIAG-5] combining accents, joiners and soft hyphens have no width', () => {
    expect(measureText('e\u0301\u0302', 1)).toBe(measureText('e', 1))
    expect(measureText('a\u00adb\u200bc\ufeff', 1)).toBeCloseTo(measureText('abc', 1), 9)
    expect(measureText('\u0301', 1)).toBe(0)
  })

  it('[DIAG-5] an emoji is one character of one width, however many code points it has', () => {
    const emoji = ['😀', '👍🏽', '👩‍👩‍👧‍👦', '🏳️‍🌈', '🇪🇺', '❤️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿']
    for (const text of emoji) {
      expect(seen(text)).toEqual([text])
      expect(measureText(text, 1), text).toBe(1.25)
    }
    expect(seen('🇪🇺🇩🇪x')).toEqual(['🇪🇺', '🇩🇪', 'x'])
  })

  it('[DIAG-5] the characters of a text joined give the text, and no surrogate pair is split', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const characters = seen(text)
        expect(characters.join('')).toBe(text)
        expect(characters.every((character) => character.isWellFormed()) || !text.isWellFormed()).toBe(true)
        expect(measureText(text, 1)).toBeGreaterThanOrEqual(0)
      }),
      { seed: 21, numRuns: 300 },
    )
  })
})

describe('wrapping of text', () => {
  it('[CANVAS-25] lines break at spaces, keep line breaks, and have no space at their end', () => {
    expect(wrap('one two three', 50)).toEqual(['one two', 'three'])
    expect(wrap('one\n\ntwo', 50)).toEqual(['one', '', 'two'])
    expect(wrap('a\r\nb\u2028c', 50)).toEqual(['a', 'b', 'c'])
    expect(wrap('wort            ', 25)).toEqual(['wort'])
    expect(wrap('', 50)).toEqual([''])
  })

  it('[CANVAS-25] a text in a script without spaces is broken between its characters', () => {
    expect(wrap('日本語の文章', 30)).toEqual(['日本語', 'の文章'])
    expect(wrap('ab 日本', 30)).toEqual(['ab 日', '本'])
    expect(widestWord('日本語 ab', 10)).toBeCloseTo(measureText('ab', 10), 6)
  })

  it('[CANVAS-25] a word wider than a line is broken, never inside a character', () => {
    expect(wrap('iiiiiiiiii', 10)).toEqual(['iii', 'iii', 'iii', 'i'])
    expect(wrap('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 5)).toEqual(['👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'])
    expect(wrap('e\u0301e\u0301', 7)).toEqual(['e\u0301', 'e\u0301'])
  })

  it('[CANVAS-25] the last shown line ends in an ellipsis when there are more lines', () => {
    expect(wrap('one two three fourteen', 50, 2)).toEqual(['one two', 'three…'])
    expect(wrap('one two', 50, 1)).toEqual(['one two'])
    expect(wrap('iiiiiiiiiiii', 12, 1)).toEqual(['i…'])
  })

  it('[CANVAS-25] every line fits or is a single character, and only spaces are lost', () => {
    const words = fc.array(fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('日本語', '👩‍👩‍👧‍👦', '\n', ' ')), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 200 }), (parts, maxWidth) => {
        const text = parts.join(' ')
        const lines = wrap(text, maxWidth)
        for (const line of lines) expect(measureText(line, 10) <= maxWidth + 1e-9 || seen(line).length === 1).toBe(true)
        expect(lines.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
        const widest = widestWord(text, 10)
        expect(wrap(text, widest + 1e-9).every((line) => measureText(line, 10) <= widest + 1e-9)).toBe(true)
      }),
      { seed: 22, numRuns: 300 },
    )
  })
})
