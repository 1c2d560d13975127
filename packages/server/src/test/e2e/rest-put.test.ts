import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Call, type RawAnswer, rawHttp } from '../raw-http.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let call: Call
const ANN = { sub: 'ann', role: 'member' }
const BOB = { sub: 'bob', role: 'member' }

beforeAll(async () => {
  relay = await sharedRelay()
  call = rawHttp(relay, { as: ANN })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const put = (id: string, query = '', headers: Record<string, string> = {}, as: object = ANN): Promise<RawAnswer> =>
  call('PUT', `/api/docs/${id}${query}`, { body: { name: id }, headers, as })

/** Puts a document at version 3. */
async function third(id: string): Promise<void> {
  for (let version = 1; version <= 3; version++) expect((await put(id)).json.newVersion).toBe(version)
}

const brief = ({ status, json }: RawAnswer): unknown[] => [status, json.errorCode ?? json.newVersion, json.currentVersion]

describe('versions', () => {
  it('[REST-16] [REST-17] create and replace answer 200 with metadata, version and ETag', async () => {
    for (const version of [1, 2, 3]) {
      const answer = await put('same')
      expect(answer.status).toBe(200)
      expect(answer.json).toMatchObject({ id: 'same', success: true, newVersion: version, serverVersion: version })
      expect(answer.headers).toMatchObject({ etag: `"${version}"`, 'content-type': 'application/json' })
      const got = await call('GET', '/api/docs/same')
      expect([got.headers.etag, got.json.serverVersion, got.json.version]).toEqual([`"${version}"`, version, version])
    }
  })

  it('[REST-15] [REST-16] expectedVersion must equal the stored version, and 0 requires a free id', async () => {
    expect(brief(await put('free', '?expectedVersion=1'))).toEqual([409, 'VERSION_CONFLICT', 0])
    expect(brief(await put('free', '?expectedVersion=0'))).toEqual([200, 1, undefined])
    expect(brief(await put('free', '?expectedVersion=0'))).toEqual([409, 'VERSION_CONFLICT', 1])
    expect(brief(await put('free', '?expectedVersion=1'))).toEqual([200, 2, undefined])
    expect(brief(await put('free', '?expectedVersion=02'))).toEqual([200, 3, undefined])
    expect((await put('free', '?expectedVersion=9')).json.error).toMatch(/3.*9|9.*3/)
  })

  it('[REST-16] of concurrent PUTs with one expectedVersion exactly one succeeds', async () => {
    await third('race')
    const all = await Promise.all(Array.from({ length: 12 }, () => put('race', '?expectedVersion=3')))
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 11 }, () => 409)])
    const free = await Promise.all(Array.from({ length: 8 }, () => put('race')))
    expect(free.map(({ json }) => json.newVersion).toSorted()).toEqual([10, 11, 12, 5, 6, 7, 8, 9])
  })

  const conditions: readonly (readonly [headers: Record<string, string>, query: string, there: unknown[], free: unknown[]])[] = [
    [{ 'if-match': '"3"' }, '', [200, 4, undefined], [412, 'PRECONDITION_FAILED', 0]],
    [{ 'if-match': ' "3" ' }, '', [200, 4, undefined], [412, 'PRECONDITION_FAILED', 0]],
    [{ 'if-match': '"2"' }, '', [412, 'PRECONDITION_FAILED', 3], [412, 'PRECONDITION_FAILED', 0]],
    [{ 'if-match': '"3"' }, '?expectedVersion=3', [200, 4, undefined], [412, 'PRECONDITION_FAILED', 0]],
    [{ 'if-match': '"2"' }, '?expectedVersion=2', [412, 'PRECONDITION_FAILED', 3], [412, 'PRECONDITION_FAILED', 0]],
    [{ 'if-match': '"2"' }, '?expectedVersion=3', [400, 'BAD_REQUEST', undefined], [400, 'BAD_REQUEST', undefined]],
    [{ 'if-match': '*' }, '', [200, 4, undefined], [412, 'PRECONDITION_FAILED', 0]],
    [{ 'if-match': '*' }, '?expectedVersion=2', [409, 'VERSION_CONFLICT', 3], [412, 'PRECONDITION_FAILED', 0]],
    [{ 'if-none-match': '*' }, '', [412, 'PRECONDITION_FAILED', 3], [200, 1, undefined]],
    [{ 'if-none-match': '*' }, '?expectedVersion=0', [412, 'PRECONDITION_FAILED', 3], [200, 1, undefined]],
    [{ 'if-none-match': '*' }, '?expectedVersion=4', [412, 'PRECONDITION_FAILED', 3], [409, 'VERSION_CONFLICT', 0]],
    [{ 'if-none-match': '"3"' }, '', [400, 'BAD_REQUEST', undefined], [400, 'BAD_REQUEST', undefined]],
    [{ 'if-none-match': '*', 'if-match': '"3"' }, '', [400, 'BAD_REQUEST', undefined], [400, 'BAD_REQUEST', undefined]],
    [{ 'if-match': '3' }, '', [400, 'BAD_REQUEST', undefined], [400, 'BAD_REQUEST', undefined]],
    [{ 'if-match': 'W/"3"' }, '', [400, 'BAD_REQUEST', undefined], [400, 'BAD_REQUEST', undefined]],
    [{ 'if-match': '"2", "3"' }, '', [400, 'BAD_REQUEST', undefined], [400, 'BAD_REQUEST', undefined]],
    [{ 'if-match': '""' }, '', [400, 'BAD_REQUEST', undefined], [400, 'BAD_REQUEST', undefined]],
    [{ 'if-match': '"99999999999999999999"' }, '', [400, 'BAD_REQUEST', undefined], [400, 'BAD_REQUEST', undefined]],
  ]
  it.each(conditions)(
    '[REST-19] a conditional PUT with headers %j and query "%s" answers as the table says',
    async (headers, query, there, free) => {
      const id = `c${encodeURIComponent(JSON.stringify(headers) + query).replaceAll('%', '')}`
      await third(id)
      const [onThird, onNone] = [await put(id, query, headers), await put(`${id}-free`, query, headers)]
      expect([brief(onThird), brief(onNone)]).toEqual([there, free])
      if (onThird.status === 400) expect(onThird.json.field).toMatch(/^If-(None-)?Match$/)
    },
  )

  it('[REST-20] GET answers 304 without a body for the ETag it returned, in any list', async () => {
    await third('etag')
    const get = (header: string, as: object = ANN) => call('GET', '/api/docs/etag', { headers: { 'if-none-match': header }, as })
    for (const header of ['"3"', 'W/"3"', '"1", "3"', ' "3" ', '*', '"x",W/"3"']) {
      const answer = await get(header)
      expect([header, answer.status, answer.text, answer.headers.etag]).toEqual([header, 304, '', '"3"'])
      expect(answer.headers['content-type']).toBeUndefined()
      expect(answer.headers['cache-control']).toBe('no-store')
    }
    for (const header of ['"2"', '3', '"3-v"', '"33"', '', '"3', 'w/"2"'])
      expect([header, (await get(header)).status]).toEqual([header, 200])
    expect((await get('*', BOB)).status).toBe(403)
    expect((await call('GET', '/api/docs/none', { headers: { 'if-none-match': '*' } })).status).toBe(404)
  })

  it('[REST-20] at level view the ETag differs, and equal ETags mean equal bytes', async () => {
    const sharedWith = [{ userId: 'bob', permission: 'view' }, 'cid', { userId: 'dan', permission: 'edit' }]
    await call('PUT', '/api/docs/seen', { body: { sharedWith } })
    const as = async (sub: string) => {
      const { headers, text } = await call('GET', '/api/docs/seen', { as: { sub, role: 'member' } })
      return { etag: headers.etag, text }
    }
    const [ann, bob, cid, dan] = [await as('ann'), await as('bob'), await as('cid'), await as('dan')]
    expect([ann.etag, bob.etag, cid.etag, dan.etag]).toEqual(['"1"', '"1-v"', '"1-v"', '"1"'])
    expect(dan.text).toBe(ann.text)
    expect(bob.text).not.toBe(cid.text)
    expect(await as('bob')).toEqual(bob)
    const demoted = await call('GET', '/api/docs/seen', {
      as: { sub: 'ann', role: 'viewer' },
      headers: { 'if-none-match': '"1"' },
    })
    expect([demoted.status, demoted.headers.etag, demoted.json.sharedWith]).toEqual([200, '"1-v"', []])
  })

  it('[REST-19] [REST-20] an If-Match with the ETag of the view form succeeds once the caller may edit', async () => {
    await third('grown')
    expect(brief(await put('grown', '', { 'if-match': '"3-v"' }))).toEqual([200, 4, undefined])
  })
})

