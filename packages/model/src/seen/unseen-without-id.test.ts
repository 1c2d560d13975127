import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { getProse } from '../prose/read-prose.ts'
import { proseBody } from '../prose/testing/editing.ts'
import type { Seen } from './seen.ts'
import { type ShownPage, shownBlocks } from './shown.ts'
import { done, refusal, run, saw, stampOf, treeOf } from './testing/callers.ts'

const IMAGE = '<img src="https://x/a.png" alt="Plan">'
const figure = (caption: string) => `<figure>${IMAGE}<figcaption>${caption}</figcaption></figure>`
const ADDED: readonly (readonly [string, string])[] = [
  ['an image', IMAGE],
  ['a figure with its caption', figure('Words of Ann')],
  ['a formula', '<div data-math-block data-latex="e=mc^2"></div>'],
  ['a rule', '<hr>'],
  ['a gallery', `<div data-gallery data-layout="grid">${IMAGE}</div>`],
]

const section = (added: string) =>
  `<h1 id="blk-h">Head</h1><p id="blk-1">one</p>${added}<p id="blk-2">two</p><h1 id="blk-n">Next</h1>`
const HEADING = `blk-h#${stampOf('<h1>Head</h1>')}`
const list = (added: string, other = 'other') =>
  `<ul><li><p id="blk-i">item</p>${added}</li><li><p id="blk-j">${other}</p></li></ul>`
const table = (added: string) =>
  `<table><tbody><tr><td><p id="blk-a">a</p></td></tr><tr><td><p id="blk-b">b</p>${added}</td></tr></tbody></table>`
const callout = (added: string) =>
  `<h1 id="blk-h">Head</h1><div data-callout data-variant="note"><p id="blk-c">note</p>${added}</div>`

interface Removal {
  readonly page: (added: string) => string
  readonly call: (stored: string, seen: Seen) => ReturnType<typeof run>
}

/** Calls that remove blocks which they do not name. */
const REMOVALS: { readonly [what: string]: Removal } = {
  'a section': { page: section, call: (stored, seen) => run(stored, seen, 'delete_section', { id: HEADING }) },
  'a section named by a bare id': { page: section, call: (stored, seen) => run(stored, seen, 'delete_section', { id: 'blk-h' }) },
  'a section with a callout': { page: callout, call: (stored, seen) => run(stored, seen, 'delete_section', { id: HEADING }) },
  'consecutive blocks': {
    page: section,
    call: (stored, seen) => run(stored, seen, 'delete_block', { id: 'blk-1', untilId: 'blk-2' }),
  },
  'blocks that are replaced': {
    page: section,
    call: (stored, seen) => run(stored, seen, 'set_prose', { id: 'blk-1', untilId: 'blk-2', content: 'x' }),
  },
  'an item': { page: list, call: (stored, seen) => run(stored, seen, 'delete_block', { id: 'blk-i' }) },
  'a page': { page: section, call: (stored, seen) => run(stored, seen, 'delete_prose_page', {}) },
  'a row': { page: table, call: (stored, seen) => run(stored, seen, 'edit_table', { op: 'deleteRow', row: 1 }) },
}
const REMOVED = Object.entries(REMOVALS)

