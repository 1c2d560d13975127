import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import type { DocumentBody } from '../body.ts'
import { body, canvasPage, prosePage, rectangle } from '../testing/builders.ts'
import { hitsOf, snippetOf, type WantedHits } from './hits.ts'
import { readQuery, type SearchQuery } from './query.ts'
import { PLACE_CLASSES } from './ranking.ts'
import { rowWords, textsOf } from './texts.ts'

function query(text: string): SearchQuery {
  const read = readQuery(text)
  if (isRefusal(read)) throw new Error(read.message)
  return read
}

const everything = (matched: number): readonly WantedHits[] =>
  PLACE_CLASSES.flatMap((placeClass) => [true, false].map((exact) => ({ matched, placeClass, exact, from: 0, count: 100 })))

const find = (given: DocumentBody, text: string, naming: 'stamped' | 'bare' = 'stamped') =>
  hitsOf(given, { query: query(text), wanted: everything(query(text).terms.length), naming }).flat()

const html = [
  '<p id="blk-0">Wale before the first heading</p>',
  '<h2 id="blk-h">Wale &amp; Fische</h2>',
  '<p>no id, wale</p>',
  '<table><tbody><tr><td><p id="blk-c">wale in a cell</p></td></tr></tbody></table>',
  '<ul><li><p id="bad id">wale in a list</p></li></ul>',
].join('')

const given = body({
  name: 'Wale der Meere',
  pages: [{ ...canvasPage('c1', rectangle('s1', { label: 'Wale shape' })), name: 'Bild der Wale' }],
  richTextPages: [{ ...prosePage('t1', html), name: 'Text' }],
  fields: { fields: { art: { name: 'art', value: 'Blauwale, Wale' } }, order: ['art'] },
  references: {
    items: {
      w1: { id: 'w1', type: 'book', title: 'Wale', author: [{ family: 'Melville', given: 'Herman' }], DOI: '10.1000/x' },
    },
    itemOrder: ['w1'],
  },
})

describe('texts of a document', () => {
  it('[AG-60] search looks in names, prose with cells, labels, references and fields', () => {
    expect(textsOf(given).texts.map(({ kind, placeClass, text }) => [kind, placeClass, text])).toEqual([
      ['name', 'document', 'Wale der Meere'],
      ['name', 'page', 'Text'],
      ['prose', 'rest', 'Wale before the first heading'],
      ['prose', 'heading', 'Wale & Fische'],
      ['prose', 'rest', 'no id, wale'],
      ['cell', 'rest', 'wale in a cell'],
      ['prose', 'rest', 'wale in a list'],
      ['name', 'page', 'Bild der Wale'],
      ['shape', 'rest', 'Wale shape'],
      ['reference', 'rest', 'Wale, Herman Melville, w1, 10.1000/x'],
      ['field', 'rest', 'art: Blauwale, Wale'],
    ])
  })

  it('[AG-60] search cuts a text at 10,000 words and a document at a limit of bytes, and hits say so', () => {
    expect(rowWords('a '.repeat(10_001))).toMatchObject({ cut: true, words: { length: 10_000 } })
    expect(rowWords('a '.repeat(10_000)).cut).toBe(false)
    expect(textsOf(given, 30)).toMatchObject({ cut: true, texts: [{ kind: 'name' }, { kind: 'name' }] })
    const long = body({ name: 'x', richTextPages: [prosePage('t', `<p id="p">wale ${'a '.repeat(10_000)}</p>`)] })
    expect(find(long, 'wale')).toMatchObject([{ id: 'p', cut: true }])
  })
})

