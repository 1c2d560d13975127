import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({ maxConfigBytes: 40_000 })
})
afterAll(() => relay[Symbol.asyncDispose]())

const as = (workspace: string, role = 'member') => ({ sub: 'mia', role, workspace })
const get = (workspace: string, role = 'viewer') => relay.call('GET', '/api/v1/style-profiles', { as: as(workspace, role) })
const put = (workspace: string, body: unknown, role = 'member') =>
  relay.call('PUT', '/api/v1/style-profiles', { as: as(workspace, role), body })
const bold = {
  id: 'bold',
  name: 'Bold',
  properties: { weight: 7 },
  createdAt: 1,
  favorite: true,
  collectionIds: ['c'],
  extra: [1],
}

describe('GET and PUT /api/v1/style-profiles', () => {
  it('[REST-30] [REST-32] GET returns the profiles that were PUT, with their own version', async () => {
    expect((await get('a')).json).toEqual({ profiles: [], version: 0 })
    await relay.call('PUT', '/api/collections', { as: as('a'), body: { collections: [] } })
    expect((await put('a', { profiles: [bold], expectedVersion: 0 })).json).toEqual({ success: true, newVersion: 1 })
    expect((await get('a')).json).toEqual({ profiles: [bold], version: 1 })
    expect((await get('b')).json).toEqual({ profiles: [], version: 0 })
    expect((await relay.call('GET', '/api/style-profiles', { as: as('a') })).status).toBe(404)
  })

  it('[REST-14] [REST-32] another expectedVersion than the stored answers 409 with profiles and version', async () => {
    await put('c', { profiles: [bold] })
    const answer = await put('c', { profiles: [], expectedVersion: 3 })
    expect(answer.status).toBe(409)
    expect(answer.json).toMatchObject({ errorCode: 'VERSION_CONFLICT', currentVersion: 1, profiles: [bold], version: 1 })
    expect(answer.json.collections).toBe(undefined)
  })

  it('[REST-32] [CFG-10] 500 profiles of 16 KiB can be sent where max_config_bytes allows them, and more than it allows answers 507', async () => {
    const maxConfigBytes = 9 * 1_048_576
    await using roomy = await startRestRelay({ maxConfigBytes })
    const properties = { x: 'x'.repeat(16_000) }
    const profiles = Array.from({ length: 500 }, (_, at) => ({ ...bold, id: `p${at}`, properties }))
    const send = (path: string, body: unknown) => roomy.call('PUT', path, { as: as('big'), body })
    const sent = await send('/api/v1/style-profiles', { profiles })
    expect([sent.status, sent.json['error']]).toEqual([200, undefined])
    const more = await send('/api/collections', { collections: [{ id: 'c', name: 'C', extra: 'x'.repeat(3 * 1_048_576) }] })
    expect([more.status, more.json['errorCode'], more.json['maxBytes']]).toEqual([507, 'CONFIG_TOO_LARGE', maxConfigBytes])
    const far = await send('/api/v1/style-profiles', { profiles: [], pad: 'x'.repeat(maxConfigBytes + 2_048) })
    expect([far.status, far.json['errorCode']]).toEqual([413, 'BODY_TOO_LARGE'])
  })

  it('[REST-32] a bad profile answers 400, too many bytes 507, a viewer 403, and nothing changes', async () => {
    const bad = await put('d', { profiles: [{ ...bold, createdAt: 'now' }] })
    expect([bad.status, bad.json.errorCode, bad.json.index, bad.json.field]).toEqual([400, 'BAD_COLLECTIONS', 0, 'createdAt'])
    const properties = { x: 'x'.repeat(16_000) }
    const large = await put('d', { profiles: ['a', 'b', 'c'].map((id) => ({ ...bold, id, properties })) })
    expect([large.status, large.json.errorCode, large.json.maxBytes]).toEqual([507, 'CONFIG_TOO_LARGE', 40_000])
    const viewer = await put('d', { profiles: [bold] }, 'viewer')
    expect([viewer.status, viewer.json.errorCode]).toEqual([403, 'EDIT_FORBIDDEN'])
    expect((await get('d')).json).toEqual({ profiles: [], version: 0 })
  })
})
