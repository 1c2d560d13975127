import { describe, expect, it } from 'vitest'
import { FixList } from './fixes.ts'
import { heal, healShown } from './heal.ts'
import { parseHtml, serialiseHtml } from './html.ts'
import type { NodeType, ProseAttrs, ProseElement, ProseNode } from './node.ts'
import { violations } from './testing/content-model.ts'

function el(type: NodeType, attrs: ProseAttrs = {}, ...content: ProseNode[]): ProseElement {
  return { type, attrs, content }
}
const text = (value: string): ProseNode => ({ type: 'text', text: value, marks: [] })
const p = (value: string) => el('paragraph', {}, ...(value === '' ? [] : [text(value)]))
const image = el('image', { src: 'a' })
const img = '<img src="a">'

/** The healed page as HTML, and the fixes as `action nodeType path`. */
function healed(...nodes: ProseNode[]): { html: string; fixes: string[] } {
  const fixes = new FixList()
  const tree = heal(nodes, fixes)
  expect(violations(tree)).toEqual([])
  return { html: serialiseHtml(tree), fixes: fixes.list.map((fix) => `${fix.action} ${fix.nodeType} ${fix.path}`) }
}

function fromHtml(html: string): { html: string; fixes: string[] } {
  const { tree, fixes } = parseHtml(html, { source: 'call' })
  expect(violations(tree)).toEqual([])
  return { html: serialiseHtml(tree), fixes: fixes.map((fix) => `${fix.action} ${fix.nodeType} ${fix.path}`) }
}

