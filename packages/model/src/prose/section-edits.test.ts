import { describe, expect, it } from 'vitest'
import { parseHtml } from './html.ts'
import { outlineOf, sectionsOf } from './outline.ts'
import { deleteSection, insertSection, restructureOutline } from './section-edits.ts'
import { contentOf, done, html, proseBody, refusal } from './testing/editing.ts'

const h = (level: number, id: string, text: string) => `<h${level} id="blk-${id}">${text}</h${level}>`
const p = (id: string, text: string) => `<p id="blk-${id}">${text}</p>`
const minted = (n: number) => String(n).padStart(10, '0')

const prefix = p('0', 'before')
const one = h(1, '1', 'One') + p('1a', 'a')
const two = `${h(3, '2', 'Two')}<blockquote>${h(1, '2q', 'quoted')}</blockquote>`
const three = h(2, '3', 'Three') + '<hr>'
const body = proseBody(prefix + one + two + three)

describe('outline', () => {
  it('[PROSE-60] the outline lists the headings at the top level of the page with level, title and id', () => {
    const { tree } = parseHtml(
      `<p>x</p><h2 id="blk-a"> A \n<em>b</em><br>c <span data-field data-name="n" data-label="V &amp; w">V</span></h2>` +
        '<blockquote><h1>no</h1></blockquote><ul><li><p>x</p><h1>no</h1></li></ul><h1><span data-citation data-ref-id="r" data-label="[1]">[1]</span></h1><h6></h6>',
      { source: 'stored' },
    )
    expect(outlineOf(tree, 'bare')).toEqual([
      { index: 0, level: 2, title: 'A b c V & w', id: 'blk-a' },
      { index: 1, level: 1, title: '[1]', id: '@4' },
      { index: 2, level: 6, title: '', id: '@5' },
    ])
  })

  it('[PROSE-61] a section ends at the next heading of any level, and the blocks before the first heading are the prefix', () => {
    const { tree } = parseHtml('<hr><p>x</p><h1>A</h1><h2>B</h2><p>b</p><blockquote><h1>q</h1></blockquote><h1>C</h1>', {
      source: 'stored',
    })
    expect(sectionsOf(tree).prefix).toEqual(tree.slice(0, 2))
    expect(sectionsOf(tree).sections.map((section) => section.length)).toEqual([1, 3, 1])
  })
})

describe('insert_section', () => {
  const at = { pageId: 'p', level: 2, title: 'New' }
  const section = h(2, minted(1), 'New')

  it('[PROSE-62] a section is inserted after the prefix, at the end, or after another section', () => {
    expect(html(insertSection, body, at)).toBe(prefix + one + two + three + section)
    expect(html(insertSection, body, { ...at, position: 'start' })).toBe(prefix + section + one + two + three)
    expect(html(insertSection, body, { ...at, position: 'start', afterIndex: 1 })).toBe(prefix + one + two + section + three)
    expect([0, 2].map((afterIndex) => done(insertSection, body, { ...at, afterIndex }).result.index)).toEqual([1, 3])
  })

  it('[PROSE-62] inserting a section at an index past the last section acts as the last index, with a fix', () => {
    const answer = done(insertSection, body, { ...at, afterIndex: 3 })
    expect(answer.result.index).toBe(3)
    expect(answer.fixes).toMatchObject([{ action: 'clamped', field: 'afterIndex' }])
    expect(html(insertSection, proseBody(p('0', 'x')), { ...at, afterIndex: 0 })).toBe(p('0', 'x') + section)
  })

  it('[PROSE-63] [TOOL-17] control characters in a title become spaces, with a fix; spare white space goes silently', () => {
    const fixesOf = (title: string) => done(insertSection, body, { ...at, title }).fixes
    expect(html(insertSection, body, { ...at, title: 'A\u0007B' })).toContain('A B</h2>')
    for (const title of ['A\u0007B', 'A\u0000', 'A \ud800'])
      expect(fixesOf(title)).toEqual([{ action: 'dropped_invalid', field: 'title', reason: expect.any(String) }])
    for (const title of [' A\n\tB ', 'A']) expect(fixesOf(title)).toEqual([])
  })

  it('[PROSE-63] the level of a new section is clamped, its title is plain text, and headings of its body are kept', () => {
    const answer = done(insertSection, body, {
      ...at,
      naming: 'bare',
      level: 9,
      title: ' <b>A</b>\n& B ',
      body: '<h1>Sub</h1><ul><li>x</li></ul>',
      format: 'html',
    })
    expect(contentOf(answer.body)).toContain(
      `<h6 id="blk-${minted(1)}">&lt;b&gt;A&lt;/b&gt; &amp; B</h6>${h(1, minted(2), 'Sub')}<ul><li>${p(minted(3), 'x')}</li></ul>`,
    )
    expect(answer.fixes).toMatchObject([{ action: 'clamped', field: 'level' }])
    expect(answer.result).toMatchObject({
      pageId: 'p',
      ok: true,
      index: 3,
      blocks: [{ type: 'heading' }, { text: 'Sub' }, { id: '@9', type: 'bulletList' }, { text: 'x' }],
    })
  })

  it('[PROSE-63] the title of a section must have 1 to 500 characters', () => {
    for (const title of ['', ' \n\t', 'x'.repeat(501)])
      expect(refusal(insertSection, body, { ...at, title })).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        facts: { argument: 'title' },
      })
    expect(done(insertSection, body, { ...at, title: '😀'.repeat(500) }).result.index).toBe(3)
  })

  it('[PROSE-64] a section replaces the only empty paragraph of a page, and keeps its id', () => {
    expect(html(insertSection, proseBody('<p></p>'), at)).toBe(section)
    expect(html(insertSection, proseBody(p('e', '')), { ...at, body: '<p>x</p>', format: 'html' })).toBe(
      h(2, 'e', 'New') + p(minted(1), 'x'),
    )
    expect(html(insertSection, proseBody('<hr>'), at)).toBe(`<hr>${section}`)
  })

  it('[PROSE-21] insert_section refuses a body above 1 MiB', () => {
    expect(refusal(insertSection, body, { ...at, pageId: 'z', body: 'x'.repeat(1_048_577) }).code).toBe('ERR_PROSE_TOO_LARGE')
  })
})

