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
    nameOf: (thing) => String(thing.id),
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

  it('[TOOL-24] each page of a list continues where the page before ended', () => {
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

  it('[AG-82] in a newer version a cursor goes on at the next item, behind the last item, or at the same number', () => {
    const ids = (members: Members) => (members['things'] as Thing[]).map(({ id }) => id)
    const cursor = page(listing(things(9)), { limit: 3 })['nextCursor'] as string
    const read = (left: readonly number[]) => {
      const list = listing(left.map((id) => ({ id, text: '' })))
      return page(list, { cursor }, 5)
    }
    expect(ids(read([0, 1, 2, 3, 4]))).toEqual([3, 4])
    expect(ids(read([77, 0, 1, 2, 78, 3, 4]))).toEqual([78, 3, 4])
    expect(ids(read([0, 1, 2, 4, 5]))).toEqual([4, 5])
    expect(ids(read([0, 1, 3, 4]))).toEqual([3, 4])
    expect(ids(read([0, 1, 2]))).toEqual([])
    expect(ids(read([3, 0, 1, 2, 4, 5]))).toEqual([4, 5])
    expect(ids(read([0, 1, 2, 4, 5, 6, 3]))).toEqual([4, 5, 6, 3])
    expect(ids(read([0, 1, 3, 4, 5, 2]))).toEqual([3, 4, 5, 2])
    expect(read([2, 3])).not.toHaveProperty('warnings')
    const guessed = read([0, 1, 10, 11, 12])
    expect([ids(guessed), guessed['warnings']]).toEqual([[11, 12], [{ reason: expect.stringContaining('may be missing') }]])
    expect(ids(read([0]))).toEqual([])
  })

  it('[AG-82] an item that nobody moves or removes is listed exactly once while other items come and go', () => {
    const change = fc.record({ at: fc.nat(), isInsert: fc.boolean() })
    fc.assert(
      fc.property(
        fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        (rounds, limit) => {
          let now: readonly Thing[] = things(12)
          let [version, fresh] = [1, 100]
          const seen: number[] = []
          let cursor: string | undefined
          do {
            const part = page(listing(now), { limit, cursor }, version)
            seen.push(...(part['things'] as Thing[]).map(({ id }) => id))
            cursor = part['nextCursor'] as string | undefined
            const changes = rounds[version - 1] ?? []
            // Both items around the cursor stay in this law. When both go, the number of items before the cursor decides.
            const around = new Set([seen.at(-1), now[now.findIndex(({ id }) => id === seen.at(-1)) + 1]?.id])
            for (const { at, isInsert } of changes) {
              const index = at % (now.length + 1)
              const gone = now[index]
              if (isInsert) now = [...now.slice(0, index), { id: fresh++, text: '' }, ...now.slice(index)]
              else if (gone !== undefined && !around.has(gone.id)) now = now.filter((thing) => thing !== gone)
            }
            if (changes.length > 0) version++
            else rounds.splice(version - 1, 1)
          } while (cursor !== undefined)
          const stayed = now.filter(({ id }) => id < 100).map(({ id }) => id)
          expect(seen.filter((id) => stayed.includes(id))).toEqual(stayed)
          expect(new Set(seen).size).toBe(seen.length)
        },
      ),
      { seed: 82, numRuns: 300 },
    )
  })

  it('[TOOL-24] a cursor of another list, an invented cursor, and a cursor past the end are refused', () => {
    const cursor = page(listing(things(3)), { limit: 1 })['nextCursor'] as string
    const pastEnd = cursor.replace('.0.1.', '.0.7.')
    expect(pageOf(listing(things(3)), 'others', { cursor }, 4)).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
    for (const bad of ['', 'x', pastEnd, `${cursor}x.`, '4.0.1', '💥', `-${cursor}`])
      expect(pageOf(listing(things(3)), 'things', { cursor: bad }, 4)).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        facts: { argument: 'cursor' },
      })
  })
})
