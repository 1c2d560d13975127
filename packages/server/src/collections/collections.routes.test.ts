import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noResidents, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
const settled: string[] = []
beforeAll(async () => {
  const residents = {
    ...noResidents,
    isResident: ({ id }: { readonly id: string }) => id === 'open',
    settle: async ({ id }: { readonly id: string }) => void settled.push(id),
  }
  relay = await startRestRelay({ residents, maxConfigBytes: 4000 })
})
afterAll(() => relay[Symbol.asyncDispose]())

let made = 0
/** Returns a new workspace id. */
const workspace = () => {
  const id = `ws${++made}`
  const as = (role: string, sub = 'mia') => ({ sub, role, workspace: id })
  const get = (role = 'viewer') => relay.call('GET', '/api/collections', { as: as(role) })
  const put = (body: unknown, role = 'member') => relay.call('PUT', '/api/collections', { as: as(role), body })
  return { id, as, get, put }
}
const plans = [{ id: 'plans', name: 'Plans', color: 'red', order: 3 }]

describe('GET and PUT /api/collections', () => {
  it('[REST-25] collections begin empty with version 0, and each PUT adds 1', async () => {
    const { get, put } = workspace()
    expect((await get()).json).toEqual({ collections: [], version: 0 })
    const saved = await put({ collections: plans, expectedVersion: 0 })
    expect([saved.status, saved.json]).toEqual([200, { success: true, newVersion: 1 }])
    expect((await put({ collections: plans })).json).toEqual({ success: true, newVersion: 2 })
    const read = await get()
    expect(read.json).toEqual({ collections: plans, version: 2 })
    expect(read.headers.get('cache-control')).toBe('private, no-cache')
  })

  it('[REST-4] the collections route also answers under /api/v1/', async () => {
    const { as, put } = workspace()
    await put({ collections: plans })
    expect((await relay.call('GET', '/api/v1/collections', { as: as('viewer') })).json).toMatchObject({ collections: plans })
  })

  it('[REST-25] GET returns the cleaned list: sorted, the first of each id, defaults, unknown members', async () => {
    const { get, put } = workspace()
    const sent = [
      { id: 'b', name: ' B ', icon: [1] },
      { id: 'a', name: 'A', order: -1 },
      { id: 'b', name: 'again' },
    ]
    expect((await put({ collections: sent })).status).toBe(200)
    expect((await get()).json.collections).toEqual([
      { id: 'a', name: 'A', order: -1, color: '#808080' },
      { id: 'b', name: 'B', icon: [1], color: '#808080', order: 0 },
    ])
  })

  it('[REST-14] another expectedVersion than the stored answers 409 with the stored collections', async () => {
    const { get, put } = workspace()
    await put({ collections: plans })
    const answer = await put({ collections: [], expectedVersion: 0 })
    expect(answer.status).toBe(409)
    expect(answer.json).toMatchObject({ errorCode: 'VERSION_CONFLICT', currentVersion: 1, collections: plans, version: 1 })
    expect((await get()).json).toEqual({ collections: plans, version: 1 })
  })

  it.each([null, -1, 1.5, '1', 2 ** 53])(
    '[REST-8] expectedVersion %j answers 400 and replaces nothing',
    async (expectedVersion) => {
      const { get, put } = workspace()
      const answer = await put({ collections: plans, expectedVersion })
      expect([answer.status, answer.json.field]).toEqual([400, 'expectedVersion'])
      expect((await get()).json.version).toBe(0)
    },
  )

  it('[REST-14] a bad definition answers 400 BAD_COLLECTIONS with entry, field and limit', async () => {
    const { get, put } = workspace()
    const answer = await put({ collections: [...plans, { id: 'x', name: 'n'.repeat(121) }] })
    expect([answer.status, answer.json.errorCode, answer.json.index, answer.json.field, answer.json.limit]).toEqual([
      400,
      'BAD_COLLECTIONS',
      1,
      'name',
      120,
    ])
    expect((await put({})).json).toMatchObject({ errorCode: 'BAD_COLLECTIONS', field: 'collections' })
    expect((await put([])).json).toMatchObject({ errorCode: 'BAD_REQUEST', field: 'body' })
    expect((await get()).json.version).toBe(0)
  })

  it('[PERM-3] [PERM-4] any role may read, and a viewer may not write', async () => {
    const { id, get, put } = workspace()
    for (const role of ['owner', 'member', 'viewer']) expect((await get(role)).status).toBe(200)
    const refused = await put({ collections: plans }, 'viewer')
    expect([refused.status, refused.json.errorCode, refused.json.role]).toEqual([403, 'EDIT_FORBIDDEN', 'viewer'])
    expect(refused.json.error).toMatch(/^ERR_EDIT_FORBIDDEN: /)
    expect((await get()).json.version).toBe(0)
    expect((await put({ collections: plans }, 'owner')).status).toBe(200)
    expect(relay.logLines.some((line) => line.event === 'access.refused' && line.workspace === id)).toBe(true)
  })

  it('[REST-14] above max_config_bytes the answer is 507 CONFIG_TOO_LARGE, counting style profiles', async () => {
    const { as, get, put } = workspace()
    const properties = { x: 'x'.repeat(3000) }
    const profiles = [{ id: 'p', name: 'P', properties, createdAt: 1 }]
    expect((await relay.call('PUT', '/api/v1/style-profiles', { as: as('member'), body: { profiles } })).status).toBe(200)
    const answer = await put({ collections: [{ id: 'c', name: 'C', note: 'x'.repeat(1000) }] })
    expect([answer.status, answer.json.errorCode, answer.json.maxBytes]).toEqual([507, 'CONFIG_TOO_LARGE', 4000])
    expect(answer.json.sizeBytes).toBeGreaterThan(4000)
    expect((await get()).json.version).toBe(0)
    expect((await put({ collections: plans })).status).toBe(200)
  })

  it('[X6] workspaces do not see the collections of each other', async () => {
    const [one, other] = [workspace(), workspace()]
    await one.put({ collections: plans })
    expect((await other.get()).json).toEqual({ collections: [], version: 0 })
  })

  it('[R-9] of sixteen PUTs with one expectedVersion one succeeds, and each 409 carries the stored collections', async () => {
    const { get, put } = workspace()
    await put({ collections: plans })
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => put({ collections: [{ id: `c${i}`, name: `C${i}` }], expectedVersion: 1 })),
    )
    const winner = answers.findIndex(({ status }) => status === 200)
    const stored = { collections: [{ id: `c${winner}`, name: `C${winner}`, color: '#808080', order: 0 }], version: 2 }
    const lost = answers.filter(({ status }) => status === 409)
    expect(lost).toHaveLength(15)
    for (const answer of lost) expect(answer.json).toMatchObject({ errorCode: 'VERSION_CONFLICT', currentVersion: 2, ...stored })
    expect((await get()).json).toEqual(stored)
  })
})

