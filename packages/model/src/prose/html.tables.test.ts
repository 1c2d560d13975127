import { describe, expect, it } from 'vitest'
import { equalTrees } from './equal.ts'
import { parseHtml, serialiseHtml } from './html.ts'
import type { NodeType, ProseAttrs, ProseElement, ProseMark, ProseNode, ProseTree } from './node.ts'
import { markSpecs, nodeSpecs } from './schema.ts'

const hash = 'ab'.repeat(32)

function el(type: NodeType, attrs: ProseAttrs = {}, ...content: ProseNode[]): ProseElement {
  return { type, attrs, content }
}
function text(value: string, ...marks: ProseMark[]): ProseNode {
  return { type: 'text', text: value, marks }
}
const p = (value: string) => el('paragraph', {}, ...(value === '' ? [] : [text(value)]))
const image = el('image', { src: 'a.png' })

/** Every row of the node table, with each of its attributes set and unset. */
const nodes: readonly (readonly [string, string, ProseTree])[] = [
  ['page', '<p></p>', []],
  ['page', '<p>a</p><hr>', [p('a'), el('horizontalRule')]],
  ['paragraph', '<p>a</p>', [p('a')]],
  [
    'paragraph',
    '<p id="blk-1" style="text-align: right">a</p>',
    [el('paragraph', { id: 'blk-1', textAlign: 'right' }, text('a'))],
  ],
  ['heading', '<h1>a</h1><h6></h6>', [el('heading', {}, text('a')), el('heading', { level: 6 })]],
  [
    'heading',
    '<h3 id="x" style="text-align: justify">a</h3>',
    [el('heading', { level: 3, id: 'x', textAlign: 'justify' }, text('a'))],
  ],
  ['codeBlock', '<pre><code></code></pre>', [el('codeBlock')]],
  [
    'codeBlock',
    '<pre id="blk-1"><code class="language-c++">\n a &lt;b&gt;\n\n</code></pre>',
    [el('codeBlock', { id: 'blk-1', language: 'c++' }, text('\n a <b>\n\n'))],
  ],
  ['blockquote', '<blockquote><p>a</p><hr></blockquote>', [el('blockquote', {}, p('a'), el('horizontalRule'))]],
  [
    'bulletList',
    '<ul><li><p>a</p></li><li><p></p></li></ul>',
    [el('bulletList', {}, el('listItem', {}, p('a')), el('listItem', {}, p('')))],
  ],
  ['orderedList', '<ol><li><p>a</p></li></ol>', [el('orderedList', {}, el('listItem', {}, p('a')))]],
  [
    'orderedList',
    '<ol start="-3" type="I"><li><p>a</p></li></ol>',
    [el('orderedList', { start: -3, type: 'I' }, el('listItem', {}, p('a')))],
  ],
  [
    'listItem',
    '<ul><li><p>a</p><ul><li><p>b</p></li></ul></li></ul>',
    [el('bulletList', {}, el('listItem', {}, p('a'), el('bulletList', {}, el('listItem', {}, p('b')))))],
  ],
  [
    'taskList',
    '<ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p>a</p></li></ul>',
    [el('taskList', {}, el('taskItem', {}, p('a')))],
  ],
  [
    'taskItem',
    '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>a</p><p>b</p></li></ul>',
    [el('taskList', {}, el('taskItem', { checked: true }, p('a'), p('b')))],
  ],
  ['callout', '<div data-callout data-variant="note"><p>a</p></div>', [el('callout', {}, p('a'))]],
  ['callout', '<div data-callout data-variant="danger"><p>a</p></div>', [el('callout', { variant: 'danger' }, p('a'))]],
  [
    'figure',
    '<figure><img src="a.png"><figcaption>c</figcaption></figure>',
    [el('figure', {}, image, el('figcaption', {}, text('c')))],
  ],
  ['figcaption', '<figure><img src="a.png"><figcaption></figcaption></figure>', [el('figure', {}, image, el('figcaption'))]],
  [
    'gallery',
    '<div data-gallery data-layout="grid"><div class="gallery-items"><img src="a.png"></div></div>',
    [el('gallery', {}, image)],
  ],
  [
    'gallery',
    '<div data-gallery data-layout="row"><div class="gallery-items"><img src="a.png"><img src="a.png"></div></div>',
    [el('gallery', { layout: 'row' }, image, image)],
  ],
  ['table', '<table><tr><td><p>a</p></td></tr></table>', [el('table', {}, el('tableRow', {}, el('tableCell', {}, p('a'))))]],
  [
    'tableRow',
    '<table><tr><td rowspan="2"><p>a</p></td></tr><tr></tr></table>',
    [el('table', {}, el('tableRow', {}, el('tableCell', { rowspan: 2 }, p('a'))), el('tableRow'))],
  ],
  [
    'tableCell',
    '<table><tr><td colspan="2" colwidth="100,0" style="background-color: #fff; text-align: center"><p>a</p></td></tr></table>',
    [
      el(
        'table',
        {},
        el('tableRow', {}, el('tableCell', { colspan: 2, colwidth: [100, 0], backgroundColor: '#fff', align: 'center' }, p('a'))),
      ),
    ],
  ],
  [
    'tableHeader',
    '<table><tr><th colwidth="7" scope="rowgroup" style="text-align: left"><p>a</p></th></tr></table>',
    [el('table', {}, el('tableRow', {}, el('tableHeader', { colwidth: [7], scope: 'rowgroup', align: 'left' }, p('a'))))],
  ],
  ['image', '<img src="a.png">', [image]],
  [
    'image',
    '<img src="a.png" alt="a &quot;b&quot; &amp; &lt;c&gt;" title="t" width="640" height="50%" data-float="left">',
    [el('image', { src: 'a.png', alt: 'a "b" & <c>', title: 't', width: 640, height: '50%', float: 'left' })],
  ],
  ['horizontalRule', '<hr>', [el('horizontalRule')]],
  ['mathBlock', '<div data-math-block data-latex="x &lt; y"></div>', [el('mathBlock', { latex: 'x < y' })]],
  ['mathBlock', '<div data-math-block data-latex=""></div>', [el('mathBlock', { latex: '' })]],
  ['bibliography', '<div data-bibliography></div>', [el('bibliography')]],
  [
    'bibliography',
    '<div data-bibliography data-bib-html="&lt;i&gt;A&lt;/i&gt;" data-scope="all"></div>',
    [el('bibliography', { bibHtml: '<i>A</i>', scope: 'all' })],
  ],
  [
    'embeddedGroup',
    '<div data-type="embedded-group" data-group-id="g" data-group-name="G"></div>',
    [el('embeddedGroup', { groupId: 'g', groupName: 'G' })],
  ],
  ['hardBreak', '<p>a<br>b<br></p>', [el('paragraph', {}, text('a'), el('hardBreak'), text('b'), el('hardBreak'))]],
  [
    'mathInline',
    '<p>a <span data-math-inline data-latex="x"></span> b</p>',
    [el('paragraph', {}, text('a '), el('mathInline', { latex: 'x' }), text(' b'))],
  ],
  [
    'citationInline',
    '<p><span data-citation data-ref-id="r" data-locator="p. 3" data-label="R &amp; S">R &amp; S</span></p>',
    [el('paragraph', {}, el('citationInline', { refId: 'r', locator: 'p. 3', label: 'R & S' }))],
  ],
  [
    'fieldRef',
    '<p><span data-field data-name="n" data-label="v">v</span></p>',
    [el('paragraph', {}, el('fieldRef', { name: 'n', label: 'v' }))],
  ],
  ['fieldRef', '<p><span data-field data-name="n"></span></p>', [el('paragraph', {}, el('fieldRef', { name: 'n' }))]],
  [
    'fileRef',
    `<p><span data-file-ref data-blob-ref="blob://${hash}" data-file-name="a.pdf" data-mime-type="application/pdf" data-file-size="12">a.pdf</span></p>`,
    [
      el(
        'paragraph',
        {},
        el('fileRef', { blobRef: `blob://${hash}`, fileName: 'a.pdf', mimeType: 'application/pdf', fileSize: '12' }),
      ),
    ],
  ],
]

