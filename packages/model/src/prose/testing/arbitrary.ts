import * as fc from 'fast-check'
import { appendText, withMark } from '../marks.ts'
import type { ProseAttrs, ProseElement, ProseMark, ProseNode, ProseTree } from '../node.ts'

/** Generators of valid pages with every node, attribute and mark of the tables. [PROSE-2] */

const colour = fc.constantFrom(
  '#fff',
  '#A1B2C3',
  '#11223344',
  'red',
  'RebeccaPurple',
  'transparent',
  'rgb(1, 2, 3)',
  'hsla(10deg 20% 30% / 0.5)',
)
const hash = fc.constantFrom('0', 'a', 'f').map((digit) => digit.repeat(64))
const url = fc.oneof(
  fc.constantFrom('https://example.org/a?b=c&d="e"', 'http://x', '#top', '../up/x.png', 'a b/c.png', '//host/x'),
  hash.map((hex) => `blob://${hex}`),
)
const href = fc.oneof(url, fc.constantFrom('mailto:a@b.c', 'tel:+1', 'app://heading/page-1/id:blk-1', 'x-y://heading/p/3'))
const src = fc.oneof(url, fc.constantFrom('data:image/png;base64,AAAA', 'data:image/svg+xml;base64,PHN2Zz4='))

/** Text with every character that needs escaping, and all kinds of white space. */
export const anyText = fc
  .oneof(
    { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 12 }) },
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    fc.constantFrom(
      'a  b',
      ' lead',
      'trail ',
      '\n',
      '\t x',
      '&amp;',
      '<b>',
      '"q"',
      "it's",
      '\u00a0',
      '</p>',
      '<!--',
      ']]>',
      '&lt',
      '😀',
      '\u2028',
      '\ufeff',
    ),
  )
  .map((text) => text.replaceAll('\0', '').replaceAll('\r', '\n'))
  .filter((text) => text !== '' && !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text))

const mark: fc.Arbitrary<ProseMark> = fc.oneof(
  href.map((value): ProseMark => ({ type: 'link', attrs: { href: value } })),
  fc
    .option(colour, { nil: undefined })
    .map((value): ProseMark => ({ type: 'highlight', attrs: value === undefined ? {} : { color: value } })),
  colour.map((value): ProseMark => ({ type: 'textStyle', attrs: { color: value } })),
  fc
    .constantFrom('bold', 'italic', 'underline', 'strike', 'superscript', 'subscript', 'code')
    .map((type): ProseMark => ({ type: type as ProseMark['type'], attrs: {} })),
)

export const marks = fc
  .array(mark, { maxLength: 3 })
  .map((list) => list.reduce<readonly ProseMark[]>((set, one) => withMark(set, one), []))

/** Generates an optional attribute. */
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

