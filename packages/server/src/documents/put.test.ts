import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallOptions, type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'
import type { DocumentWrite } from './document-store.port.ts'

let relay: RestRelay
const writes: DocumentWrite[] = []
beforeAll(async () => {
  relay = await startRestRelay({
    store: (real) => ({
      ...real,
      write(write) {
        writes.push(write)
        return real.write(write)
      },
    }),
  })
})
afterAll(() => relay[Symbol.asyncDispose]())

const ann = { sub: 'ann', role: 'member' }
const boss = { sub: 'boss', role: 'owner' }
const bob = { sub: 'bob', role: 'member' }
const viewer = { sub: 'vic', role: 'viewer' }

const put = (id: string, body: unknown, options: CallOptions & { query?: string } = {}) =>
  relay.call('PUT', `/api/docs/${id}${options.query ?? ''}`, { as: ann, body, ...options })
const get = (id: string, as = ann) => relay.call('GET', `/api/docs/${id}`, { as })
const remove = (id: string, as = ann) => relay.call('DELETE', `/api/docs/${id}`, { as })
const canvas = (shapes: number) => [
  { id: 'p1', name: 'Canvas', shapes: Array.from({ length: shapes }, (_, i) => ({ id: `s${i}`, type: 'rectangle' })) },
]

describe('order of checks of a PUT', () => {
  it('[REST-15] token, id, body, tombstone, level, version and size are checked in this order, and the first failure answers', async () => {
    await put('taken', { sharedWith: [{ userId: 'bob', permission: 'view' }] })
    await put('gone', {})
    await remove('gone')
    const everythingWrong = {
      as: { ...bob, claims: { wsp: [{ id: 'default', role: 'member', max_doc_bytes: 1 }] } },
      query: '?expectedVersion=9',
    }
    const codes = [
      await put('a%2Fb', {}, { token: 'x.y' }),
      await put('a%2Fb', {}, { ...everythingWrong, raw: 'no json', body: undefined }),
      await put('gone', {}, { ...everythingWrong, raw: 'no json', body: undefined }),
      await put('gone', {}, everythingWrong),
      await put('taken', {}, everythingWrong),
      await put('taken', {}, { ...everythingWrong, as: { ...everythingWrong.as, sub: 'ann' } }),
      await put('taken', {}, { as: { ...everythingWrong.as, sub: 'ann' } }),
    ].map((answer) => answer.json.errorCode)
    expect(codes).toEqual([
      'TOKEN_MALFORMED',
      'BAD_ID',
      'BAD_JSON',
      'TOMBSTONED',
      'EDIT_FORBIDDEN',
      'VERSION_CONFLICT',
      'DOC_TOO_LARGE',
    ])
  })

  it('[REST-15] [PERM-5] a viewer who creates a document is refused before the version is checked', async () => {
    const answer = await put('viewers', {}, { as: viewer, query: '?expectedVersion=5' })
    expect([answer.status, answer.json.errorCode]).toEqual([403, 'EDIT_FORBIDDEN'])
    expect((await get('viewers', boss)).status).toBe(404)
  })
})

