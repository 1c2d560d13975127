import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { type Call, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

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

/** A caller of a workspace of its own, with claims. */
const at = (workspace: string, claims: object = {}, more: TokenOptions = {}): TokenOptions => ({
  ...more,
  wsp: [{ id: workspace, role: 'owner', ...claims }],
})

/** A body of exactly so many bytes as it is stored. */
function sized(id: string, bytes: number): string {
  const empty = JSON.stringify({ id, pad: '', pages: [], richTextPages: [] })
  return JSON.stringify({ id, pad: 'x'.repeat(bytes - empty.length), pages: [], richTextPages: [] })
}

const put = (as: TokenOptions, id: string, bytes: number) => there('PUT', `/api/docs/${id}`, { as, body: sized(id, bytes) })

describe('max_doc_bytes', () => {
  it('[LIFE-16] [BODY-14] [REST-14] the size as stored counts, one byte too many is told with all its numbers', async () => {
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
  ])('[AUTH-4] [CFG-8] the claim %j is the ceiling when it is one', async (claims, fits, tooLarge, source) => {
    const as = at(`ceiling-${JSON.stringify(claims)}`, claims)
    expect((await put(as, 'd', fits)).status).toBe(200)
    expect((await put(as, 'd', tooLarge)).json).toMatchObject({ errorCode: 'DOC_TOO_LARGE', maxBytes: fits, source })
  })

  it('[CFG-8] a claim of 0 is unlimited', async () => {
    const as = at('unlimited', { max_doc_bytes: 0, quota_bytes: 0 })
    expect((await put(as, 'd', 3 * MIB)).json).toMatchObject({ success: true, sizeBytes: 3 * MIB })
    expect((await there('GET', '/api/docs/d', { as })).text.length).toBeGreaterThan(3 * MIB)
  })
})

describe('the storage quota', () => {
  it('[LIFE-16] [REST-14] only growth that lands above is refused; the same size, less and deletes always pass', async () => {
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

  it('[REST-15] [REST-16] concurrent saves never end above it', async () => {
    const as = at('rush')
    const all = await Promise.all(Array.from({ length: 12 }, (_, n) => put(as, `r${n}`, 150)))
    expect(all.map(({ status }) => status).toSorted()).toEqual([...Array<number>(6).fill(200), ...Array<number>(6).fill(507)])
  })

  it('[OPS-4] what was refused is counted by kind', async () => {
    const text = (await there('GET', '/metrics')).text
    for (const kind of ['storage', 'doc_size']) {
      const count = new RegExp(`^relay_quota_rejections_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1]
      expect(Number(count)).toBeGreaterThan(3)
    }
  })

  it('[REST-7] [REST-14] a body above the limit of its route is cut: told of the ceiling if there is one', async () => {
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
  it('[AUTH-6] [AUTH-7] [REST-2] another workspace is 403 plain forbidden on every route, and nothing else is said', async () => {
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

  it('[AUTH-6] the entry with the pinned id counts, wherever it stands', async () => {
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

  it('[AUTH-6] the named entry, else the first usable one', async () => {
    expect((await workspaceOf('t1', {})).workspaceId).toBe('first')
    expect((await workspaceOf('t2', { 'x-workspace-id': 'first' })).workspaceId).toBe('first')
    expect(await workspaceOf('t3', { 'x-workspace-id': 'second' })).toMatchObject({ errorCode: 'EDIT_FORBIDDEN', role: 'viewer' })
  })

  it('[AUTH-6] [REST-14] an entry that is not in the claim, or not usable, is 403 FORBIDDEN', async () => {
    for (const named of ['third', 'unusable', 'First', '__proto__'])
      expect([named, await workspaceOf('t4', { 'x-workspace-id': named })]).toEqual([
        named,
        { error: expect.any(String), errorCode: 'FORBIDDEN' },
      ])
    const none = await there('GET', '/api/docs', { as: { wsp: [{ id: 'x', role: 'boss' }] } })
    expect([none.status, none.json.errorCode]).toEqual([403, 'FORBIDDEN'])
  })

  it('[REST-6] the same id in two workspaces is two documents', async () => {
    for (const workspace of ['w1', 'w2']) await there('PUT', '/api/docs/twin', { as: at(workspace), body: { name: workspace } })
    await there('DELETE', '/api/docs/twin', { as: at('w1') })
    expect((await there('GET', '/api/docs/twin', { as: at('w2') })).json.name).toBe('w2')
    expect((await there('GET', '/api/docs/twin', { as: at('w1') })).status).toBe(404)
  })
})