describe('blocks without id', () => {
  it.each(REMOVED)(
    '[AG-27] images and other blocks without id are not removed along with %s when somebody put them there since the page was shown',
    (_, { page, call }) => {
      for (const [what, added] of ADDED) {
        const { code, facts } = refusal(call(page(added), saw(page(''))))
        expect([what, code], what).toEqual([what, 'ERR_BLOCK_CHANGED'])
        expect(JSON.stringify(facts['current']), what).toMatch(/#[0-9a-z]{4}"/)
      }
    },
  )

  it.each(REMOVED)(
    '[AG-27] images and other blocks without id are removed along with %s when the page was shown with them',
    (_, { page, call }) => {
      for (const [what, added] of ADDED) expect(done(call(page(added), saw(page(added)))).kind, what).toBe('edited')
    },
  )

  it.each(REMOVED)('[AG-27] a figure is not removed along with %s when somebody changed its caption', (_, { page, call }) => {
    const { facts } = refusal(call(page(figure('Words of Ann')), saw(page(figure('Mine')))))
    expect(JSON.stringify(facts['current'])).toContain('Words of Ann')
  })

  it('[AG-27] an image is not removed along with a column when somebody put it there since the page was shown', () => {
    const columns = (added: string) =>
      `<table><tbody><tr><td><p id="blk-a">a</p></td><td><p id="blk-b">b</p>${added}</td></tr></tbody></table>`
    const remove = (col: number, seen: Seen) => run(columns(IMAGE), seen, 'edit_table', { op: 'deleteColumn', col })
    expect(refusal(remove(1, saw(columns('')))).code).toBe('ERR_BLOCK_CHANGED')
    expect(done(remove(0, saw(columns('')))).html).toContain(IMAGE)
    expect(done(remove(1, saw(columns(IMAGE)))).html).not.toContain(IMAGE)
  })

  it('[AG-27] an image that the caller was not shown counts as changed where its section is named by a stamped id', () => {
    const partly = { isWhole: false }
    const remove = (seen: Seen, id: string) => run(section(IMAGE), seen, 'delete_section', { id })
    expect(refusal(remove(saw(section(''), [], partly), HEADING)).facts['current']).toMatchObject({ type: 'image' })
    for (const outcome of [remove(saw(section(''), [], partly), 'blk-h'), remove(saw(section(IMAGE), [], partly), HEADING)])
      expect(done(outcome).html).not.toContain(IMAGE)
  })

  it('[AG-27] an item is removed with a shown image in it, whatever somebody wrote into another item of the list', () => {
    const seen = saw(list(IMAGE))
    expect(done(run(list(IMAGE, 'by Ann'), seen, 'delete_block', { id: 'blk-i' })).html).not.toContain(IMAGE)
  })

  it('[AG-27] an image that the caller put into a section in one step is removed with the section by a later step', () => {
    const step = (tool: string, args: object) => ({ tool, arguments: { pageId: 'p', ...args } })
    const insert = (id: string, page: string) =>
      run(page, saw(page), 'edit_document', {
        steps: [step('insert_block', { id, content: IMAGE, format: 'html' }), step('delete_section', { id: HEADING })],
      })
    expect(done(insert('blk-1', section(''))).html).toBe('<h1 id="blk-n">Next</h1>')
    expect(done(insert('blk-c', callout(''))).html).toBe('<p id="blk-minted0001"></p>')
  })

  it('[AG-27] a span is removed with all blocks in a list at its end that is named by its stamped handle', () => {
    const page = `<p id="blk-1">one</p>${list(IMAGE)}`
    const stamp = stampOf(list(IMAGE))
    const seen = saw('<p id="blk-1">one</p>', [], { isWhole: false })
    expect(done(run(page, seen, 'delete_block', { id: 'blk-1', untilId: `@1#${stamp}` })).html).toBe(
      '<p id="blk-minted0001"></p>',
    )
  })

  it('[AG-17] [AG-27] an image that was read alone by its handle counts as seen, wherever it stands', () => {
    for (const [page, handle] of [
      [section(IMAGE), '@2'],
      [callout(IMAGE), '@1.1'],
    ] as const) {
      let shown: readonly ShownPage[] = []
      const read = getProse(proseBody(page), { pageId: 'p', id: handle }, (pages) => (shown = pages))
      if (isRefusal(read)) throw new Error(read.message)
      read.show(Array.from(read.from({ part: 0, index: 0 }), ({ item }) => item))
      expect(shown[0]?.blocks).toEqual(shownBlocks(treeOf(IMAGE)))
    }
  })

  it('[AG-19] [AG-27] an image that somebody put into a box stays unknown to a caller that rewrote the words of the box with its page', () => {
    const content = callout('').replace('<p id="blk-c">note', `<p id="blk-c#${stampOf('<p>note</p>')}">mine`)
    const outcome = done(run(callout(IMAGE), saw(callout('')), 'set_prose', { content, format: 'html' }))
    expect(outcome.html).toBe(callout(IMAGE).replace('note</p>', 'mine</p>'))
    expect(outcome.shown?.[0]?.blocks).not.toContain(shownBlocks(treeOf(IMAGE))[0])
  })

  it('[AG-17] [AG-27] the answer that names the block behind a removed section does not count as having shown an image', () => {
    const stored = `<h1 id="blk-h">Head</h1><h1 id="blk-n">Next</h1>`
    const behind = (page: string) => done(run(page, saw(null), 'delete_section', { id: 'blk-h' })).shown?.[0]?.blocks
    expect(behind(stored)).toHaveLength(1)
    expect(behind(`${IMAGE}<h1 id="blk-h">Head</h1>`)).toEqual([])
  })
})
