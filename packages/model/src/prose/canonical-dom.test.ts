import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCanonicalDom } from './canonical-dom.ts'
import { FixList } from './fixes.ts'
import { heal } from './heal.ts'
import { parseDom } from './html-dom.ts'
import { readHtml } from './html-reader.ts'
import { parseHtml, serialiseHtml } from './html.ts'
import { anyTree } from './testing/arbitrary.ts'

/** What the WHATWG parser makes of a stored page. */
function slowly(html: string) {
  const fixes = new FixList()
  return { tree: heal(readHtml(parseDom(html.replaceAll('\0', '')), 'stored', fixes), fixes), fixes: fixes.list }
}

describe('reading canonical HTML', () => {
  it('[PROSE-6] gives the same page as the WHATWG parser, and takes the short way', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const html = serialiseHtml(tree)
        expect(parseCanonicalDom(html)).not.toBeNull()
        expect(parseHtml(html, { source: 'stored' })).toEqual(slowly(html))
      }),
      { seed: 11, numRuns: 400 },
    )
  })

  it('[PROSE-10] gives the same page for canonical HTML that was tampered with', () => {
    const patches = [
      '<',
      '>',
      '"',
      '&',
      '</p>',
      '<p>',
      ' ',
      '\n',
      '\0',
      '\r',
      '<br/>',
      '<!--',
      '&nbsp;',
      '</ul>',
      '<td>',
      ' id="x"',
      '<A>',
      '=',
    ]
    fc.assert(
      fc.property(anyTree, fc.nat(), fc.nat(6), fc.constantFrom(...patches), (tree, at, cut, patch) => {
        const html = serialiseHtml(tree)
        const place = at % (html.length + 1)
        const tampered = html.slice(0, place) + patch + html.slice(place + cut)
        expect(parseHtml(tampered, { source: 'stored' })).toEqual(slowly(tampered))
      }),
      { seed: 12, numRuns: 600 },
    )
  })

  it('[PROSE-10] leaves everything else to the WHATWG parser', () => {
    const others = [
      '<p>a',
      'a</p>',
      '<p>a</b></p>',
      '<P>a</P>',
      "<p id='x'>a</p>",
      '<p  id="x">a</p>',
      '<p>&nbsp;</p>',
      '<p>a<br/></p>',
      '<!-- x -->',
    ]
    for (const html of others) expect(parseCanonicalDom(html)).toBeNull()
    const nested = '<p><p>a</p></p>'
    expect(parseHtml(nested, { source: 'stored' })).toEqual(slowly(nested))
    const doubled = '<p id="a" id="b">x</p>'
    expect(parseHtml(doubled, { source: 'stored' })).toEqual(slowly(doubled))
  })

  it('[CONC-13] reads a deep or broken megabyte without overflow', () => {
    for (const html of ['<blockquote>'.repeat(80_000), `${'<ul><li>'.repeat(60_000)}${'</li></ul>'.repeat(60_000)}`])
      expect(parseHtml(html, { source: 'stored' }).tree.length).toBeGreaterThan(0)
  })
})
