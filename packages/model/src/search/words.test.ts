import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { matchOf, mayMatch, readQuery, type SearchQuery } from './query.ts'
import { MAX_WORD, wordsIn, wordsOf } from './words.ts'

function query(text: string): SearchQuery {
  const read = readQuery(text)
  if (isRefusal(read)) throw new Error(read.message)
  return read
}

const points = (text: string): readonly number[] => Array.from(text, (character) => character.codePointAt(0) ?? 0)

describe('words of a text', () => {
  it.each([
    ['Größe, straße & ÉCOLE', ['grosse', 'strasse', 'ecole']],
    ['e\u0301cole = école', ['ecole', 'ecole']],
    ['ﬁle ① ２０２６ Ⅳ', ['file', '1', '2026', 'iv']],
    ['snake_case-word v1.2', ['snake', 'case', 'word', 'v1', '2']],
    ['東京都庁へ行く', ['東京', '京都', '都庁', '庁へ', 'へ行', '行く']],
    ['京 a京b', ['京', 'a', '京', 'b']],
    ['ｶﾞｲﾄﾞ ガイド', ['カイ', 'イト', 'カイ', 'イト']],
    ['한국어', ['한국', '국어']],
    ['ΟΔΟΣ οδός', ['οδοσ', 'οδοσ']],
    ['İstanbul', ['istanbul']],
    [' \n…!', []],
  ])('[AG-60] the words of %j are %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words)
  })

  it('[AG-60] the words of a word are the word itself, whatever the text', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 40 }), (characters) => {
        const words = wordsOf(String.fromCodePoint(...characters))
        // A pair of characters of an unspaced script stays a pair, and a word of a spaced script stays whole.
        expect(words.flatMap(wordsOf)).toEqual(words)
      }),
    )
  })

  it('[AG-60] the fast path for ASCII texts finds the same words as the general path', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0x7f }), { maxLength: 200 }), (characters) => {
        const text = String.fromCodePoint(...characters)
        expect(wordsOf(text)).toEqual(Array.from(wordsIn(text), ({ word }) => word))
      }),
    )
    expect(wordsOf(`A${'b'.repeat(100)} c`)).toEqual([`a${'b'.repeat(MAX_WORD - 1)}`, 'c'])
  })

  it('[AG-61] the quick check passes every text that contains a word of the query', () => {
    const characters = fc.oneof(fc.integer({ min: 0, max: 0x10ffff }), fc.constantFrom(...points('aB ß́ΣςﬁİⅣ京カ゛ガ한각ﷺ㍿²ſ')))
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 30 }), (points) => {
        const text = String.fromCodePoint(...points)
        const words = wordsOf(text)
        for (const word of words) expect(mayMatch(text, query(word))).toBe(true)
        for (const quoted of [words.slice(0, 3), words.slice(-2)].filter(({ length }) => length > 0))
          expect(mayMatch(text, { terms: [{ kind: 'phrase', words: quoted }], sequence: quoted })).toBe(true)
      }),
    )
    expect(mayMatch('Whales and whalers', query('shark'))).toBe(false)
  })

  it('[AG-60] every word of a text is found by a query for it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), (text) => {
        for (const word of wordsOf(text)) expect(matchOf(wordsOf(text), query(word)).matched).toBe(query(word).terms.length)
      }),
    )
  })

  it('[AG-60] a word is cut after 64 characters, and each word has the offset of its piece of the text', () => {
    expect(wordsOf('x'.repeat(100))).toEqual(['x'.repeat(MAX_WORD)])
    expect([...wordsIn('one (two-three)')]).toEqual([
      { word: 'one', at: 0 },
      { word: 'two', at: 4 },
      { word: 'three', at: 4 },
    ])
  })
})

describe('queries', () => {
  it('[AG-60] a query has words, each once, and phrases; a quotation mark without partner makes no phrase', () => {
    expect(query('Plan "Next Year" plan ab').terms).toEqual([
      { kind: 'word', word: 'plan', alsoLonger: true },
      { kind: 'phrase', words: ['next', 'year'] },
      { kind: 'word', word: 'ab', alsoLonger: false },
    ])
    expect(query('a "b c').terms.map((term) => term.kind)).toEqual(['word', 'word', 'word'])
  })

  it.each([
    ['nothing', '', { characters: 0, max: 200 }],
    ['only signs', '?! …', { words: 0, max: 16 }],
    ['201 characters', 'x'.repeat(201), { characters: 201, max: 200 }],
    ['many characters', 'word '.repeat(100), { characters: 500, max: 200 }],
    ['17 words', 'a b c d e f g h i j k l m n o p q', { words: 17, max: 16 }],
    ['17 words in a phrase', '"a b c d e f g h i j k l m n o p q"', { words: 17, max: 16 }],
  ])(
    '[AG-60] a query of %s is refused with ERR_SEARCH_QUERY, its number of words or characters, and the limit',
    (_, text, facts) => {
      expect(readQuery(text)).toMatchObject({ kind: 'refused', code: 'ERR_SEARCH_QUERY', facts })
    },
  )

  it('[AG-60] a query of 16 words and one of 200 characters are accepted', () => {
    expect(query('a b c d e f g h i j k l m n o p').terms).toHaveLength(16)
    expect(query('𝒳'.repeat(200)).terms).toHaveLength(1)
  })

  it('[AG-60] a word of three characters also finds longer words; a shorter word and a phrase do not', () => {
    const words = wordsOf('The planning of houseboats')
    expect(matchOf(words, query('plan')).matched).toBe(1)
    expect(matchOf(words, query('hou pla')).matched).toBe(2)
    expect(matchOf(words, query('pl')).matched).toBe(0)
    expect(matchOf(words, query('"the plan"')).matched).toBe(0)
    expect(matchOf(words, query('"the planning"'))).toEqual({ matched: 1, exact: true })
  })
})
