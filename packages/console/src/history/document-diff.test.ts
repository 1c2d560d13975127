import { parseBody } from '@docrelay/model/body-parse'
import type { DocumentBody } from '@docrelay/model/body'
import type { Json } from '@docrelay/model/json'
import { expect, it } from 'vitest'
import { comparePages, diffEntries, diffShapes } from './document-diff.ts'

function bodyOf(json: Json): DocumentBody {
  const parsed = parseBody(json, 'stored')
  if (!parsed.ok) throw new Error(parsed.reason)
  return parsed.body
}
const shape = (id: string, label: string, x = 0) => ({ id, type: 'rect', label, x, y: 0 })
const states = (before: Json, after: Json) =>
  comparePages(bodyOf(before), bodyOf(after)).map(({ kind, name, state }) => `${kind} ${name}: ${state}`)

it('compares pages by their ids and lists them in their present order, then the removed ones', () => {
  const before = {
    richTextPages: [
      { id: 'a', name: 'Notes', content: '<p>one</p>' },
      { id: 'b', name: 'Old', content: '' },
    ],
  }
  const after = {
    richTextPages: [
      { id: 'c', name: 'New', content: '' },
      { id: 'a', name: 'Notes', content: '<p>two</p>' },
    ],
  }
  expect(states(before, after)).toEqual(['prose New: added', 'prose Notes: changed', 'prose Old: removed'])
})

it('counts a page with another name as changed', () => {
  const page = (name: string) => ({ richTextPages: [{ id: 'a', name, content: '<p>one</p>' }] })
  expect(states(page('Notes'), page('Minutes'))).toEqual(['prose Minutes: changed'])
  expect(states(page('Notes'), page('Notes'))).toEqual(['prose Notes: same'])
})

it('ignores the order of members and the form of the body when it compares shapes', () => {
  const list = { pages: [{ id: 'p', name: 'Plan', shapes: [shape('s', 'Start')] }] }
  const keyed = {
    pages: {
      p: { id: 'p', name: 'Plan', shapes: { s: { label: 'Start', y: 0, x: 0, type: 'rect', id: 's' } }, shapeOrder: ['s'] },
    },
    pageOrder: ['p'],
  }
  expect(states(list, keyed)).toEqual(['canvas Plan: same'])
})

it('lists changed and added shapes in their present order, then the removed ones', () => {
  const [before, after] = [
    [shape('a', 'Start'), shape('b', 'Check'), shape('c', '')],
    [shape('b', 'Check', 10), shape('a', 'Start'), shape('d', 'End')],
  ].map((shapes) => bodyOf({ pages: [{ id: 'p', shapes }] }).canvas.pages[0] ?? null)
  expect(diffShapes(before ?? null, after ?? null)).toEqual([
    { id: 'b', name: 'Check', kind: 'changed' },
    { id: 'd', name: 'End', kind: 'added' },
    { id: 'c', name: 'rect', kind: 'removed' },
  ])
})

it('lists all shapes of a new page as added', () => {
  const page = bodyOf({ pages: [{ id: 'p', shapes: [shape('a', 'Start')] }] }).canvas.pages[0]
  expect(diffShapes(null, page ?? null)).toEqual([{ id: 'a', name: 'Start', kind: 'added' }])
})

it('lists changed, added and removed fields with both values, and references with their title', () => {
  const before = {
    fields: {
      fields: { client: { name: 'client', value: 'Acme' }, due: { name: 'due', value: 3 }, same: { name: 'same', value: 'x' } },
    },
    references: { items: { k: { id: 'k', title: 'Structured programming' }, old: { id: 'old' } } },
  }
  const after = {
    fields: {
      fields: {
        client: { name: 'client', value: 'Beta' },
        same: { value: 'x', name: 'same' },
        open: { name: 'open', value: true },
      },
    },
    references: { items: { k: { id: 'k', title: 'Structured programming with go to' } } },
  }
  expect(diffEntries(bodyOf(before), bodyOf(after))).toEqual([
    { id: 'field client', kind: 'changed', name: 'client', before: 'Acme', after: 'Beta' },
    { id: 'field open', kind: 'added', name: 'open', before: null, after: 'true' },
    { id: 'field due', kind: 'removed', name: 'due', before: '3', after: null },
    { id: 'reference k', kind: 'changed', name: 'Structured programming with go to', before: null, after: null },
    { id: 'reference old', kind: 'removed', name: 'old', before: null, after: null },
  ])
  expect(diffEntries(bodyOf({ fields: {} }), bodyOf(before)).map(({ kind }) => kind)).toEqual(
    Array.from({ length: 5 }, () => 'added'),
  )
})
