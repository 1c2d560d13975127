import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { body, prosePage } from '../testing/builders.ts'
import { contentOf, edited, undone } from './testing/undone.ts'

const item = (id: string, words = id) => `<li><p id="blk-${id}">${words}</p></li>`
const list = (...items: readonly string[]) => `<ul>${items.map((each) => item(each)).join('')}</ul>`
const pages = (p: string, q = '<p id="blk-q1">q1</p>') =>
  body({ name: 'T', pages: [], richTextPages: [prosePage('p', p), prosePage('q', q)] })

/** Counts how often each text and each block id occurs in the document. */
function counts({ prose }: DocumentBody): Record<string, number> {
  const html = prose.pages.map(({ content }) => content).join('')
  const found = [...html.matchAll(/>([^<]+)<|id="(blk-[^"]+)"/g)].map(([, text, id]) => text ?? (id as string))
  return Object.fromEntries([...new Set(found)].sort().map((each) => [each, found.filter((one) => one === each).length]))
}

/** The expected counts when each block occurs once. The text of a block is its id, and `edited` for the block `changed`. */
function once(ids: readonly string[], changed?: string): Record<string, number> {
  return Object.fromEntries(ids.flatMap((id) => [id === changed ? 'edited' : id, `blk-${id}`]).map((each) => [each, 1]))
}

describe('undo of a call that moved blocks into a container', () => {
  const before = pages(`${list('a', 'b')}<p id="blk-m">m</p>${list('x', 'y')}`)
  const after = edited(before, 'move_block', { pageId: 'p', id: 'blk-x', untilId: 'blk-y', targetId: 'blk-b', side: 'after' })

  it('[AG-71] [AG-70] after a move that joined two lists, each item occurs once when somebody edited the joined list since', () => {
    const typed = edited(after, 'set_prose', { pageId: 'p', id: 'blk-b', content: '<p>edited</p>' })
    const { body: now, kept } = undone(before, after, typed)
    expect(counts(now)).toEqual(once(['a', 'b', 'm', 'x', 'y', 'q1'], 'b'))
    expect(kept.map(({ id }) => id)).toEqual(['blk-a'])
  })

  it('[AG-71] [AG-70] an item that the call moved to another list is not lost when only its former list was edited', () => {
    const [two, moved] = [pages(`${list('a', 'b', 'x')}<p id="blk-m">m</p>${list('y')}`), { pageId: 'p', id: 'blk-x' }]
    const called = edited(two, 'move_block', { ...moved, targetId: 'blk-y', side: 'after' })
    const typed = edited(called, 'set_prose', { pageId: 'p', id: 'blk-a', content: '<p>edited</p>' })
    const { body: now, kept } = undone(two, called, typed)
    expect(counts(now)).toEqual(once(['a', 'b', 'm', 'x', 'y', 'q1'], 'a'))
    expect(kept.map(({ id }) => id).sort()).toEqual(['blk-a', 'blk-y'])
  })

  it('[AG-71] [AG-70] a list item that the call moved to another list occurs once when that list was edited since', () => {
    const two = pages(`${list('a', 'b', 'x')}<p id="blk-m">m</p>${list('y')}`)
    const called = edited(two, 'move_block', { pageId: 'p', id: 'blk-x', targetId: 'blk-y', side: 'after' })
    const typed = edited(called, 'set_prose', { pageId: 'p', id: 'blk-y', content: '<p>edited</p>' })
    const { body: now, kept } = undone(two, called, typed)
    expect(counts(now)).toEqual(once(['a', 'b', 'm', 'x', 'y', 'q1'], 'y'))
    expect(kept.map(({ id }) => id)).toEqual(['blk-y'])
  })
})