describe('the order of checks', () => {
  it('[REST-15] token, id, body syntax, tombstone, level, version and size are checked in this order, and the first failure answers', async () => {
    const small = { ...BOB, wsp: [{ id: relay.workspace, role: 'member', max_doc_bytes: 10 }] }
    await third('order')
    await third('gone')
    expect((await call('DELETE', '/api/docs/gone')).status).toBe(204)
    const answer = async (path: string, options: object) => {
      const { status, json } = await call('PUT', path, options)
      return [status, json.errorCode]
    }
    const bad = { body: '{', as: small, headers: { authorization: 'Bearer x' } }
    expect(await answer('/api/docs/a%2Fb?expectedVersion=9', bad)).toEqual([400, 'TOKEN_MALFORMED'])
    expect(await answer('/api/docs/a%2Fb?expectedVersion=9', { ...bad, headers: {} })).toEqual([400, 'BAD_ID'])
    for (const id of ['order', 'gone']) {
      expect(await answer(`/api/docs/${id}?expectedVersion=9`, { as: small, body: '{' })).toEqual([400, 'BAD_JSON'])
      expect(await answer(`/api/docs/${id}?expectedVersion=9`, { as: small, body: '{"pages":1}' })).toEqual([400, 'BAD_BODY'])
    }
    expect(await answer('/api/docs/gone?expectedVersion=9', { as: small, body: {} })).toEqual([410, 'TOMBSTONED'])
    expect(await answer('/api/docs/order?expectedVersion=9', { as: small, body: {} })).toEqual([403, 'VIEW_FORBIDDEN'])
    const owner = { ...small, sub: 'ann' }
    expect(await answer('/api/docs/order?expectedVersion=9', { as: owner, body: {} })).toEqual([409, 'VERSION_CONFLICT'])
    expect(await answer('/api/docs/order?expectedVersion=3', { as: owner, body: {} })).toEqual([413, 'DOC_TOO_LARGE'])
    expect(
      await answer('/api/docs/new?expectedVersion=9', {
        as: { ...owner, role: undefined, wsp: [{ id: relay.workspace, role: 'viewer' }] },
        body: {},
      }),
    ).toEqual([403, 'EDIT_FORBIDDEN'])
    expect((await call('GET', '/api/docs/order')).json.serverVersion).toBe(3)
  })
})

