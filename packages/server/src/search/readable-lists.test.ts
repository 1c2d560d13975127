import { expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import type { DocumentHead } from '../documents/document-store.port.ts'
import { ReadableLists } from './readable-lists.ts'

const heads = ['a', 'b', 'c'].map((id, n) => ({ id, lastSeq: n, coveredSeq: 0 }) as DocumentHead)
const caller = (sub: string, role: Access['role'] = 'member') => ({ sub, role }) as Access

it('[AG-61] rights are decided once for each caller and state of a workspace, and again after a change', () => {
  const lists = new ReadableLists()
  let asked = 0
  const may = (ids: string) => (head: DocumentHead) => {
    asked++
    return ids.includes(head.id)
  }
  const first = lists.of(caller('ann'), heads, may('ab'))
  expect(first).toEqual({ heads: heads.slice(0, 2), edited: [heads[1]] })
  expect(lists.of(caller('ann'), heads, may('ab'))).toBe(first)
  expect(asked).toBe(3)
  expect(lists.of(caller('ben'), heads, may('c')).heads).toEqual([heads[2]])
  expect(lists.of(caller('ann', 'viewer'), heads, may('')).heads).toEqual([])
  expect(lists.of(caller('ann'), [...heads], may('b')).heads).toEqual([heads[1]])
})

it('[AG-61] readable lists are kept for a limited number of callers, the newest ones', () => {
  const lists = new ReadableLists()
  for (let n = 0; n < 100; n++) lists.of(caller(`m${n}`), heads, () => true)
  expect(lists.of(caller('m0'), heads, () => false).heads).toEqual([])
  expect(lists.of(caller('m99'), heads, () => false).heads).toEqual(heads)
})
