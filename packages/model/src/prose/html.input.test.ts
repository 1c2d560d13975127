import { describe, expect, it } from 'vitest'
import type { Fix } from '../edit.ts'
import { parseHtml, serialiseHtml } from './html.ts'

const blob = `blob://${'0f'.repeat(32)}`

function call(html: string): string {
  return serialiseHtml(parseHtml(html, { source: 'call' }).tree)
}

function stored(html: string): string {
  return serialiseHtml(parseHtml(html, { source: 'stored' }).tree)
}

/** The fixes as `action field?` with the node concerned. */
function fixes(html: string): string[] {
  return parseHtml(html, { source: 'call' }).fixes.map((fix: Fix) => `${fix.action} ${fix.field ?? '-'} ${fix.nodeType}`)
}

describe('reading HTML', () => {
  it('[PROSE-18] [PROSE-20] [TOOL-17] the fix for a dropped value names the allowed values', () => {
    const reasons = parseHtml('<img src="blob://x"><p><a href="x:y">a</a></p>', { source: 'call' }).fixes.map(
      ({ reason }) => reason,
    )
    expect(reasons).toEqual([
      'src has a value that is not allowed; allowed: https, http, a relative URL, blob:// and a hash, or data:image/ in Base64',
      'href has a value that is not allowed; allowed: https, http, mailto, tel, a relative URL, a # fragment, relay://doc/<id> with or without /page/<pageId> and #<blockId>, or blob:// and a hash',
    ])
  })

  it('[PROSE-10] entities, comments, quotes and implied tags are parsed as in WHATWG HTML', () => {
    expect(call('<p>&copy;&#x41;&lt;b&gt; &notit; &amp;amp;<!-- x --></p>')).toBe('<p>©A&lt;b&gt; ¬it; &amp;amp;</p>')
    expect(call('<img alt="a > b" src=x>')).toBe('<img src="x" alt="a &gt; b">')
    expect(call('<p>a<p>b<ul><li>c<li>d</ul>')).toBe('<p>a</p><p>b</p><ul><li><p>c</p></li><li><p>d</p></li></ul>')
    expect(call('<table><tr><td>a<td>b</table>')).toBe('<table><tr><td><p>a</p></td><td><p>b</p></td></tr></table>')
    expect(call('<b>a<p>b</b>c')).toBe('<p><strong>a</strong></p><p><strong>b</strong>c</p>')
    expect(call('<table>a<tr><td>b</table>')).toBe('<p>a</p><table><tr><td><p>b</p></td></tr></table>')
  })

  it('[PROSE-11] grouping elements and the checkbox markup of task items are read through without a fix', () => {
    expect(call('<html><body><p>a</p></body></html>')).toBe('<p>a</p>')
    const table =
      '<table><colgroup><col></colgroup><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody><tfoot></tfoot></table>'
    expect(call(table)).toBe('<table><tr><th><p>a</p></th></tr><tr><td><p>b</p></td></tr></table>')
    const item =
      '<li data-type="taskItem" data-checked="true"><label><input type="checkbox" checked="checked"><span></span></label><div><p>a</p></div></li>'
    expect(call(`<ul data-type="taskList">${item}</ul>`)).toBe(
      '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>a</p></li></ul>',
    )
    for (const html of [
      '<body><p>a</p></body>',
      table,
      `<ul data-type="taskList">${item}</ul>`,
      '<div data-gallery><div><img src=a></div></div>',
    ]) {
      expect(fixes(html)).toEqual([])
    }
    expect(call('<section><p>a</p><custom-tag>b</custom-tag></section>')).toBe('<p>a</p><p>b</p>')
    expect(fixes('<section><p>a</p><custom-tag>b</custom-tag></section>')).toEqual([
      'unwrapped - section',
      'unwrapped - custom-tag',
    ])
    expect(call('<div>a</div><div>b</div>')).toBe('<p>a</p><p>b</p>')
  })

  it.each(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'svg', 'math', 'title', 'select', 'textarea'])(
    '[PROSE-12] %s is removed with its content',
    (tag) => {
      const html = `<p>a</p><${tag}>evil<p>x</p></${tag}><p>b</p>`
      const out = call(html)
      expect(out).not.toContain('evil')
      expect(out).toMatch(/^<p>a<\/p>(<p>x<\/p>)?<p>b<\/p>$/)
      expect(fixes(html)).toContain(`dropped_unknown - ${tag}`)
    },
  )

  it('[PROSE-12] the tag embed is removed alone, and a title inside head is removed with its text', () => {
    expect(call('<p>a<embed src=x>b</p>')).toBe('<p>ab</p>')
    expect(call('<head><title>t</title></head><p>a</p>')).toBe('<p>a</p>')
  })

  it('[PROSE-13] other tags for marks are accepted, and a span without colour is ignored', () => {
    expect(call('<b>a</b><i>b</i><ins>c</ins><del>d</del><strike>e</strike>')).toBe(
      '<p><strong>a</strong><em>b</em><u>c</u><s>de</s></p>',
    )
    expect(call('<p><span class="x" style="font-weight: bold">a</span></p>')).toBe('<p>a</p>')
    expect(fixes('<p><span class="x" style="font-weight: bold">a</span><span style="color: nocolour">b</span></p>')).toEqual([])
    const task = (checked: string) =>
      call(`<ul data-type="taskList"><li data-type="taskItem"${checked}><p>a</p></li></ul>`).includes('"true"')
    expect([task(' data-checked="true"'), task(' data-checked'), task(' data-checked="false"'), task('')]).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it('[PROSE-14] a custom atom without its key attribute becomes its text', () => {
    const html =
      '<p>a <span data-citation data-locator="1">Doe</span> <span data-field>F</span> <span data-math-inline>m</span></p>'
    expect(call(html)).toBe('<p>a Doe F m</p>')
    expect(fixes(html)).toEqual(['unwrapped - citationInline', 'unwrapped - fieldRef', 'unwrapped - mathInline'])
    expect(call('<div data-math-block>x</div><span data-file-ref data-file-name="n">n</span>')).toBe('<p>x</p><p>n</p>')
  })

  it('[FILE-2] a file chip with a bare hash is kept with its URL', () => {
    const chip = (reference: string) => `<p><span data-file-ref data-blob-ref="${reference}" data-file-name="a">a</span></p>`
    const hash = 'a1'.repeat(32)
    expect([call(chip(hash)), fixes(chip(hash))]).toEqual([chip(`blob://${hash}`), []])
    expect(call(chip(hash.toUpperCase()))).toBe('<p>a</p>')
  })

  it('[PROSE-15] white space of a call collapses and is trimmed at block edges and hard breaks, not at atoms', () => {
    expect(call('<p>\n a \t b <br> c </p>')).toBe('<p>a b<br>c</p>')
    expect(call('<p>a <b> b</b> <i> </i>c</p>')).toBe('<p>a <strong>b</strong> c</p>')
    expect(call('<p> <span data-field data-name="n"></span> a\u00a0 </p>')).toBe(
      '<p><span data-field data-name="n"></span> a\u00a0</p>',
    )
    expect(call('<ul>\n  <li>\n a\n </li>\n</ul>\n')).toBe('<ul><li><p>a</p></li></ul>')
  })

  it('[PROSE-15] white space of stored text blocks and of all code is kept', () => {
    expect(stored('<p> a  b\n</p>')).toBe('<p> a  b\n</p>')
    expect(stored('<ul>\n <li> <p> a</p> </li>\n</ul>')).toBe('<ul><li><p> a</p></li></ul>')
    expect(call('<pre><code>  a\n\n\tb </code></pre>')).toBe('<pre><code>  a\n\n\tb </code></pre>')
    expect(call('<p>x <code>a  b</code> y</p>')).toBe('<p>x <code>a  b</code> y</p>')
  })

  it('[PROSE-16] runs of inline content become paragraphs, and images are lifted out and split their block', () => {
    expect(call('a <b>b</b><hr>c')).toBe('<p>a <strong>b</strong></p><hr><p>c</p>')
    expect(call('<blockquote>a<p>b</p>c</blockquote>')).toBe('<blockquote><p>a</p><p>b</p><p>c</p></blockquote>')
    expect(call('<p id="blk-1" style="text-align: center">a <img src="x"> b</p>')).toBe(
      '<p id="blk-1" style="text-align: center">a</p><img src="x"><p>b</p>',
    )
    expect(call('<h2 id="blk-1"><img src="x">b</h2>')).toBe('<img src="x"><h2 id="blk-1">b</h2>')
    expect(call('<h2 id="blk-1">a<img src="x">b</h2>')).toBe('<h2 id="blk-1">a</h2><img src="x"><h2>b</h2>')
    expect(call('<p><b><img src="x"></b></p>')).toBe('<img src="x">')
    expect(call('<figure><img src="a"><figcaption>c<img src="b">d</figcaption></figure>')).toBe(
      '<figure><img src="a"><figcaption>c</figcaption></figure><img src="b"><p>d</p>',
    )
    expect(fixes('a<hr><p>a<img src="x">b</p>')).toEqual([])
  })

  it('[PROSE-17] unknown attributes and values are dropped and reported', () => {
    expect(fixes('<p class="x" onclick="y" style="color: red; text-align: middle">a</p>')).toEqual([
      'dropped_unknown class paragraph',
      'dropped_unknown onclick paragraph',
      'dropped_unknown style.color paragraph',
      'dropped_invalid textAlign paragraph',
    ])
    const invalid: readonly (readonly [string, string, string])[] = [
      ['<ol start="x" type="9"><li>a</li></ol>', 'start type', '<ol><li><p>a</p></li></ol>'],
      ['<img src="a" width="0" height="10001" data-float="up">', 'width height float', '<img src="a">'],
      [
        '<table><tr><th scope="x" style="text-align: justify; background-color: auto">a</th></tr></table>',
        'scope align backgroundColor',
        '<table><tr><th><p>a</p></th></tr></table>',
      ],
      ['<pre><code class="language-a b&quot;">x</code></pre>', '', '<pre><code class="language-a">x</code></pre>'],
      ['<pre><code class="language-a!">x</code></pre>', 'language', '<pre><code>x</code></pre>'],
      ['<mark style="background-color: url(x)">a</mark>', 'color', '<p><mark>a</mark></p>'],
      ['<div data-callout data-variant="loud">a</div>', 'variant', '<div data-callout data-variant="note"><p>a</p></div>'],
    ]
    for (const [html, fields, out] of invalid) {
      expect(call(html)).toBe(out)
      expect(
        parseHtml(html, { source: 'call' })
          .fixes.map((fix) => fix.field)
          .join(' '),
      ).toBe(fields)
      expect(parseHtml(html, { source: 'call' }).fixes.every((fix) => fix.action === 'dropped_invalid')).toBe(true)
    }
    for (const value of ['1', '10000', '50%', '120px', '12.5'])
      expect(call(`<img src="a" width="${value}">`)).toBe(`<img src="a" width="${value}">`)
    expect(call('<p id="blk-1" id="blk-2">a</p><blockquote id="blk-3">b</blockquote>')).toBe(
      '<p id="blk-1">a</p><blockquote><p>b</p></blockquote>',
    )
  })

  it.each([
    'https://x',
    'HTTP://x',
    'mailto:a@b',
    'tel:+1',
    blob,
    '/a:b',
    '../a',
    '?x:y',
    '#a',
    '//host',
    'a/b:c',
    './javascript:x',
  ])('[PROSE-18] href %s is kept', (href) => expect(call(`<a href="${href}">t</a>`)).toBe(`<p><a href="${href}">t</a></p>`))

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:x',
    ' javascript:x',
    'java&#10;script:x',
    'java&Tab;script&colon;x',
    '&#1;javascript:x',
    'java\u200bscript:x',
    'vbscript:x',
    'data:text/html,x',
    'file:///etc',
    'ftp://x',
    'blob:https://x/1',
    'blob://short',
    'blob://' + 'A'.repeat(64),
    'unknown:x',
    'javascript&#0;:x',
    'x-app:heading/p/1',
  ])('[PROSE-18] href %s removes the link and keeps the text', (href) => {
    expect(call(`<p>a <a href="${href}">t</a></p>`)).toBe('<p>a t</p>')
    expect(fixes(`<p>a <a href="${href}">t</a></p>`)).toEqual(['dropped_invalid href link'])
  })

  it('[PROSE-19] internal heading links keep their scheme, script schemes are removed', () => {
    for (const href of ['docrelay://heading/page-1/id:blk-1', 'app+x://heading/p/12']) {
      expect(call(`<a href="${href}">t</a>`)).toBe(`<p><a href="${href}">t</a></p>`)
    }
    for (const scheme of ['javascript', 'vbscript', 'data', 'file'])
      expect(call(`<a href="${scheme}://heading/p/1">t</a>`)).toBe('<p>t</p>')
    for (const href of ['app://heading/p', 'app://heading/p/id:', 'app://other/p/1', 'app://heading/p/1?x']) {
      expect(call(`<a href="${href}">t</a>`)).toBe('<p>t</p>')
    }
  })

  it('[PROSE-18] [PROSE-22] a link around content without text is dropped with a fix', () => {
    const chip = '<span data-field data-name="n"></span>'
    for (const inner of ['<img src="i">', ` <b>${chip}</b> `, '<img src="i"><br>', '<div><img src="i"></div>', '<pre>c</pre>'])
      expect(fixes(`<a href="x">${inner}</a>`)).toContain('dropped_invalid href link')
    for (const inner of ['', ' ', `a${chip}`, '<img src="i"><b>a</b>'])
      expect(fixes(`<p>b<a href="x">${inner}</a>c</p>`)).toEqual([])
    expect(call('<a href="x"><img src="i"></a>')).toBe('<img src="i">')
  })

  it.each([
    'http://x/a.png',
    'https://x',
    'a.png',
    '../a',
    blob,
    'data:image/png;base64,AAAA',
    'data:image/svg+xml;base64,PHN2Zz4=',
    'data:image/avif;base64,AA==',
  ])('[PROSE-20] src %s is kept', (src) => expect(call(`<img src="${src}">`)).toBe(`<img src="${src}">`))

  it.each([
    'javascript:x',
    'data:text/html;base64,AAAA',
    'data:image/png,raw',
    'data:image/svg+xml;utf8,<svg>',
    'data:image/bmp;base64,AAAA',
    'file:///x',
    'blob://x',
    'data:image/png;base64,A"A',
    '',
  ])('[PROSE-20] src %s removes the image, in figures and galleries before their repair', (src) => {
    const img = `<img src="${src.replaceAll('"', '&quot;')}">`
    expect(call(`<p>a</p>${img}`)).toBe('<p>a</p>')
    expect(fixes(img)).toEqual(['dropped_invalid src image'])
    expect(call(`<figure>${img}<figcaption>c</figcaption></figure>`)).toBe('<p>c</p>')
    expect(call(`<div data-gallery>${img}<img src="b"></div>`)).toBe(
      '<div data-gallery data-layout="grid"><div class="gallery-items"><img src="b"></div></div>',
    )
  })

  it('[PROSE-42] [PROSE-46] ids of another form are dropped from a call, and kept in a stored page', () => {
    expect(call('<p id="intro">a</p><h1 id="blk-a_B-9">b</h1>')).toBe('<p>a</p><h1 id="blk-a_B-9">b</h1>')
    expect(fixes('<p id="intro">a</p>')).toEqual([])
    expect(stored('<p id="intro">a</p>')).toBe('<p id="intro">a</p>')
  })
})
