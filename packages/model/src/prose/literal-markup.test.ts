import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { readContent } from './content.ts'
import { serialiseHtml } from './html.ts'
import { setProse } from './prose-edits.ts'
import { getProse } from './read-prose.ts'
import { insertSection } from './section-edits.ts'
import { done, html, proseBody } from './testing/editing.ts'

const fields = { items: new Map(), order: [], kind: 'fields' } as never

function read(content: string) {
  const answer = readContent({ content, format: 'markdown' }, { fields, references: undefined, nowMs: 0 })
  if (isRefusal(answer)) throw new Error(answer.message)
  const warnings = answer.warnings.map(({ reason }) => reason).filter((reason) => !reason.startsWith('the document has no field'))
  return { html: serialiseHtml(answer.tree), fixes: answer.fixes, warnings }
}

describe('markup of other Markdown dialects', () => {
  it.each([
    ['The sum \\(a+b\\) and \\(c\\).', 'The sum (a+b) and (c).', 'formulas such as "\\(a+b\\)"', '2 times', '$x$, or $$x$$'],
    ['\\[\nE = mc^2\n\\]', '[ E = mc^2 ]', 'formulas such as "\\[\nE = mc^2\n\\]"', 'in block 0', '$x$, or $$x$$'],
    ['A.[^1]\n\n[^1]: Some text.', 'A.[^1]', 'footnotes such as "[^1]"', '2 times, first in block 0', 'a sentence in brackets'],
    ['A.[^1]\n\n[^1]: text', '<a href="text">^1</a>', 'footnotes such as "[^1]" are read as links', 'in block 0', 'in brackets'],
    ['a\n\n==x== y ==z==', '==x== y ==z==', 'highlights such as "==x=="', '2 times, first in block 1', '<mark>'],
    ['H~2~O', 'H~2~O', 'subscripts such as "~2~"', 'in block 0', '<sub>'],
    ['m^2^', 'm^2^', 'superscripts such as "^2^"', 'in block 0', '<sup>'],
    [':::note\nText\n:::', ':::note Text :::', 'containers such as ":::note"', 'in block 0', '> [!NOTE] on a line of its own'],
    ['> [!WORD] title\n> text', '[!WORD] title', 'containers such as "[!WORD]"', 'in block 0', '> [!NOTE] on a line of its own'],
    ['> [!NOTE] title\n> text', '[!NOTE] title', 'containers such as "[!NOTE]"', 'in block 0', '> [!NOTE] on a line of its own'],
    ['[TOC]\n\ntext', '[TOC]', 'tables of contents such as "[TOC]"', 'in block 0', 'editors show an outline'],
    ['see [[Home]]', '[[Home]]', 'wiki links such as "[[Home]]"', 'in block 0', 'relay://doc/'],
    [
      'see https://a.example/b.',
      'see https://a.example/b.',
      'bare URLs such as "https://a.example/b."',
      'in block 0',
      '<https://…>',
    ],
    [
      '[see {{Client}} here](https://a.example)',
      'data-field',
      'links around fields such as "{{Client}}"',
      'in block 0',
      'beside the field',
    ],
  ])(
    '[AG-41] a warning says how foreign markup was stored, how often, where first, and what to write: %j',
    (content, kept, what, where, form) => {
      const { html: stored, warnings } = read(content)
      expect(stored).toContain(kept)
      expect(warnings).toHaveLength(1)
      for (const part of [what, where, form]) expect(warnings[0]).toContain(part)
    },
  )

  it('[AG-41] front matter is kept as a rule and a heading, and the warning names the tool for fields', () => {
    const { html: stored, warnings } = read('---\ntitle: A\n---\n\nText')
    expect(stored).toBe('<hr><h2>title: A</h2><p>Text</p>')
    expect(warnings).toEqual([expect.stringMatching(/^front matter such as "title: A".*service_set_fields/)])
  })

  it.each([
    '<details>\n<summary>S</summary>\n\nText\n\n</details>',
    '<iframe src="https://a.example"></iframe>',
    'a <blink>b</blink>',
  ])('[AG-41] HTML that is removed or flattened is a fix: %j', (content) => expect(read(content).fixes.length).toBeGreaterThan(0))

  it('[AG-41] each kind of markup has one warning, and code, links and text that only looks like markup have none', () => {
    const all = '==a== H~2~O m^2^ https://a.example [^1] [[x]] \\(y\\)'
    expect(read(`${all}\n\n${all}`).warnings).toHaveLength(7)
    for (const content of [
      `\`${all.replaceAll('\\', '')}\``,
      `\`\`\`\n${all}\n:::note\n[TOC]\n\`\`\``,
      '<https://a.example> and [https://a.example](https://a.example)',
      'a == b == c, ~5 of ~6, 2^3, x ^ y, \\(only one, f(x)',
      '$x^2^$ and ~~struck~~',
      '> [!NOTE]\n> text',
      'see [TOC] there',
    ])
      expect([content, read(content).warnings]).toEqual([content, []])
  })

  it('[AG-41] markup in the title of a section is kept, with a warning', () => {
    const page = proseBody('<p id="blk-1">a</p>')
    const args = { pageId: 'p', level: 2, title: '## **x** {{f}}' }
    expect(html(insertSection, page, args)).toContain('<h2 id="blk-0000000001">## **x** {{f}}</h2>')
    expect(done(insertSection, page, args).warnings).toEqual([
      { field: 'title', reason: expect.stringContaining('plain text only') },
    ])
    for (const title of ['A & B', 'Cost: $5 * 2', 'snake_case #1', 'a < b'])
      expect(done(insertSection, page, { ...args, title }).warnings).toEqual([])
  })

  it('[AG-41] a block with foreign markup that is sent back unchanged causes no second warning', () => {
    const page = proseBody('<p id="blk-1">see https://a.example and ==x==</p><p id="blk-2">b</p>')
    const listing = getProse(page, { pageId: 'p', format: 'markdown' })
    if (isRefusal(listing)) throw new Error(listing.message)
    const shown = listing.show([...listing.from({ part: 0, index: 0 })].map(({ item }) => item))['page'] as { content: string }
    expect(done(setProse, page, { pageId: 'p', content: `${shown.content}\nnew` }).warnings).toEqual([])
    expect(done(setProse, page, { pageId: 'p', content: `${shown.content}\nnew ==y==` }).warnings).toHaveLength(1)
  })
})
