import { describe, expect, it } from 'vitest'
import { parseHtml, serialiseHtml } from './html.ts'
import { parseMarkdown } from './markdown-read.ts'
import type { Naming } from './block-names.ts'
import { serialiseMarkdown, serialiseMarkdownWithin, serialiseNamedMarkdown } from './markdown-write.ts'
import { placedOn } from './testing/placed.ts'

/** Returns the Markdown of a stored page, and checks that this Markdown reads back as the page. */
function markdown(html: string, naming?: Naming): string {
  const { tree } = parseHtml(html, { source: 'stored' })
  const text = naming === undefined ? serialiseMarkdown(tree) : serialiseNamedMarkdown(placedOn(tree), naming)
  const back = parseMarkdown(text)
  expect(withoutIdsAndLabels(serialiseHtml(back.tree))).toBe(withoutIdsAndLabels(serialiseHtml(tree)))
  expect(back.fixes).toEqual([])
  return text
}

function withoutIdsAndLabels(html: string): string {
  return html.replace(/ id="[^"]*"/g, '').replace(/(<span data-field data-name="[^"]*")[^>]*>[^<]*/g, '$1>')
}

const p = (content: string) => markdown(`<p>${content}</p>`)

describe('writing Markdown', () => {
  it('[PROSE-38] [PROSE-40] common prose is written as idiomatic Markdown', () => {
    const blob = `blob://${'0'.repeat(64)}`
    const page = [
      '<h1>Title</h1>',
      '<p>Some <strong>bold and </strong><strong><em>both</em></strong>, <em>it</em>, <s>x</s>, <code>a|b</code> and <a href="https://x.y/z?a=b&amp;c=d">a </a><a href="https://x.y/z?a=b&amp;c=d"><strong>link</strong></a>.</p>',
      '<p>one<br>two</p>',
      '<ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ul>',
      '<ol start="3"><li><p>one</p><pre><code class="language-js">x\n\ny</code></pre></li><li><p>two</p></li></ol>',
      '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>done</p></li><li data-type="taskItem" data-checked="false"><p>to do</p></li></ul>',
      '<div data-callout data-variant="danger"><p>hey</p><p>you</p></div>',
      '<blockquote><p>q</p><ul><li><p>x</p></li></ul></blockquote>',
      '<table><tr><th style="text-align: right"><p>a</p></th><th><p>b</p></th></tr><tr><td style="text-align: right"><p>1</p></td><td><p>x|<br>y</p></td></tr></table>',
      `<img src="${blob}" alt="A pic" title="t"><hr>`,
      '<div data-math-block data-latex="\\frac{1}{2}"></div>',
      '<p>Due <span data-field data-name="due date" data-label="Monday">Monday</span>, <span data-math-inline data-latex="x^2"></span></p>',
    ]
    expect(markdown(page.join(''))).toBe(`# Title

Some **bold and _both_**, *it*, ~~x~~, \`a|b\` and [a **link**](https://x.y/z?a=b&c=d).

one\\
two

- a
  - b
- c

3. one

   \`\`\`js
   x

   y
   \`\`\`

4. two

- [x] done
- [ ] to do

> [!CAUTION]
> hey
>
> you

> q
>
> - x

| a | b |
| --: | --- |
| 1 | x\\|<br>y |

![A pic](${blob} "t")

---

$$
\\frac{1}{2}
$$

Due {{due date}}, $x^2$
`)
  })

  it('[PROSE-38] blocks without a Markdown form are written as canonical HTML', () => {
    const figure = '<figure><img src="a"><figcaption>c</figcaption></figure>'
    const gallery = '<div data-gallery data-layout="row"><div class="gallery-items"><img src="a"></div></div>'
    for (const html of [
      '<p style="text-align: center">a</p>',
      '<h2 style="text-align: right">a</h2>',
      '<ol type="a"><li><p>a</p></li></ol>',
      '<ol start="-1"><li><p>a</p></li></ol>',
      '<img src="a" width="5">',
      '<img src="a" data-float="left">',
      figure,
      gallery,
      '<table><tr><td><p>no header</p></td></tr></table>',
      '<table><tr><th><p>a</p><p>b</p></th></tr></table>',
      '<table><tr><th colspan="2"><p>a</p></th></tr></table>',
      '<table><tr><th colwidth="100"><p>a</p></th></tr></table>',
      '<table><tr><th><p>a</p></th></tr><tr><td style="text-align: left"><p>b</p></td></tr></table>',
      '<div data-bibliography data-bib-html="x" data-scope="all"></div>',
      '<div data-type="embedded-group" data-group-id="g" data-group-name="n"></div>',
      '<div data-math-block data-latex="$$"></div>',
    ]) {
      expect(markdown(html)).toBe(`${html}\n`)
    }
  })

  it('[PROSE-38] an empty paragraph among other blocks is written as HTML', () => {
    expect(markdown('<p></p><p>a</p><p></p>')).toBe('<p></p>\n\na\n\n<p></p>\n')
  })

  it('[PROSE-38] white space in HTML between Markdown is written as character references', () => {
    expect(markdown('<p style="text-align: center"> a  b\nc </p>')).toBe(
      '<p style="text-align: center">&#32;a &#32;b&#10;c&#32;</p>\n',
    )
    expect(markdown('<ol type="a"><li><p></p><pre><code>x\n\n  y</code></pre></li></ol>')).toBe(
      '<ol type="a"><li><p></p><pre><code>x&#10;&#10; &#32;y</code></pre></li></ol>\n',
    )
    expect(markdown('<div data-bibliography data-bib-html="a\n\nb"></div>')).toBe(
      '<div data-bibliography data-bib-html="a&#10;&#10;b"></div>\n',
    )
  })

  it('[PROSE-38] runs without a Markdown form are written as HTML around Markdown', () => {
    expect(p('<u>a </u><strong><u>b</u></strong> H<sub>2</sub>O x<sup>2</sup>')).toBe(
      '<u>a **b**</u> H<sub>2</sub>O x<sup>2</sup>\n',
    )
    expect(p('<mark style="background-color: #ff0">a</mark> <mark>b</mark> <span style="color: red">c</span>')).toBe(
      '<mark style="background-color: #ff0">a</mark> <mark>b</mark> <span style="color: red">c</span>\n',
    )
    expect(p('x <span data-citation data-ref-id="r" data-label="A*">A*</span>')).toBe(
      'x <span data-citation data-ref-id="r" data-label="A*">A\\*</span>\n',
    )
    expect(p('<span data-field data-name="a{b" data-label="c">c</span>')).toBe(
      '<span data-field data-name="a{b" data-label="c">c</span>\n',
    )
    expect(p('<span data-math-inline data-latex=" x"></span>')).toBe('<span data-math-inline data-latex=" x"></span>\n')
  })

  it('[PROSE-38] delimiters of emphasis are written only where they are read as such', () => {
    expect(p('<strong>a </strong>b')).toBe('<strong>a </strong>b\n')
    expect(p('a<strong>b</strong>c')).toBe('a**b**c\n')
    expect(p('a<strong>.</strong>c')).toBe('a<strong>.</strong>c\n')
    expect(p('<strong>a</strong><em>b</em>')).toBe('**a**_b_\n')
    expect(p('<strong>a</strong><em>b</em>c')).toBe('**a**<em>b</em>c\n')
    expect(p('<em>a </em><strong><em>b</em></strong><em> c</em>')).toBe('*a **b** c*\n')
    expect(p('<em>a</em><s>b</s>')).toBe('*a*~~b~~\n')
    expect(p('<strong>✅ a</strong>')).toBe('**✅ a**\n')
    expect(p('<strong><code>a</code></strong>')).toBe('**`a`**\n')
    expect(p('<code>a`b</code> <code>`</code> <code> c </code> <code> </code>')).toBe('``a`b`` `` ` `` `  c  ` ` `\n')
  })

  it('[PROSE-39] text that would be read as markup is escaped, other text is not', () => {
    for (const [text, written] of [
      ['2 * 3 * 4 snake_case a-b (c) x! ~5', '2 * 3 * 4 snake_case a-b (c) x! ~5'],
      ['*a* _b_ `c` ~~d~~', '\\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~'],
      ['[a](b) ![c](d)', '\\[a](b) !\\[c](d)'],
      ['{{a}} {b}', '\\{{a}} {b}'],
      ['$5 and $a$', '\\$5 and \\$a\\$'],
      ['cost: $5', 'cost: $5'],
      ['&lt;b> &amp;amp; a &amp; b', '\\<b> \\&amp; a & b'],
      ['[!NOTE]', '\\[!NOTE]'],
      ['# a', '\\# a'],
      ['#a', '#a'],
      ['> a', '\\> a'],
      ['- a', '\\- a'],
      ['-5', '-5'],
      ['---', '\\---'],
      ['+ a', '\\+ a'],
      ['1. a', '1\\. a'],
      ['1.5', '1.5'],
      ['12) a', '12\\) a'],
      ['a\\b', 'a\\\\b'],
      [' a  b\n', '&#32;a &#32;b&#10;'],
      ['a<br>---', 'a\\\n\\---'],
      ['a | b<br>| - |', 'a | b\\\n\\| - |'],
      ['<br>a<br><br>b<br>', '<br>a<br><br>b<br>'],
    ])
      expect(p(text as string)).toBe(`${written}\n`)
    expect(markdown('<h2>a #<br>b #</h2>')).toBe('## a #<br>b \\#\n')
  })

  it('[PROSE-39] adjacent blocks are written so that they are read as separate blocks', () => {
    expect(markdown('<ul><li><p>a</p></li></ul><ul><li><p>b</p></li></ul>')).toBe('- a\n\n* b\n')
    expect(markdown('<ol><li><p>a</p></li></ol><ol><li><p>b</p></li></ol>')).toBe('1. a\n\n1) b\n')
    expect(markdown('<blockquote><p>a</p></blockquote><blockquote><p>b</p></blockquote>')).toBe('> a\n\n> b\n')
    expect(markdown('<ul><li><p></p><hr></li><li><p></p><p>a</p></li><li><p></p></li></ul>')).toBe(
      '-\n  ---\n\n- <p></p>\n\n  a\n\n-\n',
    )
    expect(markdown('<ul><li><p>a</p><ul><li><p></p></li></ul></li></ul>')).toBe('- a\n\n  -\n')
    expect(markdown('<ul><li><p>a</p><ol start="2"><li><p>b</p></li></ol></li></ul>')).toBe('- a\n\n  2. b\n')
    expect(markdown('<ul><li><p style="text-align: right">a</p><ul><li><p>b</p></li></ul></li></ul>')).toBe(
      '- <p style="text-align: right">a</p>\n\n  - b\n',
    )
    expect(markdown('<pre><code>```\n````</code></pre>')).toBe('`````\n```\n````\n`````\n')
    expect(markdown('<p></p>')).toBe('')
  })

  // Inputs of former bugs: each was read back as something else.
  it.each([
    ['a code span between spaces around a line separator', '<p><code> \u20281. </code></p>'],
    ['a dollar sign after math', '<p><span data-math-inline data-latex="x"></span>$ \\</p>'],
    ['paragraphs of one hard break', '<p><br></p><p><br></p>'],
    ['a link that begins like a definition', '<p><a href="x"><code>]:-:</code></a></p>'],
  ])('[PROSE-39] %s is written so that it reads back equal', (_, html) => {
    markdown(html)
  })

  it('[PROSE-41] [AG-12] a comment with its stamped name stands before each text block at any depth, and before each block at the top level', () => {
    const page =
      '<h2 id="blk-1">a</h2><p id="blk-2" style="text-align: center">b</p><pre id="blk-3"><code>c</code></pre><ul><li><p id="blk-4">d</p><p id="blk-5">e</p></li></ul>' +
      '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p id="blk-6">f</p></li><li data-type="taskItem" data-checked="false"><p id="blk-7"></p></li></ul>' +
      '<ul><li><p id="blk-8"></p></li></ul><blockquote><p id="blk-9">g</p><p></p></blockquote><p id="x --> y">h</p><hr>' +
      '<div data-callout data-variant="tip"><p id="blk-10">i</p><table><tr><th><p id="blk-11"></p></th><th><p>j</p></th></tr></table></div>'
    expect(markdown(page, 'bare')).toBe(`<!-- blk-1 -->
## a

<!-- blk-2 -->
<p style="text-align: center">b</p>

<!-- blk-3 -->
\`\`\`
c
\`\`\`

<!-- @3 -->
- <!-- blk-4 -->
  d

  <!-- blk-5 -->
  e

<!-- @4 -->
* <!-- blk-6 -->
  [x] f
* <!-- blk-7 -->
  [ ]

<!-- @5 -->
- <!-- blk-8 -->
  <p></p>

<!-- @6 -->
> <!-- blk-9 -->
> g
>
> <!-- @6.1 -->
> <p></p>

<!-- @7 -->
h

<!-- @8 -->
---

<!-- @9 -->
> [!TIP]
> <!-- blk-10 -->
> i
>
> | <!-- blk-11 --> | <!-- @9.1.0.1.0 --> j |
> | --- | --- |
`)
    expect(
      markdown(page, 'stamped')
        .split('\n')
        .filter((line) => line.includes('<!--')),
    ).toMatchInlineSnapshot(`
      [
        "<!-- blk-1#rp2z -->",
        "<!-- blk-2#zfxy -->",
        "<!-- blk-3#jjcr -->",
        "<!-- @3#49sh -->",
        "- <!-- blk-4#k65f -->",
        "  <!-- blk-5#3ja0 -->",
        "<!-- @4#edv8 -->",
        "* <!-- blk-6#ppwe -->",
        "* <!-- blk-7#bk6k -->",
        "<!-- @5#k0r0 -->",
        "- <!-- blk-8#bk6k -->",
        "<!-- @6#ed64 -->",
        "> <!-- blk-9#b8s0 -->",
        "> <!-- @6.1#bk6k -->",
        "<!-- @7#3me2 -->",
        "<!-- @8#w5kg -->",
        "<!-- @9#kgth -->",
        "> <!-- blk-10#kxaj -->",
        "> | <!-- blk-11#bk6k --> | <!-- @9.1.0.1.0#g7kg --> j |",
      ]
    `)
    expect(markdown(page)).not.toContain('blk-')
    expect(markdown('<table><tr><td><p id="blk-1">a</p></td></tr></table>')).not.toContain('blk-')
  })
})