describe('deleting and recreating', () => {
  const remove = (id: string, as: object = ANN) => call('DELETE', `/api/docs/${id}`, { as })

  it('[REST-22] [REST-6] DELETE answers 204, then every route but PUT answers 404 for the id', async () => {
    await third('dead')
    const gone = await remove('dead')
    expect([gone.status, gone.text, gone.headers['content-type']]).toEqual([204, '', undefined])
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['DELETE', '', undefined],
      ['POST', '/transfer', { to_user_id: 'x' }],
      ['PUT', '/collection', { collectionId: null }],
    ] as const) {
      const unknown = await call(method, `/api/docs/never${path}`, { body })
      const answer = await call(method, `/api/docs/dead${path}`, { body })
      expect([method, answer.status, answer.text]).toEqual([method, 404, unknown.text])
    }
    const refused = await put('dead')
    expect([refused.status, refused.json]).toEqual([
      410,
      { error: expect.any(String), errorCode: 'TOMBSTONED', deletedAt: expect.any(Number), lastServerVersion: 3 },
    ])
    expect(Date.now() - (refused.json.deletedAt as number)).toBeLessThan(60_000)
    expect((await call('GET', '/api/docs')).text).not.toContain('"dead"')
  })

  it('[REST-18] overrideTombstone recreates the document with the next version; expectedVersion 0 and the last version match', async () => {
    const again = async (query: string, as: object = ANN) => brief(await put('back', `?overrideTombstone=true${query}`, {}, as))
    await third('back')
    await remove('back')
    expect(await again('&expectedVersion=2')).toEqual([409, 'VERSION_CONFLICT', 3])
    expect(await again('&expectedVersion=3')).toEqual([200, 4, undefined])
    await remove('back')
    expect(await again('&expectedVersion=0')).toEqual([200, 5, undefined])
    expect(await again('&expectedVersion=0')).toEqual([409, 'VERSION_CONFLICT', 5])
    await remove('back')
    expect(await again('')).toEqual([200, 6, undefined])
    expect(await again('')).toEqual([200, 7, undefined])
    await remove('back')
    expect((await put('back', '?overrideTombstone=false')).status).toBe(410)
    expect(brief(await put('back', '?overrideTombstone=1', { 'if-none-match': '*' }))).toEqual([200, 8, undefined])
    await remove('back')
    expect(brief(await put('back', '?overrideTombstone=1', { 'if-match': '*' }))).toEqual([412, 'PRECONDITION_FAILED', 8])
    expect(brief(await put('back', '?overrideTombstone=1', { 'if-match': '"8"' }))).toEqual([200, 9, undefined])
  })

  it('[REST-18] [PERM-3] only the recorded owner and a workspace owner may recreate, and a workspace owner keeps the recorded owner', async () => {
    await third('yours')
    await remove('yours')
    const as = async (options: object) => (await put('yours', '?overrideTombstone=true', {}, options)).json
    expect(await as(BOB)).toMatchObject({ errorCode: 'VIEW_FORBIDDEN', docId: 'yours', role: 'member', access: 'none' })
    expect(await as({ sub: 'ann', role: 'viewer' })).toMatchObject({ errorCode: 'EDIT_FORBIDDEN' })
    expect(await as({ sub: 'root', role: 'owner' })).toMatchObject({ ownerId: 'ann', newVersion: 4 })
    await call('POST', '/api/docs/yours/transfer', { body: { to_user_id: 'bob' } })
    await remove('yours', BOB)
    expect(await as(ANN)).toMatchObject({ errorCode: 'VIEW_FORBIDDEN' })
    expect(await as(BOB)).toMatchObject({ ownerId: 'bob', newVersion: 6 })
  })

  it('[REST-18] a recreated document has nothing of the deleted one', async () => {
    await call('PUT', '/api/docs/life', { body: { name: 'L', secret: 1, collectionId: 'c', sharedWith: ['bob'], version: 4 } })
    await remove('life')
    await put('life', '?overrideTombstone=true')
    expect((await call('GET', '/api/docs/life')).json).toEqual({
      id: 'life',
      name: 'life',
      pages: [],
      richTextPages: [],
      version: 2,
      serverVersion: 2,
      ownerId: 'ann',
      ownerName: 'ann',
      isRelayDocument: true,
      collectionId: null,
      sharedWith: [],
    })
    expect((await call('GET', '/api/docs/life', { as: BOB })).status).toBe(403)
  })
})
