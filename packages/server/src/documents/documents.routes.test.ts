import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }

describe('documents over REST', () => {
  it('[REST-1] [REST-17] a create and a replace both answer 200 with metadata, success and newVersion', async () => {
    const created = await relay.call('PUT', '/api/docs/first', { as: ann, body: { name: 'One' } })
    expect(created.json).toMatchObject({ success: true, newVersion: 1, id: 'first', title: 'One', ownerId: 'ann' })
    expect(created.status).toBe(200)
    expect(created.headers.get('etag')).toBe('"1"')
    const replaced = await relay.call('PUT', '/api/docs/first', { as: ann, body: { name: 'Two' } })
    expect([replaced.status, replaced.json.newVersion]).toEqual([200, 2])
    const got = await relay.call('GET', '/api/docs/first', { as: ann })
    expect(got.json).toMatchObject({ id: 'first', name: 'Two', version: 2, serverVersion: 2, pages: [], richTextPages: [] })
  })
})
