import { isRefusal } from '@docrelay/model/edit'
import { readQuery } from '@docrelay/model/search/query'
import type { HitGroup } from '@docrelay/model/search/ranking'
import { describe, expect, it } from 'vitest'
import type { Access } from '../access/access.ts'
import type { DocumentHead, DocumentRecord, DocumentRef } from '../documents/document-store.port.ts'
import { type BodiesSearch, searchBodies } from '../documents/search-bodies.ts'
import { DamageError } from '../kernel/damage.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { RelayError } from '../kernel/errors.ts'
import type { FindRequest, Found } from './search-index.port.ts'
import { createSearch, type SearchAnswer, type SearchDeps } from './search.ts'
import { createIndexFeed } from './index-feed.ts'
import { PRIVATE_DOCS } from '../access/testing/policies.ts'

const noFacts = { title: 'Title' } as DocumentHead['facts']
const headOf = (n: number, more: Partial<DocumentHead> = {}): DocumentHead => ({
  ...{ workspaceId: 'w', id: `d${n}`, key: n, lineage: 'l', version: 1, ownerId: 'ann', ownerName: 'Ann', collectionId: null },
  ...{ sharedWith: [], createdAtMs: 1, updatedAtMs: 1000 - n, titleChangedAtMs: 1, sizeBytes: 10, facts: noFacts },
  ...{ lastSeq: 0, coveredSeq: 0, bodyAhead: false, owner: null },
  ...more,
})
const ann = { sub: 'ann', workspaceId: 'w', role: 'member' } as Access
const query = (() => {
  const read = readQuery('word')
  if (isRefusal(read)) throw new Error(read.message)
  return read
})()
const asked = { query, docId: null, limit: 10, from: 0, naming: 'bare' } as const
const nothing: Found = { groups: [], partial: false, stale: [], cutOff: false }

/** Opens the service over a workspace with these documents, and records its requests to the index. */
function serviceOver(
  heads: readonly DocumentHead[],
  more: Partial<SearchDeps> & { readonly answers?: (request: FindRequest) => Partial<Found> } = {},
) {
  const time = manualTime(0)
  const requests: FindRequest[] = []
  const refreshed: number[][] = []
  const search = createSearch({
    documents: {
      head: () => Promise.reject(new Error('not asked for')),
      require: () => Promise.reject(new Error('not asked for')),
    },
    store: { list: () => Promise.resolve(heads), read: () => Promise.resolve(null) },
    residents: { settleAll: () => Promise.resolve(0) },
    bodies: { for: () => ({ search: () => Promise.resolve([]) }) as never },
    index: {
      find(request) {
        requests.push(request)
        return Promise.resolve({ ...nothing, ...more.answers?.(request) })
      },
      refresh(refs) {
        refreshed.push(refs.map(({ key }) => key))
        return Promise.resolve()
      },
    },
    accessPolicy: PRIVATE_DOCS,
    clock: time.clock,
    timers: time.timers,
    ...more,
  })
  return { search, requests, refreshed, time }
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1)

