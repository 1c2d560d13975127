import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal } from './edit.ts'
import { jsonBytes, listingOf, MAX_RESULT_BYTES, pageOf, type Listing, type Members, type PageArgs } from './paging.ts'

interface Thing {
  readonly id: number
  readonly text: string
}

function listing(things: readonly Thing[]): Listing<Thing> {
  return listingOf({
    maxLimit: 10,
    items: things,
    read: (thing) => thing,
    show: (shown) => ({ things: shown, count: things.length }),
  })
}

function page(list: Listing<Thing>, args: PageArgs, version = 4): Members {
  const read = pageOf(list, 'things', args, version)
  if (isRefusal(read)) throw new Error(read.message)
  return read
}

function things(count: number, size = 1): readonly Thing[] {
  return Array.from({ length: count }, (_, id) => ({ id, text: 'ä'.repeat(size) }))
}

describe('pages of a list', () => {
  it('[TOOL-23] a list that fits is returned whole, without a cursor', () => {
    expect(page(listing(things(200)), {})).toEqual({ things: things(200), count: 200 })
    expect(page(listing([]), {})).toEqual({ things: [], count: 0 })
  })

  it('[TOOL-23] a page of a list stays within 80,000 serialized bytes', () => {
    const first = page(listing(things(1000, 100)), {})
    const bytes = jsonBytes({ ...first, serverVersion: 4, source: 'relay' })
    expect(bytes).toBeLessThanOrEqual(MAX_RESULT_BYTES)
    expect(bytes).toBeGreaterThan(MAX_RESULT_BYTES - 500)
    expect(first['nextCursor']).toBeTypeOf('string')
  })

  it('[TOOL-23] a page of a list has at least one item, whatever its size', () => {
    const first = page(listing(things(2, 50_000)), {})
    expect(first['things']).toEqual([things(1, 50_000)[0]])
    const second = page(listing(things(2, 50_000)), { cursor: first['nextCursor'] as string })
    expect(second['things']).toHaveLength(1)
    expect(second['nextCursor']).toBeUndefined()
  })

  it('[TOOL-24] limit cuts a page earlier, and a value above the maximum acts as the maximum', () => {
    expect(page(listing(things(30)), { limit: 3 })['things']).toHaveLength(3)
    expect(page(listing(things(30)), { limit: 5000 })['things']).toHaveLength(10)
    expect(page(listing(things(3)), { limit: 3 })['nextCursor']).toBeUndefined()
  })

  it('[TOOL-24] each page of a list continues where the one before ended', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(30_000), { maxLength: 40 }),
        fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
        (sizes, limit) => {
          const all = sizes.map((size, id) => ({ id, text: 'x'.repeat(size) }))
          const seen: unknown[] = []
          let cursor: string | undefined
          do {
            const next = page(listing(all), { limit, cursor })
            seen.push(...(next['things'] as Thing[]))
            cursor = next['nextCursor'] as string | undefined
          } while (cursor !== undefined)
          expect(seen).toEqual(all)
        },
      ),
      { seed: 5, numRuns: 60 },
    )
  })

  it('[TOOL-25] a cursor of another version is refused as expired', () => {
    const cursor = page(listing(things(3)), { limit: 1 })['nextCursor'] as string
    expect(pageOf(listing(things(3)), 'things', { cursor }, 5)).toMatchObject({
      code: 'ERR_CURSOR_EXPIRED',
      facts: { serverVersion: 5 },
    })
  })

  it('[TOOL-24] a cursor of another list, an invented one, and one past the end are refused', () => {
    const cursor = page(listing(things(3)), { limit: 1 })['nextCursor'] as string
    const pastEnd = cursor.replace('.0.1.', '.0.7.')
    expect(pageOf(listing(things(3)), 'others', { cursor }, 4)).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
    for (const bad of ['', 'x', pastEnd, `${cursor}x`, '4.0.1', '💥', `-${cursor}`])
      expect(pageOf(listing(things(3)), 'things', { cursor: bad }, 4)).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        facts: { argument: 'cursor' },
      })
  })
})
