import { describe, expect, it } from 'vitest'
import { done, refusal } from '../prose/testing/editing.ts'
import { body, canvasPage, prosePage, rectangle, written } from '../testing/builders.ts'
import { addCanvasPage, deleteCanvasPage, renameCanvasPage, reorderCanvasPages } from './page-edits.ts'

const named = (id: string, name: string) => ({ ...canvasPage(id, rectangle(`s-${id}`)), name })
const three = body({ pages: [named('a', 'A'), named('b', 'B'), named('c', 'C')], activePageId: 'b' })
const idsOf = (given: ReturnType<typeof body>) => given.canvas.pages.map(({ id }) => id)

describe('canvas page list', () => {
  it('[TOOL-add_canvas_page] add_canvas_page appends a blank page and returns its id and name', () => {
    const answer = done(addCanvasPage, three, { name: ' New ' })
    expect(answer).toMatchObject({
      result: { id: 'page-000000000001', name: 'New' },
      writtenPage: 'page-000000000001',
      fixes: [],
    })
    expect(written(answer.body)['pages']).toEqual([
      ...(written(three)['pages'] as []),
      { id: 'page-000000000001', name: 'New', shapes: [] },
    ])
  })

  it('[TOOL-add_canvas_page] default names are Canvas, then Canvas p.N above the highest number', () => {
    for (const [names, next] of [
      [[], 'Canvas'],
      [['Plan'], 'Canvas'],
      [['Canvas'], 'Canvas p.2'],
      [['Canvas', 'Canvas p.7', 'Prose p.9', 'Canvas p.3'], 'Canvas p.8'],
    ] as const) {
      const given = body({ pages: names.map((name, i) => named(`c${i}`, name)) })
      expect(done(addCanvasPage, given, {}).result.name).toBe(next)
    }
  })

  it('[TOOL-12] a new page has an id that no canvas or prose page has', () => {
    const taken = body({ pages: [named('page-000000000001', 'A')], richTextPages: [prosePage('page-000000000002', '')] })
    expect(done(addCanvasPage, taken, {}).result.id).toBe('page-000000000003')
  })

  it('[BODY-2] a new page is stored in the form of the other pages', () => {
    const page = { id: 'a', name: 'A', shapes: {}, shapeOrder: [] }
    const keyed = body({ pages: { a: page } as never, pageOrder: ['a'] })
    expect(written(done(addCanvasPage, keyed, { name: 'N' }).body)).toMatchObject({
      pages: { a: page, 'page-000000000001': { id: 'page-000000000001', name: 'N', shapes: {}, shapeOrder: [] } },
      pageOrder: ['a', 'page-000000000001'],
    })
  })

  it('[TOOL-rename_canvas_page] renaming sets only the name, and the same name changes nothing', () => {
    const answer = done(renameCanvasPage, three, { pageId: 'b', name: 'Zwei' })
    expect(answer.result).toEqual({ pageId: 'b', name: 'Zwei' })
    expect(answer.body.canvas.pages[1]).toEqual({ ...three.canvas.pages[1], members: { id: 'b', name: 'Zwei' } })
    expect(answer.body.canvas.pages[0]).toBe(three.canvas.pages[0])
    expect(done(renameCanvasPage, three, { pageId: 'b', name: 'B' }).body).toBe(three)
  })

  it('[TOOL-delete_canvas_page] deleting a page makes the first remaining one active if it was active', () => {
    const active = done(deleteCanvasPage, three, { pageId: 'b' })
    expect([active.result, idsOf(active.body)]).toEqual([{ deleted: 'b' }, ['a', 'c']])
    expect(written(active.body)['activePageId']).toBe('a')
    expect(written(done(deleteCanvasPage, three, { pageId: 'a' }).body)['activePageId']).toBe('b')
  })

  it('[TOOL-delete_canvas_page] the only canvas page cannot be deleted, however many prose pages there are', () => {
    const one = body({ pages: [named('a', 'A')], richTextPages: [prosePage('p', ''), prosePage('q', '')] })
    expect(refusal(deleteCanvasPage, one, { pageId: 'a' })).toMatchObject({
      code: 'ERR_LAST_PAGE',
      facts: { pageId: 'a', kind: 'canvas' },
    })
  })

  it('[TOOL-reorder_canvas_page] reordering puts all pages in the given order, and the current order changes nothing', () => {
    const answer = done(reorderCanvasPages, three, { order: ['c', 'a', 'b'] })
    expect([answer.result, idsOf(answer.body)]).toEqual([{ order: ['c', 'a', 'b'], ok: true }, ['c', 'a', 'b']])
    expect(done(reorderCanvasPages, three, { order: ['a', 'b', 'c'] }).body).toBe(three)
    expect(refusal(reorderCanvasPages, three, { order: ['a', 'a', 'z'] })).toMatchObject({
      code: 'ERR_NOT_PERMUTATION',
      facts: { missing: ['b', 'c'], unknown: ['z'], duplicate: ['a'] },
    })
  })

  it('[TOOL-26] a prose page is refused by each canvas page edit', () => {
    const given = body({ pages: [named('a', 'A'), named('b', 'B')], richTextPages: [prosePage('p', '')] })
    const refusals = [
      refusal(renameCanvasPage, given, { pageId: 'p', name: 'N' }),
      refusal(deleteCanvasPage, given, { pageId: 'p' }),
    ]
    for (const refused of refusals)
      expect(refused).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND', facts: { kind: 'canvas', otherKind: 'prose' } })
  })
})
