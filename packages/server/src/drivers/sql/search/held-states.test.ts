import { describe, expect, it } from 'vitest'
import { readQuery, type SearchQuery } from '@docrelay/model/search/query'
import type { IndexedState } from '../../../search/search-index.port.ts'
import { HeldStates } from './held-states.ts'
import { ReceivedLists, SentLists } from './packed-request.ts'

const stateOf = (key: number, version = 1): IndexedState => ({ key, version, updatedAtMs: 5, coveredSeq: key % 3 })
const listOf = (length: number): readonly IndexedState[] => Array.from({ length }, (_, n) => stateOf(n + 1))

describe('states that an index was seen to hold', () => {
  it('[AG-64] documents count as behind unless the index was seen to hold their present state', () => {
    const held = new HeldStates()
    const list = listOf(3)
    expect(held.behind(list)).toEqual([1, 2, 3])
    held.learn([stateOf(1), stateOf(3, 0)])
    expect(held.behind(list)).toEqual([2, 3])
    held.learn([stateOf(2), stateOf(3)])
    expect(held.behind(list)).toEqual([])
    expect(held.behind([...list.slice(0, 2), stateOf(3, 2)])).toEqual([3])
  })

  it('[AG-64] a few states of documents are read by key, and thousands by one query for all', () => {
    const held = new HeldStates()
    expect(held.toRead(held.behind(listOf(20)))).toHaveLength(20)
    expect(held.toRead(held.behind(listOf(2000)))).toBeNull()
  })
})

describe('lists of documents on their way to the thread that searches', () => {
  const request = (documents: readonly IndexedState[]) => ({
    workspaceId: 'w',
    documents,
    query: readQuery('word') as SearchQuery,
    most: 9,
    withinMs: 7,
  })

  it('[AG-63] a list of documents is sent to the search thread once, and each request that names it uses the same list', () => {
    const [sent, received] = [new SentLists(), new ReceivedLists()]
    const [one, two] = [listOf(3), listOf(4)]
    const packed = [one, two, one].map((documents) => sent.pack(request(documents)))
    expect(packed.map(({ states }) => states?.length ?? null)).toEqual([12, 16, null])
    const unpacked = packed.map((each) => received.unpack(each))
    expect(unpacked).toEqual([request(one), request(two), request(one)])
    expect(unpacked[2]?.documents).toBe(unpacked[0]?.documents)
  })

  it('[AG-63] of many lists of documents those used longest ago are sent again', () => {
    const [sent, received] = [new SentLists(), new ReceivedLists()]
    const lists = Array.from({ length: 12 }, (_, n) => listOf(n + 1))
    for (const list of [...lists, ...lists.toReversed(), ...lists])
      expect(received.unpack(sent.pack(request(list)))).toEqual(request(list))
    expect(sent.pack(request(lists[11] ?? [])).states).toBeNull()
    expect(sent.pack(request(lists[0] ?? [])).states).not.toBeNull()
  })
})