describe('hits in a body', () => {
  it('[AG-60] a hit names page, section, kind and stamped id; a block without a printable id is named by its place', () => {
    const named = find(given, 'wale').map((hit) => {
      const { snippet: _, ...rest } = hit
      return { ...rest, id: hit.id?.replace(/#....$/, '#stmp') }
    })
    expect(named).toEqual([
      { kind: 'name', id: undefined },
      { kind: 'name', pageId: 'c1', id: undefined },
      { kind: 'prose', pageId: 't1', section: 'Wale & Fische', sectionIndex: 0, id: 'blk-h#stmp' },
      { kind: 'prose', pageId: 't1', id: 'blk-0#stmp' },
      { kind: 'prose', pageId: 't1', section: 'Wale & Fische', sectionIndex: 0, id: '@2#stmp' },
      { kind: 'cell', pageId: 't1', section: 'Wale & Fische', sectionIndex: 0, id: 'blk-c#stmp' },
      { kind: 'prose', pageId: 't1', section: 'Wale & Fische', sectionIndex: 0, id: '@4.0.0#stmp' },
      { kind: 'shape', pageId: 'c1', id: 's1#stmp' },
      { kind: 'reference', id: 'w1' },
      { kind: 'field', id: 'art' },
    ])
    expect(find(given, 'wale', 'bare').map(({ id }) => id)).toEqual([
      ...[undefined, undefined, 'blk-h', 'blk-0', '@2', 'blk-c', '@4.0.0'],
      ...['s1', 'w1', 'art'],
    ])
  })

  it('[AG-62] [AG-14] a hit with a cut snippet has a bare id, since the agent does not see the whole text', () => {
    const label = `wale ${'and more '.repeat(20)}`
    const paragraphs = `<p id="blk-l">${label}</p><p>${label}</p><p id="blk-s">wale ${'a'.repeat(115)}</p><p id="blk-t">wale ${'a'.repeat(116)}</p>`
    const long = body({
      name: 'x',
      pages: [canvasPage('c', rectangle('s', { label }), rectangle('t', { label: 'wale' }))],
      richTextPages: [prosePage('t', paragraphs)],
    })
    const ids = find(long, 'wale').map(({ id }) => id?.replace(/#....$/, '#stmp'))
    expect(ids).toEqual(['blk-l', '@1', 'blk-s#stmp', 'blk-t', 's', 't#stmp'])
  })

  it('[AG-60] a text that is gone is left out, and a slice of hits begins at the wanted position', () => {
    const wanted = [{ matched: 1, placeClass: 'rest', exact: true, from: 5, count: 20 }] as const
    const kinds = hitsOf(given, { query: query('wale'), wanted, naming: 'bare' })
      .flat()
      .map(({ kind }) => kind)
    expect(kinds).toEqual(['reference', 'field'])
    expect(find(body({ name: 'other' }), 'wale')).toEqual([])
  })

  it('[AG-60] a snippet has at most 120 characters around the first match', () => {
    const text = `${'vor '.repeat(50)}Größe ${'nach '.repeat(50)}`
    const shown = snippetOf(text, query('grosse'))
    expect([...shown]).toHaveLength(120)
    expect(shown).toMatch(/^…(r )?(vor )+.*Größe (nach )+.*…$/)
    expect(snippetOf('short Größe', query('grosse'))).toBe('short Größe')
    const end = snippetOf(`${'vor '.repeat(50)}"grosse Fische"`, query('"grosse fische"'))
    expect(end).toMatch(/^….*"grosse Fische"$/)
    expect([...end].length).toBeLessThanOrEqual(120)
    expect(snippetOf(`${'vor '.repeat(50)}ende`, query('ende'))).toMatch(/vor ende$/)
    const pairs = snippetOf('𝒳'.repeat(60).concat(' ', '𝒴'.repeat(100)), query('𝒴𝒴𝒴'))
    expect([...pairs]).toHaveLength(120)
  })

  it('[AG-62] a snippet shows the place of a whole phrase, and not a place with only its first or last word', () => {
    const text = `of whales and the like, ${'vor '.repeat(50)}the art of computer games ${'nach '.repeat(50)}`
    expect(snippetOf(text, query('"art of computer"'))).toMatch(/^….*the art of computer games .*…$/)
    expect(snippetOf(text, query('"art of computer" nach'))).toMatch(/art of computer/)
    expect(snippetOf(text, query('"art of computer" whales'))).toMatch(/^of whales/)
    const end = snippetOf(`art, ${'vor '.repeat(50)}the art of`, query('"art of"'))
    expect(end).toMatch(/^….*the art of$/)
  })
})