describe('the first part of a page within a size limit', () => {
  const blocks = parseHtml(
    '<h1>T</h1><p>words</p><ul><li><p>one</p></li></ul><ul><li><p>two</p></li></ul><p>é</p><hr><p>end</p>',
    { source: 'stored' },
  ).tree
  const bytes = (text: string) => new TextEncoder().encode(text).length

  it('[RES-8] the first part of a Markdown page is its first blocks with an end note, or the whole page if it fits', () => {
    const whole = serialiseMarkdown(blocks)
    const prefixes = blocks.map((_, index) => serialiseMarkdown(blocks.slice(0, index)))
    for (let most = 6; most <= bytes(whole); most++) {
      const fitting = prefixes.filter((prefix) => bytes(prefix) + 3 <= most).at(-1) as string
      const expected = most === bytes(whole) ? whole : `${fitting.trimEnd()}END`
      expect(serialiseMarkdownWithin(blocks, most, 'END')).toBe(expected)
    }
  })

  it('[RES-8] the first part of a Markdown page ends before the first block that does not fit', () => {
    let taken = 0
    const endless = function* () {
      for (;;) {
        taken++
        yield* parseHtml('<p>words</p>', { source: 'stored' }).tree
      }
    }
    expect(serialiseMarkdownWithin(endless(), 70, '!')).toBe(`${Array.from({ length: 10 }, () => 'words').join('\n\n')}!`)
    expect(taken).toBe(11)
  })
})
