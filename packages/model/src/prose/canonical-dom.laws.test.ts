import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCanonicalDom } from './canonical-dom.ts'
import { FixList } from './fixes.ts'
import { heal } from './heal.ts'
import { parseDom } from './html-dom.ts'
import { readHtml } from './html-reader.ts'
import { parseHtml, readCanonical, serialiseHtml } from './html.ts'
import { anyTree } from './testing/arbitrary.ts'

/** Parses a stored page with the WHATWG parser. */
function slowly(html: string) {
  const fixes = new FixList()
  return { tree: heal(readHtml(parseDom(html.replaceAll('\0', '')), 'stored', fixes), fixes), fixes: fixes.list }
}

/** Generates pieces of HTML that are canonical in some places of a page. */
const wholes = fc.constantFrom(
  ...['a', '\n', '\t', '\u0001', '\u00a0', '\u2028', '&amp;', '&lt;', '<br>', '<em>a</em>', '<span style="color: red">a</span>'],
  ...['<p></p>', '<h1>t</h1>', '<hr>', '<img src="a">', '<figure><img src="a"><figcaption></figcaption></figure>'],
  ...['<ul><li><p>a</p></li></ul>', '<blockquote><p>q</p></blockquote>', '<table><tr><td><p>x</p></td></tr></table>'],
  ...['<pre><code>\n</code></pre>', ' id="x"', ' colspan="2"', ' class="language-js"'],
)
const pieces = fc.constantFrom(
  ...[
    '<',
    '>',
    '"',
    '&',
    '=',
    ' ',
    '\f',
    '\0',
    '\r',
    '\ud800',
    '\udc00',
    '&nbsp;',
    '&#32;',
    '&#0;',
    '&amp',
    '<!--',
    '<!-- x -->',
  ],
  ...[' id="x" id="y"', ' ID="x"', ' id', ' data-x="1"', ' href="x"', ' width="05"', ' colspan="1"', ' rowspan="2"'],
  ...[' style="color: red"', ' style="text-align:left"', ' data-checked="true"'],
  ...[
    '<p>',
    '</p>',
    '<P>',
    '<p/>',
    '<hr/>',
    '<br/>',
    '<A>',
    '</a>',
    '<s>',
    '<strong>',
    '</strong>',
    '<span>',
    '<mark>',
    '<b>b</b>',
  ],
  ...[
    '<div>',
    '<ul>',
    '</ul>',
    '<li>',
    '<ol start="1">',
    '<blockquote>',
    '<table>',
    '<tbody>',
    '<tr>',
    '<td>',
    '</td>',
    '<th>',
    '<img>',
  ],
)
const tampering = fc.record({ at: fc.nat(), cut: fc.nat(6), isBetween: fc.boolean(), patch: fc.oneof(wholes, pieces) })

/** Half of the changes are made between tags, where the result is often still canonical. */
function tampered(html: string, { at, cut, isBetween, patch }: { at: number; cut: number; isBetween: boolean; patch: string }) {
  const start = at % (html.length + 1)
  const place = isBetween ? html.indexOf('>', start) + 1 : start
  return html.slice(0, place) + patch + html.slice(place + (isBetween ? 0 : cut))
}

describe('reading canonical HTML', () => {
  it('[PROSE-6] canonical HTML is read by the fast path as the same page that the WHATWG parser gives', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const html = serialiseHtml(tree)
        expect(parseCanonicalDom(html)).not.toBeNull()
        expect(parseHtml(html, { source: 'stored' })).toEqual(slowly(html))
      }),
      { seed: 11, numRuns: 400 },
    )
  })

  it('[PROSE-10] canonical HTML with random changes is read as the WHATWG parser reads it', () => {
    let canonical = 0
    fc.assert(
      fc.property(anyTree, fc.array(tampering, { minLength: 1, maxLength: 2 }), (tree, changes) => {
        const html = changes.reduce(tampered, serialiseHtml(tree))
        const slow = slowly(html)
        expect(parseHtml(html, { source: 'stored' })).toEqual(slow)
        if (readCanonical(html) === null) return
        canonical++
        // Compared as text, so that the order of attributes counts too.
        expect(JSON.stringify(readCanonical(html))).toBe(JSON.stringify(slow.tree))
      }),
      { seed: 12, numRuns: Number(process.env['RUNS'] ?? 800) },
    )
    expect(canonical).toBeGreaterThan(20)
  })

  it('[PROSE-10] other HTML is left to the WHATWG parser', () => {
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

  it('[CONC-13] a deep or broken megabyte is read without stack overflow', () => {
    for (const html of ['<blockquote>'.repeat(80_000), `${'<ul><li>'.repeat(60_000)}${'</li></ul>'.repeat(60_000)}`])
      expect(parseHtml(html, { source: 'stored' }).tree.length).toBeGreaterThan(0)
  })
})