describe('restructure_outline', () => {
  const at = { pageId: 'p' }

  it('[PROSE-65] promote lowers and demote raises one level, and other sections and the id stay', () => {
    const promoted = done(restructureOutline, body, { ...at, naming: 'bare', op: 'promote', index: 1 })
    expect(contentOf(promoted.body)).toBe(prefix + one + two.replaceAll('h3', 'h2') + three)
    expect(promoted.result).toEqual({
      pageId: 'p',
      outline: [{ index: 1, level: 2, title: 'Two', id: 'blk-2' }],
      outlineTotal: 3,
    })
    expect(html(restructureOutline, body, { ...at, op: 'demote', index: 0 })).toBe(
      prefix + one.replaceAll('h1', 'h2') + two + three,
    )
  })

  it('[PROSE-65] at the highest or lowest level nothing changes, with a fix', () => {
    const deepest = proseBody(h(6, '6', 'Six') + h(1, '1', 'One'))
    for (const [op, index] of [
      ['demote', 0],
      ['promote', 1],
    ] as const) {
      const answer = done(restructureOutline, deepest, { ...at, op, index })
      expect(answer.body).toBe(deepest)
      expect(answer.fixes).toMatchObject([{ action: 'clamped', field: 'op' }])
    }
  })

  it('[PROSE-66] move places one section at toIndex, and the prefix stays first', () => {
    const moved = (index: number, toIndex: number) => html(restructureOutline, body, { ...at, op: 'move', index, toIndex })
    expect(moved(0, 1)).toBe(prefix + two + one + three)
    expect(moved(0, 2)).toBe(prefix + two + three + one)
    expect(moved(2, 0)).toBe(prefix + three + one + two)
    expect(moved(1, 1)).toBe(contentOf(body))
  })

  it('[AG-42] restructure_outline answers the headings with a new place, level or name, and the number of all headings', () => {
    const { outline, outlineTotal } = done(restructureOutline, body, { ...at, op: 'move', index: 2, toIndex: 1 }).result
    expect([outline.map(({ index, title }) => [index, title]), outlineTotal]).toEqual([
      [
        [1, 'Three'],
        [2, 'Two'],
      ],
      3,
    ])
    expect(done(restructureOutline, body, { ...at, op: 'move', index: 1, toIndex: 1 }).result).toMatchObject({ outline: [] })
  })

  it('[PROSE-66] toIndex past the end is clamped, and index past the end is refused', () => {
    const answer = done(restructureOutline, body, { ...at, op: 'move', index: 0, toIndex: 7 })
    expect(contentOf(answer.body)).toBe(prefix + two + three + one)
    expect(answer.fixes).toMatchObject([{ action: 'clamped', field: 'toIndex' }])
    for (const op of ['promote', 'demote', 'move'] as const)
      expect(refusal(restructureOutline, body, { ...at, op, index: 3, ...(op === 'move' && { toIndex: 0 }) })).toMatchObject({
        code: 'ERR_SECTION_INDEX',
        facts: { index: 3, sectionCount: 3 },
      })
    expect(refusal(restructureOutline, body, { ...at, op: 'move', index: 0 })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'toIndex' },
    })
  })
})