describe('a search', () => {
  it('[AG-61] a search asks the index only for documents that the caller may read, last change first', async () => {
    const heads = [
      headOf(1),
      headOf(2, { ownerId: 'ben' }),
      headOf(3, { sharedWith: [{ userId: 'ann', permission: 'view' }], ownerId: 'ben' }),
    ]
    const { search, requests } = serviceOver(heads)
    await search.search(ann, asked)
    expect(requests.map(({ documents }) => documents.map(({ key }) => key))).toEqual([[1, 3]])
  })

  it('[AG-63] a search settles up to 16 live documents with newer edits, and counts the others as behind', async () => {
    const edited = numbers(20).map((n) => headOf(n, { lastSeq: 5 }))
    const foreign = headOf(21, { lastSeq: 5, ownerId: 'ben' })
    const settled: string[] = []
    const residents = {
      settleAll: async (asked: readonly DocumentHead[]) => {
        settled.push(...asked.map(({ id }) => id))
        return asked.length - 1
      },
    }
    const { search } = serviceOver([...edited, foreign, headOf(22)], { residents })
    const { behind, incomplete } = await search.search(ann, asked)
    expect(settled).toEqual(numbers(16).map((n) => `d${n}`))
    expect([behind, incomplete]).toEqual([5, false])
  })

  it('[AG-63] a live document that does not answer delays a search by at most a second', async () => {
    const limits: unknown[] = []
    const settleAll = async (_heads: readonly DocumentHead[], withinMs?: number): Promise<number> => {
      limits.push(withinMs)
      return 0
    }
    const { search } = serviceOver([headOf(1, { lastSeq: 1 })], { residents: { settleAll } })
    expect(await search.search(ann, asked)).toMatchObject({ behind: 1 })
    expect(limits).toEqual([1_000])
  })

  it('[AG-63] a document that cannot be settled is searched as stored after 3 s, and counts as behind', async () => {
    const documents = {
      head: () => new Promise<never>(() => undefined),
      require: () => Promise.resolve(headOf(1)),
    }
    const { search, time, requests } = serviceOver([], { documents })
    const answer = search.search(ann, { ...asked, docId: 'd1' })
    await time.advance(2_999)
    expect(requests).toEqual([])
    await time.advance(1)
    expect(await answer).toMatchObject({ behind: 1 })
    expect(requests.map(({ documents: heads, withinMs }) => [heads.length, withinMs])).toEqual([[1, 1_500]])
  })

  it('[AG-63] [AG-64] a search waits for the index to take in changes, and reports when some are still missing', async () => {
    const heads = numbers(2).map((n) => headOf(n))
    let asks = 0
    const answers = (): Partial<Found> => ({ stale: asks++ === 0 ? [2] : [] })
    const { search, refreshed } = serviceOver(heads, { answers })
    expect(await search.search(ann, asked)).toMatchObject({ incomplete: false })
    expect([asks, refreshed]).toEqual([2, [[2]]])
    const lacking = serviceOver(heads, { answers: () => ({ stale: [1] }) })
    expect(await lacking.search.search(ann, asked)).toMatchObject({ incomplete: true })
  })

  it('[AG-64] a search does not wait for an index that is being built', async () => {
    const heads = numbers(100).map((n) => headOf(n))
    const { search, requests, refreshed } = serviceOver(heads, { answers: () => ({ stale: numbers(100) }) })
    expect(await search.search(ann, asked)).toMatchObject({ incomplete: true })
    expect([requests.length, refreshed.map((keys) => keys.length)]).toEqual([1, [64]])
  })

  it('[AG-59] [AG-62] a search leaves out documents that can no longer be read, and continues after them', async () => {
    const heads = numbers(3).map((n) => headOf(n))
    const groups = heads.map((_, document) => ({ document, placeClass: 'rest', matched: 1, exact: true, count: 1 }) as const)
    const { search } = serviceOver(heads, { answers: () => ({ groups }) })
    expect(await search.search(ann, asked)).toMatchObject({ hits: [], next: null, incomplete: false })
  })

  it('[AG-63] a search that is cut off reports that it is incomplete', async () => {
    const { search, requests } = serviceOver([headOf(1)], { answers: () => ({ cutOff: true }) })
    expect(await search.search(ann, asked)).toMatchObject({ incomplete: true })
    expect(requests[0]?.withinMs).toBeLessThanOrEqual(2_000)
  })
})

