import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from '../http/testing/rest-relay.ts'

let relay: RestRelay
let compat: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
  compat = await startRestRelay({ editorClient: true })
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await compat[Symbol.asyncDispose]()
})

const ann = { sub: 'ann', role: 'member' }
const bob = { sub: 'bob', role: 'member' }
const BODY = {
  name: 'Plan',
  pages: [{ id: 'c1', name: 'C', shapes: [{ id: 's1', type: 'text', text: '"}' }] }],
  richTextPages: [
    { id: 'r1', name: 'R', content: '<p>a</p>' },
    { id: 'r2', name: 'S', content: '' },
  ],
  createdAt: 1234,
  tags: ['x'],
  lockedBy: 'ann',
  lastModifiedByName: 'Ann',
  unknown: { deep: [1, { more: null }] },
}

describe('GET of a document', () => {
  it('[BODY-7] [BODY-10] GET returns what was PUT with the members of the relay', async () => {
    await relay.call('PUT', '/api/docs/full', { as: ann, body: { ...BODY, collectionId: 'col' } })
    const { json } = await relay.call('GET', '/api/docs/full', { as: ann })
    expect(json).toEqual({
      id: 'full',
      ...BODY,
      serverVersion: 1,
      version: 1,
      ownerId: 'ann',
      ownerName: 'ann',
      isRelayDocument: true,
      collectionId: 'col',
      sharedWith: [],
    })
  })

  it('[REST-20] the ETag is strong and names the version, and If-None-Match answers 304 without a body', async () => {
    await relay.call('PUT', '/api/docs/tagged', { as: ann, body: { sharedWith: [{ userId: 'bob', permission: 'view' }, 'cid'] } })
    const first = await relay.call('GET', '/api/docs/tagged', { as: ann })
    expect(first.headers.get('etag')).toBe('"1"')
    const asked = (value: string, as = ann) => relay.call('GET', '/api/docs/tagged', { as, headers: { 'if-none-match': value } })
    for (const value of ['"1"', 'W/"1"', '"0", "1"', '*']) {
      const answer = await asked(value)
      expect([value, answer.status, answer.text, answer.headers.get('etag')]).toEqual([value, 304, '', '"1"'])
    }
    for (const value of ['"2"', '"1-v"', '1']) expect([value, (await asked(value)).status]).toEqual([value, 200])
    expect((await asked('"1-v"', bob)).status).toBe(304)
    expect((await relay.call('GET', '/api/docs/tagged', { as: ann })).text).toBe(first.text)
    await relay.call('PUT', '/api/docs/tagged/collection', { as: ann, body: { collectionId: 'c' } })
    expect((await asked('"1"')).status).toBe(200)
  })

  it('[REST-10] [REST-20] [PERM-7] a body and its 304 are no-store, because a browser would use the ETag for another workspace or person', async () => {
    await relay.call('PUT', '/api/docs/uncached', { as: ann, body: {} })
    const asked = async (headers = {}) => {
      const answer = await relay.call('GET', '/api/docs/uncached', { as: ann, headers })
      return [answer.status, answer.headers.get('cache-control')]
    }
    expect(await asked()).toEqual([200, 'no-store'])
    expect(await asked({ 'if-none-match': '"1"' })).toEqual([304, 'no-store'])
  })

  it('[REST-10] an answer that depends on the caller has a Vary header with Authorization and X-Workspace-Id', async () => {
    for (const path of ['/api/docs', '/api/collections', '/api/v1/docs/tagged/metadata', '/api/docs/tagged/recovery']) {
      const { headers } = await relay.call('GET', path, { as: ann })
      expect([path, headers.get('vary')]).toEqual([path, 'Authorization, X-Workspace-Id'])
    }
    expect((await relay.call('GET', '/health', {})).headers.get('vary')).toBeNull()
  })

  it('[PERM-7] [REST-20] a caller at level view sees only its own share, with an ETag of its own', async () => {
    const bobs = { userId: 'bob', permission: 'view', note: 'mine' }
    await relay.call('PUT', '/api/docs/shared', { as: ann, body: { sharedWith: [bobs, { userId: 'cid', permission: 'edit' }] } })
    const asBob = await relay.call('GET', '/api/docs/shared', { as: bob })
    expect([asBob.json.sharedWith, asBob.headers.get('etag')]).toEqual([[bobs], '"1-v"'])
    const asCid = await relay.call('GET', '/api/docs/shared', { as: { sub: 'cid', role: 'member' } })
    expect([(asCid.json.sharedWith as unknown[]).length, asCid.headers.get('etag')]).toEqual([2, '"1"'])
    expect((await relay.call('GET', '/api/docs', { as: bob })).list.find((entry) => entry.id === 'shared')?.sharedWith).toEqual([
      bobs,
    ])
  })

  it('[BODY-15] metadata has every member in every spelling', async () => {
    const before = Date.now()
    const saved = await relay.call('PUT', '/api/docs/meta', { as: ann, body: { ...BODY, collectionId: 'c1' } })
    const { success: _, newVersion: __, ...metadata } = saved.json
    const listed = (await relay.call('GET', '/api/docs', { as: ann })).list.find((entry) => entry.id === 'meta')
    expect(listed).toEqual(metadata)
    expect((await relay.call('GET', '/api/v1/docs/meta/metadata', { as: ann })).json).toEqual(metadata)
    const modifiedAt = metadata.modifiedAt as number
    expect(modifiedAt).toBeGreaterThanOrEqual(before)
    expect(metadata).toEqual({
      id: 'meta',
      title: 'Plan',
      name: 'Plan',
      updated_at: new Date(modifiedAt).toISOString(),
      modifiedAt,
      createdAt: 1234,
      owner_id: 'ann',
      ownerId: 'ann',
      ownerName: 'ann',
      workspace_id: 'default',
      workspaceId: 'default',
      is_relay_document: true,
      isRelayDocument: true,
      collectionId: 'c1',
      sizeBytes: metadata.sizeBytes,
      serverVersion: 1,
      lineage: expect.stringMatching(/^[A-Za-z0-9_-]{16}$/),
      pageCount: 3,
      canvasPageCount: 1,
      prosePageCount: 2,
      access: 'owner',
      sharedWith: [],
      tags: ['x'],
      lockedBy: 'ann',
      lastModifiedByName: 'Ann',
    })
    expect(metadata.updated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const untitled = await relay.call('PUT', '/api/docs/untitled', { as: ann, body: { createdAt: 'yesterday' } })
    expect(untitled.json.title).toBe('Untitled Document')
    expect(untitled.json.createdAt).toBe(untitled.json.modifiedAt)
  })
})

describe('GET /api/v1/docs/{id}/metadata', () => {
  const metadata = (id: string, as: object) => relay.call('GET', `/api/v1/docs/${id}/metadata`, { as })

  it('[REST-30] [PERM-7] metadata show the list entry of the document with the level and shares of the caller, and must not be cached publicly', async () => {
    const bobs = { userId: 'bob', permission: 'view' }
    await relay.call('PUT', '/api/docs/row', { as: ann, body: { sharedWith: [bobs, { userId: 'cid', permission: 'edit' }] } })
    const asBob = await metadata('row', { sub: 'bob', role: 'member' })
    expect(asBob.json).toMatchObject({ id: 'row', access: 'view', sharedWith: [bobs], serverVersion: 1 })
    expect(asBob.headers.get('cache-control')).toBe('private, no-cache')
    expect((await metadata('row', { sub: 'cid', role: 'member' })).json).toMatchObject({ access: 'edit' })
    expect((await metadata('row', ann)).json).toMatchObject({ access: 'owner' })
  })

  it('[REST-30] [REST-6] metadata answer 403 to a caller who may not read, 404 for unknown and deleted ids, and 400 for invalid ids', async () => {
    await relay.call('PUT', '/api/docs/private', { as: ann, body: {} })
    await relay.call('PUT', '/api/docs/gone', { as: ann, body: {} })
    await relay.call('DELETE', '/api/docs/gone', { as: ann })
    const codes = [
      await metadata('private', { sub: 'eve', role: 'member' }),
      await metadata('never', ann),
      await metadata('gone', ann),
      await metadata('a..b', ann),
    ].map(({ status, json }) => `${status} ${String(json.errorCode)}`)
    expect(codes).toEqual(['403 VIEW_FORBIDDEN', '404 NOT_FOUND', '404 NOT_FOUND', '400 BAD_ID'])
  })
})

describe('the compat option editor_client', () => {
  it('[CFG-2] with editor_client the list is wrapped, and version is the one the client sent, absent if it sent none', async () => {
    await compat.call('PUT', '/api/docs/numbered', { as: ann, body: { version: 7 } })
    await compat.call('PUT', '/api/docs/bare', { as: ann, body: {} })
    const { json } = await compat.call('GET', '/api/docs', { as: ann })
    expect(Object.keys(json)).toEqual(['documents'])
    expect(json.documents).toHaveLength(2)
    expect((await compat.call('GET', '/api/docs/numbered', { as: ann })).json).toMatchObject({ version: 7, serverVersion: 1 })
    const bare = (await compat.call('GET', '/api/docs/bare', { as: ann })).json
    expect(Object.hasOwn(bare, 'version')).toBe(false)
    expect(bare.serverVersion).toBe(1)
  })

  it('[CFG-2] without editor_client the list is an array and version equals serverVersion', async () => {
    await relay.call('PUT', '/api/docs/numbered', { as: ann, body: { version: 7 } })
    expect((await relay.call('GET', '/api/docs', { as: ann })).list.length).toBeGreaterThan(0)
    expect((await relay.call('GET', '/api/docs/numbered', { as: ann })).json).toMatchObject({ version: 1, serverVersion: 1 })
  })
})

describe('ids of documents', () => {
  const bad = [
    '..',
    'a..b',
    'a/b',
    'a\\b',
    'a\0',
    '\u0001',
    'a\nb',
    '\u007f',
    '\u0085',
    'x'.repeat(257),
    'ä'.repeat(129),
    '../etc/passwd',
    '..\\x',
  ]
  const good = [
    '.',
    'a.b',
    'x'.repeat(256),
    'ä'.repeat(128),
    'CON',
    'nul',
    '__proto__',
    'constructor',
    '\u200b',
    '\u202e',
    '\u00e9',
    'e\u0301',
    "'; drop table documents; --",
    '%',
    '%2e',
    ' ',
    '日本',
    '😀',
    '*',
    '?',
    '#',
    'api',
    '~',
  ]

  it.each(bad)('[BODY-11] [X16] [F-13] %j is refused as an id on every route', async (id) => {
    const path = `/api/docs/${encodeURIComponent(id).replaceAll('.', '%2e')}`
    const calls = [
      relay.call('GET', path, { as: ann }),
      relay.call('PUT', path, { as: ann, body: {} }),
      relay.call('DELETE', path, { as: ann }),
      relay.call('POST', `${path}/transfer`, { as: ann, body: { to_user_id: 'x' } }),
      relay.call('PUT', `${path}/collection`, { as: ann, body: { collectionId: null } }),
    ]
    for (const answer of await Promise.all(calls)) {
      expect([answer.status, answer.json.errorCode, answer.json.field]).toEqual([400, 'BAD_ID', 'id'])
    }
  })

  it.each(good.map((id) => [id]))('[BODY-11] [F-13] %j is accepted as an id and kept exactly', async (id) => {
    const path = `/api/docs/${encodeURIComponent(id).replaceAll('.', '%2e')}`
    const saved = await relay.call('PUT', path, { as: { sub: 'ann', wsp: [{ id: 'ids', role: 'member' }] }, body: {} })
    expect([saved.status, saved.json.id, saved.json.serverVersion]).toEqual([200, id, 1])
    const got = await relay.call('GET', path, { as: { sub: 'ann', wsp: [{ id: 'ids', role: 'member' }] } })
    expect([got.status, got.json.id]).toEqual([200, id])
  })

  it('[F-13] [X16] no request with an odd document id created a file', async () => {
    const files = await readdir(relay.directory)
    expect(files).toContain('relay.db')
    expect(files.filter((name) => !name.startsWith('relay.db'))).toEqual(['blobs'])
    const inBlobs = await readdir(join(relay.directory, 'blobs'), { recursive: true, withFileTypes: true })
    expect(inBlobs.filter((entry) => entry.isFile())).toEqual([])
  })
})
