import * as fc from 'fast-check'
import { appendText, withMark } from '../marks.ts'
import type { ProseElement, ProseMark, ProseNode, ProseTree } from '../node.ts'

/** Generators of pages that Markdown can express, with many characters that are markup in Markdown. */

const pieces = [
  ...'\\`*_[]()<>&{}$~!#+-=|:.^"\' 1a',
  ...[
    '  ',
    '\n',
    '\t',
    '**',
    '__',
    '~~',
    '``',
    '```',
    '{{x}}',
    '$x$',
    '$$',
    '[!NOTE]',
    '[x] ',
    '[ ]',
    '1. ',
    '2)',
    '- ',
    '+ ',
    '# ',
    '## ',
  ],
  ...[
    '> ',
    '---',
    '===',
    '***',
    '| a |',
    '|---|',
    ':-:',
    '&amp;',
    '&#32;',
    '<b>',
    '</b>',
    '<!--',
    '-->',
    '<br>',
    'http://x.y',
    '[a]: b',
    '](x)',
  ],
  ...[
    '\\n',
    'word',
    'two words',
    'é',
    '漢',
    '😀',
    '“',
    '—',
    '\u00a0',
    '\u200b',
    '\u2028',
    '\v',
    '\f',
    '\u0001',
    '\u0085',
    '\ufeff',
    '\u3000',
    '\ufdd0',
    '\u{1fffe}',
    'snake_case',
    '2 * 3',
    '<p>',
    '</div>',
  ],
]

export const markdownText = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''))

const simpleMark: fc.Arbitrary<ProseMark> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('bold', 'italic', 'strike', 'code').map((type) => ({ type, attrs: {} }) as ProseMark) },
  fc
    .constantFrom('x', 'https://a.b/c?d=e&f=g', 'a b', '(', '<>', '\\', '&lt;', '*a*', 'a\nb', '|')
    .map((href): ProseMark => ({ type: 'link', attrs: { href } })),
  fc.constant<ProseMark>({ type: 'underline', attrs: {} }),
)

const atom: fc.Arbitrary<ProseElement> = fc.oneof(
  fc.constant<ProseElement>({ type: 'hardBreak', attrs: {}, content: [] }),
  fc
    .oneof(fc.constantFrom('x', 'a|b', 'x^2', '\\$', '\\', '{{a}}', '`', '*'), markdownText)
    .map((latex): ProseElement => ({ type: 'mathInline', attrs: { latex }, content: [] })),
  fc
    .oneof(fc.constantFrom('name', 'a b', 'a|b'), markdownText)
    .map((name): ProseElement => ({ type: 'fieldRef', attrs: { name }, content: [] })),
  markdownText.map((label): ProseElement => ({ type: 'citationInline', attrs: { refId: 'r', label }, content: [] })),
)

/** Words and marks close together, which are difficult for delimiters. */
const denseText = fc.constantFrom('a', 'b c', ' ', 'd ', ' e', '.', '*', '_', '~', '`', '“', 'é', '😀', '(', '1')
const part = (text: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 4, arbitrary: fc.tuple(text, fc.array(simpleMark, { maxLength: 3 })) }, { weight: 1, arbitrary: atom })

export const markdownInline: fc.Arbitrary<readonly ProseNode[]> = fc
  .oneof(fc.array(part(denseText), { maxLength: 8 }), fc.array(part(markdownText), { maxLength: 4 }))
  .map((parts) => {
    const nodes: ProseNode[] = []
    for (const one of parts) {
      if (Array.isArray(one))
        appendText(
          nodes,
          one[0],
          one[1].reduce<readonly ProseMark[]>((set, mark) => withMark(set, mark), []),
        )
      else nodes.push(one as ProseElement)
    }
    return nodes
  })

const el = (type: ProseElement['type'], attrs: ProseElement['attrs'], content: readonly ProseNode[]): ProseElement => ({
  type,
  attrs,
  content,
})
const paragraph = markdownInline.map((content) => el('paragraph', {}, content))
const identified = fc
  .tuple(paragraph, fc.constantFrom('blk-1', 'blk--', 'a b', '-->'))
  .map(([node, id]) => ({ ...node, attrs: { id } }))
const lines = fc
  .array(fc.oneof(markdownText, fc.constantFrom('', '  ', '$$', '```')), { maxLength: 4 })
  .map((list) => list.join('\n'))

