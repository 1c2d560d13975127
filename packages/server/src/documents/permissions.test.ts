import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import { OPEN_DOCS } from '../access/testing/policies.ts'

let enforced: RestRelay
let open: RestRelay
beforeAll(async () => {
  enforced = await startRestRelay()
  open = await startRestRelay({ accessPolicy: OPEN_DOCS })
})
afterAll(async () => {
  await enforced[Symbol.asyncDispose]()
  await open[Symbol.asyncDispose]()
})

const owner = { sub: 'own', role: 'member' }
const SHARES = [
  { userId: 'ed', permission: 'edit' },
  { userId: 'vi', permission: 'view' },
  { userId: 'co', permission: 'owner' },
  { userId: 'ved', permission: 'edit' },
]

type Column = readonly [
  name: string,
  as: { sub: string; role: string },
  enforcement: boolean,
  read: boolean,
  edit: boolean,
  own: boolean,
]
/** The columns of PERM-3: the caller, whether access is enforced, and whether the caller may view, edit and own. */
const COLUMNS: readonly Column[] = [
  ['document owner', owner, true, true, true, true],
  ['owner share', { sub: 'co', role: 'member' }, true, true, true, true],
  ['edit share', { sub: 'ed', role: 'member' }, true, true, true, false],
  ['view share', { sub: 'vi', role: 'member' }, true, true, false, false],
  ['workspace owner', { sub: 'boss', role: 'owner' }, true, true, true, true],
  ['member without share', { sub: 'mia', role: 'member' }, true, false, false, false],
  ['viewer role, owner', { sub: 'own', role: 'viewer' }, true, true, false, false],
  ['viewer role, edit share', { sub: 'ved', role: 'viewer' }, true, true, false, false],
  ['viewer role without share', { sub: 'zoe', role: 'viewer' }, true, false, false, false],
  ['member, enforcement off', { sub: 'mia', role: 'member' }, false, true, true, false],
  ['viewer, enforcement off', { sub: 'zoe', role: 'viewer' }, false, true, false, false],
]

/** Returns the error code by PERM-4 for an operation that needs `needed`. */
function refusalOf(column: Column, needed: 'view' | 'edit' | 'owner'): string {
  const [, as, , read] = column
  if (!read) return 'VIEW_FORBIDDEN'
  return needed === 'owner' && as.role !== 'viewer' ? 'OWNER_REQUIRED' : 'EDIT_FORBIDDEN'
}

describe.concurrent.each(COLUMNS)('permissions of a caller %s', (...column) => {
  const [name, as, enforcement, read, edit, own] = column
  const relayOf = () => (enforcement ? enforced : open)
  let made = 0
  const fresh = async (): Promise<string> => {
    const id = `${name.replaceAll(/[^a-z]/g, '-')}-${made++}`
    expect((await relayOf().call('PUT', `/api/docs/${id}`, { as: owner, body: { sharedWith: SHARES } })).status).toBe(200)
    return id
  }

  it.each([
    ['GET', '', undefined, 'view', 200],
    ['HEAD', '', undefined, 'view', 200],
    ['PUT', '', {}, 'edit', 200],
    ['PUT', '/collection', { collectionId: 'c' }, 'edit', 204],
    ['POST', '/transfer', { to_user_id: 'new' }, 'owner', 204],
    ['DELETE', '', undefined, 'owner', 204],
  ] as const)(
    '[PERM-1] [PERM-3] [PERM-4] [REST-6] %s /api/docs/{id}%s answers as the permission table says',
    async (method, path, body, needed, success) => {
      const id = await fresh()
      const before = await relayOf().storage.documents.read({ workspaceId: 'default', id })
      const answer = await relayOf().call(method, `/api/docs/${id}${path}`, { as, body })
      const allowed = { view: read, edit, owner: own }[needed]
      if (allowed) return expect(answer.status).toBe(success)
      expect(answer.status).toBe(403)
      if (method !== 'HEAD') {
        const access = read ? (edit ? 'edit' : 'view') : 'none'
        expect(answer.json).toMatchObject({ errorCode: refusalOf(column, needed), docId: id, role: as.role, access })
      }
      expect(await relayOf().storage.documents.read({ workspaceId: 'default', id })).toEqual(before)
    },
  )

  it('[PERM-8] a list contains a document exactly when GET answers it, with the same level', async () => {
    const id = await fresh()
    const listed = (await relayOf().call('GET', '/api/docs', { as })).list.find((entry) => entry.id === id)
    expect(listed?.access).toBe(own ? 'owner' : edit ? 'edit' : read ? 'view' : undefined)
  })

  it('[PERM-6] only level owner replaces sharedWith; a list sent by others is ignored without error', async () => {
    const id = await fresh()
    const answer = await relayOf().call('PUT', `/api/docs/${id}`, { as, body: { sharedWith: ['eve'] } })
    const head = (await relayOf().call('GET', `/api/docs/${id}`, { as: { sub: 'boss', role: 'owner' } })).json
    expect(answer.status).toBe(edit ? 200 : 403)
    expect(head.sharedWith).toEqual(own ? ['eve'] : SHARES)
  })
})

