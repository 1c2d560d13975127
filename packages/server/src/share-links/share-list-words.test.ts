import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({})
})
afterAll(() => relay[Symbol.asyncDispose]())

const mia = { sub: 'mia', role: 'member' }
let made = 0
const create = async (body: object): Promise<string> => {
  const id = `doc-${++made}`
  expect((await relay.call('PUT', `/api/docs/${id}`, { as: mia, body })).status).toBe(200)
  return id
}
const share = (id: string, body: unknown) => relay.call('POST', `/api/docs/${id}/share`, { as: mia, body })
const sharesOf = async (id: string) => (await relay.call('GET', `/api/docs/${id}`, { as: mia })).json.sharedWith

it('[SHARE-6] the permission words that an editor reads in a share list are accepted back, and the entry of the owner is ignored', async () => {
  const stored = [
    { userId: 'vi', permission: 'view', sharedAt: 5 },
    { userId: 'ed', permission: 'edit', sharedAt: 6 },
    { userId: 'co', permission: 'owner', sharedAt: 7 },
  ]
  const id = await create({ sharedWith: stored })
  for (const permission of ['owner', 'edit', 'none', 'viewer']) {
    const answer = await share(id, { shares: [{ userId: 'mia', userName: 'Mia', permission }, ...stored] })
    expect([answer.status, answer.json]).toEqual([200, { success: true }])
    expect(await sharesOf(id)).toEqual(stored)
  }
  const lowered = await share(id, { shares: [{ userId: 'co', permission: 'edit' }] })
  expect([lowered.status, await sharesOf(id)]).toEqual([
    200,
    [{ userId: 'co', permission: 'edit', sharedAt: expect.any(Number) }],
  ])
})

it('[SHARE-6] permission owner for a user without an owner share is refused, and nothing changes', async () => {
  const id = await create({ sharedWith: [{ userId: 'ed', permission: 'edit' }] })
  const shares = [
    { userId: 'mia', permission: 'owner' },
    { userId: 'gone', permission: 'none' },
    { userId: 'ed', permission: 'owner' },
  ]
  const answer = await share(id, { shares })
  expect([answer.status, answer.json.errorCode, answer.json.field]).toEqual([400, 'BAD_REQUEST', 'shares[2].permission'])
  expect(await sharesOf(id)).toEqual([{ userId: 'ed', permission: 'edit' }])
})
