import { describe, expect, it } from 'vitest'
import { serialiseHtml } from './html.ts'
import { parseMarkdown } from './markdown-read.ts'

function html(text: string): string {
  return serialiseHtml(parseMarkdown(text).tree)
}

/** The fixes as `action field? nodeType`. */
function fixes(text: string): string[] {
  return parseMarkdown(text).fixes.map((fix) => `${fix.action} ${fix.field ?? '-'} ${fix.nodeType}`)
}

const field = (name: string) => `<span data-field data-name="${name}"></span>`
const math = (latex: string) => `<span data-math-inline data-latex="${latex}"></span>`
const mathBlock = (latex: string) => `<div data-math-block data-latex="${latex}"></div>`
const callout = (variant: string, content: string) => `<div data-callout data-variant="${variant}">${content}</div>`
const tasks = (...items: readonly [boolean, string][]) =>
  `<ul data-type="taskList">${items.map(([checked, text]) => `<li data-type="taskItem" data-checked="${checked}"><p>${text}</p></li>`).join('')}</ul>`

describe('reading Markdown', () => {
  it('[PROSE-25] only CommonMark, tables, strikethrough and task boxes are read as markup', () => {
    expect(html('see https://x.y and www.x.y')).toBe('<p>see https://x.y and www.x.y</p>')
    expect(html('<https://x.y>')).toBe('<p><a href="https://x.y">https://x.y</a></p>')
    expect(html('a[^1]\n\n[^1]: note')).toBe('<p>a<a href="note">^1</a></p>')
    expect(html('"q" -- (c) ...')).toBe('<p>"q" -- (c) ...</p>')
    expect(html('# a {#id .class}')).toBe('<h1>a {#id .class}</h1>')
    expect(html('[[page]]')).toBe('<p>[[page]]</p>')
    expect(html('---\na: b\n---')).toBe('<hr><h2>a: b</h2>')
  })

  it('[PROSE-25] raw HTML is read by the HTML reader, also with Markdown between its tags', () => {
    expect(html('<div data-callout data-variant="tip">\n\n**a**\n\n- b\n\n</div>\n\nc')).toBe(
      `${callout('tip', '<p><strong>a</strong></p><ul><li><p>b</p></li></ul>')}<p>c</p>`,
    )
    expect(html('a <u>b *c* d</u> e')).toBe('<p>a <u>b </u><em><u>c</u></em><u> d</u> e</p>')
    expect(html('*a <u>b* c</u>')).toBe('<p><em>a </em><em><u>b</u></em><u> c</u></p>')
    expect(html('<b>\n\na\n\n</b>\n\nc')).toBe('<p><strong>a</strong></p><p>c</p>')
    expect(html('a <div>b</div> c')).toBe('<p>a</p><p>b</p><p>c</p>')
    expect(html('# a <span style="color: red">b</span>')).toBe('<h1>a <span style="color: red">b</span></h1>')
    expect(html('| a |\n| - |\n| <u>b</u><br>c |')).toBe(
      '<table><tr><th><p>a</p></th></tr><tr><td><p><u>b</u><br>c</p></td></tr></table>',
    )
    expect(html('<details>\n<summary>s</summary>\n\n```js\nx\n```\n\n</details>')).toBe(
      '<p>s</p><pre><code class="language-js">x</code></pre>',
    )
    expect(fixes('<details>\n\na\n\n</details>')).toEqual(['unwrapped - details'])
    expect(html('<script>\n\nalert(1)\n\n</script>\n\na')).toBe('<p>a</p>')
    expect(html('a <!-- b --> c\n\n<!-- d\n\ne -->\n\nf')).toBe('<p>a c</p><p>f</p>')
    expect(html('<pre>\n\n*a*\n</pre>')).toBe('<pre><code>\n*a*\n</code></pre>')
    expect(html('<div><pre>\n\n*a*\n\n</pre></div>')).toContain('a')
    expect(html('<table>\n<tr>\n<td>\n\n**a**\n\n</td>\n</tr>\n</table>')).toBe(
      '<table><tr><td><p><strong>a</strong></p></td></tr></table>',
    )
    expect(html('<ul>\n<li>\n\na\n\n- b\n\n</li>\n</ul>')).toBe('<ul><li><p>a</p><ul><li><p>b</p></li></ul></li></ul>')
  })

  it('[PROSE-25] Markdown between tags is kept whatever the tags are', () => {
    expect(html('<div data-gallery>\n\n![a](b)\n\n</div>')).toBe(
      '<div data-gallery data-layout="grid"><div class="gallery-items"><img src="b" alt="a"></div></div>',
    )
    expect(html('<div title="\n\n**a**\n\n- b')).toBe('<p><strong>a</strong></p><ul><li><p>b</p></li></ul>')
    expect(fixes('<div title="\n\n**a**')).toEqual(['dropped_invalid - html'])
    expect(html('<xmp>\n\n**a**\n\n</xmp>\n\nb')).toBe('<p>a</p><p>b</p>')
    expect(html('<plaintext>\n\n**a**')).toBe('<p>a</p>')
    expect(html('<noscript>\n\na\n\n</noscript>\n\nb')).toBe('<p>b</p>')
    expect(fixes('<noscript>\n\na\n\n</noscript>')).toEqual(['dropped_unknown - noscript'])
  })

  it('[PROSE-12] a disallowed inline element is removed with its content, whatever that content is', () => {
    const others = [
      'script',
      'style',
      'template',
      'noscript',
      'iframe',
      'object',
      'svg',
      'math',
      'head',
      'title',
      'select',
      'textarea',
    ]
    for (const tag of others) {
      const line = `a *b* <${tag} x="1">c *d* {{e}} <option>f</option> ![g](h)</${tag}> **i**`
      expect(html(line), tag).toBe('<p>a <em>b</em> <strong>i</strong></p>')
      expect(fixes(line), tag).toEqual([`dropped_unknown - ${tag}`])
      expect(html(`# a <${tag}>b</${tag}> c\n\n| d <${tag.toUpperCase()}>e</${tag}> |\n|-|`), tag).toBe(
        '<h1>a c</h1><table><tr><th><p>d</p></th></tr></table>',
      )
    }
    expect(html('a <svg><svg>b</svg>c</svg> d <svg>e</svg> f')).toBe('<p>a d f</p>')
  })

  it('[PROSE-12] [PROSE-25] a disallowed tag without an end tag in its text block is removed alone, with a fix', () => {
    for (const tag of [
      'script',
      'style',
      'template',
      'iframe',
      'object',
      'embed',
      'svg',
      'math',
      'head',
      'title',
      'select',
      'textarea',
    ]) {
      expect(html(`The <${tag}> of *a*\n\nb`), tag).toBe('<p>The of <em>a</em></p><p>b</p>')
      expect(fixes(`The <${tag}> of *a*`), tag).toEqual([`dropped_unknown - ${tag}`])
      expect(html(`a <${tag}/> b </${tag}> c`), tag).toBe('<p>a b c</p>')
    }
    expect(html('a <svg> b <svg>c</svg> d')).toBe('<p>a b d</p>')
    expect(html('`<svg>` a `</svg>` b')).toBe('<p><code>&lt;svg&gt;</code> a <code>&lt;/svg&gt;</code> b</p>')
  })

  it('[PROSE-25] Markdown after void tags in a line is kept', () => {
    expect(html('a *b* <xmp> c *d*')).toContain('<em>b</em>')
    expect(html('a <plaintext> *b*')).toContain('b')
  })

  it('[PROSE-25] [PROSE-15] white space collapses, except when written as a character reference', () => {
    expect(html('a  b\tc')).toBe('<p>a b c</p>')
    expect(html('&#32;a &#32;b&#10;c&#x20;')).toBe('<p> a  b\nc </p>')
    expect(html('`a  b`')).toBe('<p><code>a  b</code></p>')
    expect(html('\u00a0a')).toBe('<p>\u00a0a</p>')
    expect(html('<p style="text-align: center">&#32;a &#32;b</p>')).toBe('<p style="text-align: center"> a  b</p>')
    expect(html('<p> a  b </p>')).toBe('<p>a b</p>')
    expect(html('a\r\nb\0c\rd')).toBe('<p>a bc d</p>')
  })

  it('[PROSE-26] ~~x~~ is read as strikethrough', () => {
    expect(html('~~x~~ ~y~ **a ~~b~~**')).toBe('<p><s>x</s> ~y~ <strong>a </strong><strong><s>b</s></strong></p>')
  })

  it('[PROSE-27] items with boxes are task items', () => {
    expect(html('- [x] a\n- [ ] b\n- [X] c')).toBe(tasks([true, 'a'], [false, 'b'], [true, 'c']))
    expect(html('- [x]\n- [ ]')).toBe(tasks([true, ''], [false, '']))
    expect(html('- [x]a\n- [y] b\n- \\[x] c')).toBe('<ul><li><p>[x]a</p></li><li><p>[y] b</p></li><li><p>[x] c</p></li></ul>')
    expect(html('- [x] a\n\n  b')).toBe(
      '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>a</p><p>b</p></li></ul>',
    )
    expect(fixes('- [x] a\n- [ ] b')).toEqual([])
  })

  it('[PROSE-27] each run of items with or without a box is its own list, and lists with boxes have no numbers', () => {
    expect(html('- a\n- [x] b\n- [ ] c\n- d')).toBe(
      `<ul><li><p>a</p></li></ul>${tasks([true, 'b'], [false, 'c'])}<ul><li><p>d</p></li></ul>`,
    )
    expect(html('3. a\n4. [x] b\n5. c')).toBe(
      `<ol start="3"><li><p>a</p></li></ol>${tasks([true, 'b'])}<ol start="5"><li><p>c</p></li></ol>`,
    )
    expect(fixes('3. a\n4. [x] b\n5. c')).toEqual(['unwrapped - taskList'])
  })

  it('[PROSE-28] a table has its alignment on every cell of the column, header cells, and one paragraph per cell', () => {
    expect(html('| a | b | c |\n| :-- | :-: | --: |\n| 1 | 2 |')).toBe(
      '<table><tr><th style="text-align: left"><p>a</p></th><th style="text-align: center"><p>b</p></th><th style="text-align: right"><p>c</p></th></tr>' +
        '<tr><td style="text-align: left"><p>1</p></td><td style="text-align: center"><p>2</p></td><td style="text-align: right"><p></p></td></tr></table>',
    )
    expect(html('a | b\n-- | --\n`x\\|y` | **z**')).toBe(
      '<table><tr><th><p>a</p></th><th><p>b</p></th></tr><tr><td><p><code>x|y</code></p></td><td><p><strong>z</strong></p></td></tr></table>',
    )
    expect(fixes('| a | b |\n| - | - |\n| 1 |')).toEqual([])
  })

  it('[PROSE-29] the first word after a fence is the language, and the last newline is not part of the code', () => {
    expect(html('```js title="x"\na\n\nb\n```')).toBe('<pre><code class="language-js">a\n\nb</code></pre>')
    expect(html('~~~\n```\n\n~~~')).toBe('<pre><code>```\n</code></pre>')
    expect(html('```\n```')).toBe('<pre><code></code></pre>')
    expect(html('    a\n      b\n')).toBe('<pre><code>a\n  b</code></pre>')
    expect(html('```{r}\nx\n```')).toBe('<pre><code>x</code></pre>')
    expect(fixes('```{r}\nx\n```')).toEqual(['dropped_invalid language codeBlock'])
    expect(html('```\nnot closed\n*a*')).toBe('<pre><code>not closed\n*a*</code></pre>')
  })

  it('[PROSE-30] a soft break is read as a space, a hard break as a hardBreak', () => {
    expect(html('a\nb')).toBe('<p>a b</p>')
    expect(html('a  \nb\\\n  c')).toBe('<p>a<br>b<br>c</p>')
    expect(html('a<br>b')).toBe('<p>a<br>b</p>')
  })

  it('[PROSE-31] [PROSE-22] a link around content without text is dropped with a fix', () => {
    for (const inner of ['![i](s)', '{{n}}', '$x$', '<img src="s">', '**{{n}}**'])
      expect(fixes(`a [${inner}](l)`)).toEqual(['dropped_invalid href link'])
    expect(fixes('[a](l)![i](s)')).toEqual([])
    for (const inner of ['a {{n}}', '*a* ![i](s)', '`a`', '<b>a</b>']) expect(fixes(`[${inner}](l)`)).toEqual([])
    expect(html('[![i](s)](l)')).toBe('<img src="s" alt="i">')
  })

  it('[PROSE-31] images are lifted to block level', () => {
    expect(html('![alt *text*](src "title")')).toBe('<img src="src" alt="alt text" title="title">')
    expect(html('a ![b](c) d')).toBe('<p>a</p><img src="c" alt="b"><p>d</p>')
    expect(html('- ![b](c)')).toBe('<ul><li><p></p><img src="c" alt="b"></li></ul>')
    expect(html('[![b](c)](d)')).toBe('<img src="c" alt="b">')
    expect(html('![{{x}} $y$](c)')).toBe('<img src="c" alt="{{x}} $y$">')
    expect(html(`![](blob://${'0f'.repeat(32)})`)).toBe(`<img src="blob://${'0f'.repeat(32)}">`)
    expect(html('a ![b](javascript:x)')).toBe('<p>a</p>')
    expect(fixes('a ![b](javascript:x) ![b]()')).toEqual(['dropped_invalid src image', 'dropped_invalid src image'])
  })

  it('[PROSE-32] {{name}} in text is read as a field', () => {
    expect(html('a {{ due date }} b')).toBe(`<p>a ${field('due date')} b</p>`)
    expect(html('**{{x}}** [{{y}}](z) # {{w}}')).toBe(`<p>${field('x')} ${field('y')} # ${field('w')}</p>`)
    expect(html('| {{x}} |\n| - |')).toBe(`<table><tr><th><p>${field('x')}</p></th></tr></table>`)
    for (const literal of ['{{}}', '{{ }}', '{{a{b}}', '{{a}', '{a}}', '\\{{a}}', '{{a b}'])
      expect(html(literal)).toBe(`<p>${literal.replace('\\', '')}</p>`)
    expect(html('{{a\nb}}')).toBe('<p>{{a b}}</p>')
    expect(html('{{{a}}}')).toBe(`<p>{${field('a')}}</p>`)
    expect(html('`{{a}}` $b{{a}}$')).toBe(`<p><code>{{a}}</code> ${math('b{{a}}')}</p>`)
    expect(html('```\n{{a}}\n```')).toBe('<pre><code>{{a}}</code></pre>')
    expect(html('<a href="{{a}}">b</a>')).toBe('<p><a href="{{a}}">b</a></p>')
  })

  it('[PROSE-33] $…$ is read as inline math', () => {
    expect(html('a $x_1 * y_2$ b')).toBe(`<p>a ${math('x_1 * y_2')} b</p>`)
    expect(html('$a$ and $b$, $c$')).toBe(`<p>${math('a')} and ${math('b')}, ${math('c')}</p>`)
    expect(html('$a \\$ b$ $\\{x\\}$ $<b>`$')).toBe(`<p>${math('a \\$ b')} ${math('\\{x\\}')} ${math('&lt;b&gt;`')}</p>`)
    for (const literal of ['costs $5 or $6', '$ a$', '$a $', '$$a$$ b', '$a', 'a$', '$a $$b$$ c'])
      expect(html(literal)).toBe(`<p>${literal}</p>`)
    expect(html('\\$a$ b')).toBe('<p>$a$ b</p>')
    expect(html('$a\nb$')).toBe('<p>$a b$</p>')
    expect(html('`$a$`')).toBe('<p><code>$a$</code></p>')
  })

  it('[PROSE-34] $$…$$ is read as a block of math', () => {
    expect(html('$$ x^2 $$')).toBe(mathBlock('x^2'))
    expect(html('$$\n\n a\n\n  b\n\n$$')).toBe(mathBlock(' a\n\n  b'))
    expect(html('a\n$$\nx\n$$\nb')).toBe(`<p>a</p>${mathBlock('x')}<p>b</p>`)
    expect(html('- a\n\n  $$\n  x\n  $$\n\n> $$\n> y\n> $$')).toBe(
      `<ul><li><p>a</p>${mathBlock('x')}</li></ul><blockquote>${mathBlock('y')}</blockquote>`,
    )
    expect(html('$$\nx\n\ny')).toBe('<p>$$ x</p><p>y</p>')
    expect(html('> $$\n> x\n\n$$\ny')).toBe('<blockquote><p>$$ x</p></blockquote><p>$$ y</p>')
    expect(html('```\n$$\nx\n$$\n```')).toBe('<pre><code>$$\nx\n$$</code></pre>')
    expect(html('    $$\n    x\n    $$')).toBe('<pre><code>$$\nx\n$$</code></pre>')
  })

  it.each([
    ['NOTE', 'note'],
    ['TIP', 'tip'],
    ['WARNING', 'warning'],
    ['CAUTION', 'danger'],
    ['DANGER', 'danger'],
    ['IMPORTANT', 'note'],
  ])('[PROSE-35] [!%s] is read as a callout', (word, variant) => {
    for (const spelling of [word, word.toLowerCase()]) {
      expect(html(`> [!${spelling}]\n> a *b*\n>\n> - c`)).toBe(callout(variant, '<p>a <em>b</em></p><ul><li><p>c</p></li></ul>'))
    }
  })

  it('[PROSE-35] [!NAME] makes a callout only as the whole first line of a quote', () => {
    expect(html('> [!NOTE]')).toBe(callout('note', '<p></p>'))
    expect(html('> [!NOTE]\n>\n> ```\n> a\n> ```')).toBe(callout('note', '<pre><code>a</code></pre>'))
    expect(html('> [!TIP]\n> > [!NOTE]\n> > a')).toBe(callout('tip', callout('note', '<p>a</p>')))
    for (const text of ['[!INFO]', '[!NOTE] a', 'a [!NOTE]', '\\[!NOTE]'])
      expect(html(`> ${text}`)).toBe(`<blockquote><p>${text.replace('\\', '')}</p></blockquote>`)
  })

  it('[PROSE-36] headings, rules, quotes, emphasis, code spans and links are read', () => {
    expect(html('# a\n\nb\n===\n\nc\n---\n\n###### d ##\n\n#\n\n#e')).toBe(
      '<h1>a</h1><h1>b</h1><h2>c</h2><h6>d</h6><h1></h1><p>#e</p>',
    )
    expect(html('***\n\n- - -\n\n___')).toBe('<hr><hr><hr>')
    expect(html('> a\nb\n> > c\n\nd')).toBe('<blockquote><p>a b</p><blockquote><p>c</p></blockquote></blockquote><p>d</p>')
    expect(html('***a** b* __c__ _d_ e_f_g')).toBe(
      '<p><strong><em>a</em></strong><em> b</em> <strong>c</strong> <em>d</em> e_f_g</p>',
    )
    expect(html('`` a`b `` `*c*`')).toBe('<p><code>a`b</code> <code>*c*</code></p>')
    expect(html('[a *b*](<c d> "e") [f][G] [g]\n\n[g]: https://h "i"')).toBe(
      '<p><a href="c d">a </a><a href="c d"><em>b</em></a> <a href="https://h">f</a> <a href="https://h">g</a></p>',
    )
    expect(html('&copy; &amp;lt; \\& &nope; \\*a\\*')).toBe('<p>© &amp;lt; &amp; &amp;nope; *a*</p>')
  })

  it('[PROSE-36] every item has paragraphs, in tight and loose lists', () => {
    expect(html('- a\n- b')).toBe('<ul><li><p>a</p></li><li><p>b</p></li></ul>')
    expect(html('- a\n\n- b\n\n  c')).toBe('<ul><li><p>a</p></li><li><p>b</p><p>c</p></li></ul>')
    expect(html('- a\n  - b\n    1. c\n- d')).toBe(
      '<ul><li><p>a</p><ul><li><p>b</p><ol><li><p>c</p></li></ol></li></ul></li><li><p>d</p></li></ul>',
    )
    expect(html('7. a\n8. b')).toBe('<ol start="7"><li><p>a</p></li><li><p>b</p></li></ol>')
    expect(html('- a\n* b\n\n1. c\n1) d')).toBe(
      '<ul><li><p>a</p></li></ul><ul><li><p>b</p></li></ul><ol><li><p>c</p></li></ol><ol><li><p>d</p></li></ol>',
    )
    expect(html('- # a\n- > b\n-')).toBe(
      '<ul><li><p>a</p></li><li><p></p><blockquote><p>b</p></blockquote></li><li><p></p></li></ul>',
    )
    expect(html('- a\nb\n\n      c')).toBe('<ul><li><p>a b</p><pre><code>c</code></pre></li></ul>')
  })

  it('[PROSE-18] [PROSE-19] links follow the rules of HTML links, and are stored as written', () => {
    const kept = ['https://x/ä?a=b c&d', 'mailto:a@b', '#f', `blob://${'a'.repeat(64)}`, 'app://heading/p/id:b', 'a%20b']
    for (const url of kept) expect(html(`[a](<${url}>)`)).toBe(`<p><a href="${url.replace('&', '&amp;')}">a</a></p>`)
    expect(html('[a](javascript:x) <vbscript:y>')).toBe('<p>a vbscript:y</p>')
    expect(fixes('[a](javascript:x) [b]() [c](d "e")')).toEqual([
      'dropped_invalid href link',
      'dropped_invalid href link',
      'dropped_unknown title link',
    ])
  })

  it('[PROSE-25] [PROSE-46] [AG-16] comments and raw HTML bring ids when they have the form of the relay', () => {
    expect(html('<!-- blk-1 -->\na\n\n<p id="blk-2">b</p>\n\n<p id="mine">&#32;c</p>\n\n<!-- mine -->\nd')).toBe(
      '<p id="blk-1">a</p><p id="blk-2">b</p><p> c</p><p>d</p>',
    )
  })

  it('[PROSE-H21] empty Markdown is one empty paragraph', () => {
    for (const text of ['', '\n\n', '<!-- a -->', '[a]: b'])
      expect(parseMarkdown(text).tree).toEqual([{ type: 'paragraph', attrs: {}, content: [] }])
  })
})
