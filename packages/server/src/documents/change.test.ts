import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { change, creation } from './testing/document-writes.ts'
import { type RestRelay, noResidents, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
const EVE = { userId: 'eve', permission: 'view' }
const live: string[] = []
/** Runs once, right before the next removal reaches the store. */
let beforeRemoval: () => Promise<unknown> = async () => undefined
beforeAll(async () => {
  relay = await startRestRelay({
    store: (real) => ({
      ...real,
      async remove(...given) {
        const hook = beforeRemoval
        beforeRemoval = async () => undefined
        await hook()
        return real.remove(...given)
      },
    }),
    residents: {
      ...noResidents,
      isResident: ({ id }) => id === 'open',
      async put({ ref }) {
        const state = await relay.storage.documents.state(ref)
        if (ref.id !== 'open' || state.kind !== 'document') return 'not-resident'
        return { kind: 'written', head: { ...state.head, sharedWith: [EVE] }, created: false, sharedBefore: [EVE] }
      },
      bodyChanged: (ref, version) => void live.push(`changed ${ref.id} ${version}`),
      sharingChanged: (head) => void live.push(`sharing ${head.id} ${head.ownerId}`),
      drop: async (ref) => {
        live.push(`drop ${ref.id}`)
        if (ref.id === 'stuck') throw new Error('the worker is gone')
        return []
      },
    },
  })
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }
const put = (id: string, body: unknown = {}) => relay.call('PUT', `/api/docs/${id}`, { as: ann, body })
const get = (id: string, as = ann) => relay.call('GET', `/api/docs/${id}`, { as })
const transfer = (id: string, body: unknown) => relay.call('POST', `/api/docs/${id}/transfer`, { as: ann, body })
const assign = (id: string, body: unknown) => relay.call('PUT', `/api/docs/${id}/collection`, { as: ann, body })

describe('DELETE', () => {
  it('[REST-22] [LIFE-23] DELETE answers 204, leaves a tombstone, and later requests answer 404', async () => {
    await put('doomed')
    await put('doomed')
    const before = Date.now()
    const answer = await relay.call('DELETE', '/api/docs/doomed', { as: ann })
    expect([answer.status, answer.text]).toEqual([204, ''])
    const state = await relay.storage.documents.state({ workspaceId: 'default', id: 'doomed' })
    expect(state).toMatchObject({ kind: 'tombstone', tombstone: { lastServerVersion: 2, ownerId: 'ann' } })
    expect(state.kind === 'tombstone' && state.tombstone.deletedAtMs >= before).toBe(true)
    expect((await relay.call('DELETE', '/api/docs/doomed', { as: ann })).status).toBe(404)
    expect((await relay.call('DELETE', '/api/docs/never', { as: ann })).status).toBe(404)
    expect((await get('doomed')).status).toBe(404)
    expect((await relay.call('GET', '/api/docs', { as: ann })).list.some((entry) => entry.id === 'doomed')).toBe(false)
  })

  it.each([
    ['If-Match "1"', { 'if-match': '"1"' }, '', 412, 'PRECONDITION_FAILED'],
    ['If-Match "1-v"', { 'if-match': '"1-v"' }, '', 412, 'PRECONDITION_FAILED'],
    ['expectedVersion 1', {}, '?expectedVersion=1', 409, 'VERSION_CONFLICT'],
  ])(
    '[REST-22] DELETE with %s of a document at version 2 is refused and deletes nothing',
    async (name, headers, query, status, code) => {
      const path = `/api/docs/${encodeURIComponent(`refused ${name}`)}`
      await relay.call('PUT', path, { as: ann, body: {} })
      await relay.call('PUT', path, { as: ann, body: { name: 'second' } })
      const answer = await relay.call('DELETE', path + query, { as: ann, headers })
      expect([answer.status, answer.json['errorCode'], answer.json['currentVersion']]).toEqual([status, code, 2])
      expect((await relay.call('GET', path, { as: ann })).status).toBe(200)
    },
  )

  it.each([
    ['If-Match "2"', { 'if-match': '"2"' }, ''],
    ['If-Match *', { 'if-match': '*' }, ''],
    ['expectedVersion 2', {}, '?expectedVersion=2'],
    ['both', { 'if-match': '"2"' }, '?expectedVersion=2'],
  ])('[REST-22] DELETE with %s of a document at version 2 deletes it', async (name, headers, query) => {
    const path = `/api/docs/${encodeURIComponent(name.replace('*', 'star'))}`
    await relay.call('PUT', path, { as: ann, body: {} })
    await relay.call('PUT', path, { as: ann, body: { name: 'second' } })
    expect((await relay.call('DELETE', path + query, { as: ann, headers })).status).toBe(204)
    expect((await relay.call('GET', path, { as: ann })).status).toBe(404)
  })

  it('[REST-22] DELETE with If-Match deletes no version that another node stores after the check', async () => {
    await put('raced')
    const ref = { workspaceId: 'default', id: 'raced' }
    beforeRemoval = async () => {
      const state = await relay.storage.documents.state(ref)
      if (state.kind !== 'document') throw new Error('it is not there')
      await relay.storage.documents.write(change(state.head, '{"by":"another node"}'))
    }
    const answer = await relay.call('DELETE', '/api/docs/raced', { as: ann, headers: { 'if-match': '"1"' } })
    expect([answer.status, answer.json['currentVersion']]).toEqual([412, 2])
    expect(await relay.storage.documents.state(ref)).toMatchObject({ kind: 'document', head: { version: 2 } })
  })

  it('[REST-22] DELETE without a condition deletes the version that another node stores meanwhile', async () => {
    await put('outrun')
    const ref = { workspaceId: 'default', id: 'outrun' }
    beforeRemoval = async () => {
      const state = await relay.storage.documents.state(ref)
      if (state.kind === 'document') await relay.storage.documents.write(change(state.head, '{"by":"another node"}'))
    }
    expect((await relay.call('DELETE', '/api/docs/outrun', { as: ann })).status).toBe(204)
    expect((await get('outrun')).status).toBe(404)
  })

  it('[REST-22] [REST-8] DELETE with conditions that are ill-formed or contradict each other is 400 and deletes nothing', async () => {
    await relay.call('PUT', '/api/docs/conditions', { as: ann, body: {} })
    const remove = (query: string, headers: Record<string, string> = {}) =>
      relay.call('DELETE', `/api/docs/conditions${query}`, { as: ann, headers })
    expect((await remove('', { 'if-match': '1' })).json).toMatchObject({ errorCode: 'BAD_REQUEST', field: 'If-Match' })
    expect((await remove('?expectedVersion=x')).json).toMatchObject({ errorCode: 'BAD_REQUEST', field: 'expectedVersion' })
    expect((await remove('?expectedVersion=1', { 'if-match': '"2"' })).json).toMatchObject({ field: 'If-Match' })
    expect((await relay.call('GET', '/api/docs/conditions', { as: ann })).status).toBe(200)
  })

  it('[LIFE-23] [WS-52] [OPS-7] DELETE drops the live copy, sends an event with the metadata from before, and is audited', async () => {
    await put('told', { name: 'T' })
    await relay.call('DELETE', '/api/docs/told', { as: ann })
    expect(live).toContain('drop told')
    expect(relay.events.at(-1)).toMatchObject({
      kind: 'deleted',
      actor: 'ann',
      before: { id: 'told', facts: { title: 'T' } },
      tombstone: { lastServerVersion: 1 },
    })
    expect(relay.logLines.find((line) => line.event === 'document.deleted' && line.docId === 'told')).toMatchObject({
      audit: true,
      sub: 'ann',
    })
  })

  it('[LIFE-23] DELETE of a document whose live copy cannot be dropped still answers 204', async () => {
    await put('stuck')
    expect((await relay.call('DELETE', '/api/docs/stuck', { as: ann })).status).toBe(204)
    expect(relay.events.at(-1)).toMatchObject({ kind: 'deleted', ref: { id: 'stuck' } })
  })

  it('[R-3] [LIFE-23] no PUT that races with a DELETE recreates the document after the DELETE answered', async () => {
    for (let round = 0; round < 8; round++) {
      const id = `race-${round}`
      await put(id)
      const puts = Promise.all(Array.from({ length: 6 }, (_, i) => put(id, { name: `n${i}` })))
      const deleted = await relay.call('DELETE', `/api/docs/${id}`, { as: ann })
      expect(deleted.status).toBe(204)
      expect((await put(id)).status).toBe(410)
      for (const answer of await puts) expect([200, 410]).toContain(answer.status)
      expect((await get(id)).status).toBe(404)
    }
  })

  it('[R-3] of two simultaneous DELETEs one answers 204 and the other 404, with one event', async () => {
    await put('twice')
    const statuses = (await Promise.all([1, 2].map(() => relay.call('DELETE', '/api/docs/twice', { as: ann })))).map(
      (answer) => answer.status,
    )
    expect(statuses.sort((a, b) => a - b)).toEqual([204, 404])
    expect(relay.events.filter((event) => event.kind === 'deleted' && event.ref.id === 'twice')).toHaveLength(1)
  })

  it('[LIFE-24] after its tombstone is purged an id is unknown and anyone may create it', async () => {
    await put('purged')
    await relay.call('DELETE', '/api/docs/purged', { as: ann })
    await relay.storage.documents.purgeTombstones(Date.now() + 1, 1000)
    const answer = await relay.call('PUT', '/api/docs/purged', { as: { sub: 'bob', role: 'member' }, body: {} })
    expect([answer.status, answer.json.newVersion, answer.json.ownerId]).toEqual([200, 1, 'bob'])
  })
})

it('[OPS-7] a PUT is audited as a change of the share list only when its own write changed the list', async () => {
  await relay.storage.documents.write(creation({ workspaceId: 'default', id: 'open' }, '{}'))
  await put('open')
  expect(relay.logLines.filter((line) => line.docId === 'open' && line.event === 'document.shared')).toEqual([])
})

describe('transfer of a document', () => {
  it('[REST-23] [BODY-13] a transfer answers 400 when the share list is full, unless the new owner leaves that list', async () => {
    const sharedWith = Array.from({ length: 1000 }, (_, i) => ({ userId: `user-${i}`, permission: 'view' }))
    await relay.call('PUT', '/api/docs/crowded', { as: ann, body: { sharedWith } })
    const refused = await transfer('crowded', { to_user_id: 'one-more' })
    expect([refused.status, refused.json]).toMatchObject([400, { errorCode: 'BAD_REQUEST', field: 'sharedWith', limit: 1000 }])
    expect((await transfer('crowded', { to_user_id: 'user-7' })).status).toBe(204)
  })

  it('[REST-23] [OPS-7] a transfer removes the new owner from the share list and adds the former one as an edit share', async () => {
    const cid = { userId: 'cid', permission: 'view', note: 'kept' }
    await put('given', { sharedWith: [{ user_id: 'bob', role: 'view' }, cid] })
    const answer = await transfer('given', { to_user_id: 'bob' })
    expect([answer.status, answer.text]).toEqual([204, ''])
    const { json } = await get('given')
    expect(json).toMatchObject({ ownerId: 'bob', ownerName: 'bob', serverVersion: 2 })
    expect(json.sharedWith).toEqual([cid, { userId: 'ann', userName: 'ann', permission: 'edit', sharedAt: expect.any(Number) }])
    const audited = relay.logLines.filter((line) => line.docId === 'given' && line.audit).map((line) => line.event)
    expect(audited).toEqual(['document.created', 'document.shared', 'document.transferred'])
    expect(live).toContain('sharing given bob')
    expect(live).toContain('changed given 2')
    expect(relay.events.at(-1)).toMatchObject({ kind: 'updated', head: { id: 'given', ownerId: 'bob' } })
    expect((await transfer('given', { to_user_id: 'ann' })).json.errorCode).toBe('OWNER_REQUIRED')
  })

  it('[REST-23] a transfer accepts both spellings of its member; a transfer to the present owner changes nothing', async () => {
    await put('named')
    expect((await transfer('named', { newOwnerId: 'ann', newOwnerName: 'Ann' })).status).toBe(204)
    expect((await get('named')).json).toMatchObject({ ownerName: 'ann', serverVersion: 1 })
    const events = relay.events.length
    await transfer('named', { newOwnerId: 'bob', newOwnerName: 'Bob B.' })
    expect((await get('named')).json).toMatchObject({ ownerId: 'bob', ownerName: 'Bob B.', serverVersion: 2 })
    expect(relay.events.length).toBe(events + 1)
  })

  it.each([
    [{}],
    [[]],
    ['text'],
    [{ to_user_id: '' }],
    [{ to_user_id: 7 }],
    [{ to_user_id: 'x'.repeat(257) }],
    // No token can name such a user, so nobody could use the document as its owner.
    [{ to_user_id: 'a\0' }],
    [{ newOwnerId: 'x', newOwnerName: 7 }],
  ])('[REST-23] a transfer with %j answers 400 BAD_REQUEST', async (body) => {
    await put('strict')
    const answer = await transfer('strict', body)
    expect([answer.status, answer.json.errorCode]).toEqual([400, 'BAD_REQUEST'])
    expect((await get('strict')).json.ownerId).toBe('ann')
  })

  it('[REST-23] two simultaneous transfers leave one of the two new owners with the matching share list', async () => {
    await put('contested')
    await Promise.all([transfer('contested', { to_user_id: 'bob' }), transfer('contested', { to_user_id: 'cid' })])
    const { json } = await get('contested')
    expect(['bob', 'cid']).toContain(json.ownerId)
    expect(json.serverVersion).toBe(2)
  })
})

describe('collection of a document', () => {
  it('[REST-24] setting or clearing the collection raises the version by 1 only when it changes', async () => {
    await put('member')
    expect((await assign('member', { collectionId: 'never-registered' })).status).toBe(204)
    expect((await get('member')).json).toMatchObject({ collectionId: 'never-registered', serverVersion: 2 })
    const events = relay.events.length
    expect((await assign('member', { collectionId: 'never-registered' })).status).toBe(204)
    expect([(await get('member')).json.serverVersion, relay.events.length]).toEqual([2, events])
    expect((await assign('member', { collectionId: null })).status).toBe(204)
    expect((await get('member')).json).toMatchObject({ collectionId: null, serverVersion: 3 })
    expect(relay.events.at(-1)).toMatchObject({ kind: 'updated', head: { id: 'member', collectionId: null } })
  })

  it.each([[{}], [{ collectionId: 7 }], [{ collectionId: 'x'.repeat(65) }], [null], [[]]])(
    '[REST-24] [BODY-10] a collection of %j answers 400',
    async (body) => {
      await put('member')
      expect((await assign('member', body)).json.errorCode).toBe('BAD_REQUEST')
    },
  )

  it('[REST-24] collection changes and PUTs that race are all stored', async () => {
    await put('busy')
    const answers = await Promise.all([
      assign('busy', { collectionId: 'c' }),
      put('busy', { name: 'n' }),
      put('busy', { name: 'n' }),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([204, 200, 200])
    expect((await get('busy')).json).toMatchObject({ collectionId: 'c', name: 'n', serverVersion: 4 })
  })
})
