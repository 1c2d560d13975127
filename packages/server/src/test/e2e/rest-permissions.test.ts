import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { type Call, type RawAnswer, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let enforced: SharedRelay
let open: RelayUnderTest
const ROOT: TokenOptions = { sub: 'root', role: 'owner' }

beforeAll(async () => {
  const env = { RELAY_ENFORCE_PRIVATE_DOCS: 'false' }
  ;[enforced, open] = await Promise.all([sharedRelay(), startRelayUnderTest({ env })])
})
afterAll(async () => {
  await enforced?.[Symbol.asyncDispose]()
  await open?.[Symbol.asyncDispose]()
})

const OK = 'ok'
const VIEW = 'VIEW_FORBIDDEN'
const EDIT = 'EDIT_FORBIDDEN'
const OWNER = 'OWNER_REQUIRED'

interface Column {
  readonly name: string
  readonly as: TokenOptions
  readonly sharing: readonly unknown[]
  readonly isOpen?: boolean
  /** The expected results: read, edit, owner-level action, override, create. */
  readonly cells: readonly [read: string, edit: string, owner: string, override: string, create: string]
}

const member = (sub: string): TokenOptions => ({ sub, role: 'member' })
const viewer = (sub: string): TokenOptions => ({ sub, role: 'viewer' })
const share = (permission?: string) => [{ userId: 'me', ...(permission !== undefined && { permission }) }]

/** The columns of PERM-3, some of them in several forms. The document belongs to `ann`. */
const COLUMNS: readonly Column[] = [
  { name: 'doc owner', as: member('ann'), sharing: [], cells: [OK, OK, OK, OK, OK] },
  { name: 'owner share', as: member('me'), sharing: share('owner'), cells: [OK, OK, OK, VIEW, OK] },
  { name: 'edit share', as: member('me'), sharing: share('edit'), cells: [OK, OK, OWNER, VIEW, OK] },
  {
    name: 'editor share, other spelling',
    as: member('me'),
    sharing: [{ user_id: 'me', role: 'editor' }],
    cells: [OK, OK, OWNER, VIEW, OK],
  },
  { name: 'view share', as: member('me'), sharing: share('view'), cells: [OK, EDIT, OWNER, VIEW, OK] },
  { name: 'share without permission', as: member('me'), sharing: share(), cells: [OK, EDIT, OWNER, VIEW, OK] },
  { name: 'bare share', as: member('me'), sharing: ['me'], cells: [OK, EDIT, OWNER, VIEW, OK] },
  { name: 'share with an unknown word', as: member('me'), sharing: share('admin'), cells: [VIEW, VIEW, VIEW, VIEW, OK] },
  { name: 'view and edit share', as: member('me'), sharing: ['me', ...share('write')], cells: [OK, OK, OWNER, VIEW, OK] },
  { name: 'ws owner', as: { sub: 'me', role: 'owner' }, sharing: [], cells: [OK, OK, OK, OK, OK] },
  { name: 'member, no share', as: member('me'), sharing: ['you'], cells: [VIEW, VIEW, VIEW, VIEW, OK] },
  { name: 'viewer role, owner', as: viewer('ann'), sharing: [], cells: [OK, EDIT, EDIT, EDIT, EDIT] },
  { name: 'viewer role, owner share', as: viewer('me'), sharing: share('owner'), cells: [OK, EDIT, EDIT, VIEW, EDIT] },
  { name: 'viewer role, edit share', as: viewer('me'), sharing: share('edit'), cells: [OK, EDIT, EDIT, VIEW, EDIT] },
  { name: 'viewer role, no share', as: viewer('me'), sharing: [], cells: [VIEW, VIEW, VIEW, VIEW, EDIT] },
  { name: 'member, enforcement off', as: member('me'), sharing: [], isOpen: true, cells: [OK, OK, OWNER, OWNER, OK] },
  { name: 'viewer, enforcement off', as: viewer('me'), sharing: [], isOpen: true, cells: [OK, EDIT, EDIT, EDIT, EDIT] },
]

const outcome = ({ status, text }: RawAnswer): string =>
  status === 200 || status === 204 ? OK : String((JSON.parse(text) as Record<string, unknown>).errorCode)

let made = 0
async function fresh(call: Call, sharing: readonly unknown[]): Promise<string> {
  const id = `p${++made}`
  await call('PUT', `/api/docs/${id}`, { as: member('ann'), body: { name: id, sharedWith: sharing } })
  return id
}

describe('the permission table over REST', () => {
  it.each(COLUMNS)(
    '[PERM-1] [PERM-3] [PERM-4] the permission table holds over REST for a caller with: $name',
    async ({ as, sharing, isOpen, cells }) => {
      const call = rawHttp(isOpen === true ? open : enforced, { as })
      const [read, edit, owner, override, create] = cells
      const id = await fresh(call, sharing)
      const path = `/api/docs/${id}`

      expect(outcome(await call('GET', path))).toBe(read)
      expect((await call('GET', '/api/docs')).text.includes(`"${id}"`)).toBe(read === OK)
      expect((await call('GET', `/api/docs?q=${id}`)).text).toMatch(read === OK ? id : /^\[\]$/)
      expect(outcome(await call('PUT', path, { body: { name: id, sharedWith: sharing } }))).toBe(edit)
      expect(outcome(await call('PUT', `${path}/collection`, { body: { collectionId: 'c' } }))).toBe(edit)
      expect(outcome(await call('PUT', `/api/docs/new-${id}`, { body: {} }))).toBe(create)

      const before = (await call('GET', path, { as: ROOT })).json.sharedWith
      await call('PUT', path, { body: { name: id, sharedWith: [...sharing, 'smuggled'] } })
      const after = (await call('GET', path, { as: ROOT })).json.sharedWith
      expect(after).toEqual(owner === OK ? [...sharing, 'smuggled'] : before)

      const toDelete = await fresh(call, sharing)
      const removed = await call('DELETE', `/api/docs/${toDelete}`)
      expect(outcome(removed)).toBe(owner)
      if (owner === OWNER) expect(removed.json.error).toMatch(/^ERR_DELETE_FORBIDDEN: /)
      const transfer = await call('POST', `${path}/transfer`, { body: { to_user_id: 'x' } })
      expect(outcome(transfer)).toBe(owner)
      if (owner !== OK) expect(transfer.json.error).toMatch(owner === VIEW ? /^ERR_VIEW_FORBIDDEN: / : /^ERR_EDIT_FORBIDDEN: /)

      const dead = await fresh(call, sharing)
      await call('DELETE', `/api/docs/${dead}`, { as: ROOT })
      expect(outcome(await call('PUT', `/api/docs/${dead}?overrideTombstone=true`, { body: {} }))).toBe(override)
    },
  )

  it('[PERM-4] [REST-3] a refusal names the role of the caller for the document', async () => {
    const call = rawHttp(enforced)
    const id = await fresh(call, [{ userId: 'me', permission: 'view' }])
    const refusal = async (method: string, as: TokenOptions, body?: unknown) =>
      (await call(method, `/api/docs/${id}`, { as, body })).json
    expect(await refusal('GET', member('you'))).toEqual({
      error: expect.stringMatching(/^ERR_VIEW_FORBIDDEN: ./),
      errorCode: VIEW,
      docId: id,
      role: 'member',
      access: 'none',
    })
    expect(await refusal('PUT', member('me'), {})).toEqual({
      error: expect.stringMatching(/^ERR_EDIT_FORBIDDEN: ./),
      errorCode: EDIT,
      docId: id,
      role: 'member',
      access: 'view',
    })
    expect(await refusal('DELETE', viewer('me'))).toMatchObject({
      errorCode: EDIT,
      error: expect.stringMatching(/^ERR_(EDIT|DELETE)_FORBIDDEN: /),
    })
  })

  it('[PERM-1] a document without owner can be edited by every member, and a transfer to an empty owner is refused', async () => {
    const call = rawHttp(enforced)
    const id = await fresh(call, [])
    for (const to_user_id of ['', null, 7, 'x'.repeat(257)])
      expect(outcome(await call('POST', `/api/docs/${id}/transfer`, { as: ROOT, body: { to_user_id } }))).toBe('BAD_REQUEST')
  })

  it('[PERM-5] a body cannot set the owner', async () => {
    const call = rawHttp(enforced, { as: member('me') })
    const claims = { ownerId: 'you', owner_id: 'you', ownerName: 'You', sharedWith: [{ userId: 'me', permission: 'none' }] }
    const { json } = await call('PUT', '/api/docs/own', { body: claims })
    expect(json).toMatchObject({ ownerId: 'me', ownerName: 'me', access: 'owner' })
  })

  it('[PERM-6] [BODY-10] a PUT without sharedWith keeps it, a list replaces it, an empty list removes every share', async () => {
    const call = rawHttp(enforced, { as: member('ann') })
    const id = await fresh(call, ['bob'])
    const after = async (body: object) => (await call('PUT', `/api/docs/${id}`, { body })).json.sharedWith
    expect(await after({})).toEqual(['bob'])
    expect(await after({ sharedWith: ['cid', { userId: 'ann', permission: 'view' }] })).toEqual([
      'cid',
      { userId: 'ann', permission: 'view' },
    ])
    expect((await call('GET', `/api/docs/${id}`)).status).toBe(200)
    expect(outcome(await call('GET', `/api/docs/${id}`, { as: member('bob') }))).toBe(VIEW)
    expect(await after({ sharedWith: [] })).toEqual([])
  })

  it('[PERM-7] a reader sees only its own entry of the share list, in the body and in lists', async () => {
    const call = rawHttp(enforced)
    const entries = [
      { userId: 'me', permission: 'view', note: 'x' },
      { userId: 'you', permission: 'edit' },
    ]
    const id = await fresh(call, entries)
    const seen = async (as: TokenOptions) => {
      const list = JSON.parse((await call('GET', `/api/docs?q=${id}`, { as })).text) as { sharedWith: unknown; access: string }[]
      return [(await call('GET', `/api/docs/${id}`, { as })).json.sharedWith, list[0]?.sharedWith, list[0]?.access]
    }
    expect(await seen(member('me'))).toEqual([[entries[0]], [entries[0]], 'view'])
    expect(await seen(viewer('you'))).toEqual([[entries[1]], [entries[1]], 'view'])
    expect(await seen(member('you'))).toEqual([entries, entries, 'edit'])
    expect(await seen(ROOT)).toEqual([entries, entries, 'owner'])
  })
})

describe('another workspace', () => {
  it('[REST-6] for a caller of another workspace an existing document answers exactly like a missing one, byte for byte', async () => {
    const elsewhere = { RELAY_TENANCY_MODE: 'shared' }
    await using relay = await startRelayUnderTest({ env: elsewhere })
    const call = rawHttp(relay)
    const at = (workspace: string, sub = 'ann'): TokenOptions => ({ sub, workspace, role: 'owner' })
    await call('PUT', '/api/docs/secret', { as: at('w1'), body: { name: 'S', collectionId: 'c' } })
    await call('PUT', '/api/docs/dead', { as: at('w1'), body: {} })
    await call('DELETE', '/api/docs/dead', { as: at('w1') })
    const routes: readonly (readonly [string, string, unknown?])[] = [
      ['GET', ''],
      ['HEAD', ''],
      ['DELETE', ''],
      ['POST', '/transfer', { to_user_id: 'x' }],
      ['PUT', '/collection', { collectionId: 'c' }],
    ]
    for (const [method, tail, body] of routes) {
      const ask = async (id: string) => {
        const headers = { 'x-request-id': 'r', 'if-none-match': '*' }
        const answer = await call(method, `/api/docs/${id}${tail}`, { as: at('w2'), body, headers })
        const { date: _, ...rest } = answer.headers
        return { status: answer.status, headers: rest, text: answer.text }
      }
      const unknown = await ask('nowhere')
      expect([method, unknown.status]).toEqual([method, 404])
      expect(await ask('secret')).toEqual(unknown)
      expect(await ask('dead')).toEqual(unknown)
    }
    for (const query of ['', '?collectionId=c', '?q=S'])
      expect((await call('GET', `/api/docs${query}`, { as: at('w2') })).text).toBe('[]')
    expect((await call('PUT', '/api/docs/secret', { as: at('w2'), body: { name: 'Mine' } })).json).toMatchObject({
      newVersion: 1,
      workspaceId: 'w2',
    })
    expect((await call('PUT', '/api/docs/dead', { as: at('w2'), body: {} })).json).toMatchObject({ newVersion: 1 })
    expect((await call('DELETE', '/api/docs/secret', { as: at('w2') })).status).toBe(204)
    expect((await call('GET', '/api/docs/secret', { as: at('w1') })).json).toMatchObject({ name: 'S', serverVersion: 1 })
  })
})
