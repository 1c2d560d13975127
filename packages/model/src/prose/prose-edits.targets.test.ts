import { describe, expect, it } from 'vitest'
import { prosePage } from '../testing/builders.ts'
import { deleteBlock, insertBlock, moveBlock, setProse } from './prose-edits.ts'
import { contentOf, done, html, proseBody, refusal } from './testing/editing.ts'

const page = '<h2 id="blk-h">Intro</h2><p id="blk-a">Alpha <strong>beta</strong></p><ul><li><p id="blk-i">Item</p></li></ul><hr>'
const x = { pageId: 'p', content: '<p>X</p>', format: 'html' } as const
const other = prosePage('q', '<p id="blk-q">elsewhere</p>')

describe('targets of prose edits', () => {
  it('[PROSE-48] an anchor must equal the whole text of a block, ignoring marks, tags, entities and extra white space', () => {
    for (const anchor of ['Alpha beta', '  Alpha \n beta ', 'Alpha <em>beta</em>', 'Alpha&#32;beta', '<p>Alpha beta</p>'])
      expect(html(setProse, proseBody(page), { ...x, anchor })).toBe(page.replace('Alpha <strong>beta</strong>', 'X'))
    for (const anchor of ['Alpha', 'alpha beta', 'Alpha beta Item', 'Alpha  betas'])
      expect(refusal(setProse, proseBody(page), { ...x, anchor }).code).toBe('ERR_ANCHOR_NOT_FOUND')
  })

  it('[PROSE-48] atoms have no text, and a line break may be written as a space or left out', () => {
    const stored = '<p id="blk-a">a<span data-math-inline data-latex="x"></span>b<br>c</p>'
    for (const anchor of ['abc', 'ab c'])
      expect(html(deleteBlock, proseBody(`${stored}<hr>`), { pageId: 'p', anchor })).toBe('<hr>')
  })

  it('[PROSE-48] text that resembles markup is found as written', () => {
    const stored = proseBody('<p id="blk-a">if x&lt;y then</p><p id="blk-b">R&amp;amp;D</p><p id="blk-c">R&amp;D</p>')
    expect(done(deleteBlock, stored, { pageId: 'p', anchor: 'if x<y then' }).result.deleted).toEqual(['blk-a'])
    expect(done(deleteBlock, stored, { pageId: 'p', anchor: 'R&amp;D' }).result.deleted).toEqual(['blk-c'])
  })

  it('[PROSE-48] a block without an id is found by its text', () => {
    expect(html(setProse, proseBody('<p>One</p><p>Two</p>'), { ...x, anchor: 'Two' })).toBe(
      '<p id="blk-0000000001">One</p><p id="blk-0000000002">X</p>',
    )
  })

  it('[PROSE-48] a blank anchor is refused by name', () => {
    const at = { anchor: ' \n', ...x }
    expect(refusal(setProse, proseBody(page), at)).toMatchObject({ code: 'ERR_ANCHOR_EMPTY', facts: { which: 'anchor' } })
    const span = { ...x, id: 'blk-a', anchorUntil: '' }
    expect(refusal(setProse, proseBody(page), span)).toMatchObject({ code: 'ERR_ANCHOR_EMPTY', facts: { which: 'anchorUntil' } })
    const move = { pageId: 'p', id: 'blk-a', targetAnchor: ' ' }
    expect(refusal(moveBlock, proseBody(page), move)).toMatchObject({
      code: 'ERR_ANCHOR_EMPTY',
      facts: { which: 'targetAnchor' },
    })
  })

  it('[PROSE-49] id and anchor must name the same block, and an unknown id is refused even with a valid anchor', () => {
    const both = { ...x, anchor: 'Intro' }
    expect(html(setProse, proseBody(page), { ...both, id: 'blk-h' })).toContain('<p id="blk-h">X</p>')
    const mismatch = refusal(setProse, proseBody(page), { ...both, id: 'blk-a' })
    expect(mismatch).toMatchObject({ code: 'ERR_ID_ANCHOR_MISMATCH', facts: { id: 'blk-a', currentText: 'Alpha beta' } })
    expect(mismatch.message).toContain('Alpha beta')
    expect(refusal(setProse, proseBody(page), { ...both, id: 'blk-z' }).code).toBe('ERR_ID_NOT_FOUND')
  })

  it('[PROSE-49] an id selects one of several blocks with the same text', () => {
    const twins = proseBody('<p id="blk-a">Same</p><p id="blk-b">Same</p>')
    expect(html(deleteBlock, twins, { pageId: 'p', id: 'blk-b', anchor: 'Same' })).toBe('<p id="blk-a">Same</p>')
  })

  it('[PROSE-53] an error about a missing target names the nearest blocks', () => {
    const missing = refusal(deleteBlock, proseBody(page), { pageId: 'p', anchor: 'Alpha bet', naming: 'bare' })
    expect(missing.facts['anchor']).toBe('Alpha bet')
    expect(missing.facts['nearest']).toEqual([{ id: 'blk-a', type: 'paragraph', text: 'Alpha beta' }])
    expect(missing.message).toContain('blk-a')
    const unknown = refusal(deleteBlock, proseBody(page), { pageId: 'p', id: 'blk-hh', naming: 'bare' })
    expect(unknown).toMatchObject({ code: 'ERR_ID_NOT_FOUND', facts: { id: 'blk-hh' } })
    expect(unknown.message).toContain('blk-h (heading) "Intro"')
  })

  it('[PROSE-53] an error about an id of another page names that page', () => {
    const elsewhere = refusal(deleteBlock, proseBody(page, {}, other), { pageId: 'p', id: 'blk-q' })
    expect(elsewhere).toMatchObject({ code: 'ERR_ID_NOT_FOUND', facts: { id: 'blk-q', otherPage: 'q' } })
  })

  it('[PROSE-53] an ambiguous anchor is refused with the number of matches and up to five of them', () => {
    const many = proseBody('<p id="blk-1">Same</p>'.repeat(2) + '<p>Same</p>'.repeat(5))
    const byText = refusal(deleteBlock, many, { pageId: 'p', anchor: 'Same', naming: 'bare' })
    expect(byText).toMatchObject({ code: 'ERR_ANCHOR_AMBIGUOUS', facts: { count: 7 } })
    expect(byText.facts['matches']).toHaveLength(5)
    expect(byText.facts['matches']).toContainEqual({ id: '@2', type: 'paragraph', text: 'Same' })
    expect(refusal(deleteBlock, many, { pageId: 'p', id: 'blk-1' })).toMatchObject({
      code: 'ERR_ID_AMBIGUOUS',
      facts: { count: 2 },
    })
  })

  it('[TOOL-14] errors quote at most 120 characters', () => {
    const long = proseBody(`<p id="blk-a">${'ä'.repeat(500)}</p>`)
    const missing = refusal(deleteBlock, long, { pageId: 'p', anchor: 'ä'.repeat(400) })
    expect(missing.facts['anchor']).toBe(`${'ä'.repeat(120)}…`)
    expect(missing.facts['nearest']).toEqual([{ id: 'blk-a', type: 'paragraph', text: `${'ä'.repeat(120)}…` }])
  })

  it('[PROSE-47] a positional handle names a whole top-level block, and requires expectedVersion', () => {
    const versioned = { pageId: 'p', expectedVersion: 3 }
    expect(refusal(deleteBlock, proseBody(page), { pageId: 'p', id: '@2' })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'expectedVersion' },
      message: expect.stringContaining('serverVersion') as string,
    })
    const list = done(deleteBlock, proseBody(page), { ...versioned, id: '@2' })
    expect(contentOf(list.body)).toBe(page.replace(/<ul>.*<\/ul>/, ''))
    expect(list.result.deleted).toEqual(['@2', 'blk-i'])
    expect(html(moveBlock, proseBody(page), { ...versioned, id: '@3', targetId: '@0', side: 'before' })).toBe(
      `<hr>${page.replace('<hr>', '')}`,
    )
    expect(html(setProse, proseBody(page), { ...x, ...versioned, id: '@3' })).toBe(
      page.replace('<hr>', '<p id="blk-0000000001">X</p>'),
    )
    expect(refusal(deleteBlock, proseBody(page), { ...versioned, id: '@4' })).toMatchObject({
      code: 'ERR_ID_NOT_FOUND',
      facts: { id: '@4' },
    })
  })

  it('[PROSE-52] a span covers the children of one parent from the first to the last, both included', () => {
    const stored = '<p id="blk-1">1</p><blockquote><p id="blk-2">2</p><p id="blk-3">3</p><p id="blk-4">4</p></blockquote>'
    expect(html(setProse, proseBody(stored), { ...x, id: 'blk-2', anchorUntil: '3' })).toBe(
      '<p id="blk-1">1</p><blockquote><p id="blk-2">X</p><p id="blk-4">4</p></blockquote>',
    )
    expect(html(setProse, proseBody(stored), { ...x, id: 'blk-3', untilId: 'blk-3' })).toBe(stored.replace('>3<', '>X<'))
    for (const [id, untilId, why] of [
      ['blk-1', 'blk-2', 'do not stand in one parent'],
      ['blk-4', 'blk-2', 'blk-2 stands before blk-4'],
    ] as const)
      expect(refusal(setProse, proseBody(stored), { ...x, id, untilId })).toMatchObject({
        code: 'ERR_ANCHOR_RANGE',
        message: expect.stringContaining(why),
        facts: { from: id, until: untilId },
      })
    expect(refusal(setProse, proseBody(stored), { ...x, untilId: 'blk-2' })).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
  })

  it('[PROSE-53] a call without a required target is refused', () => {
    expect(refusal(insertBlock, proseBody(page), x).code).toBe('ERR_TARGET_MISSING')
    expect(refusal(deleteBlock, proseBody(page), { pageId: 'p' }).code).toBe('ERR_TARGET_MISSING')
    expect(refusal(moveBlock, proseBody(page), { pageId: 'p', id: 'blk-a' }).code).toBe('ERR_TARGET_MISSING')
  })

  it('[TOOL-26] an unknown page is refused with the existing pages, and the refusal says when it is a canvas page', () => {
    expect(refusal(deleteBlock, proseBody(page), { pageId: 'z', id: 'blk-a' })).toMatchObject({
      code: 'ERR_PAGE_NOT_FOUND',
      facts: { pageId: 'z', kind: 'prose', pages: [{ id: 'p', name: 'p' }] },
    })
    expect(refusal(setProse, proseBody(page), { ...x, pageId: 'c' }).facts['otherKind']).toBe('canvas')
  })

  it('[PROSE-21] content above 1 MiB is refused before the page is looked up', () => {
    const content = 'é'.repeat(524_289)
    const tooLarge = { code: 'ERR_PROSE_TOO_LARGE', facts: { bytes: 1_048_578, maxBytes: 1_048_576 } }
    expect(refusal(setProse, proseBody(page), { pageId: 'z', content })).toMatchObject(tooLarge)
    expect(refusal(insertBlock, proseBody(page), { pageId: 'z', content })).toMatchObject(tooLarge)
  })
})
