import { describe, expect, it } from 'vitest'
import { readStampedId, stampedId, stampOfText } from '../stamps/stamp.ts'
import { murmur3 } from '../stamps/murmur3.ts'
import { blockStamp } from './block-stamp.ts'
import { parseHtml } from './html.ts'
import type { ProseElement } from './node.ts'

const block = (html: string): ProseElement => parseHtml(html, { source: 'stored' }).tree[0] as ProseElement
const stamp = (html: string): string => blockStamp(block(html))

describe('stamps', () => {
  it('[AG-2] the hash is MurmurHash3 x86 32-bit with seed 0', () => {
    const hash = (text: string): number => murmur3(new TextEncoder().encode(text))
    expect([hash(''), hash('a'), hash('ab'), hash('abc'), hash('abcd'), hash('hello, world')]).toEqual([
      0, 0x3c2569b2, 0x9bbfd75f, 0xb3dd93fa, 0x43ed676a, 0x149bbb7f,
    ])
  })

  it.each([
    ['<p>Hello</p>', 'rcsb'],
    ['<h2>Größe</h2>', 'q20g'],
    ['<hr>', 'w5kg'],
    ['<p></p>', 'bk6k'],
  ])('[AG-1] [AG-2] the stamp of %s is %s', (html, wanted) => {
    expect(stamp(html)).toBe(wanted)
    expect(stampOfText(html)).toBe(wanted)
  })

  it('[AG-3] ids, labels of chips, the cached bibliography and spare white space change no stamp', () => {
    expect(stamp('<p id="blk-1">Hello</p>')).toBe(stamp('<p>Hello</p>'))
    expect(stamp('<p> Hello  there </p>')).toBe(stamp('<p>Hello there</p>'))
    const field = (label: string) => `<p><span data-field data-name="n" data-label="${label}">${label}</span></p>`
    expect(stamp(field('1'))).toBe(stamp(field('2')))
    const citation = (label: string) => `<p><span data-citation data-ref-id="r" data-label="${label}">${label}</span></p>`
    expect(stamp(citation('Ann 2020'))).toBe(stamp(citation('[1]')))
    const bibliography = (html: string) => `<div data-bibliography data-bib-html="${html}" data-scope="cited"></div>`
    expect(stamp(bibliography('a'))).toBe(stamp(bibliography('b')))
  })

  it.each([
    ['text', '<p>a</p>', '<p>b</p>'],
    ['marks', '<p>a</p>', '<p><strong>a</strong></p>'],
    ['type', '<p>a</p>', '<h1>a</h1>'],
    ['attributes', '<h1>a</h1>', '<h2>a</h2>'],
    ['the name of a chip', '<p><span data-field data-name="n"></span></p>', '<p><span data-field data-name="m"></span></p>'],
    ['white space in code', '<pre><code>a b</code></pre>', '<pre><code>a  b</code></pre>'],
  ])('[AG-4] a change of %s changes the stamp', (_, one, other) => {
    expect(stamp(one)).not.toBe(stamp(other))
  })

  it('[AG-4] the stamp of a container covers all that is inside it', () => {
    const list = (last: string) => `<ul><li><p id="a">one</p></li><li><p id="b">${last}</p></li></ul>`
    expect(stamp(list('two'))).not.toBe(stamp(list('three')))
    expect(stamp(list('two'))).toBe(stamp(list('two').replaceAll(/ id="."/g, '')))
  })

  it('[AG-6] a name is split at its last # when a stamp follows, whose upper case counts as lower case', () => {
    expect(readStampedId(stampedId('blk-a', 'rcsb'))).toEqual({ id: 'blk-a', stamp: 'rcsb' })
    expect(readStampedId('a#b#RCSB')).toEqual({ id: 'a#b', stamp: 'rcsb' })
    for (const text of ['blk-a', 'blk-a#', 'blk-a#rcs', 'blk-a#rcsbb', 'blk-a#rcsi', '#rcsb'])
      expect(readStampedId(text)).toBeNull()
  })
})
