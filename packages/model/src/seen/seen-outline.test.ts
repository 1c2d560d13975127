import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outlineShown, outlineWritten } from './seen-outline.ts'

const named = (...ids: readonly string[]) => ids.map((id) => `${id}#0000`)
const someIds = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 }).map((ids) => named(...ids))

describe('the outline that a caller knows', () => {
  it('[AG-79] an answer replaces what was shown at its places, and all of it where it shows the whole outline', () => {
    expect(outlineShown(named('a', 'b', 'c'), { from: 1, blocks: named('x') })).toEqual(named('a', 'x', 'c'))
    expect(outlineShown([], { from: 2, blocks: named('x') })).toEqual([null, null, ...named('x')])
    expect(outlineShown(named('a', 'b'), { from: 0, blocks: named('x'), isAll: true })).toEqual(named('x'))
  })

  it('[AG-79] is the stored one after own writes when nobody else wrote', () => {
    fc.assert(
      fc.property(someIds, someIds, (before, after) => {
        expect(outlineWritten(before, { before, after })).toEqual(after)
      }),
    )
  })

  it('[AG-79] has no headings that others added, and still those that others removed, after an own write', () => {
    const stored = { before: named('x', 'a', 'c'), after: named('x', 'a', 'new', 'c') }
    expect(outlineWritten(named('a', 'b', 'c'), stored)).toEqual(named('a', 'b', 'new', 'c'))
    expect(outlineWritten(named('gone', 'a'), { before: named('a'), after: named('a', 'new') })).toEqual(
      named('gone', 'a', 'new'),
    )
    expect(outlineWritten([null, ...named('a')], stored)).toBeNull()
  })

  it('[AG-79] a heading that had no id when it was shown is the same one when a write gives it one', () => {
    expect(outlineWritten(['#1111'], { before: ['#1111'], after: ['blk-a#1111', 'blk-b#2222'] })).toEqual([
      'blk-a#1111',
      'blk-b#2222',
    ])
  })
})
