import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { readContent, type Content } from './content.ts'
import { serialiseHtml } from './html.ts'
import { addProsePage } from './page-edits.ts'
import { insertBlock, setProse } from './prose-edits.ts'
import { insertSection } from './section-edits.ts'
import { contentOf, done, html, proseBody } from './testing/editing.ts'

const libraries = { fields: undefined, references: undefined, nowMs: 0 }

function read(content: string): Content {
  const answer = readContent({ content }, libraries)
  if (isRefusal(answer)) throw new Error(answer.message)
  return answer
}

const code = '<pre><code>*a*\n\n  {{b}}\n\n&lt;p&gt;</code></pre><p>after</p>'

describe('content without a format', () => {
  it('[AG-35] content that is its own canonical HTML is read as HTML, and the answer says so', () => {
    const page = proseBody('<p id="blk-1">a</p>')
    expect(html(setProse, page, { pageId: 'p', id: 'blk-1', content: code })).toBe(
      '<pre id="blk-1"><code>*a*\n\n  {{b}}\n\n&lt;p&gt;</code></pre><p id="blk-0000000001">after</p>',
    )
    for (const answer of [
      done(setProse, page, { pageId: 'p', content: code }),
      done(setProse, page, { pageId: 'p', id: 'blk-1', content: code }),
      done(insertBlock, page, { pageId: 'p', id: 'blk-1', content: code }),
      done(insertSection, page, { pageId: 'p', level: 2, title: 'T', body: code }),
      done(addProsePage, page, { content: code }),
    ])
      expect(answer).toMatchObject({ result: { format: 'html' }, fixes: [], warnings: [] })
  })

  it('[AG-35] ids and handles do not count when content is compared with its own canonical HTML', () => {
    for (const content of [
      '<p id="blk-1">a</p><p id="any &amp; id">b</p>',
      '<p id="blk-1#w5kg">a</p><hr data-handle="@1#w5kg"><ul data-handle="@2#0000"><li><p id="x">b</p></li></ul>',
      '<img src="a.png" alt="b id=" id="x">',
    ])
      expect([content, read(content).format]).toEqual([content, 'html'])
  })

  it('[AG-35] content without a format that is not its own canonical HTML is Markdown', () => {
    for (const content of [
      '',
      'a',
      '<p>a</p>\n',
      ' <p>a</p>',
      '<p>a</p>\n\n<p>b</p>',
      '<p>a **b**',
      '<b>a</b>',
      '<p><b>a</b></p>',
      '<p class="x">a</p>',
      '<details><summary>a</summary></details>',
      '# a\n\n<p>b</p>',
      '<https://example.org>',
    ])
      expect([content, read(content).format]).toEqual([content, undefined])
    expect(done(setProse, proseBody('<p>a</p>'), { pageId: 'p', content: 'b' }).result).not.toHaveProperty('format')
  })

  it('[AG-35] a given format decides how content is read, and the answer does not repeat the format', () => {
    const page = proseBody('<p id="blk-1">a</p>')
    const text = '<p>**a**</p>'
    for (const format of ['html', 'markdown'] as const) {
      const answer = done(setProse, page, { pageId: 'p', content: text, format })
      expect(answer.result).not.toHaveProperty('format')
      expect(answer.warnings).toEqual([])
    }
  })

  it('[AG-35] a warning quotes the Markdown that HTML keeps literally, except in code', () => {
    for (const [inside, shown] of [
      ['see {{Owner}}', '{{Owner}}'],
      ['<strong>a</strong> and **b**', '**'],
      ['the sum $a+b$', '$a+b$'],
    ] as const) {
      const { tree, warnings } = read(`<ul><li><p>${inside}</p></li></ul>`)
      expect(serialiseHtml(tree)).toBe(`<ul><li><p>${inside}</p></li></ul>`)
      expect(warnings).toEqual([{ reason: expect.stringContaining(`"${shown}"`) }])
    }
    expect(read('<p>from $5 to $10 <code>**a**</code></p><pre><code>{{a}} $b$</code></pre>').warnings).toEqual([])
  })

  it('[AG-35] a page that was read in HTML and is sent back without a format keeps its code', () => {
    const page = proseBody('<pre id="blk-1"><code>*x*\n\n  {{f}}</code></pre><p id="blk-2">b</p>')
    const answer = done(setProse, page, { pageId: 'p', content: contentOf(page) as string })
    expect(answer.body).toBe(page)
  })
})
