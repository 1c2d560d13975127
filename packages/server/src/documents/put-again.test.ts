import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CallOptions, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
let states = 0
beforeAll(async () => {
  relay = await startRestRelay({
    store: (real) => ({
      ...real,
      state(ref) {
        states++
        return real.state(ref)
      },
    }),
  })
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }
const bob = { sub: 'bob', role: 'member' }

const put = (id: string, body: unknown, options: CallOptions & { query?: string } = {}) =>
  relay.call('PUT', `/api/docs/${id}${options.query ?? ''}`, { as: ann, body, ...options })
const remove = (id: string) => relay.call('DELETE', `/api/docs/${id}`, { as: ann })
const transfer = (id: string, to: string, as = ann) =>
  relay.call('POST', `/api/docs/${id}/transfer`, { as, body: { to_user_id: to } })

it('[REST-16] a second save does not read the head from the store', async () => {
  await put('again', { name: 'One' })
  states = 0
  expect((await put('again', { name: 'Two' })).json.newVersion).toBe(2)
  expect((await put('again', { title: 'Two', name: 'Three' }, { query: '?expectedVersion=2' })).json.title).toBe('Three')
  expect(states).toBe(0)
})

it('[PERM-2] [REST-15] a second save obeys rights that were given or taken since the first', async () => {
  const shareWith = (...sharedWith: readonly unknown[]) => put('given', { sharedWith })
  await shareWith({ userId: 'bob', permission: 'edit' })
  expect((await put('given', {}, { as: bob })).status).toBe(200)
  expect((await transfer('given', 'cleo')).status).toBe(204)
  expect((await put('given', {}, { as: { sub: 'cleo', role: 'member' } })).json).toMatchObject({ ownerId: 'cleo', newVersion: 4 })
  expect((await put('given', { sharedWith: [] }, { as: { sub: 'cleo', role: 'member' } })).status).toBe(200)
  expect((await put('given', {}, { as: bob })).json.errorCode).toBe('VIEW_FORBIDDEN')
  expect((await transfer('given', 'bob', { sub: 'cleo', role: 'member' })).status).toBe(204)
  expect((await put('given', {}, { as: bob })).json).toMatchObject({ ownerId: 'bob', newVersion: 7 })
})

it('[REST-18] [REST-16] a save after a deletion answers 410, and a save after a change of the collection keeps the version', async () => {
  await put('left', {})
  await relay.call('PUT', '/api/docs/left/collection', { as: ann, body: { collectionId: null } })
  expect((await put('left', {}, { query: '?expectedVersion=1' })).json).toMatchObject({ newVersion: 2 })
  await transfer('left', 'bob')
  expect((await put('left', {}, { query: '?expectedVersion=2' })).json).toMatchObject({ errorCode: 'VERSION_CONFLICT' })
  await transfer('left', 'ann', bob)
  await remove('left')
  expect((await put('left', {})).json.errorCode).toBe('TOMBSTONED')
})