function attrs(shape: { [name: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<ProseAttrs> {
  return fc
    .record(shape)
    .map((value) => Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as ProseAttrs)
}

function element(
  type: ProseElement['type'],
  shape: Parameters<typeof attrs>[0],
  content: fc.Arbitrary<readonly ProseNode[]> = fc.constant([]),
) {
  return fc.tuple(attrs(shape), content).map(([value, nodes]): ProseElement => ({ type, attrs: value, content: nodes }))
}

const id = maybe(fc.stringMatching(/^blk-[a-z0-9]{1,6}$/))
const textAlign = maybe(fc.constantFrom('left', 'center', 'right', 'justify'))

const atom: fc.Arbitrary<ProseElement> = fc.oneof(
  element('hardBreak', {}),
  element('mathInline', { latex: fc.oneof(anyText, fc.constant('')) }),
  element('citationInline', { refId: anyText, locator: maybe(anyText), label: maybe(anyText) }),
  element('fieldRef', { name: anyText, label: maybe(anyText) }),
  element('fileRef', {
    blobRef: hash.map((hex) => `blob://${hex}`),
    fileName: maybe(anyText),
    mimeType: maybe(anyText),
    fileSize: maybe(anyText),
  }),
)

export const inline: fc.Arbitrary<readonly ProseNode[]> = fc
  .array(fc.oneof({ weight: 3, arbitrary: fc.tuple(anyText, marks) }, { weight: 1, arbitrary: atom }), { maxLength: 5 })
  .map((parts) => {
    const nodes: ProseNode[] = []
    for (const part of parts) {
      if (Array.isArray(part)) appendText(nodes, part[0], part[1])
      else nodes.push(part as ProseElement)
    }
    return nodes
  })

const code: fc.Arbitrary<readonly ProseNode[]> = fc
  .option(anyText, { nil: '' })
  .map((text) => (text === '' ? [] : [{ type: 'text', text, marks: [] }]))

const paragraph = element('paragraph', { id, textAlign }, inline)
const size = maybe(fc.oneof(fc.integer({ min: 1, max: 10000 }), fc.constantFrom('50%', '120px', 12.5)))
const image = element('image', {
  src,
  alt: maybe(anyText),
  title: maybe(anyText),
  width: size,
  height: size,
  float: maybe(fc.constantFrom('left', 'right')),
})

const leaf: fc.Arbitrary<ProseElement> = fc.oneof(
  { weight: 4, arbitrary: paragraph },
  element('heading', { level: maybe(fc.integer({ min: 2, max: 6 })), id, textAlign }, inline),
  element('codeBlock', { id, language: maybe(fc.constantFrom('js', 'c++', 'F#', 'x.y-z_1')) }, code),
  image,
  element('horizontalRule', {}),
  element('mathBlock', { latex: fc.oneof(anyText, fc.constant('')) }),
  element('bibliography', { bibHtml: maybe(anyText), scope: maybe(fc.constant('all')) }),
  element('embeddedGroup', { groupId: maybe(anyText), groupName: maybe(anyText) }),
  element('figure', {}, fc.tuple(image, element('figcaption', {}, inline))),
  element('gallery', { layout: maybe(fc.constant('row')) }, fc.array(image, { minLength: 1, maxLength: 3 })),
)

const { block } = fc.letrec<{ block: ProseElement }>((tie) => {
  const block = tie('block')
  const blocks = fc.array(block, { minLength: 1, maxLength: 2 })
  const item = fc
    .tuple(paragraph, fc.array(block, { maxLength: 1 }))
    .map(([first, rest]): readonly ProseNode[] => [first, ...rest])
  return {
    block: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'block' },
      { weight: 6, arbitrary: leaf },
      { weight: 1, arbitrary: element('blockquote', {}, blocks) },
      { weight: 1, arbitrary: element('callout', { variant: maybe(fc.constantFrom('tip', 'warning', 'danger')) }, blocks) },
      {
        weight: 1,
        arbitrary: element('bulletList', {}, fc.array(element('listItem', {}, item), { minLength: 1, maxLength: 3 })),
      },
      {
        weight: 1,
        arbitrary: element(
          'orderedList',
          {
            start: maybe(fc.integer({ min: -5, max: 99 }).filter((n) => n !== 1)),
            type: maybe(fc.constantFrom('1', 'a', 'A', 'i', 'I')),
          },
          fc.array(element('listItem', {}, item), { minLength: 1, maxLength: 2 }),
        ),
      },
      {
        weight: 1,
        arbitrary: element(
          'taskList',
          {},
          fc.array(element('taskItem', { checked: maybe(fc.constant(true)) }, item), { minLength: 1, maxLength: 2 }),
        ),
      },
      { weight: 1, arbitrary: table(blocks) },
    ),
  }
})

export const anyBlock = block

/** Generates a table with a few blocks in each cell. */
export const anyTable: fc.Arbitrary<ProseElement> = table(fc.array(leaf, { minLength: 1, maxLength: 2 }))

/** Pages that are not empty; a single bare empty paragraph counts as empty and is left out. */
export const anyTree: fc.Arbitrary<ProseTree> = fc.array(block, { minLength: 1, maxLength: 5 })

/** A rectangular table in which some cells span columns or rows: the grid is cut into boxes from the top left. */
function table(content: fc.Arbitrary<readonly ProseElement[]>): fc.Arbitrary<ProseElement> {
  return fc
    .tuple(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 4 }),
      fc.infiniteStream(fc.nat(7)),
      fc.infiniteStream(content),
      fc.infiniteStream(colour),
    )
    .map(([rowCount, columnCount, choices, contents, colours]): ProseElement => {
      const next = () => choices.next().value as number
      const taken = Array.from({ length: rowCount }, () => new Array<boolean>(columnCount).fill(false))
      const rows: ProseElement[] = taken.map((row, r) => {
        const cells: ProseElement[] = []
        for (let c = 0; c < columnCount; c++) {
          if (row[c]) continue
          let colspan = 1
          while (c + colspan < columnCount && !row[c + colspan] && next() > 5) colspan++
          const rowspan = Math.min(rowCount - r, next() > 5 ? 2 : 1)
          for (const covered of taken.slice(r, r + rowspan)) covered.fill(true, c, c + colspan)
          const isHeader = next() > 4
          const cell = {
            ...(colspan === 1 ? {} : { colspan }),
            ...(rowspan === 1 ? {} : { rowspan }),
            ...(next() > 5 ? { colwidth: Array.from({ length: colspan }, () => next() * 20) } : {}),
            ...(isHeader && next() > 4 ? { scope: next() > 3 ? 'col' : 'rowgroup' } : {}),
            ...(next() > 5 ? { backgroundColor: colours.next().value as string } : {}),
            ...(next() > 5 ? { align: next() > 3 ? 'center' : 'left' } : {}),
          }
          cells.push({
            type: isHeader ? 'tableHeader' : 'tableCell',
            attrs: cell,
            content: contents.next().value as readonly ProseElement[],
          })
        }
        return { type: 'tableRow', attrs: {}, content: cells }
      })
      return { type: 'table', attrs: {}, content: rows }
    })
}