describe('GET /api/collections/{id}/documents', () => {
  const listOf = async (as: object, id: string) => {
    const answer = await relay.call('GET', `/api/collections/${encodeURIComponent(id)}/documents`, { as })
    const documents = answer.json.documents as readonly { readonly id: string }[] | undefined
    return { answer, ids: documents?.map((document) => document.id) }
  }

  it('[PERM-8] [REST-24] the list of a collection has the metadata of documents that the caller may read, newest change first', async () => {
    const { as } = workspace()
    const put = (id: string, sub: string, body: object) =>
      relay.call('PUT', `/api/docs/${id}`, { as: as('member', sub), body: { collectionId: 'c/1', ...body } })
    await put('mine', 'mia', { pages: [{ id: 'p', name: 'P', shapes: [] }] })
    await put('shared', 'bob', { sharedWith: ['mia'] })
    await put('hidden', 'bob', {})
    await put('elsewhere', 'mia', { collectionId: 'other' })
    const { answer, ids } = await listOf(as('member'), 'c/1')
    expect(ids).toEqual(['shared', 'mine'])
    expect(answer.headers.get('cache-control')).toBe('private, no-cache')
    const [shared, mine] = answer.json.documents as readonly Record<string, unknown>[]
    expect(shared).toMatchObject({ access: 'view', collectionId: 'c/1', owner_id: 'bob', sharedWith: ['mia'] })
    expect(mine).toMatchObject({ access: 'owner', canvasPageCount: 1 })
    expect(Object.keys(mine ?? {})).not.toContain('pages')
    expect((await listOf(as('owner', 'root'), 'c/1')).ids).toEqual(['hidden', 'shared', 'mine'])
  })

  it('[REST-6] an unknown collection and one of another workspace have an empty list', async () => {
    const [one, other] = [workspace(), workspace()]
    await one.put({ collections: plans })
    await relay.call('PUT', '/api/docs/foreign', { as: one.as('member'), body: { collectionId: 'plans' } })
    expect((await listOf(one.as('member'), 'plans')).ids).toEqual(['foreign'])
    expect((await listOf(other.as('owner'), 'plans')).ids).toEqual([])
    expect((await listOf(one.as('member'), 'never')).ids).toEqual([])
    expect((await listOf(one.as('member'), 'x'.repeat(64))).ids).toEqual([])
  })

  it('[REST-6] an invalid collection id has an empty list, like any unknown one', async () => {
    const { answer, ids } = await listOf(workspace().as('member'), 'x'.repeat(65))
    expect(answer.status).toBe(200)
    expect(ids).toEqual([])
  })

  it('[LIFE-11] an open document is settled before the list is made', async () => {
    const { as } = workspace()
    await relay.call('PUT', '/api/docs/open', { as: as('member'), body: { collectionId: 'c' } })
    settled.length = 0
    expect((await listOf(as('member'), 'c')).ids).toEqual(['open'])
    expect(settled).toEqual(['open'])
  })
})
