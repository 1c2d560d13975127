import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import type { Search } from './search.ts'

interface HitJson {
  readonly docId: string
  readonly name: string
  readonly kind: string
  readonly id?: string
  readonly snippet: string
}

let relay: RestRelay
/** Every search first waits for this promise; `null` lets searches run at once. */
let hold: Promise<void> | null = null
beforeAll(async () => {
  const held = (real: Search): Search => ({
    async search(...given) {
      await hold
      return real.search(...given)
    },
  })
  relay = await startRestRelay({ search: held })
})
afterAll(() => relay[Symbol.asyncDispose]())

type Caller = Parameters<RestRelay['call']>[2] extends infer O
  ? NonNullable<NonNullable<O> extends { as?: infer A } ? A : never>
  : never

const inWorkspace = (workspaceId: string) => ({
  ann: { sub: 'ann', role: 'member', workspaceId } as Caller,
  ben: { sub: 'ben', role: 'member', workspaceId } as Caller,
  vic: { sub: 'vic', role: 'viewer', workspaceId } as Caller,
})

const put = async (as: Caller, id: string, body: object): Promise<void> => {
  const { status } = await relay.call('PUT', `/api/docs/${id}`, { as, body })
  expect([200, 201]).toContain(status)
}
const prose = (name: string, ...texts: readonly string[]) => ({
  name,
  richTextPages: [{ id: 'p1', name: 'Page', content: texts.map((text, n) => `<p id="b${n}">${text}</p>`).join('') }],
})
/** Searches again while the answer is incomplete, because on a busy machine the index may need longer than one search waits. */
async function search(as: Caller, query: Readonly<Record<string, string>>) {
  for (;;) {
    const answer = await relay.call('GET', `/api/v1/search?${new URLSearchParams(query)}`, { as })
    if (answer.json['incomplete'] !== true) return answer
  }
}
const hitsOf = (json: Readonly<Record<string, unknown>>): readonly HitJson[] => json['hits'] as readonly HitJson[]
const idsOf = (json: Readonly<Record<string, unknown>>) => hitsOf(json).map(({ docId, id }) => `${docId} ${id ?? '-'}`)