describe('repairs of a page', () => {
  it('[PROSE-H1] an unknown element is replaced by its children', () => {
    expect(fromHtml('<blockquote><article><p>a</p></article></blockquote>')).toEqual({
      html: '<blockquote><p>a</p></blockquote>',
      fixes: ['unwrapped article 0/blockquote/0/article'],
    })
  })

  it('[PROSE-H2] a block inside a text block splits it, and in a caption its text stays inline', () => {
    expect(fromHtml('<h2 id="blk-1">a<blockquote>q</blockquote>b</h2>')).toEqual({
      html: '<h2 id="blk-1">a</h2><blockquote><p>q</p></blockquote><h2>b</h2>',
      fixes: ['unwrapped blockquote 0/heading/1/blockquote'],
    })
    expect(healed(el('paragraph', { textAlign: 'right' }, p('in')))).toEqual({
      html: '<p>in</p>',
      fixes: ['unwrapped paragraph 0/paragraph/0/paragraph'],
    })
    expect(fromHtml(`<figure>${img}<figcaption>a <p>b</p><p><b>c</b></p></figcaption></figure>`).html).toBe(
      `<figure>${img}<figcaption>a  b <strong>c</strong></figcaption></figure>`.replace('a  b', 'a b'),
    )
  })

  it('[PROSE-16] an image in a block in a caption is lifted, and the text beside the image stays', () => {
    const lifted = `<figure>${img}<figcaption>Left</figcaption></figure><img src="b"><p>right</p>`
    for (const caption of ['Left <img src="b"> right', '<p>Left <img src="b"> right</p>']) {
      expect(fromHtml(`<figure>${img}<figcaption>${caption}</figcaption></figure>`).html).toBe(lifted)
    }
    expect(fromHtml(`<figure>${img}<figcaption><blockquote>a<p>b</p><ul><li><img src="b"></li></ul></blockquote>`).html).toBe(
      `<figure>${img}<figcaption>a b</figcaption></figure><img src="b">`,
    )
  })

  it('[PROSE-22] in a caption a formula becomes inline, an embedded group its name, and a dropped rule is reported', () => {
    const inCaption = (caption: string) => fromHtml(`<figure>${img}<figcaption>${caption}</figcaption></figure>`)
    expect(inCaption('a<div data-math-block data-latex="E=mc^2"></div>').html).toBe(
      `<figure>${img}<figcaption>a <span data-math-inline data-latex="E=mc^2"></span></figcaption></figure>`,
    )
    expect(inCaption('a<div data-type="embedded-group" data-group-name="G"></div>').html).toBe(
      `<figure>${img}<figcaption>a G</figcaption></figure>`,
    )
    expect(inCaption('a<hr>b')).toEqual({
      html: `<figure>${img}<figcaption>a b</figcaption></figure>`,
      fixes: ['dropped_invalid horizontalRule 0/figure/1/figcaption/1/horizontalRule'],
    })
  })

  it('[PROSE-H4] [PROSE-H20] a formula in code, or nested too deeply, is kept as its text', () => {
    const formula = el('mathBlock', { latex: 'x^2' })
    expect(healed(el('codeBlock', {}, text('a'), formula)).html).toBe('<pre><code>a\nx^2</code></pre>')
    expect(fromHtml('<pre>a <div data-math-block data-latex="x^2"></div></pre>').html).toBe('<pre><code>a x^2</code></pre>')
    const deep = (node: ProseElement) => Array.from({ length: 64 }).reduce<ProseElement>((in_) => el('blockquote', {}, in_), node)
    expect(healed(deep(formula)).html).toContain('<p>x^2</p>')
  })

  it('[PROSE-H3] children of an atom are removed', () => {
    expect(fromHtml('<div data-math-block data-latex="x"><p>y</p></div>')).toEqual({
      html: '<div data-math-block data-latex="x"></div>',
      fixes: ['stripped_children mathBlock 0/mathBlock'],
    })
    expect(healed(el('paragraph', {}, el('hardBreak', {}, text('x')))).fixes).toEqual([
      'stripped_children hardBreak 0/paragraph/0/hardBreak',
    ])
    expect(healed(el('horizontalRule', {}, p('x')))).toEqual({
      html: '<hr>',
      fixes: ['stripped_children horizontalRule 0/horizontalRule'],
    })
    const cached = '<span data-citation data-ref-id="r" data-label="L">L</span>'
    expect(fromHtml(`<p>${cached}</p>`)).toEqual({ html: `<p>${cached}</p>`, fixes: [] })
  })

  it('[PROSE-H4] code keeps only plain text, with newlines for breaks', () => {
    expect(fromHtml('<pre><code class="language-js"><span class="k">let</span> x<br>y</code></pre>')).toEqual({
      html: '<pre><code class="language-js">let x\ny</code></pre>',
      fixes: ['stripped_children codeBlock 0/codeBlock'],
    })
    const bold: ProseNode = { type: 'text', text: 'b', marks: [{ type: 'bold', attrs: {} }] }
    expect(healed(el('codeBlock', { id: 'x' }, text('a'), bold, el('hardBreak'), p('c'), p('d')))).toEqual({
      html: '<pre id="x"><code>ab\nc\nd</code></pre>',
      fixes: ['stripped_children codeBlock 0/codeBlock'],
    })
  })

  it('[PROSE-H5] children of a list that are not items become items, and a nested list goes into the item before it', () => {
    expect(fromHtml('<ol><li>a</li><ul><li>b</li></ul>c<p>d</p></ol>')).toEqual({
      html: '<ol><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li><li><p>d</p></li></ol>',
      fixes: [
        'unwrapped bulletList 0/orderedList/1/bulletList',
        'unwrapped paragraph 0/orderedList/2/paragraph',
        'unwrapped paragraph 0/orderedList/3/paragraph',
      ],
    })
    expect(fromHtml('<ul><ul><li>a</li></ul></ul>').html).toBe('<ul><li><p></p><ul><li><p>a</p></li></ul></li></ul>')
  })

  it('[PROSE-H6] items of another kind are converted to the kind of their list, new task items unchecked', () => {
    expect(fromHtml('<ul><li data-type="taskItem" data-checked="true">a</li></ul>')).toEqual({
      html: '<ul><li><p>a</p></li></ul>',
      fixes: ['unwrapped taskItem 0/bulletList/0/taskItem'],
    })
    expect(fromHtml('<ul data-type="taskList"><li>a</li></ul>').html).toBe(
      '<ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p>a</p></li></ul>',
    )
  })

  it('[PROSE-H7] items outside a list get a list, consecutive ones of one kind together', () => {
    expect(fromHtml('<li>a</li><li>b</li><li data-type="taskItem" data-checked>c</li>')).toEqual({
      html: '<ul><li><p>a</p></li><li><p>b</p></li></ul><ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>c</p></li></ul>',
      fixes: ['unwrapped listItem 0/listItem', 'unwrapped taskItem 2/taskItem'],
    })
  })

  it('[PROSE-H8] an item gets an empty first paragraph, or a paragraph made of its leading heading', () => {
    expect(fromHtml('<ul><li><hr></li><li></li></ul>')).toEqual({
      html: '<ul><li><p></p><hr></li><li><p></p></li></ul>',
      fixes: [],
    })
    expect(fromHtml('<ul><li><h3 id="blk-1">a</h3></li></ul>')).toEqual({
      html: '<ul><li><p id="blk-1">a</p></li></ul>',
      fixes: ['unwrapped heading 0/bulletList/0/listItem/0/heading'],
    })
  })

  it('[PROSE-H9] a list without items is removed', () => {
    expect(fromHtml('<p>a</p><ul> </ul>')).toEqual({ html: '<p>a</p>', fixes: ['dropped_invalid bulletList 1/bulletList'] })
  })

  it('[PROSE-H10] an empty quote, callout or cell gets a paragraph', () => {
    expect(fromHtml('<blockquote></blockquote><div data-callout></div><table><tr><td></td></tr></table>')).toEqual({
      html: '<blockquote><p></p></blockquote><div data-callout data-variant="note"><p></p></div><table><tr><td><p></p></td></tr></table>',
      fixes: [],
    })
  })

  it('[PROSE-H11] a row or cell outside a table is replaced by its content', () => {
    expect(healed(el('tableRow', {}, el('tableCell', {}, p('a'))), el('tableHeader', {}, p('b')))).toEqual({
      html: '<p>a</p><p>b</p>',
      fixes: [
        'unwrapped tableRow 0/tableRow',
        'unwrapped tableCell 0/tableRow/0/tableCell',
        'unwrapped tableHeader 1/tableHeader',
      ],
    })
    expect(fromHtml('<td>a</td><td>b</td>').html).toBe('<p>a</p><p>b</p>')
  })

  it('[PROSE-H12] a gallery keeps its images, the rest follows, and a gallery without images gives its content', () => {
    expect(fromHtml(`<div data-gallery>a${img}<p>b</p></div>`)).toEqual({
      html: `<div data-gallery data-layout="grid"><div class="gallery-items">${img}</div></div><p>a</p><p>b</p>`,
      fixes: ['stripped_children gallery 0/gallery'],
    })
    expect(fromHtml('<div data-gallery><p>b</p></div>')).toEqual({ html: '<p>b</p>', fixes: ['unwrapped gallery 0/gallery'] })
  })

  it('[PROSE-H13] a figure keeps one image and its caption, the rest follows, and without image it gives its content', () => {
    expect(fromHtml(`<figure><figcaption>c</figcaption>${img}<p>x</p>${img}</figure>`)).toEqual({
      html: `<figure>${img}<figcaption>c</figcaption></figure><p>x</p>${img}`,
      fixes: ['stripped_children figure 0/figure'],
    })
    expect(fromHtml(`<figure>${img}</figure>`)).toEqual({ html: `<figure>${img}<figcaption></figcaption></figure>`, fixes: [] })
    expect(fromHtml('<figure><p>x</p></figure>')).toEqual({ html: '<p>x</p>', fixes: ['unwrapped figure 0/figure'] })
  })

  it('[PROSE-H14] a caption outside a figure becomes a paragraph', () => {
    expect(fromHtml('<figcaption>c</figcaption>')).toEqual({ html: '<p>c</p>', fixes: ['unwrapped figcaption 0/figcaption'] })
  })

  it('[PROSE-H15] children of a table that are not rows leave it, and children of a row that are not cells get a cell', () => {
    expect(fromHtml('<table><caption>c</caption><tr><td>a</td></tr></table>')).toEqual({
      html: '<p>c</p><table><tr><td><p>a</p></td></tr></table>',
      fixes: ['unwrapped caption 0/table/0/caption', 'rebuilt_table table 0/table'],
    })
    expect(healed(el('table', {}, el('tableRow', {}, p('a'), text('b'), el('hardBreak'), el('tableCell', {}, p('c')))))).toEqual({
      html: '<table><tr><td><p>a</p></td><td><p>b<br></p></td><td><p>c</p></td></tr></table>',
      fixes: ['rebuilt_table tableRow 0/table/0/tableRow'],
    })
  })

  const grids: readonly (readonly [string, string, string])[] = [
    ['invalid spans are 1', '<tr><td colspan="0" rowspan="x">a', '<tr><td><p>a</p></td></tr>'],
    ['a rowspan past the last row is shortened', '<tr><td rowspan="3">a<tr>', '<tr><td rowspan="2"><p>a</p></td></tr><tr></tr>'],
    [
      'a colliding colspan is shortened with its colwidth',
      '<tr><td>a<td rowspan="2">b<tr><td colspan="2" colwidth="5,6">c',
      '<tr><td><p>a</p></td><td rowspan="2"><p>b</p></td></tr><tr><td colwidth="5"><p>c</p></td></tr>',
    ],
    ['a colwidth of another length is removed', '<tr><td colspan="2" colwidth="5">a', '<tr><td colspan="2"><p>a</p></td></tr>'],
    [
      'short rows are padded with cells of their kind',
      '<tr><td>a<td>b<tr><th>c<tr>',
      '<tr><td><p>a</p></td><td><p>b</p></td></tr><tr><th><p>c</p></th><th><p></p></th></tr><tr><td><p></p></td><td><p></p></td></tr>',
    ],
  ]
  it.each(grids)('[PROSE-H16] %s', (_, rows, out) => {
    expect(fromHtml(`<table>${rows}</table>`)).toEqual({ html: `<table>${out}</table>`, fixes: ['rebuilt_table table 0/table'] })
  })

  it('[PROSE-H16] a row completely covered by rowspans stays empty', () => {
    const html = '<table><tr><td rowspan="2"><p>a</p></td><td rowspan="2"><p>b</p></td></tr><tr></tr></table>'
    expect(fromHtml(html)).toEqual({ html, fixes: [] })
  })

  it('[PROSE-H17] a table without rows or columns is removed', () => {
    expect(fromHtml('<p>a</p><table></table>')).toEqual({ html: '<p>a</p>', fixes: ['dropped_invalid table 1/table'] })
    expect(fromHtml('<p>a</p><table><tr></tr></table>').html).toBe('<p>a</p>')
  })

  it('[PROSE-H18] an image without a usable source is removed', () => {
    expect(healed(p('a'), el('image', { alt: 'x' }))).toEqual({ html: '<p>a</p>', fixes: ['dropped_invalid image 1/image'] })
    expect(fromHtml('<p>a</p><img alt="x">').fixes).toEqual(['dropped_invalid image 1/image'])
  })

  it('[PROSE-H19] a heading level outside 1 to 6 becomes the nearest allowed one', () => {
    expect(healed(el('heading', { level: 0 }, text('a')), el('heading', { level: 9 }, text('b')))).toEqual({
      html: '<h1>a</h1><h6>b</h6>',
      fixes: ['clamped heading 0/heading', 'clamped heading 1/heading'],
    })
  })

  it('[PROSE-H20] nesting ends at 64 levels, and deeper content becomes text of the last block', () => {
    const deep = (levels: number) => `${'<blockquote>'.repeat(levels)}<p>a <b>b</b></p><p>c</p>${'</blockquote>'.repeat(levels)}`
    expect(fromHtml(deep(63)).fixes).toEqual([])
    const cut = fromHtml(deep(64))
    expect(cut.html).toBe(`${'<blockquote>'.repeat(63)}<p>a b c</p>${'</blockquote>'.repeat(63)}`)
    expect(cut.fixes).toHaveLength(1)
    expect(cut.fixes[0]).toMatch(/^dropped_invalid blockquote 0\/blockquote\/0\/blockquote/)
    const lists = fromHtml(`${'<ul><li>x'.repeat(100)}`)
    expect(lists.html).toContain('x x x x')
    expect(fromHtml(lists.html)).toEqual({ html: lists.html, fixes: [] })
  })

  it('[PROSE-H21] a page without remaining content gets one empty paragraph', () => {
    expect(heal([], new FixList())).toEqual([el('paragraph')])
    expect(fromHtml('<script>x</script>').html).toBe('<p></p>')
  })

  it('[PROSE-22] every reported repair names the node, its path and a reason', () => {
    const { fixes } = parseHtml('<ul><li><table><tr><td colspan=0>a</table></ul><p class=x>', { source: 'call' })
    expect(fixes).toEqual([
      {
        action: 'dropped_unknown',
        reason: 'a paragraph has no attribute class',
        field: 'class',
        path: '1/paragraph',
        nodeType: 'paragraph',
      },
      {
        action: 'rebuilt_table',
        reason: 'the table was not rectangular',
        path: '0/bulletList/0/listItem/0/table',
        nodeType: 'table',
      },
    ])
  })

  it('[PROSE-23] tables are cut at 200 columns, 2,000 rows and 20,000 cells', () => {
    const row = (cells: number) => el('tableRow', {}, ...Array.from({ length: cells }, () => el('tableCell', {}, p(''))))
    const size = (table: ProseElement) => {
      const fixes = new FixList()
      const [out] = heal([table], fixes)
      const rows = (out as ProseElement).content as readonly ProseElement[]
      return { rows: rows.length, columns: rows[0]?.content.length, fixes: fixes.list.map((fix) => fix.action) }
    }
    expect(size(el('table', {}, row(201)))).toEqual({ rows: 1, columns: 200, fixes: ['clamped'] })
    expect(size(el('table', {}, ...Array.from({ length: 2001 }, () => row(1))))).toEqual({
      rows: 2000,
      columns: 1,
      fixes: ['clamped'],
    })
    expect(size(el('table', {}, ...Array.from({ length: 300 }, () => row(100))))).toEqual({
      rows: 200,
      columns: 100,
      fixes: ['clamped'],
    })
    expect(size(el('table', {}, el('tableRow', {}, el('tableCell', { colspan: 1e8 }, p('')))))).toMatchObject({
      rows: 1,
      columns: 1,
    })
  })

  it('[PROSE-24] healing returns the repaired page, and the same object when nothing is broken', () => {
    const whole = [p('a'), el('blockquote', {}, p('b'))]
    expect(healShown(whole)).toBe(whole)
    const broken = [p('a'), el('blockquote'), image]
    const shown = healShown(broken)
    expect(shown[0]).toBe(broken[0])
    expect(shown[2]).toBe(image)
    expect(serialiseHtml(shown)).toBe(`<p>a</p><blockquote><p></p></blockquote>${img}`)
  })
})
