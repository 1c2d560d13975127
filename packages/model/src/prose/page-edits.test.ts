import { describe, expect, it } from 'vitest'
import { renameDocument } from '../names.ts'
import { bodyOf } from '../testing/arbitrary.ts'
import { prosePage, written } from '../testing/builders.ts'
import { addProsePage, deleteProsePage, renameProsePage, reorderProsePages } from './page-edits.ts'
import { contentOf, done, proseBody, refusal } from './testing/editing.ts'

const named = (id: string, name: string, order?: number) => ({
  ...prosePage(id, ''),
  name,
  ...(order === undefined ? {} : { order }),
})
const three = bodyOf({ richTextPages: [named('a', 'A', 0), named('b', 'B', 1), named('c', 'C', 5)] })

describe('prose page list', () => {
  it('[TOOL-add_prose_page] add_prose_page appends a page with its content and returns its blocks', () => {
    const answer = done(addProsePage, three, { naming: 'bare', name: 'New', content: '<h1>T</h1><hr>', format: 'html' })
    expect(answer.result).toEqual({
      id: 'page-000000000002',
      name: 'New',
      order: 6,
      blocks: [
        { id: 'blk-0000000001', type: 'heading', text: 'T' },
        { id: '@1', type: 'horizontalRule', text: '' },
      ],
    })
    expect(written(answer.body)['richTextPages']).toEqual([
      ...(written(three)['richTextPages'] as []),
      { id: 'page-000000000002', name: 'New', order: 6, content: '<h1 id="blk-0000000001">T</h1><hr>' },
    ])
  })

  it('[TOOL-add_prose_page] [PROSE-1] without content the new page is empty', () => {
    const answer = done(addProsePage, bodyOf({}), {})
    expect(answer.result).toEqual({ id: 'page-000000000001', name: 'Prose', order: 0, blocks: [] })
    expect(contentOf(answer.body, 'page-000000000001')).toBe('<p></p>')
  })

  it('[TOOL-add_prose_page] a document may have more pages than a function call may have arguments', () => {
    const many = bodyOf({ richTextPages: Array.from({ length: 150_000 }, (_, i) => ({ id: `p${i}`, content: '' })) })
    expect(done(addProsePage, many, { name: 'New' }).result).toMatchObject({ name: 'New', order: 150_000 })
  })

  it('[TOOL-add_prose_page] default names are Prose, then Prose p.N above the highest number', () => {
    for (const [names, next] of [
      [[], 'Prose'],
      [['Notes'], 'Prose'],
      [['Prose'], 'Prose p.2'],
      [['Prose', 'Prose p.7', 'Prose p.x', 'prose p.9', 'Prose p.3'], 'Prose p.8'],
      [['Prose p.2'], 'Prose p.3'],
    ] as const) {
      const given = bodyOf({ richTextPages: names.map((name, i) => named(`r${i}`, name)) })
      expect(done(addProsePage, given, {}).result.name).toBe(next)
    }
  })

  it('[BODY-2] a new page is stored in the form of its container', () => {
    const keyed = bodyOf({ richTextPages: { pages: { a: named('a', 'A') }, pageOrder: ['a'], activePageId: 'a' } })
    expect(written(done(addProsePage, keyed, { name: 'N' }).body)['richTextPages']).toEqual({
      pages: { a: named('a', 'A'), 'page-000000000001': { id: 'page-000000000001', name: 'N', order: 1, content: '<p></p>' } },
      pageOrder: ['a', 'page-000000000001'],
      activePageId: 'a',
    })
  })

  it('[TOOL-12] the id of a new page is not in use by any canvas or prose page', () => {
    const given = bodyOf({
      pages: [{ id: 'page-000000000001', shapes: [] }],
      richTextPages: [prosePage('page-000000000002', '')],
    })
    expect(done(addProsePage, given, {}).result.id).toBe('page-000000000003')
  })

  it('[TOOL-13] names are trimmed, freed of control characters, cut at 200 characters, and must not be empty', () => {
    const rename = (name: string) => done(renameProsePage, three, { pageId: 'b', name })
    expect(rename(' a\u0000\n\u0085b ').result).toEqual({ pageId: 'b', name: 'ab' })
    expect(written(rename('X').body)['richTextPages']).toMatchObject([{ name: 'A' }, { name: 'X' }, { name: 'C' }])
    expect(rename('😀'.repeat(200))).toMatchObject({ result: { name: '😀'.repeat(200) }, fixes: [] })
    expect(rename('😀'.repeat(201))).toMatchObject({
      result: { name: '😀'.repeat(200) },
      fixes: [{ action: 'clamped', field: 'name' }],
    })
    const dropped = { action: 'dropped_invalid', field: 'name', reason: expect.stringContaining('control characters') }
    expect(rename('a\u0000b').fixes).toEqual([dropped])
    expect(rename(`\ud800${'x'.repeat(200)}`).fixes).toMatchObject([dropped, { action: 'clamped' }])
    expect([rename(' \tab\n ').fixes, rename('ab').fixes]).toEqual([[], []])
    expect(done(renameDocument, three, { docId: 'd', name: 'a\u0007b' }).fixes).toEqual([dropped])
    for (const name of ['', ' \t', '\u0007'])
      for (const refused of [
        refusal(renameProsePage, three, { pageId: 'b', name }),
        refusal(addProsePage, three, { name }),
        refusal(renameDocument, three, { docId: 'd', name }),
      ])
        expect(refused).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'name' } })
    expect(rename('B').body).toBe(three)
  })

  it('[TOOL-delete_prose_page] deleting the active page makes the first remaining page active', () => {
    expect(done(deleteProsePage, three, { pageId: 'b' })).toMatchObject({ result: { deleted: 'b' }, fixes: [] })
    expect(written(done(deleteProsePage, three, { pageId: 'b' }).body)['richTextPages']).toMatchObject([{ id: 'a' }, { id: 'c' }])
    const keyed = bodyOf({
      richTextPages: { pages: { a: prosePage('a', ''), b: prosePage('b', '') }, pageOrder: ['b', 'a'], activePageId: 'b' },
    })
    expect(written(done(deleteProsePage, keyed, { pageId: 'b' }).body)['richTextPages']).toMatchObject({ activePageId: 'a' })
    expect(written(done(deleteProsePage, keyed, { pageId: 'a' }).body)['richTextPages']).toMatchObject({ activePageId: 'b' })
    const list = bodyOf({ activePageId: 'a', richTextPages: [prosePage('a', ''), prosePage('b', '')] })
    expect(written(done(deleteProsePage, list, { pageId: 'a' }).body)['activePageId']).toBe('b')
  })

  it('[ERR_LAST_PAGE] the only page cannot be deleted', () => {
    expect(refusal(deleteProsePage, proseBody('<p>x</p>'), { pageId: 'p' })).toMatchObject({
      code: 'ERR_LAST_PAGE',
      facts: { pageId: 'p', kind: 'prose' },
    })
  })

  it('[TOOL-reorder_prose_pages] reordering puts pages in order and numbers them from 0', () => {
    const answer = done(reorderProsePages, three, { order: ['c', 'a', 'b'] })
    expect(answer.result).toEqual({ order: ['c', 'a', 'b'], ok: true })
    expect(written(answer.body)['richTextPages']).toMatchObject([
      { id: 'c', order: 0 },
      { id: 'a', order: 1 },
      { id: 'b', order: 2 },
    ])
    expect(done(reorderProsePages, answer.body, { order: ['c', 'a', 'b'] }).body).toBe(answer.body)
  })

  it('[ERR_NOT_PERMUTATION] ERR_NOT_PERMUTATION names missing, unknown and repeated ids', () => {
    expect(refusal(reorderProsePages, three, { order: ['a', 'x', 'a'] })).toMatchObject({
      code: 'ERR_NOT_PERMUTATION',
      facts: { missing: ['b', 'c'], unknown: ['x'], duplicate: ['a'] },
    })
  })

  it('[TOOL-8] a refusal lists part of a long list and the number of entries left out', () => {
    const pages = Array.from({ length: 25 }, (_, i) => ({ id: `p${i}`, name: `Page ${i}`, order: i, content: '' }))
    const many = bodyOf({ richTextPages: pages })
    expect(refusal(reorderProsePages, many, { order: [] }).message).toContain('missing: p0, p1')
    expect(refusal(reorderProsePages, many, { order: [] }).message).toContain('p19 and 5 more.')
    const unknown = refusal(deleteProsePage, many, { pageId: 'x' })
    expect(unknown.message).toContain('p19 ("Page 19") and 5 more.')
    expect(unknown.facts['pages']).toHaveLength(20)
  })

  it('[TOOL-8] when a page name was sent as id, the refusal gives the id of that page, also beyond the listed pages', () => {
    const pages = Array.from({ length: 25 }, (_, i) => ({ id: `p${i}`, name: `Page ${i}`, order: i, content: '' }))
    const { message } = refusal(deleteProsePage, bodyOf({ richTextPages: pages }), { pageId: 'Page 24' })
    expect(message).toContain('it is a name, that of p24.')
  })

  it('[TOOL-rename_document] [BODY-10] rename_document changes each of name and title that the body has', () => {
    const answer = done(renameDocument, bodyOf({ title: 'T', name: 'N' }), { docId: 'd', name: ' X ' })
    expect(answer.result).toEqual({ id: 'd', name: 'X' })
    expect(written(answer.body)).toMatchObject({ title: 'X', name: 'X' })
    const untitled = bodyOf({})
    expect(done(renameDocument, untitled, { docId: 'd', name: 'Untitled Document' }).body).toBe(untitled)
  })

  it('[TOOL-26] unknown pages are refused', () => {
    expect(refusal(renameProsePage, three, { pageId: 'z', name: 'x' }).code).toBe('ERR_PAGE_NOT_FOUND')
    expect(refusal(deleteProsePage, three, { pageId: 'z' }).code).toBe('ERR_PAGE_NOT_FOUND')
  })
})
