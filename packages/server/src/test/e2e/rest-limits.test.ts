import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { type Call, rawHttp } from '../raw-http.ts'
import { logged, type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'

const MIB = 1_048_576
let relay: RelayUnderTest
let shared: RelayUnderTest
let call: Call
let there: Call

beforeAll(async () => {
  const limits = { RELAY_STORAGE_QUOTA_BYTES: '1000', RELAY_MAX_DOC_BYTES: '600' }
  ;[relay, shared] = await Promise.all([
    startRelayUnderTest({ env: { ...limits, RELAY_TENANCY_WORKSPACE: 'pinned' } }),
    startRelayUnderTest({ env: { ...limits, RELAY_TENANCY_MODE: 'shared' } }),
  ])
  call = rawHttp(relay)
  there = rawHttp(shared)
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  await shared?.[Symbol.asyncDispose]()
})

/** Returns token options for a caller in this workspace, with claims. */
const at = (workspace: string, claims: object = {}, more: TokenOptions = {}): TokenOptions => ({
  ...more,
  wsp: [{ id: workspace, role: 'owner', ...claims }],
})

/** Returns a body whose stored form has exactly this many bytes. */
function sized(id: string, bytes: number): string {
  const empty = JSON.stringify({ id, pad: '', pages: [], richTextPages: [] })
  return JSON.stringify({ id, pad: 'x'.repeat(bytes - empty.length), pages: [], richTextPages: [] })
}

const put = (as: TokenOptions, id: string, bytes: number) => there('PUT', `/api/docs/${id}`, { as, body: sized(id, bytes) })

describe('max_doc_bytes', () => {
  it('[LIFE-16] [BODY-14] [REST-14] the limit applies to the stored size; one byte above it answers DOC_TOO_LARGE with size and limit', async () => {
    const as = at('size')
    const fits = await put(as, 'd', 600)
    expect([fits.status, fits.json.sizeBytes]).toEqual([200, 600])
    const { status, json } = await put(as, 'd', 601)
    expect([status, json]).toEqual([
      413,
      { error: expect.stringMatching(/601.*600/), errorCode: 'DOC_TOO_LARGE', sizeBytes: 601, maxBytes: 600, source: 'config' },
    ])
    const spaced = sized('d', 600).replace('{', `{${' '.repeat(5000)}`)
    expect((await there('PUT', '/api/docs/d', { as, body: spaced })).status).toBe(200)
    expect((await there('GET', '/api/docs/d', { as })).json.serverVersion).toBe(2)
  })

  it.each([
    [{ max_doc_bytes: 700 }, 700, 701, 'claim'],
    [{ max_doc_bytes: 100 }, 100, 101, 'claim'],
    [{ max_doc_bytes: -1 }, 600, 601, 'config'],
    [{ max_doc_bytes: 1.5 }, 600, 601, 'config'],
    [{ max_doc_bytes: '700' }, 600, 601, 'config'],
    [{ max_doc_bytes: null }, 600, 601, 'config'],
  ])(
    '[AUTH-4] [CFG-8] the claim %j sets the size limit when it is a valid integer, otherwise the configured limit applies',
    async (claims, fits, tooLarge, source) => {
      const as = at(`ceiling-${JSON.stringify(claims)}`, claims)
      expect((await put(as, 'd', fits)).status).toBe(200)
      expect((await put(as, 'd', tooLarge)).json).toMatchObject({ errorCode: 'DOC_TOO_LARGE', maxBytes: fits, source })
    },
  )

  it('[CFG-8] a claim of 0 means no limit', async () => {
    const as = at('unlimited', { max_doc_bytes: 0, quota_bytes: 0 })
    expect((await put(as, 'd', 3 * MIB)).json).toMatchObject({ success: true, sizeBytes: 3 * MIB })
    expect((await there('GET', '/api/docs/d', { as })).text.length).toBeGreaterThan(3 * MIB)
  })
})

describe('the storage quota', () => {
  it('[LIFE-16] [REST-14] only a save that grows and ends above the quota is refused; smaller saves and deletes always pass', async () => {
    const as = at('quota')
    expect((await put(as, 'a', 600)).status).toBe(200)
    const refused = await put(as, 'b', 401)
    expect([refused.status, refused.json]).toEqual([
      507,
      {
        error: expect.stringMatching(/401.*600.*1000/),
        errorCode: 'STORAGE_QUOTA',
        usedBytes: 600,
        addedBytes: 401,
        quotaBytes: 1000,
        source: 'config',
      },
    ])
    expect((await there('GET', '/api/docs/b', { as })).status).toBe(404)
    expect((await put(as, 'b', 400)).status).toBe(200)
    expect((await put(as, 'b', 401)).json).toMatchObject({ usedBytes: 1000, addedBytes: 1 })
    const tighter = at('quota', { quota_bytes: 10 })
    expect((await put(tighter, 'b', 400)).status).toBe(200)
    expect((await put(tighter, 'b', 399)).status).toBe(200)
    expect((await put(tighter, 'b', 400)).json).toMatchObject({ errorCode: 'STORAGE_QUOTA', quotaBytes: 10, source: 'claim' })
    expect((await there('GET', '/api/docs/b', { as: tighter })).status).toBe(200)
    expect((await there('PUT', '/api/docs/b/collection', { as: tighter, body: { collectionId: 'c' } })).status).toBe(204)
    expect((await there('DELETE', '/api/docs/a', { as: tighter })).status).toBe(204)
    expect((await put(as, 'a', 600)).status).toBe(410)
    const back = await there('PUT', '/api/docs/a?overrideTombstone=1', { as: tighter, body: sized('a', 100) })
    expect(back.json).toMatchObject({ errorCode: 'STORAGE_QUOTA', usedBytes: 399, addedBytes: 100 })
  })

  it('[REST-15] [REST-16] concurrent saves never end above the quota', async () => {
    const as = at('rush')
    const all = await Promise.all(Array.from({ length: 12 }, (_, n) => put(as, `r${n}`, 150)))
    expect(all.map(({ status }) => status).toSorted()).toEqual([...Array<number>(6).fill(200), ...Array<number>(6).fill(507)])
  })

  it('[OPS-4] refused writes are counted by kind', async () => {
    const text = (await there('GET', '/metrics')).text
    for (const kind of ['storage', 'doc_size']) {
      const count = new RegExp(`^relay_quota_rejections_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1]
      expect(Number(count)).toBeGreaterThan(3)
    }
  })

  it('[REST-7] [REST-14] a body above the limit of its route is refused with the size limit of the caller, if any', async () => {
    const headers = { 'content-length': String(128 * MIB + 1) }
    const declared = (as: TokenOptions) =>
      there('PUT', '/api/docs/huge', { as, headers, body: '' }).catch((error: unknown) => String(error))
    expect(await declared(at('cut'))).toMatchObject({
      status: 413,
      json: { errorCode: 'DOC_TOO_LARGE', sizeBytes: 128 * MIB + 1, maxBytes: 600, source: 'config' },
    })
    expect(await declared(at('cut', { max_doc_bytes: 0 }))).toMatchObject({
      status: 413,
      json: { errorCode: 'BODY_TOO_LARGE', maxBytes: 128 * MIB },
    })
  })
})

describe('dedicated tenancy', () => {
  it('[AUTH-6] [AUTH-7] [REST-2] every route answers a token of another workspace with 403 forbidden and nothing else', async () => {
    const routes = [
      ['GET', '/api/docs'],
      ['GET', '/api/docs/x'],
      ['PUT', '/api/docs/x'],
      ['DELETE', '/api/docs/x'],
      ['POST', '/api/docs/x/transfer'],
      ['PUT', '/api/docs/x/collection'],
    ] as const
    const refusal = [403, 'text/plain', 'forbidden']
    for (const [method, path] of routes) {
      const { status, headers, text } = await call(method, path, { as: at('default'), body: '{' })
      expect([status, headers['content-type'], text]).toEqual(refusal)
    }
    for (const wsp of [
      [],
      [{ id: 'PINNED', role: 'owner' }],
      [{ id: 'pinned', role: 'root' }],
      [{ id: 7, role: 'owner' }],
      [null, 'x'],
    ])
      expect((await call('GET', '/api/docs', { as: { wsp: wsp as never } })).text).toBe('forbidden')
    const named = (workspace: string) => call('GET', '/api/docs', { as: at('pinned'), headers: { 'x-workspace-id': workspace } })
    expect([(await named('pinned')).status, (await named('other')).text]).toEqual([200, 'forbidden'])
  })

  it('[AUTH-6] the claim entry with the configured workspace id is used at any place of the list', async () => {
    const wsp = [
      { id: 'a', role: 'owner' },
      { id: 'pinned', role: 'viewer' },
    ]
    expect((await call('GET', '/api/docs', { as: { wsp } })).status).toBe(200)
    expect((await call('PUT', '/api/docs/x', { as: { wsp }, body: {} })).json).toMatchObject({
      errorCode: 'EDIT_FORBIDDEN',
      role: 'viewer',
    })
  })
})

describe('shared tenancy', () => {
  const wsp = [
    { id: 'unusable', role: 'boss' },
    { id: 'first', role: 'owner' },
    { id: 'second', role: 'viewer' },
  ]
  const workspaceOf = async (id: string, headers: Record<string, string>) =>
    (await there('PUT', `/api/docs/${id}`, { as: { wsp }, headers, body: {} })).json

  it('[AUTH-6] the named claim entry is used, without a name the first usable one', async () => {
    expect((await workspaceOf('t1', {})).workspaceId).toBe('first')
    expect((await workspaceOf('t2', { 'x-workspace-id': 'first' })).workspaceId).toBe('first')
    expect(await workspaceOf('t3', { 'x-workspace-id': 'second' })).toMatchObject({ errorCode: 'EDIT_FORBIDDEN', role: 'viewer' })
  })

  it('[AUTH-6] [REST-14] naming a claim entry that is missing or unusable answers 403 FORBIDDEN', async () => {
    for (const named of ['third', 'unusable', 'First', '__proto__'])
      expect([named, await workspaceOf('t4', { 'x-workspace-id': named })]).toEqual([
        named,
        { error: expect.any(String), errorCode: 'FORBIDDEN' },
      ])
    const none = await there('GET', '/api/docs', { as: { wsp: [{ id: 'x', role: 'boss' }] } })
    expect([none.status, none.json.errorCode]).toEqual([403, 'FORBIDDEN'])
  })

  it('[REST-6] the same id in two workspaces names two documents', async () => {
    for (const workspace of ['w1', 'w2']) await there('PUT', '/api/docs/twin', { as: at(workspace), body: { name: workspace } })
    await there('DELETE', '/api/docs/twin', { as: at('w1') })
    expect((await there('GET', '/api/docs/twin', { as: at('w2') })).json.name).toBe('w2')
    expect((await there('GET', '/api/docs/twin', { as: at('w1') })).status).toBe(404)
  })
})

describe('size of the share list of a document', () => {
  const people = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, i) => ({ userId: `user-${i}`, permission: 'view', ...more }))
  const shared = (id: string, sharedWith: unknown) => ({ id, pages: [], richTextPages: [], sharedWith })
  const listBytes = (sharedWith: unknown) => JSON.stringify(sharedWith).length

  it('[BODY-14] the share list counts in sizeBytes and docBytes', async () => {
    const as = at('list-size', { quota_bytes: 0, max_doc_bytes: 0 })
    const alone = (await there('PUT', '/api/docs/d', { as, body: shared('d', []) })).json.sizeBytes as number
    const list = people(20)
    expect((await there('PUT', '/api/docs/d', { as, body: shared('d', list) })).json.sizeBytes).toBe(alone + listBytes(list))
    expect((await there('GET', '/api/v1/usage', { as })).json.docBytes).toBe(alone + listBytes(list))
    await there('PUT', '/api/docs/d', { as, body: shared('d', []) })
    expect((await there('GET', '/api/v1/usage', { as })).json.docBytes).toBe(alone)
  })

  it('[BODY-14] [LIFE-16] the share list in a PUT counts against max_doc_bytes', async () => {
    const as = at('list-ceiling', { max_doc_bytes: 300, quota_bytes: 0 })
    const answer = await there('PUT', '/api/docs/d', { as, body: shared('d', people(20)) })
    expect(answer.status).toBe(413)
    expect(answer.json).toMatchObject({ errorCode: 'DOC_TOO_LARGE', maxBytes: 300, source: 'claim' })
  })

  it('[BODY-14] [LIFE-16] the stored share list counts against max_doc_bytes of a PUT without a list', async () => {
    const as = at('list-kept', { max_doc_bytes: 0, quota_bytes: 0 })
    const { sizeBytes } = (await there('PUT', '/api/docs/d', { as, body: shared('d', people(4)) })).json as { sizeBytes: number }
    const narrow = at('list-kept', { max_doc_bytes: sizeBytes - 1, quota_bytes: 0 })
    const answer = await there('PUT', '/api/docs/d', { as: narrow, body: { id: 'd', pages: [], richTextPages: [] } })
    expect(answer.json).toMatchObject({ errorCode: 'DOC_TOO_LARGE', sizeBytes })
  })

  it('[BODY-14] [LIFE-16] the share list in a PUT counts against the quota', async () => {
    const as = at('list-quota', { max_doc_bytes: 0, quota_bytes: 1_000 })
    await there('PUT', '/api/docs/d', { as, body: shared('d', []) })
    const answer = await there('PUT', '/api/docs/d', { as, body: shared('d', people(40)) })
    expect(answer.status).toBe(507)
    expect((await there('GET', '/api/docs/d', { as })).json.sharedWith).toEqual([])
  })

  it('[SHARE-6] [BODY-14] the list of the share route counts against quota and max_doc_bytes, and a shorter list always passes', async () => {
    const open = at('list-route', { max_doc_bytes: 0, quota_bytes: 0 })
    await there('PUT', '/api/docs/d', { as: open, body: shared('d', people(4)) })
    const shares = (count: number) => ({ shares: people(count, { permission: 'viewer' }) })
    const over = at('list-route', { max_doc_bytes: 0, quota_bytes: 300 })
    const large = at('list-route', { max_doc_bytes: 200, quota_bytes: 0 })
    expect((await there('POST', '/api/docs/d/share', { as: over, body: shares(40) })).json.errorCode).toBe('STORAGE_QUOTA')
    expect((await there('POST', '/api/docs/d/share', { as: large, body: shares(40) })).json.errorCode).toBe('DOC_TOO_LARGE')
    expect((await there('POST', '/api/docs/d/share', { as: large, body: shares(1) })).status).toBe(200)
  })

  it.each([
    ['a userId of 257 bytes', [{ userId: 'u'.repeat(257) }], '/sharedWith/0/userId'],
    ['a bare user id of 257 bytes', ['ada', 'u'.repeat(257)], '/sharedWith/1'],
    ['a userName of 201 characters', [{ userId: 'ada', userName: 'n'.repeat(201) }], '/sharedWith/0/userName'],
    ['an entry of more than 1,024 bytes', [{ userId: 'ada', note: 'n'.repeat(1_024) }], '/sharedWith/0'],
    ['1,001 entries', people(1_001), '/sharedWith'],
    ['a number as an entry', [5], '/sharedWith/0'],
    ['null as an entry', ['ada', null], '/sharedWith/1'],
    ['a list as an entry', [[]], '/sharedWith/0'],
  ])('[BODY-13] [BODY-5] a share list with %s answers 400 BAD_BODY with its path', async (_, list, path) => {
    const as = at('list-form', { max_doc_bytes: 0, quota_bytes: 0 })
    const answer = await there('PUT', '/api/docs/d', { as, body: shared('d', list) })
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ errorCode: 'BAD_BODY', path })
  })

  it('[BODY-13] entries of a share list at their length limits are stored as given, with unknown members', async () => {
    const as = at('list-edge', { max_doc_bytes: 0, quota_bytes: 0 })
    const list = [{ userId: 'u'.repeat(256), userName: '😀'.repeat(150), permission: 'edit', team: 'blue' }, 'b'.repeat(256)]
    await there('PUT', '/api/docs/d', { as, body: shared('d', list) })
    expect((await there('GET', '/api/docs/d', { as })).json.sharedWith).toEqual(list)
  })
})

describe('live edits above max_doc_bytes of the writing caller', () => {
  const overCap = async () =>
    Number(/^relay_doc_over_cap_snapshots_total (\d+)$/m.exec((await there('GET', '/metrics', { as: null })).text)?.[1])

  /** Types `bytes` characters as a caller with this limit, and waits until they are in the stored body. */
  async function type(workspace: string, maxDocBytes: number, bytes: number): Promise<void> {
    const claims = { max_doc_bytes: maxDocBytes, quota_bytes: 0 }
    await there('PUT', '/api/docs/d', { as: at(workspace, claims), body: { id: 'd', pages: [], richTextPages: [] } })
    const client = shared.sync('d', at(workspace, claims))
    await until('the join', () => client.state.synced)
    client.doc.getMap('fields').set('note', { name: 'note', value: 'x'.repeat(bytes) })
    client.doc.getArray('fieldOrder').push(['note'])
    const body = async () => (await there('GET', '/api/docs/d', { as: at(workspace, claims) })).text
    await until('the text to be in the body', async () => (await body()).includes('xxx'))
    client.destroy()
  }

  it('[LIFE-16] live edits above a claim lower than the configured limit are counted and logged', async () => {
    const before = await overCap()
    await type('cap-claim', 250, 400)
    await until('the counter', async () => (await overCap()) > before)
    await logged(shared, 'document.over_cap', 'cap-claim')
    const line = shared.logLines.find((each) => each.includes('document.over_cap') && each.includes('cap-claim'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({ docId: 'd', maxDocBytes: 250 })
  })

  it('[LIFE-16] live edits of a caller with an unlimited claim are not counted', async () => {
    await type('cap-none', 0, 2_000)
    expect(shared.logLines.filter((each) => each.includes('document.over_cap') && each.includes('cap-none'))).toEqual([])
  })
})

describe('share list entries written by the relay', () => {
  const OPEN = { max_doc_bytes: 0, quota_bytes: 0 }

  it('[BODY-13] [REST-23] a document transferred by an owner with a long subject can be saved again', async () => {
    const sub = 's'.repeat(256)
    const as = at('long-subject', { ...OPEN, role: 'member' }, { sub })
    await there('PUT', '/api/docs/d', { as, body: { id: 'd', pages: [], richTextPages: [] } })
    expect((await there('POST', '/api/docs/d/transfer', { as, body: { to_user_id: 'ben' } })).status).toBe(204)
    const ben = at('long-subject', OPEN, { sub: 'ben' })
    const body = (await there('GET', '/api/docs/d', { as: ben })).json
    expect(body.sharedWith).toMatchObject([{ userId: sub, permission: 'edit' }])
    expect((await there('PUT', '/api/docs/d', { as: ben, body })).status).toBe(200)
  })

  it.each([
    ['transfer', '/api/docs/d/transfer', { newOwnerId: 'ben', newOwnerName: 'n'.repeat(201) }, 'newOwnerName'],
    [
      'share',
      '/api/docs/d/share',
      { shares: [{ userId: 'ben', permission: 'view', userName: 'n'.repeat(201) }] },
      'shares[0].userName',
    ],
  ])('[BODY-13] %s refuses a user name of 201 characters', async (_, path, body, field) => {
    const as = at('long-name', OPEN)
    await there('PUT', '/api/docs/d', { as, body: { id: 'd', pages: [], richTextPages: [] } })
    const answer = await there('POST', path, { as, body })
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ errorCode: 'BAD_REQUEST', field, limit: 200 })
  })
})