const leaf: fc.Arbitrary<ProseElement> = fc.oneof(
  { weight: 6, arbitrary: paragraph },
  identified,
  fc.tuple(markdownInline, fc.integer({ min: 2, max: 6 })).map(([content, level]) => el('heading', { level }, content)),
  lines.map((text) => el('codeBlock', { language: 'js' }, text === '' ? [] : [{ type: 'text', text, marks: [] }])),
  lines.map((latex) => el('mathBlock', { latex }, [])),
  fc.constant(el('horizontalRule', {}, [])),
  fc.tuple(markdownText, markdownText).map(([alt, title]) => el('image', { src: 'a(b', alt, title }, [])),
  fc.constant(el('paragraph', { textAlign: 'center' }, [{ type: 'text', text: ' x  y', marks: [] }])),
)

const { block } = fc.letrec<{ block: ProseElement }>((tie) => {
  const blocks = fc.array(tie('block'), { minLength: 1, maxLength: 3 })
  const items = (type: 'listItem' | 'taskItem') =>
    fc.array(
      fc
        .tuple(fc.oneof(paragraph, identified), fc.oneof(fc.constant([]), fc.array(tie('block'), { maxLength: 2 })), fc.boolean())
        .map(([first, rest, checked]) => el(type, type === 'taskItem' && checked ? { checked } : {}, [first, ...rest])),
      { minLength: 1, maxLength: 3 },
    )
  const cell = (type: 'tableHeader' | 'tableCell', align: string) =>
    markdownInline.map((content) => el(type, align === '' ? {} : { align }, [el('paragraph', {}, content)]))
  const table = fc
    .array(fc.constantFrom('', 'left', 'center', 'right'), { minLength: 1, maxLength: 3 })
    .chain((aligns) => {
      const row = (type: 'tableHeader' | 'tableCell') => fc.tuple(...aligns.map((align) => cell(type, align)))
      return fc.tuple(row('tableHeader'), fc.array(row('tableCell'), { maxLength: 3 }))
    })
    .map(([head, rows]) =>
      el(
        'table',
        {},
        [head, ...rows].map((cells) => el('tableRow', {}, cells)),
      ),
    )
  return {
    block: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'markdown' },
      { weight: 4, arbitrary: leaf },
      blocks.map((content) => el('blockquote', {}, content)),
      fc
        .tuple(fc.constantFrom<ProseElement['attrs']>({}, { variant: 'danger' }), blocks)
        .map(([attrs, content]) => el('callout', attrs, content)),
      items('listItem').map((content) => el('bulletList', {}, content)),
      fc
        .tuple(fc.constantFrom<ProseElement['attrs']>({}, { start: 7 }, { start: 0 }, { start: -1 }), items('listItem'))
        .map(([attrs, content]) => el('orderedList', attrs, content)),
      items('taskItem').map((content) => el('taskList', {}, content)),
      table,
    ),
  }
})

export const markdownTree: fc.Arbitrary<ProseTree> = fc.array(block, { minLength: 1, maxLength: 4 })

const blockStarts = [
  '',
  '',
  '> ',
  '- ',
  '  ',
  '    ',
  '1. ',
  '# ',
  '- [x] ',
  '```',
  '$$',
  '---',
  '| a | b |',
  '|---|---|',
  '> [!TIP]',
  '<div>',
  '</div>',
  '<p>',
  '<ul>',
  '<li>',
  '<b>',
  '<table>',
  '[a]: b',
  '<!-- c -->',
  '\t',
  '<div data-callout>',
  '<pre>',
  '</pre>',
  '<td>',
  '===',
  '<u>',
  '![i](j)',
  '<img src=x>',
]

/** Lines of Markdown and HTML that may or may not fit together. */
export const markdownSoup = fc
  .array(
    fc
      .tuple(
        fc.array(fc.constantFrom(...blockStarts), { maxLength: 3 }),
        fc.oneof(markdownText, fc.constantFrom('', 'text', '**b** *i* [l](x) ![i](j)', '<u>a *b</u> c*', '<div>x', '<!-- ')),
      )
      .map(([starts, text]) => starts.join('') + text),
    { maxLength: 8 },
  )
  .map((list) => list.join('\n'))
