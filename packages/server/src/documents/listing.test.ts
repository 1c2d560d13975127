import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import type { DocumentHead } from './document-store.port.ts'
import { decodeCursor, encodeCursor, pageOf } from './listing.ts'

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
  for (const [id, body] of [
    ['a', { name: 'Alpha', collectionId: 'c1' }],
    ['b', { name: 'beta Ä' }],
    ['c', { name: 'Gamma', collectionId: 'c1' }],
  ] as const) {
    await relay.call('PUT', `/api/docs/${id}`, { as: ann, body })
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
  await relay.call('PUT', '/api/docs/hidden', { as: { sub: 'eve', role: 'member' }, body: { name: 'Alpha too' } })
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }
const list = (query = '') => relay.call('GET', `/api/docs${query}`, { as: ann })
const ids = async (query = '') => (await list(query)).list.map((entry) => entry.id)

describe('GET /api/docs', () => {
  it('[REST-21] [interface rule 1] GET /api/docs lists what the caller may read, last change first', async () => {
    expect(await ids()).toEqual(['c', 'b', 'a'])
    await relay.call('PUT', '/api/docs/b/collection', { as: ann, body: { collectionId: 'c2' } })
    expect(await ids()).toEqual(['b', 'c', 'a'])
    await relay.call('PUT', '/api/docs/b/collection', { as: ann, body: { collectionId: null } })
  })

  it('[REST-21] GET /api/docs filters by title in any case and by collection, where an empty value means unassigned', async () => {
    expect(await ids('?q=ALPHA')).toEqual(['a'])
    expect(await ids(`?q=${encodeURIComponent('ä')}`)).toEqual(['b'])
    expect(await ids('?collectionId=c1')).toEqual(['c', 'a'])
    expect(await ids('?collectionId=')).toEqual(['b'])
    await relay.call('PUT', '/api/docs/b/collection', { as: ann, body: { collectionId: '' } })
    expect(await ids('?collectionId=')).toEqual(['b'])
    expect(await ids('?collectionId=foreign&q=a')).toEqual([])
    expect(await ids('?unknown=1')).toHaveLength(3)
  })

  it('[REST-21] [PERM-8] a cut list links to its next page, and the link keeps the other query members', async () => {
    const first = await list('?limit=1&q=a')
    const link = /^<(.+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    expect(link).toContain('q=a')
    const seen = first.list.map((entry) => entry.id)
    for (let next: string | undefined = link; next; ) {
      const page = await relay.call('GET', next, { as: ann })
      seen.push(...page.list.map((entry) => entry.id))
      next = /^<(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(['b', 'c', 'a'])
    expect((await list('?limit=3')).headers.get('link')).toBeNull()
  })

  it.each(['?limit=0', '?limit=501', '?limit=x', '?cursor=nonsense', '?cursor=W10', `?q=${'x'.repeat(201)}`])(
    '[REST-8] [REST-21] GET /api/docs with %s answers 400',
    async (query) => {
      expect((await list(query)).json.errorCode).toBe('BAD_REQUEST')
    },
  )
})

describe('pages of a list', () => {
  const heads = (times: readonly number[]): DocumentHead[] =>
    times
      .map(
        (updatedAtMs, i) =>
          ({ id: `d${i}`, updatedAtMs, collectionId: null, facts: { title: `t${i}` } }) as unknown as DocumentHead,
      )
      .sort((a, b) => b.updatedAtMs - a.updatedAtMs || (a.id < b.id ? -1 : 1))
  const query = { titlePart: null, collectionId: undefined }

  it('[REST-21] [PERM-8] following the pages lists every readable document once, for any times, rights and limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 4 }),
        (times, limit, every) => {
          const all = heads(times)
          const readerOf = (head: DocumentHead) =>
            Number(head.id.slice(1)) % every === 0 ? ({ sub: 'ann', level: 'view' } as const) : null
          const seen: string[] = []
          let after = null
          do {
            const page = pageOf(all, { ...query, limit, after }, readerOf)
            expect(page.items.length).toBeLessThanOrEqual(limit)
            seen.push(...page.items.map((item) => item.head.id))
            after = page.next && decodeCursor(encodeCursor(page.next))
          } while (after !== null)
          expect(seen).toEqual(all.filter((head) => readerOf(head) !== null).map((head) => head.id))
        },
      ),
    )
  })
})