describe('the hits of a search', () => {
  const bodyOf = (n: number) => new TextEncoder().encode(JSON.stringify({ name: `word ${n}` }))
  const recordOf = (n: number): DocumentRecord => ({ head: headOf(n), body: bodyOf(n) })
  const numberOf = ({ id }: { readonly id: string }): number => Number(id.slice(1))
  const group = (document: number): HitGroup => ({ document, placeClass: 'document', matched: 1, exact: true, count: 1 })
  const idsOf = ({ hits }: SearchAnswer) => hits.map(({ docId }) => docId)
  const never = () => new Promise<never>(() => undefined)

  /** Opens the service over `count` documents. Each document is a batch of its own and has the searched word in its name. */
  function found(
    count: number,
    more: Partial<SearchDeps> & { readonly answers?: (request: FindRequest) => Partial<Found> } = {},
  ) {
    const heads = numbers(count).map((n) => headOf(n, { sizeBytes: 2_000_000 }))
    const answers = (): Partial<Found> => ({ groups: heads.map((_, document) => group(document)) })
    const store = { list: async () => heads, read: async (ref: DocumentRef) => recordOf(numberOf(ref)) }
    const bodies = { for: () => ({ search: async (given: BodiesSearch) => searchBodies(given) }) as never }
    return serviceOver(heads, { answers, store, bodies, ...more })
  }

  it('[REST-13] a store that cannot be read makes a search fail with 503 instead of returning no hits', async () => {
    const store = {
      list: async () => [headOf(1)],
      read: () => Promise.reject(new RelayError('UNAVAILABLE', 'the store cannot be read')),
    }
    const { search } = found(1, { store })
    await expect(search.search(ann, asked)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })

  it('[AG-62] [LIFE-8] a damaged document costs its own hits, and the answer says that it is incomplete', async () => {
    const store = {
      list: async () => numbers(3).map((n) => headOf(n, { sizeBytes: 2_000_000 })),
      read: async (ref: DocumentRef) => {
        if (numberOf(ref) === 2) throw new DamageError('body', ref.id)
        return recordOf(numberOf(ref))
      },
    }
    const answer = await found(3, { store }).search.search(ann, asked)
    expect([idsOf(answer), answer.incomplete, answer.next]).toEqual([['d1', 'd3'], true, null])
  })

  it('[AG-59] a document that the caller may no longer read when its hits are read is left out', async () => {
    const store = {
      list: async () => numbers(2).map((n) => headOf(n)),
      read: async (ref: DocumentRef) => ({ ...recordOf(numberOf(ref)), head: headOf(numberOf(ref), { ownerId: 'ben' }) }),
    }
    expect(await found(2, { store }).search.search(ann, asked)).toMatchObject({ hits: [], next: null, incomplete: false })
  })

  it('[AG-63] [LIFE-8] hits of a live document that does not answer are read from its stored body, without a second wait', async () => {
    const documents = { head: never, get: never, require: async () => headOf(1) }
    const { search, time } = found(1, { documents })
    const all = await search.search(ann, asked)
    expect(idsOf(all)).toEqual(['d1'])
    const inOne = search.search(ann, { ...asked, docId: 'd1' })
    await time.advance(3_000)
    expect(await inOne).toMatchObject({ hits: [{ docId: 'd1' }], behind: 1, incomplete: false })
  })

  it('[AG-63] [LIFE-8] a document that cannot be searched in time costs its own hits, and the next answer goes on after it', async () => {
    let given: AbortSignal | undefined
    const bodies = {
      for: () =>
        ({
          search: async (asked: BodiesSearch, over?: AbortSignal) => {
            if (asked.bytes.toString() !== bodyOf(2).toString()) return searchBodies(asked)
            given = over
            return never()
          },
        }) as never,
    }
    const { search, time } = found(3, { bodies })
    const first = search.search(ann, asked)
    await time.advance(1_999)
    expect(given?.aborted).toBe(false)
    await time.advance(1)
    const answer = await first
    expect([idsOf(answer), answer.next, answer.incomplete, given?.aborted]).toEqual([['d1'], 1, true, true])
    const second = search.search(ann, { ...asked, from: 1 })
    await time.advance(2_000)
    expect(await second).toMatchObject({ hits: [], next: 2, incomplete: true })
    expect(idsOf(await search.search(ann, { ...asked, from: 2 }))).toEqual(['d3'])
  })

  it('[AG-63] documents in the batch of a late document are read for the next answer', async () => {
    let isLate = true
    const bodies = {
      for: () => ({ search: async (given: BodiesSearch) => (isLate ? never() : searchBodies(given)) }) as never,
    }
    const store = {
      list: async () => numbers(3).map((n) => headOf(n, { sizeBytes: 1_000 })),
      read: async (ref: DocumentRef) => recordOf(numberOf(ref)),
    }
    const { search, time } = found(3, { bodies, store })
    const first = search.search(ann, asked)
    await time.advance(2_000)
    const answer = await first
    expect([idsOf(answer), answer.next, answer.incomplete]).toEqual([[], 1, true])
    isLate = false
    expect(idsOf(await search.search(ann, { ...asked, from: 1 }))).toEqual(['d2', 'd3'])
  })

  it('[AG-63] [LIFE-8] a body that fails in its thread costs its own hits, and the other hits are returned', async () => {
    const bodies = {
      for: () =>
        ({
          search: async (asked: BodiesSearch) => {
            if (asked.bytes.toString() === bodyOf(1).toString()) throw new RelayError('UNAVAILABLE', 'could not be read')
            return searchBodies(asked)
          },
        }) as never,
    }
    const answer = await found(3, { bodies }).search.search(ann, asked)
    expect([idsOf(answer), answer.next, answer.incomplete]).toEqual([['d2', 'd3'], null, true])
  })

  it('[AG-63] hits are read and returned although finding them took all of its time', async () => {
    const { clock, timers, advance } = manualTime(0)
    const index = {
      find: async ({ withinMs }: FindRequest) => {
        await new Promise<void>((resolve) => timers.after(withinMs, resolve))
        return { ...nothing, groups: [group(0), group(1)], cutOff: true }
      },
      refresh: async () => undefined,
    }
    const { search } = found(2, { index, clock, timers })
    const answer = search.search(ann, asked)
    await advance(1_500)
    expect(await answer).toMatchObject({ hits: [{ docId: 'd1' }, { docId: 'd2' }], incomplete: true })
  })

  it('[AG-63] a second look at the index that is cut off does not replace the complete first one', async () => {
    const { clock, timers, advance } = manualTime(0)
    let looks = 0
    const index = {
      find: async (): Promise<Found> =>
        looks++ === 0 ? { ...nothing, groups: [group(0)], stale: [1] } : { ...nothing, cutOff: true },
      refresh: () => new Promise<void>((resolve) => timers.after(900, resolve)),
    }
    const { search } = found(1, { index, clock, timers })
    const answer = search.search(ann, asked)
    await advance(900)
    expect([idsOf(await answer), (await answer).incomplete, looks]).toEqual([['d1'], true, 2])
  })

  it('[AG-63] of two looks at the index that were both cut off the search returns the one with more hits', async () => {
    const { clock, timers, advance } = manualTime(0)
    let looks = 0
    const index = {
      find: async (): Promise<Found> =>
        looks++ === 0 ? { ...nothing, groups: [group(0)], stale: [1], cutOff: true } : { ...nothing, cutOff: true },
      refresh: () => new Promise<void>((resolve) => timers.after(900, resolve)),
    }
    const { search } = found(1, { index, clock, timers })
    const answer = search.search(ann, asked)
    await advance(900)
    expect([idsOf(await answer), looks]).toEqual([['d1'], 2])
  })

  it('[AG-63] an index that does not answer at all ends a search after 2 s', async () => {
    const { clock, timers, advance } = manualTime(0)
    const { search } = found(1, { index: { find: never, refresh: never }, clock, timers })
    const answer = search.search(ann, asked)
    await advance(2_000)
    expect(await answer).toMatchObject({ hits: [], incomplete: true })
  })
})

describe('the feed of an index', () => {
  it('[AG-63] changes of a second are reported together, each document once; without changes no timer runs', async () => {
    const { timers, advance } = manualTime(0)
    const told: (readonly number[])[] = []
    const refresh = async (refs: readonly { readonly key: number }[]) => void told.push(refs.map(({ key }) => key))
    using feed = createIndexFeed({ index: { refresh }, timers })
    for (const key of [1, 2, 1]) feed.stored({ workspaceId: 'w', key })
    expect(told).toEqual([])
    await advance(1_000)
    expect(told).toEqual([[1, 2]])
    await advance(60_000)
    expect(told).toHaveLength(1)
  })
})