describe('versions', () => {
  it('[REST-1] [REST-17] a create and a replace both answer 200 with metadata, success, newVersion and the new ETag', async () => {
    const created = await put('replied', { name: 'One' })
    expect(created.json).toMatchObject({
      success: true,
      newVersion: 1,
      id: 'replied',
      title: 'One',
      ownerId: 'ann',
      access: 'owner',
    })
    expect([created.status, created.headers.get('etag')]).toEqual([200, '"1"'])
    const replaced = await put('replied', { name: 'Two' })
    expect([replaced.status, replaced.json.newVersion, replaced.headers.get('etag')]).toEqual([200, 2, '"2"'])
    const { success: _, newVersion: __, ...metadata } = replaced.json
    expect((await relay.call('GET', '/api/docs', { as: ann })).list.find((entry) => entry.id === 'replied')).toEqual(metadata)
  })

  it('[REST-16] every accepted PUT adds 1, also with equal content, and a new id counts as version 0', async () => {
    expect((await put('versions', { name: 'A' }, { query: '?expectedVersion=0' })).json.newVersion).toBe(1)
    expect((await put('versions', { name: 'A' }, { query: '?expectedVersion=1' })).json.newVersion).toBe(2)
    expect((await put('versions', { name: 'A' })).json.newVersion).toBe(3)
    const stale = await put('versions', { name: 'B' }, { query: '?expectedVersion=1' })
    expect([stale.status, stale.json.errorCode, stale.json.currentVersion]).toEqual([409, 'VERSION_CONFLICT', 3])
    const unborn = await put('unborn', {}, { query: '?expectedVersion=1' })
    expect([unborn.status, unborn.json.currentVersion]).toEqual([409, 0])
    expect((await get('versions')).json).toMatchObject({ name: 'A', serverVersion: 3 })
  })

  it('[R-1] [REST-16] of 16 PUTs with one expectedVersion exactly one succeeds', async () => {
    await put('raced', { name: 'start' })
    for (let round = 1; round <= 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, i) => put('raced', { name: `r${i}` }, { query: `?expectedVersion=${round}` })),
      )
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
      expect(answers.filter((answer) => answer.status === 409)).toHaveLength(15)
      expect((await get('raced')).json.serverVersion).toBe(round + 1)
    }
  })

  it('[REST-16] concurrent PUTs without expectedVersion are all stored, each as its own version', async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => put('crowd', { name: `c${i}` })))
    expect(answers.map((answer) => answer.status)).toEqual(Array(16).fill(200))
    expect(new Set(answers.map((answer) => answer.json.newVersion)).size).toBe(16)
    expect(relay.events.filter((event) => event.kind === 'created' && event.head.id === 'crowd')).toHaveLength(1)
  })

  it('[REST-19] If-Match acts as expectedVersion with 412, * requires existence, and both together must agree', async () => {
    await put('matched', {})
    const withMatch = (id: string, value: string, query = '') => put(id, {}, { headers: { 'if-match': value }, query })
    const codeOf = async (answer: ReturnType<typeof withMatch>) => [(await answer).status, (await answer).json.currentVersion]
    expect(await codeOf(withMatch('matched', '"7"'))).toEqual([412, 1])
    expect((await withMatch('matched', '"1"')).json.newVersion).toBe(2)
    expect((await withMatch('matched', '*')).json.newVersion).toBe(3)
    expect(await codeOf(withMatch('missing', '*'))).toEqual([412, 0])
    expect((await withMatch('matched', '"3"', '?expectedVersion=3')).json.newVersion).toBe(4)
    const disagree = await withMatch('matched', '"4"', '?expectedVersion=3')
    expect([disagree.status, disagree.json.field]).toEqual([400, 'If-Match'])
    for (const bad of ['4', 'W/"4"', '"4", "5"', '"x"', '"-1"', '"9223372036854775808"'])
      expect((await withMatch('matched', bad)).status).toBe(400)
  })

  it('[REST-19] If-Match above every possible version answers 412, and above 2^63-1 400 with field and value', async () => {
    await put('high', {})
    const withMatch = (value: string) => put('high', {}, { headers: { 'if-match': value } })
    for (const high of ['"9007199254740993"', '"9223372036854775807"', '"9223372036854775807-v"']) {
      const { status, json } = await withMatch(high)
      expect([status, json.errorCode, json.currentVersion]).toEqual([412, 'PRECONDITION_FAILED', 1])
    }
    const { status, json } = await withMatch('"9223372036854775808"')
    expect([status, json.errorCode, json.field, json.value]).toEqual([400, 'BAD_REQUEST', 'If-Match', '"9223372036854775808"'])
    expect(json.error).toContain('9223372036854775807')
  })

  it('[REST-19] If-None-Match: * only creates', async () => {
    const create = (id: string, value = '*') => put(id, {}, { headers: { 'if-none-match': value } })
    expect((await create('only-new')).status).toBe(200)
    const again = await create('only-new')
    expect([again.status, again.json.errorCode, again.json.currentVersion]).toEqual([412, 'PRECONDITION_FAILED', 1])
    expect((await create('only-new', '"1"')).status).toBe(400)
  })

  it.each(['-1', '1.5', '1e3', '', ' 1', '9223372036854775808', 'abc', '0x1'])(
    '[REST-8] expectedVersion %j answers 400',
    async (value) => {
      const answer = await put('q', {}, { query: `?expectedVersion=${encodeURIComponent(value)}` })
      expect([answer.status, answer.json.errorCode, answer.json.field]).toEqual([400, 'BAD_REQUEST', 'expectedVersion'])
    },
  )

  it('[REST-8] unknown query members are ignored, and booleans are true, false, 1 and 0', async () => {
    for (const value of ['true', 'false', '1', '0'])
      expect((await put('query', {}, { query: `?overrideTombstone=${value}&other=x` })).status).toBe(200)
    for (const value of ['yes', 'TRUE', '', '2'])
      expect((await put('query', {}, { query: `?overrideTombstone=${value}` })).status).toBe(400)
  })
})