describe('levels of access', () => {
  it('[PERM-2] the level is decided at every request from the current share list and role', async () => {
    const put = (sharedWith: unknown) => enforced.call('PUT', '/api/docs/moving', { as: owner, body: { sharedWith } })
    const asEd = (method: string) =>
      enforced.call(method, '/api/docs/moving', { as: { sub: 'ed', role: 'member' }, ...(method === 'PUT' && { body: {} }) })
    await put([{ userId: 'ed', permission: 'edit' }])
    expect((await asEd('PUT')).status).toBe(200)
    await put([{ userId: 'ed', permission: 'view' }])
    expect([(await asEd('GET')).status, (await asEd('PUT')).status]).toEqual([200, 403])
    await put([])
    expect((await asEd('GET')).status).toBe(403)
    expect((await enforced.call('PUT', '/api/docs/moving', { as: { ...owner, role: 'viewer' }, body: {} })).status).toBe(403)
  })

  it('[PERM-5] a body cannot make its sender the owner, on create or replace', async () => {
    for (const _ of ['create', 'replace']) {
      await enforced.call('PUT', '/api/docs/claimed', { as: owner, body: { ownerId: 'eve', owner_id: 'eve', ownerName: 'Eve' } })
      const { json } = await enforced.call('GET', '/api/docs/claimed', { as: owner })
      expect([json.ownerId, json.ownerName]).toEqual(['own', 'own'])
    }
  })
})

describe('isolation of workspaces', () => {
  it('[REST-6] [X6] a foreign, an unknown and a deleted document answer byte for byte alike on every route but PUT', async () => {
    const home = (sub: string) => ({ sub, wsp: [{ id: 'home', role: 'owner' }] })
    await enforced.call('PUT', '/api/docs/foreign', {
      as: { sub: 'eve', wsp: [{ id: 'away', role: 'owner' }] },
      body: { name: 'canary' },
    })
    await enforced.call('PUT', '/api/docs/deleted', { as: home('own'), body: {} })
    await enforced.call('DELETE', '/api/docs/deleted', { as: home('own') })
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['HEAD', '', undefined],
      ['DELETE', '', undefined],
      ['POST', '/transfer', { to_user_id: 'x' }],
      ['PUT', '/collection', { collectionId: null }],
    ] as const) {
      const [foreign, unknown, deleted] = await Promise.all(
        ['foreign', 'unknown', 'deleted'].map(async (id) => {
          const answer = await enforced.call(method, `/api/docs/${id}${path}`, {
            as: home('own'),
            body,
            headers: { 'x-request-id': 'same' },
          })
          answer.headers.delete('date')
          return { status: answer.status, text: answer.text, headers: [...answer.headers] }
        }),
      )
      expect(unknown?.status).toBe(404)
      expect(foreign).toEqual(unknown)
      expect(deleted).toEqual(unknown)
    }
  })

  it('[REST-6] [PERM-8] lists, counts and cursors of one workspace show nothing of another', async () => {
    const of = (ws: string, role = 'owner') => ({ sub: 'own', wsp: [{ id: ws, role }] })
    await enforced.call('PUT', '/api/docs/same-id', { as: of('ws-a'), body: { name: 'A' } })
    await enforced.call('PUT', '/api/docs/same-id', { as: of('ws-b'), body: { name: 'B' } })
    const listed = (await enforced.call('GET', '/api/docs', { as: of('ws-a') })).list
    expect(listed.map((entry) => [entry.id, entry.title, entry.workspaceId])).toEqual([['same-id', 'A', 'ws-a']])
    await enforced.call('DELETE', '/api/docs/same-id', { as: of('ws-a') })
    expect((await enforced.call('GET', '/api/docs/same-id', { as: of('ws-b') })).json.name).toBe('B')
  })
})