describe('GET /api/v1/search', () => {
  it('[AG-59] [AG-65] hits of all readable documents come best first, with bare ids', async () => {
    const { ann } = inWorkspace('default')
    await put(ann, 'one', prose('Orchard', 'Pears grow here', 'no match'))
    await put(ann, 'two', prose('Pears', 'and apples'))
    const { status, json, headers } = await search(ann, { q: 'pears' })
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
    expect(json).toEqual({
      hits: [
        { docId: 'two', name: 'Pears', kind: 'name', snippet: 'Pears' },
        { docId: 'one', name: 'Orchard', pageId: 'p1', kind: 'prose', id: 'b0', snippet: 'Pears grow here' },
      ],
      returned: 2,
    })
  })

  it('[AG-63] a search finds a change at once, and no deleted text or document and none whose right was removed', async () => {
    const { ann, ben } = inWorkspace('default')
    const id = randomUUID()
    await put(ann, id, prose('Changing', 'first zucchini', 'second'))
    expect(idsOf((await search(ann, { q: 'zucchini' })).json)).toEqual([`${id} b0`])
    expect(idsOf((await search(ben, { q: 'zucchini' })).json)).toEqual([])
    const shares = [{ userId: 'ben', permission: 'view' }]
    await put(ann, id, { ...prose('Changing', 'first', 'second zucchini'), sharedWith: shares })
    expect(idsOf((await search(ben, { q: 'zucchini', docId: id })).json)).toEqual([`${id} b1`])
    expect(idsOf((await search(ben, { q: 'zucchini' })).json)).toEqual([`${id} b1`])
    await put(ann, id, { ...prose('Changing', 'first', 'second zucchini'), sharedWith: [] })
    expect(idsOf((await search(ben, { q: 'zucchini' })).json)).toEqual([])
    expect((await search(ben, { q: 'zucchini', docId: id })).status).toBe(403)
    await relay.call('DELETE', `/api/docs/${id}`, { as: ann })
    expect((await search(ann, { q: 'zucchini' })).json).toEqual({ hits: [], returned: 0 })
    expect((await search(ann, { q: 'zucchini', docId: id })).status).toBe(404)
  })

  it('[AG-61] answers are the same with and without better matches in documents that the caller may not read', async () => {
    const { ann, ben } = inWorkspace('default')
    await put(ann, 'own-1', prose('Notes', 'quince and medlar', 'quince'))
    await put(ann, 'own-2', prose('Notes', 'medlar', 'quince of quince medlar'))
    const queries: readonly Readonly<Record<string, string>>[] = [
      { q: 'quince medlar' },
      { q: 'quince' },
      { q: 'quince medlar rowan' },
      { q: 'quince', limit: '1' },
    ]
    const answers = async () => Promise.all(queries.map(async (query) => (await search(ann, query)).text))
    const before = await answers()
    for (let n = 0; n < 30; n++) await put(ben, `ben-${n}`, prose('quince medlar rowan', 'quince medlar rowan'))
    expect(await answers()).toEqual(before)
    expect(hitsOf((await search(ben, { q: 'quince medlar' })).json)).toHaveLength(10)
  })

  it('[AG-61] hits with only some of the words are returned when no text has all, and the answer is partial', async () => {
    const { ann } = inWorkspace('default')
    await put(ann, 'partial', prose('Partial', 'walnut hazel', 'hazel chestnut', 'chestnut'))
    const { json } = await search(ann, { q: 'walnut hazel chestnut' })
    expect([json['partial'], idsOf(json)]).toEqual([true, ['partial b0', 'partial b1']])
    expect((await search(ann, { q: 'walnut hazel' })).json).not.toHaveProperty('partial')
    expect((await search(ann, { q: 'nothing anywhere' })).json).toEqual({ hits: [], returned: 0 })
  })

  it('[AG-62] a cursor leads through 200 hits, each once and in order, in answers of at most 8,000 bytes', async () => {
    const { ann } = inWorkspace('default')
    const texts = Array.from({ length: 230 }, (_, n) => `sloe ${n} ${'blackthorn '.repeat(12)}`)
    await put(ann, 'many', prose(`Many ${'long name '.repeat(30)}`, ...texts))
    const seen: string[] = []
    for (let cursor: string | undefined, n = 0; n < 60; n++) {
      const { json, text } = await search(ann, { q: 'sloe', limit: '20', ...(cursor !== undefined && { cursor }) })
      expect(text.length).toBeLessThanOrEqual(8000)
      for (const { snippet, name } of hitsOf(json)) {
        expect([...snippet].length).toBeLessThanOrEqual(120)
        expect([...name].length).toBeLessThanOrEqual(120)
      }
      seen.push(...idsOf(json))
      cursor = json['nextCursor'] as string | undefined
      if (cursor === undefined) break
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => `many b${n}`))
  })

  it.each([
    ['no words', { q: '?!' }, 'q'],
    ['no query', {}, 'q'],
    ['a query of 201 characters', { q: 'x'.repeat(201) }, 'q'],
    ['a limit of 21', { q: 'a', limit: '21' }, 'limit'],
    ['a limit of 0', { q: 'a', limit: '0' }, 'limit'],
    ['a cursor of another search', { q: 'a', cursor: '10.abc' }, 'cursor'],
  ])('[AG-65] a search with %s answers 400 BAD_REQUEST', async (_, query, field) => {
    const { status, json } = await search(inWorkspace('default').ann, query)
    expect([status, json['errorCode'], json['field']]).toEqual([400, 'BAD_REQUEST', field])
  })

  it('[AG-65] a viewer finds the documents that are shared with it', async () => {
    const { ann, vic } = inWorkspace('default')
    await put(ann, 'for-vic', { ...prose('Shown', 'elderberry'), sharedWith: [{ userId: 'vic', permission: 'view' }] })
    await put(ann, 'not-for-vic', prose('Hidden', 'elderberry'))
    expect(idsOf((await search(vic, { q: 'elderberry' })).json)).toEqual(['for-vic b0'])
  })

  it('[AG-65] a workspace runs four searches at a time; a fifth answers 429 RATE_LIMITED, and a later one is served', async () => {
    const { ann } = inWorkspace('default')
    const { promise, resolve } = Promise.withResolvers<void>()
    hold = promise
    const four = [1, 2, 3, 4].map(() => search(ann, { q: 'pears' }))
    await expect.poll(async () => (await search(ann, { q: 'pears' })).status).toBe(429)
    resolve()
    hold = null
    expect((await Promise.all(four)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await search(ann, { q: 'pears' })).status).toBe(200)
  })
})
