import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outlineShown, outlineWritten } from './seen-outline.ts'

const named = (...ids: readonly string[]) => ids.map((id) => `${id}#0000`)
const someIds = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 }).map((ids) => named(...ids))

describe('the outline that a caller knows', () => {
  it('[AG-79] an answer replaces the known headings at its places, or all of them when it shows the whole outline', () => {
    expect(outlineShown(named('a', 'b', 'c'), { from: 1, blocks: named('x') })).toEqual(named('a', 'x', 'c'))
    expect(outlineShown([], { from: 2, blocks: named('x') })).toEqual([null, null, ...named('x')])
    expect(outlineShown(named('a', 'b'), { from: 0, blocks: named('x'), isAll: true })).toEqual(named('x'))
  })

  it('[AG-79] the outline known to a caller is the stored outline after own writes when nobody else wrote', () => {
    fc.assert(
      fc.property(someIds, someIds, (before, after) => {
        expect(outlineWritten(before, { before, after })).toEqual(after)
      }),
    )
  })

  it('[AG-79] after an own write, a caller knows no headings that others added, and still those that others removed', () => {
    const stored = { before: named('x', 'a', 'c'), after: named('x', 'a', 'new', 'c') }
    expect(outlineWritten(named('a', 'b', 'c'), stored)).toEqual(named('a', 'b', 'new', 'c'))
    expect(outlineWritten(named('gone', 'a'), { before: named('a'), after: named('a', 'new') })).toEqual(
      named('gone', 'a', 'new'),
    )
    expect(outlineWritten([null, ...named('a')], stored)).toBeNull()
  })

  it('[AG-79] a heading that was shown without id is the same heading after a write gave it an id', () => {
    expect(outlineWritten(['#1111'], { before: ['#1111'], after: ['blk-a#1111', 'blk-b#2222'] })).toEqual([
      'blk-a#1111',
      'blk-b#2222',
    ])
  })
})
