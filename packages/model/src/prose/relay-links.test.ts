import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHtml, serialiseHtml } from './html.ts'
import { parseMarkdown } from './markdown-read.ts'
import { readRelayLink, relayHref, writeRelayLink } from './relay-links.ts'

const asHtml = (href: string) => parseHtml(`<p><a href="${href}">t</a></p>`, { source: 'call' })
const stored = (href: string) => serialiseHtml(asHtml(href).tree)

describe('links inside the relay', () => {
  it.each([
    'relay://doc/doc-1',
    'relay://doc/a%2Fb%23c',
    'relay://doc/doc-1/page/page-1',
    'relay://doc/doc-1/page/page-1#blk-4fQPBPeOhR',
    'relay://doc/doc-1#blk-1',
  ])('[AG-83] %s is kept in both formats', (href) => {
    expect(stored(href)).toBe(`<p><a href="${href}">t</a></p>`)
    const { tree, fixes } = parseMarkdown(`[t](${href})`)
    expect([serialiseHtml(tree), fixes]).toEqual([`<p><a href="${href}">t</a></p>`, []])
  })

  it('[AG-83] stamps are stripped, also in the links of editors to headings', () => {
    expect(relayHref('relay://doc/d/page/p#blk-1#rcsb')).toBe('relay://doc/d/page/p#blk-1')
    expect(relayHref('relay://doc/d#blk-1%23RCSB')).toBe('relay://doc/d#blk-1')
    expect(stored('x-app://heading/p/id:blk-1#rcsb')).toBe('<p><a href="x-app://heading/p/id:blk-1">t</a></p>')
    expect(stored('relay://heading/p/id:blk-1')).toBe('<p><a href="relay://heading/p/id:blk-1">t</a></p>')
  })

  it('[AG-83] a page id that ends in .svg is written so that the link is not the URI of a picture', () => {
    expect(relayHref('relay://doc/d/page/p.svg')).toBe('relay://doc/d/page/p%2Esvg')
    expect(readRelayLink('relay://doc/d/page/p%2Esvg')).toEqual({ docId: 'd', pageId: 'p.svg' })
  })

  it('[AG-83] [PROSE-18] another relay: URL removes the link, and the fix names the form', () => {
    for (const href of [
      'relay://icons',
      'relay:doc/d',
      'relay://doc/',
      'relay://doc/d/prose/p.md',
      'relay://doc/d?x',
      'relay://doc/%E0%A4%A',
    ]) {
      expect(stored(href)).toBe('<p>t</p>')
      expect(asHtml(href).fixes).toMatchObject([
        { action: 'dropped_invalid', field: 'href', reason: expect.stringContaining('relay://doc/<id>') },
      ])
    }
  })

  it('[AG-83] any ids are read back as they were written, and a stored link stays as it is', () => {
    const id = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' })
    fc.assert(
      fc.property(id, fc.option(id, { nil: undefined }), fc.option(id, { nil: undefined }), (docId, pageId, given) => {
        const blockId = given?.replaceAll('#', '')
        const link = {
          docId,
          ...(pageId !== undefined && { pageId }),
          ...(blockId !== undefined && blockId !== '' && { blockId }),
        }
        const href = writeRelayLink(link)
        expect(readRelayLink(href)).toEqual(link)
        if (href.length <= 2048) expect(relayHref(href)).toBe(href)
      }),
      { seed: 83 },
    )
  })
})
