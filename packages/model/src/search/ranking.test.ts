import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { readQuery, type SearchQuery } from './query.ts'
import { type HitGroup, rankGroups, sliceGroups } from './ranking.ts'

function query(text: string): SearchQuery {
  const read = readQuery(text)
  if (isRefusal(read)) throw new Error(read.message)
  return read
}

const group = (given: Partial<HitGroup>): HitGroup => ({
  document: 0,
  placeClass: 'rest',
  matched: 2,
  exact: false,
  count: 1,
  ...given,
})

describe('ranking', () => {
  it('[AG-60] hits rank by place, then by exact phrase, then by the later change of the document', () => {
    const groups = [
      group({ document: 0 }),
      group({ document: 1, exact: true }),
      group({ document: 2, placeClass: 'heading' }),
      group({ document: 3, placeClass: 'page' }),
      group({ document: 4, placeClass: 'document' }),
      group({ document: 5, placeClass: 'page' }),
    ]
    const { groups: ranked, partial } = rankGroups(groups, query('a b'), 200)
    expect(ranked.map(({ document }) => document)).toEqual([4, 3, 5, 2, 1, 0])
    expect(partial).toBe(false)
  })

  it('[AG-60] hits with half of the words or more count only when no text has every word, more words first', () => {
    const three = query('a b c')
    const some = [group({ matched: 1 }), group({ matched: 2, document: 1 }), group({ matched: 2, document: 2, exact: true })]
    expect(rankGroups([...some, group({ matched: 3, document: 9 })], three, 200)).toMatchObject({
      partial: false,
      groups: [{ document: 9 }],
    })
    expect(rankGroups(some, three, 200)).toMatchObject({ partial: true, groups: [{ document: 2 }, { document: 1 }] })
    expect(rankGroups([group({ matched: 1 })], three, 200)).toEqual({ partial: false, groups: [] })
  })

  it('[AG-60] hits are counted up to a limit, and a page of hits is cut from their groups', () => {
    const { groups } = rankGroups(
      [group({ count: 5 }), group({ document: 1, count: 5 }), group({ document: 2 })],
      query('a b'),
      7,
    )
    expect(groups.map(({ count }) => count)).toEqual([5, 2])
    expect(sliceGroups(groups, 3, 3).map(({ group: { document }, from, count }) => [document, from, count])).toEqual([
      [0, 3, 2],
      [1, 0, 1],
    ])
    expect(sliceGroups(groups, 7, 3)).toEqual([])
  })
})