describe('tombstones', () => {
  it('[REST-18] [LIFE-23] overrideTombstone continues the version with the caller as owner; without it the PUT answers 410', async () => {
    await put('reborn', { name: 'old', sharedWith: [{ userId: 'bob', permission: 'edit' }] })
    await put('reborn', { name: 'old' })
    await remove('reborn')
    const refused = await put('reborn', {})
    expect([refused.status, refused.json.errorCode, refused.json.lastServerVersion]).toEqual([410, 'TOMBSTONED', 2])
    expect(typeof refused.json.deletedAt).toBe('number')
    const wrong = await put('reborn', {}, { query: '?overrideTombstone=true&expectedVersion=1' })
    expect([wrong.status, wrong.json.currentVersion]).toEqual([409, 2])
    const reborn = await put('reborn', { name: 'new' }, { query: '?overrideTombstone=true&expectedVersion=2' })
    expect(reborn.json).toMatchObject({ newVersion: 3, title: 'new', ownerId: 'ann', sharedWith: [] })
    expect(relay.events.at(-1)).toMatchObject({ kind: 'created' })
    expect(relay.logLines.find((line) => line.event === 'document.override')).toMatchObject({
      audit: true,
      docId: 'reborn',
      sub: 'ann',
    })
  })

  it('[REST-18] [PERM-3] overrideTombstone needs the recorded owner or a workspace owner, who keeps the recorded owner, and accepts expectedVersion 0', async () => {
    await put('guarded', {})
    await remove('guarded')
    const override = { query: '?overrideTombstone=1&expectedVersion=0' }
    expect((await put('guarded', {}, { ...override, as: bob })).json.errorCode).toBe('VIEW_FORBIDDEN')
    expect((await put('guarded', {}, { ...override, as: { ...ann, role: 'viewer' } })).json.errorCode).toBe('EDIT_FORBIDDEN')
    const byBoss = await put('guarded', {}, { ...override, as: boss })
    expect(byBoss.json).toMatchObject({ newVersion: 2, ownerId: 'ann', ownerName: 'ann' })
  })

  it('[REST-18] overrideTombstone without a tombstone has no effect', async () => {
    expect((await put('plain', {}, { query: '?overrideTombstone=true' })).json.newVersion).toBe(1)
    expect((await put('plain', {}, { query: '?overrideTombstone=true' })).json.newVersion).toBe(2)
  })
})

