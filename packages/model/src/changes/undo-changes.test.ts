import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { pageRouter } from '../canvas/page-router.ts'
import { isRefusal, type EditEnvironment } from '../edit.ts'
import { type EditName, runEdit } from '../edits.ts'
import { body, prosePage } from '../testing/builders.ts'
import { changesBetween } from './changes-between.ts'
import { undoChanges } from './undo-changes.ts'

let minted = 0
const environment: EditEnvironment = { nowMs: 1, random: (length) => String(++minted).padStart(length, '0') }

const page = (content: string) => body({ name: 'T', pages: [], richTextPages: [prosePage('p', content)] })
const contentOf = ({ prose }: DocumentBody) => prose.pages[0]?.content

function edited(given: DocumentBody, name: EditName, args: object): DocumentBody {
  const answer = runEdit(name, given, { pageId: 'p', format: 'html', ...args }, environment)
  if (isRefusal(answer)) throw new Error(answer.message)
  return answer.body
}

describe('undo of a call that took a container apart', () => {
  const LIST =
    '<ul><li><p id="blk-a">one</p></li><li><p id="blk-b">other</p></li></ul><table><tr><td><p id="blk-c">left</p></td><td><p id="blk-d">right</p></td></tr></table><p id="blk-e">end</p>'
  const before = page(LIST)

  it('[AG-69] [AG-98] an undo brings back the other blocks of a container when somebody changed one in its new place', () => {
    const after = edited(before, 'set_prose', {
      content: '<p id="blk-a">first</p><h2 id="blk-d">second</h2><p id="blk-e">end</p>',
    })
    const typed = edited(edited(after, 'set_prose', { id: 'blk-a', content: '<p>typed</p>' }), 'set_prose', {
      id: 'blk-d',
      content: '<p>typed too</p>',
    })
    const { body: undone, kept } = undoChanges(typed, changesBetween(before, after, {}).set, environment, pageRouter)
    expect(kept).toEqual([
      { id: 'blk-a', text: 'typed' },
      { id: 'blk-d', text: 'typed too' },
    ])
    expect(contentOf(undone)).toContain('<li><p id="blk-b">other</p></li>')
    expect(contentOf(undone)).toContain('<p id="blk-c">left</p>')
    expect(contentOf(undone)).not.toContain('one')
    expect(contentOf(undone)).not.toContain('right')
  })

  it('[AG-70] an undo lists a paragraph that became a list item with its present text when somebody wrote in it', () => {
    const plain = page('<p id="blk-a">former words</p>')
    const list = edited(plain, 'set_prose', { content: '<ul><li><p id="blk-a">x</p></li><li><p id="blk-b">y</p></li></ul>' })
    const typed = edited(list, 'set_prose', { id: 'blk-a', content: '<p>x and more</p>' })
    const { body: undone, kept } = undoChanges(typed, changesBetween(plain, list, {}).set, environment, pageRouter)
    expect(kept).toContainEqual({ id: 'blk-a', text: 'x and more' })
    expect(JSON.stringify(kept)).not.toContain('former')
    expect(contentOf(undone)).toContain('x and more')
  })

  it('[AG-69] an undo brings back the container as it was when nobody changed anything', () => {
    const after = edited(before, 'set_prose', { content: '<p id="blk-a">first</p><p id="blk-e">end</p>' })
    const { body: undone, kept } = undoChanges(after, changesBetween(before, after, {}).set, environment, pageRouter)
    expect([contentOf(undone), kept]).toEqual([contentOf(before), []])
  })
})

describe('undo of a write of the page over a paragraph without id', () => {
  const before = page(
    '<p id="blk-a">first</p><p id="blk-b">second</p><p>begun just now</p><p id="blk-c"></p><p id="blk-d">last</p>',
  )
  const after = edited(before, 'set_prose', { content: '<p>quite</p><p>something</p><p>other</p><p id="blk-c"></p><p>end</p>' })
  const { set, counts } = changesBetween(before, after, {})

  it('[AG-30] a write over a paragraph without id lists the text of the paragraph as removed', () => {
    expect(counts.removed.map(({ text }) => text)).toContain('begun just now')
  })

  it('[AG-69] [AG-98] an undo brings back a paragraph without id, also when somebody wrote in the block in its place', () => {
    const other = after.prose.pages[0]?.content.match(/<p id="([^"]+)">other/)?.[1]
    const typed = edited(after, 'set_prose', { id: other, content: '<p>other, and more</p>' })
    const { body: undone, kept } = undoChanges(typed, set, environment, pageRouter)
    expect(contentOf(undone)).toContain('>begun just now</p>')
    expect(kept).toEqual([{ id: other, text: 'other, and more' }])
  })
})

it('[AG-29] new words for a paragraph without id between the same neighbours are one change', () => {
  const before = page('<p id="blk-a">first</p><p>one</p><p id="blk-b">last</p>')
  const after = edited(before, 'set_prose', { content: '<p id="blk-a">first</p><p>quite other words</p><p id="blk-b">last</p>' })
  expect(changesBetween(before, after, {}).counts).toMatchObject({ changed: 1, removed: [] })
})

describe('undo of a call on a page that was removed since', () => {
  it('[AG-70] an undo on a removed page warns that everything was removed, not that somebody changed it', () => {
    const before = body({ name: 'T', pages: [], richTextPages: [prosePage('p', '<p id="blk-a">one</p>'), prosePage('q', '')] })
    const after = edited(before, 'set_prose', { id: 'blk-a', content: '<p>two</p>' })
    const gone = edited(after, 'delete_prose_page', {})
    const record = JSON.stringify(changesBetween(before, after, {}).set)
    const answer = runEdit('undo', gone, { callId: 'c', targets: [{ callId: 'c', record }] }, environment)
    if (isRefusal(answer)) throw new Error(answer.message)
    expect(answer.result).toEqual({ undone: [], kept: [{ id: 'p', text: '' }], blocks: [] })
    expect(answer.warnings).toEqual([
      { reason: 'nothing was changed: everything was removed since, see kept; undo what removed it first' },
    ])
  })
})
