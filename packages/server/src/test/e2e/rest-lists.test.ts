import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Call, type RawAnswer, rawHttp } from '../raw-http.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let call: Call

beforeAll(async () => {
  relay = await sharedRelay()
  call = rawHttp(relay)
})
afterAll(() => relay?.[Symbol.asyncDispose]())

interface Item {
  readonly id: string
  readonly updated_at: string
  readonly serverVersion: number
  readonly [member: string]: unknown
}

const items = (answer: RawAnswer): Item[] => JSON.parse(answer.text) as Item[]
const ids = (answer: RawAnswer): string[] => items(answer).map(({ id }) => id)

/** Follows `Link` from page to page and returns the ids of all. */
async function pages(path: string, as: object, between?: (page: number) => Promise<unknown>): Promise<string[][]> {
  const all: string[][] = []
  let next: string | undefined = path
  while (next !== undefined && all.length < 100) {
    const answer: RawAnswer = await call('GET', next, { as })
    expect(answer.status).toBe(200)
    all.push(ids(answer))
    next = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link ?? ''))?.[1]
    if (next === undefined) expect(answer.headers.link).toBeUndefined()
    await between?.(all.length)
  }
  return all
}

describe('lists of documents', () => {
  const as = { sub: 'ann', role: 'member', workspace: 'lists' }
  const titles = ['Alpha', 'beta', 'ALPHABET', 'Straße', 'İstanbul', '50% & more?', '😀 smile', 'Untitled']

  beforeAll(async () => {
    for (const [at, name] of titles.entries())
      await call('PUT', `/api/docs/l${at}`, { as, body: { name, collectionId: at % 2 === 0 ? 'even' : null } })
    await call('PUT', '/api/docs/other', { as: { ...as, sub: 'bob' }, body: { name: 'Alpha of Bob', collectionId: 'even' } })
  })

  it('[REST-21] the list is a plain array, ordered by last change, newest first, then by id', async () => {
    const listed = items(await call('GET', '/api/docs', { as }))
    expect(listed.map(({ id }) => id).toSorted()).toEqual(titles.map((_, at) => `l${at}`))
    const inOrder = listed.toSorted((a, b) =>
      a.updated_at === b.updated_at ? (a.id < b.id ? -1 : 1) : a.updated_at < b.updated_at ? 1 : -1,
    )
    expect(listed).toEqual(inOrder)
    await call('PUT', '/api/docs/l3/collection', { as, body: { collectionId: 'x' } })
    expect(ids(await call('GET', '/api/v1/docs', { as }))[0]).toBe('l3')
    await call('PUT', '/api/docs/l3/collection', { as, body: { collectionId: null } })
  })

  it.each([
    ['q=alpha', ['l0', 'l2']],
    ['q=ALPHAB', ['l2']],
    ['q=', ['l0', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7']],
    ['q=stra%C3%9Fe', ['l3']],
    ['q=%F0%9F%98%80', ['l6']],
    ['q=50%25+%26', ['l5']],
    ['q=%25', ['l5']],
    ['q=_', []],
    ['collectionId=even', ['l0', 'l2', 'l4', 'l6']],
    ['collectionId=', ['l1', 'l3', 'l5', 'l7']],
    ['collectionId=none', []],
    ['collectionId=even&q=alpha', ['l0', 'l2']],
  ])('[REST-21] [PERM-8] a list filtered by ?%s has exactly the matching documents', async (query, wanted) => {
    expect(ids(await call('GET', `/api/docs?${query}`, { as })).toSorted()).toEqual(wanted)
  })

  it('[REST-21] pages neither repeat nor skip documents, keep the query, and the last has no link', async () => {
    const whole = ids(await call('GET', '/api/docs', { as }))
    for (const limit of [1, 2, 3, 7, 8, 9]) expect((await pages(`/api/docs?limit=${limit}`, as)).flat()).toEqual(whole)
    expect(await pages('/api/docs?limit=8', as)).toHaveLength(1)
    const even = await pages('/api/docs?collectionId=even&limit=2&q=', as)
    expect([even.length, even.flat().toSorted()]).toEqual([2, ['l0', 'l2', 'l4', 'l6']])
  })

  it('[REST-21] a document that changes between two pages may move; all others appear once', async () => {
    const moving = { ...as, workspace: 'moving' }
    for (let at = 0; at < 10; at++) await call('PUT', `/api/docs/m${at}`, { as: moving, body: {} })
    const seen = await pages('/api/docs?limit=3', moving, (page) => {
      if (page === 1) return call('PUT', '/api/docs/m0', { as: moving, body: {} })
      if (page === 2) return call('DELETE', '/api/docs/m1', { as: moving })
      return Promise.resolve()
    })
    const others = seen.flat().filter((id) => id !== 'm0' && id !== 'm1')
    expect(others).toEqual(['m9', 'm8', 'm7', 'm6', 'm5', 'm4', 'm3', 'm2'])
  })

  it('[REST-21] [PERM-8] a cursor reveals nothing about other workspaces or documents', async () => {
    const first = await call('GET', '/api/docs?limit=1', { as: { ...as, sub: 'bob' } })
    expect([ids(first), first.headers.link]).toEqual([['other'], undefined])
    const link = String((await call('GET', '/api/docs?limit=1', { as })).headers.link)
    const cursor = /cursor=([^&>]+)/.exec(link)?.[1] ?? ''
    expect((await call('GET', `/api/docs?cursor=${cursor}`, { as: { ...as, workspace: 'empty' } })).text).toBe('[]')
    for (const bad of [cursor.slice(2), 'W10', 'WzFd', 'bnVsbA', '..', '%00'])
      expect([bad, (await call('GET', `/api/docs?cursor=${bad}`, { as })).json.field]).toEqual([bad, 'cursor'])
  })

  it('[BODY-15] an entry of the list equals the metadata in the answer to the PUT of the document', async () => {
    const body = {
      name: 'N',
      tags: ['a'],
      lockedBy: 'x',
      lockedByName: 'X',
      lockedAt: 5,
      lastModifiedBy: 'y',
      lastModifiedByName: 'Y',
      createdAt: 1.5,
    }
    const {
      success: _,
      newVersion: __,
      ...saved
    } = (await call('PUT', '/api/docs/entry', { as: { ...as, workspace: 'entry' }, body })).json
    expect(items(await call('GET', '/api/docs', { as: { ...as, workspace: 'entry' } }))).toEqual([saved])
    const { id: ___, createdAt, ...carried } = { id: 0, ...body }
    expect(saved).toMatchObject(carried)
    expect(saved.createdAt).not.toBe(createdAt)
    expect(Number.isInteger(saved.createdAt)).toBe(true)
  })
})

describe('transfer of a document', () => {
  const as = { sub: 'ann', role: 'member', workspace: 'transfer' }
  const head = async (id: string) => (await call('GET', `/api/docs/${id}`, { as: { ...as, role: 'owner' } })).json
  const give = (id: string, body: unknown, by: object = as) => call('POST', `/api/docs/${id}/transfer`, { as: by, body })

  it('[REST-23] a transfer answers 204, makes the former owner an edit share and removes the new owner from the list', async () => {
    await call('PUT', '/api/docs/t', { as, body: { sharedWith: [{ userId: 'bob', permission: 'view' }, 'cid'] } })
    const answer = await give('t', { to_user_id: 'bob' })
    expect([answer.status, answer.text]).toEqual([204, ''])
    const now = await head('t')
    expect(now).toMatchObject({ ownerId: 'bob', ownerName: 'bob', serverVersion: 2 })
    expect(now.sharedWith).toEqual([
      'cid',
      expect.objectContaining({ userId: 'ann', permission: 'edit', sharedAt: expect.any(Number) }),
    ])
    expect((await give('t', { to_user_id: 'ann' })).json.errorCode).toBe('OWNER_REQUIRED')
    expect((await call('PUT', '/api/docs/t', { as, body: {} })).status).toBe(200)
    expect(await head('t')).toMatchObject({ ownerId: 'bob', ownerName: 'bob' })
  })

  it('[REST-23] a transfer accepts the other spelling of the new owner; one to the present owner changes nothing', async () => {
    await call('PUT', '/api/docs/u', { as, body: {} })
    expect((await give('u', { to_user_id: 'ann' })).status).toBe(204)
    expect(await head('u')).toMatchObject({ ownerId: 'ann', serverVersion: 1, sharedWith: [] })
    expect((await give('u', { newOwnerId: 'bob', newOwnerName: 'Bob the Builder' })).status).toBe(204)
    expect(await head('u')).toMatchObject({ ownerId: 'bob', ownerName: 'Bob the Builder', serverVersion: 2 })
    expect((await give('u', { newOwnerId: 'bob' }, { ...as, sub: 'bob' })).status).toBe(204)
    expect(await head('u')).toMatchObject({ ownerName: 'Bob the Builder', serverVersion: 2 })
  })

  it.each([
    [{}],
    [[]],
    ['"x"'],
    [{ to_user_id: '' }],
    [{ to_user_id: 1 }],
    [{ newOwnerId: null }],
    [{ newOwnerId: 'b', newOwnerName: 1 }],
    [{ toUserId: 'b' }],
  ])('[REST-14] a transfer with %j answers BAD_REQUEST and names the member', async (body) => {
    await call('PUT', '/api/docs/v', { as, body: {} })
    const { status, json } = await give('v', body)
    expect([status, json.errorCode, typeof json.field]).toEqual([400, 'BAD_REQUEST', 'string'])
    expect(json.error).toContain(json.field)
  })
})

describe('collection of a document', () => {
  const as = { sub: 'ann', role: 'member', workspace: 'collection' }
  const set = (collectionId: unknown) => call('PUT', '/api/docs/c/collection', { as, body: { collectionId } })
  const state = async () => {
    const { collectionId, serverVersion } = (await call('GET', '/api/docs/c', { as })).json
    return [collectionId, serverVersion]
  }

  it('[REST-24] [BODY-10] setting or clearing the collection raises the version only when it changes', async () => {
    await call('PUT', '/api/docs/c', { as, body: {} })
    const first = await set('é'.repeat(32))
    expect([first.status, first.text]).toEqual([204, ''])
    expect(await state()).toEqual(['é'.repeat(32), 2])
    await set('é'.repeat(32))
    expect(await state()).toEqual(['é'.repeat(32), 2])
    await set(null)
    await set(null)
    expect(await state()).toEqual([null, 3])
    await set('never registered')
    await call('PUT', '/api/docs/c', { as, body: { name: 'absent means unchanged' } })
    expect(await state()).toEqual(['never registered', 5])
    await call('PUT', '/api/docs/c', { as, body: { collectionId: null } })
    expect(await state()).toEqual([null, 6])
  })

  it.each([undefined, 7, [], {}, 'x'.repeat(65), 'é'.repeat(33), true])(
    '[REST-14] a collection of %j answers BAD_REQUEST',
    async (collectionId) => {
      await call('PUT', '/api/docs/c', { as, body: {} })
      const { status, json } = await set(collectionId)
      expect([status, json]).toEqual([
        400,
        { error: expect.stringContaining('collectionId'), errorCode: 'BAD_REQUEST', field: 'collectionId', limit: 64 },
      ])
    },
  )
})