const marks: readonly (readonly [string, string, ProseMark])[] = [
  ['link', '<a href="https://x/?a=1&amp;b=2">t</a>', { type: 'link', attrs: { href: 'https://x/?a=1&b=2' } }],
  ['highlight', '<mark style="background-color: #ff0">t</mark>', { type: 'highlight', attrs: { color: '#ff0' } }],
  ['highlight', '<mark>t</mark>', { type: 'highlight', attrs: {} }],
  ['textStyle', '<span style="color: red">t</span>', { type: 'textStyle', attrs: { color: 'red' } }],
  ['bold', '<strong>t</strong>', { type: 'bold', attrs: {} }],
  ['italic', '<em>t</em>', { type: 'italic', attrs: {} }],
  ['underline', '<u>t</u>', { type: 'underline', attrs: {} }],
  ['strike', '<s>t</s>', { type: 'strike', attrs: {} }],
  ['superscript', '<sup>t</sup>', { type: 'superscript', attrs: {} }],
  ['subscript', '<sub>t</sub>', { type: 'subscript', attrs: {} }],
  ['code', '<code>t</code>', { type: 'code', attrs: {} }],
]

function expectBothWays(html: string, tree: ProseTree, source: 'call' | 'stored'): void {
  expect(serialiseHtml(tree)).toBe(html)
  const back = parseHtml(html, { source })
  expect(back.fixes).toEqual([])
  if (!equalTrees(back.tree, tree)) expect(back.tree).toEqual(tree)
  expect(serialiseHtml(back.tree)).toBe(html)
}

describe('HTML of every row of the node and mark tables', () => {
  it('[PROSE-2] every row has an example', () => {
    expect(new Set(nodes.map(([type]) => type))).toEqual(new Set(['page', ...nodeSpecs.map((spec) => spec.type)]))
    expect(new Set(marks.map(([type]) => type))).toEqual(new Set(markSpecs.map((spec) => spec.type)))
  })

  it.each(nodes)('[PROSE-1] [PROSE-3] [PROSE-6] a %s is read and written back equal: %s', (_, html, tree) =>
    expectBothWays(html, tree, 'stored'),
  )

  it.each(marks)('[PROSE-5] [PROSE-6] a run with mark %s is read and written back equal: %s', (_, html, mark) =>
    expectBothWays(`<p>a${html}b</p>`, [el('paragraph', {}, text('a'), text('t', mark), text('b'))], 'stored'),
  )

  it('[PROSE-5] every run has all its marks nested in the order of the table, and equal neighbours are merged', () => {
    const all = marks.filter(([, html]) => html !== '<mark>t</mark>').map(([, , mark]) => mark)
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
