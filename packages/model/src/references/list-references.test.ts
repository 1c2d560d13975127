import { expect, it } from 'vitest'
import { body } from '../testing/builders.ts'
import { listReferences } from './list-references.ts'

it('[REF-1] references are listed in display order with their ids and all members', () => {
  const items = { a: { id: 'a', title: 'A', 'x-own': { deep: [1] } }, b: { title: 'B' }, c: { id: 'wrong' } }
  expect(listReferences(body({ references: { items, itemOrder: ['b', 'gone', 'a'], style: 'mla' } }))).toEqual({
    references: [{ id: 'b', title: 'B' }, items.a, { id: 'c' }],
    style: 'mla',
  })
})

it('[REF-1] the style is apa when unset, and an unreadable library is empty', () => {
  expect(listReferences(body({ references: { items: {}, itemOrder: [] } }))).toEqual({ references: [], style: 'apa' })
  expect(listReferences(body({ references: { items: 7 } }))).toEqual({ references: [], style: 'apa' })
  expect(listReferences(body({}))).toEqual({ references: [], style: 'apa' })
})
