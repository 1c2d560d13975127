import { describe, expect, it } from 'vitest'
import { deleteSection, insertSection, restructureOutline } from './section-edits.ts'
import { done, proseBody } from './testing/editing.ts'

const PAGE = [
  '<h1>Plan</h1><h2 id="blk-1">One</h2><h3 id="blk-11">One A</h3><h3 id="blk-12">One B</h3>',
  '<h2 id="blk-2">Two</h2><h3 id="blk-21">Two A</h3><h4>Deep</h4>',
].join('')

const under = (edit: typeof restructureOutline | typeof insertSection, args: object, page = PAGE) =>
  done(edit as typeof insertSection, proseBody(page), { pageId: 'p', ...args } as never).warnings.map(({ reason }) => reason)

describe('sections that lie under another heading after an edit of the outline', () => {
  it('[AG-40] a section inserted before subsections takes these, and a warning names them with old and new parent', () => {
    expect(under(insertSection, { level: 2, title: 'New', afterIndex: 1 })).toEqual([
      '2 sections lie under another heading now: "One A" was under "One" and is under "New"; "One B" was under "One" and is under "New"',
    ])
    expect(under(insertSection, { level: 3, title: 'New', afterIndex: 1 })).toEqual([])
    expect(under(insertSection, { level: 2, title: 'New', afterIndex: 3 })).toEqual([])
    expect(under(insertSection, { level: 2, title: 'New' })).toEqual([])
  })

  it('[AG-40] a section that moves leaves its subsections with another heading', () => {
    expect(under(restructureOutline, { op: 'move', index: 4, toIndex: 1 })).toEqual([
      'a section lies under another heading now: "Two A" was under "Two" and is under "One"',
    ])
  })

  it('[AG-40] the section that the call names is not reported, nor are subsections that stay with it', () => {
    expect(under(restructureOutline, { op: 'demote', index: 6 })).toEqual([])
    expect(under(restructureOutline, { op: 'demote', index: 4 })).toEqual([
      'a section lies under another heading now: "Two A" was under "Two" and is under "One"',
    ])
    expect(under(restructureOutline, { op: 'promote', index: 5 })).toEqual([])
    expect(under(restructureOutline, { op: 'promote', index: 4 })).toEqual([])
    expect(under(restructureOutline, { op: 'promote', index: 0 })).toEqual([])
  })

  it('[AG-40] a deleted section leaves its subsections with another heading', () => {
    const { warnings } = done(deleteSection, proseBody(PAGE), { pageId: 'p', id: 'blk-2' })
    expect(warnings.map(({ reason }) => reason)).toEqual([
      'a section lies under another heading now: "Two A" was under "Two" and is under "One"',
    ])
    expect(done(deleteSection, proseBody(PAGE), { pageId: 'p', id: 'blk-2', withSubsections: true }).warnings).toEqual([])
  })

  it('[AG-40] at most 5 sections are named, with titles of 60 characters', () => {
    const subs = Array.from({ length: 7 }, (_, i) => `<h2>${'x'.repeat(70)}${i}</h2>`).join('')
    const [reason = ''] = under(insertSection, { level: 1, title: 'New', afterIndex: 0 }, `<h1>A</h1>${subs}`)
    expect(reason).toMatch(/^7 sections lie .*; and 2 more$/)
    expect(reason.match(/"x{60}…" was under "A" and is under "New"/g)).toHaveLength(5)
  })
})
