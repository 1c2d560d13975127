import { describe, expect, it } from 'vitest'
import { equalTrees } from './equal.ts'
import { parseHtml, serialiseHtml } from './html.ts'
import type { ProseMark, ProseTree } from './node.ts'
import { markSpecs, nodeSpecs } from './schema.ts'
import { el, markRows, nodeRows, text } from './testing/every-row.ts'

function expectBothWays(html: string, tree: ProseTree, source: 'call' | 'stored'): void {
  expect(serialiseHtml(tree)).toBe(html)
  const back = parseHtml(html, { source })
  expect(back.fixes).toEqual([])
  if (!equalTrees(back.tree, tree)) expect(back.tree).toEqual(tree)
  expect(serialiseHtml(back.tree)).toBe(html)
}

describe('HTML of every row of the node and mark tables', () => {
  it('[PROSE-2] every row has an example', () => {
    expect(new Set(nodeRows.map(([type]) => type))).toEqual(new Set(['page', ...nodeSpecs.map((spec) => spec.type)]))
    expect(new Set(markRows.map(([type]) => type))).toEqual(new Set(markSpecs.map((spec) => spec.type)))
  })

  it.each(nodeRows)('[PROSE-1] [PROSE-3] [PROSE-6] a %s is read and written back equal: %s', (_, html, tree) =>
    expectBothWays(html, tree, 'stored'),
  )

  it.each(markRows)('[PROSE-5] [PROSE-6] a run with mark %s is read and written back equal: %s', (_, html, mark) =>
    expectBothWays(`<p>a${html}b</p>`, [el('paragraph', {}, text('a'), text('t', mark), text('b'))], 'stored'),
  )

  it('[PROSE-5] every run has all its marks nested in the order of the table, and equal neighbours are merged', () => {
    const all = markRows.filter(([, html]) => html !== '<mark>t</mark>').map(([, , mark]) => mark)
    const html =
      '<p><a href="https://x/?a=1&amp;b=2"><mark style="background-color: #ff0"><span style="color: red"><strong><em><u><s><sup><sub><code>t' +
      '</code></sub></sup></s></u></em></strong></span></mark></a><strong>a</strong><strong><em>b</em></strong></p>'
    const bold: ProseMark = { type: 'bold', attrs: {} }
    const italic: ProseMark = { type: 'italic', attrs: {} }
    expectBothWays(html, [el('paragraph', {}, text('t', ...all), text('a', bold), text('b', bold, italic))], 'stored')
    const mixed = parseHtml('<p><i><b>x</b></i><b><em>y</em></b><strong>z</strong></p>', { source: 'call' }).tree
    expect(serialiseHtml(mixed)).toBe('<p><strong><em>xy</em></strong><strong>z</strong></p>')
  })

  it('[PROSE-3] null, empty and default values are left out, except those that are always written', () => {
    const html =
      '<p id="" style=""></p><ol start="1"><li>a</li></ol><div data-callout data-variant=""><p>b</p></div><img src="x" alt="" title="">'
    const { tree, fixes } = parseHtml(html, { source: 'stored' })
    expect(serialiseHtml(tree)).toBe(
      '<p></p><ol><li><p>a</p></li></ol><div data-callout data-variant="note"><p>b</p></div><img src="x">',
    )
    expect(fixes).toEqual([])
  })

  it('[PROSE-4] only & < > and in attributes " are escaped; NUL is dropped and CR written as LF', () => {
    const tree = [el('paragraph', { id: `a"b<'&` }, text('x\u00a0"\'&amp;<>\u2028😀 a\0b\rc'))]
    expect(serialiseHtml(tree)).toBe('<p id="a&quot;b&lt;\'&amp;">x\u00a0"\'&amp;amp;&lt;&gt;\u2028😀 ab\nc</p>')
    expect(serialiseHtml(parseHtml('<p>a&#13;b&#0;c</p>', { source: 'stored' }).tree)).toBe('<p>a\nb\ufffdc</p>')
  })

  it('[PROSE-9] a page of one atom, one embedded group or one paragraph with an id is not empty', () => {
    for (const html of ['<div data-type="embedded-group" data-group-id="g"></div>', '<p><br></p>', '<p id="blk-1"></p>']) {
      const { tree } = parseHtml(html, { source: 'stored' })
      expect(serialiseHtml(tree)).toBe(html)
      expect(equalTrees(tree, [])).toBe(false)
    }
    expect(equalTrees(parseHtml('<p></p>', { source: 'stored' }).tree, [])).toBe(true)
  })
})