describe('bodies of a PUT', () => {
  it.each([
    ['not JSON', '{"a":'],
    ['a number beyond a double', '{"a":1e400}'],
    ['a lone surrogate', '{"a":"\\ud800"}'],
    ['trailing data', '{} {}'],
    ['nothing', ''],
    ['129 levels', `${'['.repeat(129)}${']'.repeat(129)}`],
  ])('[BODY-8] %s answers 400 BAD_JSON', async (_, raw) => {
    const answer = await put('syntax', undefined, { raw })
    expect([answer.status, answer.json.errorCode]).toEqual([400, 'BAD_JSON'])
  })

  it('[BODY-8] invalid UTF-8 and a byte order mark answer 400 BAD_JSON', async () => {
    for (const raw of [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), Buffer.from('\ufeff{}')]) {
      expect((await put('syntax', undefined, { raw })).json.errorCode).toBe('BAD_JSON')
    }
  })

  it('[BODY-8] the last duplicate name wins and __proto__ is a plain member', async () => {
    await put('plain-names', undefined, { raw: '{"a":1,"a":2,"__proto__":{"polluted":true},"constructor":3}' })
    const { text } = await get('plain-names')
    expect(text).toContain('"a":2')
    expect(text).toContain('"__proto__":{"polluted":true}')
    expect(text).toContain('"constructor":3')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('[BODY-5] a body of the wrong structure answers 400 BAD_BODY with a JSON Pointer', async () => {
    const answer = await put('structure', { pages: [{ id: 'p1', shapes: [{ id: 's' }, 7] }] })
    expect([answer.status, answer.json.errorCode, answer.json.path]).toEqual([400, 'BAD_BODY', '/pages/0/shapes/1'])
    expect((await put('structure', { sharedWith: 'bob' })).json.path).toBe('/sharedWith')
  })

  it('[BODY-10] a body without id gets the id of the path, one with another id is refused', async () => {
    await put('identity', { name: 'x' })
    expect((await get('identity')).json.id).toBe('identity')
    const answer = await put('identity', { id: 'other' })
    expect(answer.json).toMatchObject({ errorCode: 'ID_MISMATCH', pathId: 'identity', bodyId: 'other' })
  })

  it('[BODY-10] [PERM-5] members of the relay in a PUT are ignored and set by the store', async () => {
    const forged = { serverVersion: 99, version: 42, ownerId: 'eve', ownerName: 'Eve', isRelayDocument: false }
    await put('forged', { ...forged, createdAt: 5 })
    expect((await get('forged')).json).toMatchObject({
      serverVersion: 1,
      version: 1,
      ownerId: 'ann',
      ownerName: 'ann',
      isRelayDocument: true,
      collectionId: null,
      sharedWith: [],
      createdAt: 5,
    })
  })

  it('[BODY-10] of name and title the one that differs from the stored title wins, and name when both differ', async () => {
    const titleAfter = async (name: string, title: string) => {
      await put('titles', { name: 'A', title: 'A' })
      await put('titles', { name, title })
      const { json } = await get('titles')
      return [json.name, json.title]
    }
    expect(await titleAfter('A', 'B')).toEqual(['B', 'B'])
    expect(await titleAfter('B', 'A')).toEqual(['B', 'B'])
    expect(await titleAfter('B', 'C')).toEqual(['B', 'B'])
  })

  it('[BODY-10] [REST-24] a PUT without collectionId and sharedWith keeps both', async () => {
    const shares = [{ userId: 'bob', permission: 'view', note: 'kept' }]
    await put('kept', { collectionId: 'c1', sharedWith: shares })
    expect((await put('kept', { name: 'n' })).json).toMatchObject({ collectionId: 'c1', sharedWith: shares })
    expect((await put('kept', { collectionId: null, sharedWith: [] })).json).toMatchObject({ collectionId: null, sharedWith: [] })
    expect((await put('kept', { collectionId: 'x'.repeat(65) })).json.path).toBe('/collectionId')
  })

  it('[BODY-13] sharedWith may have 1,000 entries, is stored as given, and unknown entries are tolerated on reading', async () => {
    const given = [
      'bob',
      { user_id: 'cid', role: 'editor' },
      { id: 'dan', permission: 'write', extra: { deep: 1 } },
      { userId: 'eve', permission: 'boss' },
    ]
    expect((await put('shares', { sharedWith: given })).json.sharedWith).toEqual(given)
    const access = async (sub: string) =>
      (await relay.call('PUT', '/api/docs/shares', { as: { sub, role: 'member' }, body: {} })).json
    expect((await access('bob')).errorCode).toBe('EDIT_FORBIDDEN')
    expect((await access('cid')).access).toBe('edit')
    expect((await access('dan')).access).toBe('edit')
    expect((await access('eve')).errorCode).toBe('VIEW_FORBIDDEN')
    expect((await put('shares', { sharedWith: Array.from({ length: 1001 }, (_, i) => `u${i}`) })).json.errorCode).toBe('BAD_BODY')
    expect((await put('shares', { sharedWith: Array.from({ length: 1000 }, (_, i) => `u${i}`) })).status).toBe(200)
  })

  it('[BODY-14] sizeBytes is the length of the compact stored body', async () => {
    const stored = { id: 'sized', name: 'ä€😀', pages: [], richTextPages: [] }
    const saved = await put('sized', undefined, { raw: JSON.stringify({ ...stored, serverVersion: 9, sharedWith: [] }, null, 4) })
    expect(saved.json.sizeBytes).toBe(Buffer.byteLength(JSON.stringify(stored)))
    const usedBefore = await relay.storage.documents.usedBytes('default')
    await put('sized', { name: 'ä€😀!' })
    expect(await relay.storage.documents.usedBytes('default')).toBe(usedBefore + 1)
  })
})

describe('further effects of a PUT', () => {
  it('[LIFE-16] [interface Limits 4] over quota a growing save answers 507; other saves and deletes still work', async () => {
    const limited = (quota: number, id: string, name: string) =>
      relay.call('PUT', `/api/docs/${id}`, {
        as: { sub: 'ann', wsp: [{ id: 'small', role: 'member', quota_bytes: quota }] },
        body: { name },
      })
    const used = (await limited(1000, 'q', 'x'.repeat(400))).json.sizeBytes as number
    const refused = await limited(1000, 'q2', 'x'.repeat(700))
    expect([refused.status, refused.json.errorCode]).toEqual([507, 'STORAGE_QUOTA'])
    expect(refused.json).toMatchObject({ usedBytes: used, quotaBytes: 1000, source: 'claim' })
    expect(used + (refused.json.addedBytes as number)).toBeGreaterThan(1000)
    expect((await limited(10, 'q', 'x'.repeat(400))).status).toBe(200)
    expect((await limited(10, 'q', 'x'.repeat(399))).status).toBe(200)
    expect((await limited(10, 'q', 'x'.repeat(400))).status).toBe(507)
    expect((await limited(0, 'q', 'x'.repeat(9000))).status).toBe(200)
    expect((await relay.metrics.render()).text).toContain('relay_quota_rejections_total{kind="storage"} 2')
  })

  it('[LIFE-16] [REST-14] the size limit is that of the writing caller, and the answer names its source', async () => {
    const as = { sub: 'ann', wsp: [{ id: 'default', role: 'member', max_doc_bytes: 100 }] }
    const refused = await put('ceiling', { name: 'x'.repeat(100) }, { as })
    expect(refused.json).toMatchObject({ errorCode: 'DOC_TOO_LARGE', maxBytes: 100, source: 'claim' })
    expect(refused.status).toBe(413)
    expect(refused.json.sizeBytes).toBeGreaterThan(100)
    expect((await put('ceiling', { name: 'x'.repeat(100) })).status).toBe(200)
  })

  it('[LIFE-18] emptying the canvas, or two prose pages at once, makes a recovery point; smaller losses make none', async () => {
    const captured = async (before: unknown, after: unknown) => {
      await put('zeroed', before)
      writes.length = 0
      expect((await put('zeroed', after)).status).toBe(200)
      return writes.at(-1)?.capture?.reason ?? 'none'
    }
    const prose = (...contents: string[]) => contents.map((content, i) => ({ id: `t${i}`, name: 't', content }))
    expect(await captured({ pages: canvas(3) }, { pages: canvas(0) })).toBe('zeroing')
    expect(await captured({ pages: canvas(3) }, {})).toBe('zeroing')
    expect(await captured({ pages: canvas(3) }, { pages: canvas(1) })).toBe('none')
    expect(await captured({ richTextPages: prose('<p>a</p>', '<p>b</p>') }, { richTextPages: prose('', '') })).toBe('zeroing')
    expect(await captured({ richTextPages: prose('<p>a</p>', '<p>b</p>') }, { richTextPages: prose('', '<p>b</p>') })).toBe(
      'none',
    )
  })

  it('[LIFE-2] [WS-52] [WS-53] a PUT sends its event after the write is durable, and a refused PUT sends none', async () => {
    const before = relay.events.length
    await put('told', { name: 'one' })
    await put('told', { name: 'two' })
    await put('told', { name: 'three' }, { query: '?expectedVersion=1' })
    const told = relay.events.slice(before)
    expect(told.map((event) => event.kind)).toEqual(['created', 'updated'])
    expect(told.every((event) => event.kind !== 'deleted' && event.head.id === 'told' && event.actor === 'ann')).toBe(true)
  })

  it('[LIFE-15] a cold write keeps lineage and row key, and marks the body as newer than the log', async () => {
    const head = async () => {
      const state = await relay.storage.documents.state({ workspaceId: 'default', id: 'lineage' })
      return state.kind === 'document' ? state.head : null
    }
    await put('lineage', { name: 'one' })
    const first = await head()
    await put('lineage', { name: 'two' })
    const second = await head()
    expect(second?.key).toBe(first?.key)
    expect([second?.bodyAhead, second?.version]).toEqual([true, 2])
  })
})
