import type { NodeType, ProseAttrs, ProseElement, ProseMark, ProseNode, ProseTree } from '../node.ts'

const hash = 'ab'.repeat(32)

export function el(type: NodeType, attrs: ProseAttrs = {}, ...content: ProseNode[]): ProseElement {
  return { type, attrs, content }
}
export function text(value: string, ...marks: ProseMark[]): ProseNode {
  return { type: 'text', text: value, marks }
}
const p = (value: string) => el('paragraph', {}, ...(value === '' ? [] : [text(value)]))
const image = el('image', { src: 'a.png' })

/** Every row of the node table, with each of its attributes set and unset. */
export const nodeRows: readonly (readonly [string, string, ProseTree])[] = [
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

export const markRows: readonly (readonly [string, string, ProseMark])[] = [
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