describe('undo of a call that moved blocks to another page', () => {
  const before = pages(`<p id="blk-m">m</p>${list('a', 'b', 'c')}`)
  const args = { pageId: 'p', id: 'blk-a', untilId: 'blk-c', toPageId: 'q', targetId: 'blk-q1', side: 'after' }

  it('[AG-71] [AG-70] a list that the call moved to another page stays only there when somebody edited one of its items since', () => {
    const after = edited(before, 'move_block', moveOfList(before))
    const typed = edited(after, 'set_prose', { pageId: 'q', id: 'blk-b', content: '<p>edited</p>' })
    const { body: now, kept } = undone(before, after, typed)
    expect(counts(now)).toEqual(once(['m', 'q1', 'a', 'b', 'c'], 'b'))
    expect(contentOf(now, 'q')).toMatch(/blk-a.*edited.*blk-c/)
    expect(kept.map(({ id }) => id)).toEqual(['blk-a'])
  })

  it('[AG-71] a paragraph that the call moved to another page stays there when somebody removed its former page since', () => {
    const after = edited(before, 'move_block', { ...args, id: 'blk-m', untilId: undefined })
    const gone = edited(after, 'delete_prose_page', { pageId: 'p' })
    const { body: now, kept } = undone(before, after, gone)
    expect(contentOf(now, 'q')).toContain('>m</p>')
    expect(kept.map(({ id }) => id).sort()).toEqual(['blk-m', 'p'])
  })

  it('[AG-71] a paragraph that the call moved to another page, and somebody then to a third, occurs once', () => {
    const third = edited(before, 'add_prose_page', { name: 'R', content: '<p>third</p>' })
    const r = third.prose.pages.at(-1) as { readonly id: string; readonly content: string }
    const after = edited(third, 'move_block', { ...args, id: 'blk-m', untilId: undefined })
    const [target] = r.content.match(/blk-[^"]+/) ?? []
    const further = edited(after, 'move_block', {
      ...{ pageId: 'q', id: 'blk-m', toPageId: r.id, targetId: target, side: 'after' },
    })
    expect(counts(undone(third, after, further).body)['blk-m']).toBe(1)
  })

  it('[AG-71] blocks that the call moved to a new page are only there when somebody edited the new page since', () => {
    const steps = [
      { tool: 'add_prose_page', arguments: { name: 'New', content: '<p>start</p>', format: 'html' } },
      {
        tool: 'move_block',
        arguments: { ...args, id: 'blk-m', untilId: undefined, toPageId: '$1.id', targetId: '$1.blocks[0].id' },
      },
    ]
    const after = edited(before, 'edit_document', { steps, expectedVersion: 1 })
    const made = after.prose.pages.at(-1)?.id
    const typed = edited(after, 'set_prose', { pageId: made, id: 'blk-m', content: '<p>edited</p>' })
    const { body: now, kept } = undone(before, after, typed)
    const [start] = contentOf(after, made).match(/blk-[^"]+/) ?? []
    expect(counts(now)).toEqual({ ...once(['a', 'b', 'c', 'q1', 'm'], 'm'), start: 1, [start as string]: 1 })
    expect(contentOf(now, made)).toContain('edited')
    expect(kept.map(({ id }) => id)).toEqual([made])
  })
})

describe('undo of a call that moved items without ids', () => {
  const bare = (...words: readonly string[]) => `<ul>${words.map((each) => `<li><p>${each}</p></li>`).join('')}</ul>`
  const idOf = (given: DocumentBody, page: string, words: string) =>
    contentOf(given, page).match(new RegExp(`<p id="([^"]+)">${words}</p>`))?.[1]
  /** Counts how often each text occurs in the document, without the ids. */
  const texts = (given: DocumentBody) =>
    Object.fromEntries(Object.entries(counts(given)).filter(([name]) => !name.startsWith('blk-')))

  it.each([false, true])(
    '[AG-71] [AG-70] an item that somebody edited in a list on its new page occurs only once; moved on to a third page: %s',
    (isMovedOn) => {
      const before = edited(pages(`<p id="blk-m">m</p>${bare('one', 'two')}`), 'add_prose_page', {
        name: 'R',
        content: bare('r'),
      })
      const r = before.prose.pages.at(-1)?.id as string
      const after = edited(before, 'move_block', moveOfList(before))
      const id = idOf(after, 'q', 'one')
      const typed = edited(after, 'set_prose', { pageId: 'q', id, content: '<p>edited</p>' })
      const further = { pageId: 'q', id, toPageId: r, targetId: idOf(before, r, 'r'), side: 'after' }
      const { body: now, kept } = undone(before, after, isMovedOn ? edited(typed, 'move_block', further) : typed)
      expect(texts(now)).toEqual({ m: 1, q1: 1, r: 1, edited: 1, two: 1 })
      expect(kept).not.toEqual([])
    },
  )

  it('[AG-71] [AG-70] an item that the call moved to another list, and that somebody edited there since, occurs once', () => {
    const before = pages(`${bare('one', 'two')}<p id="blk-m">m</p>${bare('three')}`)
    const after = edited(before, 'set_prose', {
      pageId: 'p',
      content: `${bare('one')}<p id="blk-m">m</p>${bare('three', 'two')}`,
    })
    const typed = edited(after, 'set_prose', { pageId: 'p', id: idOf(after, 'p', 'two'), content: '<p>edited</p>' })
    const { body: now } = undone(before, after, typed)
    expect(texts(now)).toEqual({ m: 1, q1: 1, one: 1, three: 1, edited: 1 })
  })
})

/** Returns the arguments that move the whole list to page q: a list is a top-level block, which its handle names. */
function moveOfList(before: DocumentBody): object {
  const index = contentOf(before).startsWith('<ul') ? 0 : 1
  return { pageId: 'p', id: `@${index}`, toPageId: 'q', targetId: 'blk-q1', side: 'after', expectedVersion: 1 }
}