/** Nodes of the model in any position and with any content, as input for healing. */
const looseNode = fc.letrec<{ node: ProseNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'loose' },
    fc.oneof(
      fc.tuple(anyText, marks).map(([text, set]): ProseNode => ({ type: 'text', text, marks: set })),
      leaf,
      atom,
    ),
    fc
      .tuple(
        fc.constantFrom(
          'paragraph',
          'heading',
          'codeBlock',
          'blockquote',
          'bulletList',
          'orderedList',
          'listItem',
          'taskList',
          'taskItem',
          'callout',
          'figure',
          'figcaption',
          'gallery',
          'table',
          'tableRow',
          'tableCell',
          'tableHeader',
          'horizontalRule',
          'hardBreak',
        ),
        fc.array(tie('node'), { maxLength: 4 }),
        fc.constantFrom(
          {},
          {},
          { colspan: 2 },
          { rowspan: 3 },
          { colspan: 0 },
          { colspan: 2, colwidth: [1, 2] },
          { colwidth: [1, 2, 3] },
        ),
      )
      .map(
        ([type, content, spans]): ProseNode => ({
          type: type as ProseElement['type'],
          attrs: type === 'tableCell' || type === 'tableHeader' ? (spans as ProseAttrs) : type === 'heading' ? { level: 9 } : {},
          content,
        }),
      ),
  ),
})).node

export const looseNodes: fc.Arbitrary<readonly ProseNode[]> = fc.array(looseNode, { maxLength: 4 })

const soupTags =
  `p h1 h3 pre code blockquote ul ol li figure figcaption table tr td th tbody caption img hr br a mark span b i u s sup div section label input
  svg math script style select button form template`.split(/\s+/)
const soupAttributes = [
  '',
  '',
  '',
  ' data-type="taskList"',
  ' data-type="taskItem" data-checked',
  ' data-callout data-variant=tip',
  ' data-gallery',
  ' data-math-block data-latex=x',
  ' data-math-inline data-latex="<"',
  ' data-citation data-ref-id=r',
  ' data-field',
  ' data-type=embedded-group',
  ' src=a',
  ' href=#x',
  ' href=javascript:x',
  ' id=blk-1',
  ' id=x',
  ' style="text-align: center; color: red; background-color: #fff"',
  ' colspan=2',
  ' rowspan=3 colwidth="1,2"',
  ' class=language-js',
]

/** Tags in any order, closed or not, with attributes that may or may not fit. */
export const tagSoup = fc
  .array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .tuple(fc.constantFrom(...soupTags), fc.constantFrom(...soupAttributes))
          .map(([tag, attr]) => `<${tag}${attr}>`),
      },
      { weight: 3, arbitrary: fc.constantFrom(...soupTags).map((tag) => `</${tag}>`) },
      { weight: 3, arbitrary: fc.constantFrom('a', ' b ', '\n', '&amp;', '<', '\u00a0', '  ', 'é', '\r', '<!-- c -->') },
    ),
    { maxLength: 25 },
  )
  .map((parts) => parts.join(''))