describe('sections with their subsections', () => {
  const [a, b, c, d] = [
    h(1, 'a', 'A') + p('a1', 'a'),
    h(2, 'b', 'B') + p('b1', 'b'),
    h(3, 'c', 'C') + '<hr>',
    h(1, 'd', 'D') + p('d1', 'd'),
  ]
  const nested = proseBody(a + b + c + d, {}, { id: 'q', name: 'q', content: h(1, 'q', 'Q') + p('q1', 'q') })
  const at = { pageId: 'p', naming: 'bare' } as const
  const qOf = (edited: { readonly body: typeof body }) => contentOf(edited.body, 'q')

  it('[AG-78] a call may name a heading by its id, with or without stamp, instead of its index', () => {
    expect(html(restructureOutline, nested, { ...at, op: 'demote', id: 'blk-d' })).toBe(a + b + c + d.replaceAll('h1', 'h2'))
    expect(html(restructureOutline, nested, { ...at, op: 'move', id: 'blk-d', toIndex: 0 })).toBe(d + a + b + c)
    expect(html(insertSection, nested, { ...at, level: 2, title: 'New', afterId: 'blk-b' })).toBe(
      a + b + h(2, minted(1), 'New') + c + d,
    )
    expect(refusal(restructureOutline, nested, { ...at, op: 'demote', id: 'blk-d#0000' }).code).toBe('ERR_BLOCK_CHANGED')
    expect(refusal(insertSection, nested, { ...at, level: 2, title: 'New', afterId: 'blk-b#0000' }).code).toBe(
      'ERR_BLOCK_CHANGED',
    )
    for (const id of ['blk-a1', '@5'])
      expect(refusal(restructureOutline, nested, { ...at, op: 'demote', id, expectedVersion: 1 })).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        facts: { argument: 'id' },
      })
  })

  it('[AG-6] afterId accepts a stamp in capital letters, and refuses text behind its # that is no stamp', () => {
    const call = { ...at, level: 2, title: 'New' }
    const [, stamped = ''] =
      done(insertSection, nested, { pageId: 'p', level: 2, title: 'B' }).result.blocks[0]?.id.split('#') ?? []
    expect(html(insertSection, nested, { ...call, afterId: `blk-b#${stamped.toUpperCase()}` })).toContain(`${b}<h2`)
    expect(refusal(insertSection, nested, { ...call, afterId: 'blk-b#none!' })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'afterId' },
    })
  })

  it('[AG-78] with its subsections a section moves, changes its level and is followed by a new section as a whole', () => {
    const whole = { ...at, withSubsections: true }
    expect(html(restructureOutline, nested, { ...whole, op: 'move', id: 'blk-a', toIndex: 1 })).toBe(d + a + b + c)
    expect(html(restructureOutline, nested, { ...whole, op: 'move', index: 1, toIndex: 2 })).toBe(a + d + b + c)
    expect(html(restructureOutline, nested, { ...whole, op: 'demote', id: 'blk-b' })).toBe(
      a + b.replaceAll('h2', 'h3') + c.replaceAll('h3', 'h4') + d,
    )
    expect(html(restructureOutline, nested, { ...whole, op: 'promote', id: 'blk-b' })).toBe(
      a + b.replaceAll('h2', 'h1') + c.replaceAll('h3', 'h2') + d,
    )
    const section = h(2, minted(1), 'New')
    expect(html(insertSection, nested, { ...whole, level: 2, title: 'New', afterId: 'blk-a' })).toBe(a + b + c + section + d)
    expect(html(insertSection, nested, { ...whole, level: 2, title: 'New', afterIndex: 1 })).toBe(a + b + c + section + d)
    expect(done(insertSection, nested, { ...whole, level: 2, title: 'New', afterId: 'blk-a' }).result.index).toBe(3)
  })

  it('[AG-78] subsections on the deepest level stay on this level, with a fix', () => {
    const deep = proseBody(h(5, '5', 'Five') + h(6, '6', 'Six'))
    const answer = done(restructureOutline, deep, { ...at, op: 'demote', index: 0, withSubsections: true })
    expect(contentOf(answer.body)).toBe(h(6, '5', 'Five') + h(6, '6', 'Six'))
    expect(answer.fixes).toMatchObject([{ action: 'clamped', field: 'op' }])
  })

  it('[AG-78] a section moves to another page with all its ids, to a place or to the end', () => {
    const moved = done(restructureOutline, nested, { ...at, op: 'move', id: 'blk-b', withSubsections: true, toPageId: 'q' })
    expect([contentOf(moved.body), qOf(moved)]).toEqual([a + d, h(1, 'q', 'Q') + p('q1', 'q') + b + c])
    expect(moved.result).toMatchObject({ pageId: 'q', outline: [{ id: 'blk-b' }, { id: 'blk-c' }], outlineTotal: 3 })
    const first = done(restructureOutline, nested, { ...at, op: 'move', index: 3, toIndex: 0, toPageId: 'q' })
    expect(qOf(first)).toBe(d + h(1, 'q', 'Q') + p('q1', 'q'))
    const only = proseBody(d, {}, { id: 'q', name: 'q', content: '<p></p>' })
    const all = done(restructureOutline, only, { ...at, op: 'move', index: 0, toPageId: 'q' })
    expect([contentOf(all.body), qOf(all)]).toEqual([p(minted(1), ''), d])
    expect(refusal(restructureOutline, nested, { ...at, op: 'move', index: 0, toPageId: 'z' }).code).toBe('ERR_PAGE_NOT_FOUND')
  })

  it('[AG-78] [TOOL-17] a section that moves to its own page without an index goes to its end, without a fix', () => {
    const answer = done(restructureOutline, nested, { ...at, op: 'move', index: 0, toPageId: 'p' })
    expect([contentOf(answer.body), answer.fixes]).toEqual([b + c + d + a, []])
  })

  it('[AG-78] the only section of a page moves away and back, and no empty paragraph is left', () => {
    const only = proseBody(d, {}, { id: 'q', name: 'q', content: '<p></p>' })
    const away = done(restructureOutline, only, { ...at, op: 'move', index: 0, toPageId: 'q' })
    const back = done(restructureOutline, away.body, { pageId: 'q', op: 'move', index: 0, toPageId: 'p' })
    expect(contentOf(back.body)).toBe(d)
  })

  it.each([
    ['neither id nor index', { op: 'demote' }, 'id'],
    ['both id and index', { op: 'demote', id: 'blk-a', index: 0 }, 'id'],
    ['a page without a move', { op: 'demote', index: 0, toPageId: 'q' }, 'toPageId'],
    ['an index without a move', { op: 'promote', index: 0, toIndex: 1 }, 'toIndex'],
  ] as const)('[AG-78] restructure_outline with %s is refused by the name of the argument', (_, args, argument) => {
    expect(refusal(restructureOutline, nested, { ...at, ...args })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument },
    })
  })

  it.each([
    ['two places', { afterId: 'blk-a', afterIndex: 0 }, 'afterId'],
    ['subsections of nothing', { withSubsections: true }, 'withSubsections'],
  ] as const)('[AG-78] insert_section with %s is refused by the name of the argument', (_, args, argument) => {
    const call = { ...at, level: 1, title: 'New', ...args }
    expect(refusal(insertSection, nested, call)).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument } })
  })

  it('[TOOL-delete_section] [AG-80] a section is deleted alone or with subsections; the answer shows the next block', () => {
    const alone = done(deleteSection, nested, { ...at, id: 'blk-b' })
    expect(contentOf(alone.body)).toBe(a + c + d)
    expect(alone.result).toEqual({
      pageId: 'p',
      ok: true,
      deleted: ['blk-b', 'blk-b1'],
      blocks: [{ id: 'blk-c', type: 'heading', text: 'C' }],
    })
    const whole = done(deleteSection, nested, { ...at, id: 'blk-b', withSubsections: true })
    expect(contentOf(whole.body)).toBe(a + d)
    expect(whole.result).toMatchObject({ deleted: ['blk-b', 'blk-b1', 'blk-c', '@5'], blocks: [{ id: 'blk-d' }] })
    expect(done(deleteSection, nested, { ...at, id: 'blk-d' }).result.blocks).toEqual([
      { id: '@5', type: 'horizontalRule', text: '' },
    ])
    expect(alone.warnings).toMatchObject([{ reason: expect.stringContaining('"C" was under "B"') }])
    expect(whole.warnings).toEqual([])
  })

  it('[AG-80] a page gets an empty paragraph only when nothing else is left', () => {
    expect(html(deleteSection, proseBody(d), { ...at, id: 'blk-d' })).toBe(p(minted(1), ''))
    expect(html(deleteSection, proseBody('<hr>' + d), { ...at, id: 'blk-d' })).toBe('<hr>')
  })
})
