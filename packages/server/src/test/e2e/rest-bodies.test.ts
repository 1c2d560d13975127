import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Call, type RawAnswer, rawHttp } from '../raw-http.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let call: Call
let made = 0

beforeAll(async () => {
  relay = await sharedRelay()
  call = rawHttp(relay)
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const SERVER_MEMBERS = ['serverVersion', 'version', 'ownerId', 'ownerName', 'isRelayDocument', 'collectionId', 'sharedWith']

/** Stores a body under a new id and reads it back, without the members that the relay adds. */
async function stored(body: unknown): Promise<Record<string, unknown>> {
  const id = `b${++made}`
  const put = await call('PUT', `/api/docs/${id}`, { body })
  expect([put.status, put.text.slice(0, 200)]).toEqual([200, expect.any(String)])
  const { json } = await call('GET', `/api/docs/${id}`)
  expect(json.id).toBe(id)
  return Object.fromEntries(Object.entries(json).filter(([name]) => name !== 'id' && !SERVER_MEMBERS.includes(name)))
}

async function refused(body: unknown): Promise<[number, Record<string, unknown>]> {
  const { status, json } = await call('PUT', '/api/docs/refused', { body })
  expect((await call('GET', '/api/docs/refused')).status).toBe(404)
  return [status, json]
}

/** Members with names that a careless relay could lose, at several depths. */
const ODD = {
  '': 'empty',
  '😀': 1,
  constructor: { prototype: { polluted: true } },
  toString: null,
  hasOwnProperty: [],
  'a/b~c': { deep: [[], {}, [{ '': [null, true, false, 0.1, 1e21, -5e-324] }]] },
  'line\nbreak': '\u0000\u001f\u2028\u2029"\\',
  length: 7,
}
const odd = (more: object): Record<string, unknown> => ({ ...more, ...ODD })
const isEqualJson = (text: string, value: unknown) => expect(JSON.parse(text)).toEqual(value)

describe('array form and keyed form of a body', () => {
  const shapes = [odd({ id: 's1', type: 'rectangle' }), { id: 's2' }]
  const shapesKeyed = { s1: odd({ id: 's1', type: 'rectangle' }), s2: { id: 's2' } }
  const listPage = odd({ id: 'p1', name: 'One', shapes })
  const mixes: readonly (readonly [string, object])[] = [
    ['list all over', { pages: [listPage], richTextPages: [odd({ id: 't', content: '<p>x</p>' })] }],
    [
      'keyed all over',
      {
        pages: {
          p1: odd({ id: 'p1', name: 'One', shapes: shapesKeyed, shapeOrder: ['s2', 's1'] }),
          p0: { id: 'p0', shapes: {}, shapeOrder: [] },
        },
        pageOrder: ['p1', 'p0'],
        richTextPages: odd({ pages: { t: { id: 't', name: 'T', content: '', order: 0 } }, pageOrder: ['t'], activePageId: 't' }),
      },
    ],
    [
      'a list of pages with keyed shapes',
      { pages: [{ id: 'p1', shapes: shapesKeyed, shapeOrder: ['s1', 's2'] }, listPage2()], richTextPages: [] },
    ],
    ['keyed pages with a list of shapes', { pages: { p1: listPage }, pageOrder: ['p1'], richTextPages: [] }],
    ['list canvas, keyed prose', { pages: [], richTextPages: { pages: {}, pageOrder: [], activePageId: null } }],
    ['keyed canvas, list prose', { pages: {}, pageOrder: [], richTextPages: [{ id: 't', content: 'no markup at all <b' }] }],
    [
      'references and fields',
      {
        pages: [],
        richTextPages: [],
        references: odd({ items: { r1: odd({ id: 'r1', title: 'T' }) }, itemOrder: ['r1'], order: 'carried', style: 'apa' }),
        fields: odd({ fields: { f: odd({ name: 'f', value: 'v' }) }, order: ['f'] }),
      },
    ],
    ['references with order', { pages: [], richTextPages: [], references: { items: { r1: { id: 'r1' } }, order: ['r1'] } }],
    [
      'references and fields of another structure',
      { pages: [], richTextPages: [], references: odd({ items: [] }), fields: odd({}) },
    ],
  ]
  function listPage2(): object {
    return { id: 'p2', shapes: [] }
  }

  it.each(mixes)('[BODY-1] [BODY-2] [BODY-7] a body in %s is returned unchanged', async (_, body) => {
    expect(await stored({ ...body, ...ODD })).toEqual({ ...body, ...ODD })
  })

  it('[BODY-3] missing page containers are added empty, in the form of the container that is present', async () => {
    expect(await stored({})).toEqual({ pages: [], richTextPages: [] })
    expect(await stored({ pages: {} })).toEqual({
      pages: {},
      pageOrder: [],
      richTextPages: expect.objectContaining({ pages: {}, pageOrder: [] }),
    })
    expect(await stored({ richTextPages: { pages: {}, pageOrder: [] } })).toMatchObject({ pages: {}, pageOrder: [] })
  })

  it('[BODY-4] page orders are completed, the key of a page overrides its id, and a missing id is created', async () => {
    const body = {
      pages: { a: { id: 'other', shapes: { x: {}, y: { id: 'x' } }, shapeOrder: ['gone', 'y', 'y'] }, b: { shapes: {} } },
      pageOrder: ['b', 7, 'b', 'none'],
      richTextPages: [{ content: '<p>1</p>' }, { content: '<p>1</p>' }],
    }
    const back = await stored(body)
    expect(back.pageOrder).toEqual(['b', 'a'])
    expect(back.pages).toMatchObject({
      a: { id: 'a', shapes: { x: { id: 'x' }, y: { id: 'y' } }, shapeOrder: ['y', 'x'] },
      b: { id: 'b' },
    })
    const ids = (back.richTextPages as { id: string }[]).map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^.{1,256}$/)
  })

  it('[BODY-6] [BODY-9] shapes and prose are stored without corrections', async () => {
    const body = {
      pages: [{ id: 'p', shapes: [{ id: 's', type: 'no such type', x: 'left', w: -1, points: [null] }] }],
      richTextPages: [{ id: 't', content: '<script>alert(1)</script><p onclick=x>&nbsp;</P>\r\n<unknown/>' }],
    }
    expect(await stored(body)).toEqual(body)
  })
})

describe('names and values of JSON', () => {
  it('[BODY-8] __proto__ is stored as a plain name at every depth and changes no prototype', async () => {
    const text =
      '{"__proto__":{"polluted":1},"pages":[{"id":"p","__proto__":{"shapes":[1]},"shapes":[{"id":"s","__proto__":[1],"constructor":null}]}],' +
      '"richTextPages":[{"id":"t","content":"","__proto__":"x"}],"fields":{"fields":{"__proto__":{"name":"__proto__","value":"v"}},"order":["__proto__"]}}'
    expect((await call('PUT', '/api/docs/proto', { body: text })).status).toBe(200)
    const back = await call('GET', '/api/docs/proto')
    const want = { ...(JSON.parse(text) as object) }
    for (const [name, value] of Object.entries(JSON.parse(text) as object))
      isEqualJson(JSON.stringify(Object.getOwnPropertyDescriptor(back.json, name)?.value), value)
    expect(Object.hasOwn(back.json, '__proto__')).toBe(true)
    expect(Object.keys(want)).toContain('__proto__')
    expect((await stored({})).polluted).toBeUndefined()
    const listed = await call('GET', '/api/docs')
    expect(listed.text).not.toContain('polluted')
  })

  it('[BODY-8] the last of two equal names wins, numbers are doubles, and escapes are kept', async () => {
    const text =
      '{"a":1,"a":2,"big":12345678901234567890,"neg":-0,"e":1E+2,"s":"\\u00e9\\ud83d\\ude00\\/","nul":"a\\u0000b","id":"dup","name":"x","name":"y"}'
    const put = await call('PUT', '/api/docs/dup', { body: text })
    expect([put.status, put.json.title]).toEqual([200, 'y'])
    expect((await call('GET', '/api/docs/dup')).json).toMatchObject({
      a: 2,
      big: 12345678901234567000,
      e: 100,
      s: 'é😀/',
      nul: 'a\0b',
    })
  })

  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['no JSON', '{name:1}'],
    ['more than one value', '{} {}'],
    ['a trailing comma', '{"a":[1,]}'],
    ['a comment', '{/**/}'],
    ['NaN', '{"a":NaN}'],
    ['a number with a leading zero', '{"a":01}'],
    ['a number that is no double', '{"a":1e400}'],
    ['a control character in a string', '{"a":"\u0001"}'],
    ['an invalid escape', '{"a":"\\x41"}'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['an encoded surrogate', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['129 levels', `{"a":${'['.repeat(128)}${']'.repeat(128)}}`],
    ['a million levels', '['.repeat(1_000_000)],
  ])('[BODY-8] %s answers BAD_JSON', async (_, body) => {
    expect(await refused(body)).toEqual([400, { error: expect.any(String), errorCode: 'BAD_JSON', offset: expect.any(Number) }])
  })

  it('[BODY-8] JSON nested 128 levels deep is stored', async () => {
    const deep = JSON.parse(`${'['.repeat(127)}${']'.repeat(127)}`) as unknown
    expect(await stored({ deep })).toMatchObject({ deep })
  })

  it('[BODY-8] a lone surrogate is refused or stored unchanged', async () => {
    const { status, json } = await call('PUT', '/api/docs/lone', { body: '{"a":"x\\ud800y","\\udfff":1}' })
    if (status === 400) expect(json.errorCode).toBe('BAD_JSON')
    else expect(JSON.parse((await call('GET', '/api/docs/lone')).text)).toMatchObject({ a: 'x\ud800y', '\udfff': 1 })
  })

  it.each([
    [[], ''],
    ['text', ''],
    [null, ''],
    [7, ''],
    [{ pages: 7 }, '/pages'],
    [{ pages: null }, '/pages'],
    [{ pages: 'x' }, '/pages'],
    [{ pages: [null] }, '/pages/0'],
    [{ pages: [{ id: 'a' }, []] }, '/pages/1'],
    [{ pages: { 'a/b~': 1 } }, '/pages/a~1b~0'],
    [{ pages: [{ id: 'a' }, { id: 'a' }] }, '/pages/1/id'],
    [{ pages: [{ id: 7 }] }, '/pages/0/id'],
    [{ pages: [{ id: '' }] }, '/pages/0/id'],
    [{ pages: [{ id: 'x'.repeat(257) }] }, '/pages/0/id'],
    [{ pages: [{ id: 'a\u0001' }] }, '/pages/0/id'],
    [{ pages: { 'a\n': {} } }, '/pages/a\n'],
    [{ pages: {}, pageOrder: {} }, '/pageOrder'],
    [{ pages: [{ id: 'a', shapes: 1 }] }, '/pages/0/shapes'],
    [{ pages: [{ id: 'a', shapes: [1] }] }, '/pages/0/shapes/0'],
    [{ pages: [{ id: 'a', shapes: [{ id: 's' }, { id: 's' }] }] }, '/pages/0/shapes/1/id'],
    [{ pages: { a: { shapes: { s: null } } } }, '/pages/a/shapes/s'],
    [{ richTextPages: 1 }, '/richTextPages'],
    [{ richTextPages: [{ id: 't', content: 1 }] }, '/richTextPages/0/content'],
    [{ richTextPages: [{ id: 't', content: null }] }, '/richTextPages/0/content'],
    [{ richTextPages: { pages: [] } }, '/richTextPages/pages'],
    [{ richTextPages: { pages: { t: 1 } } }, '/richTextPages/pages/t'],
    [{ references: [] }, '/references'],
    [{ references: 'x' }, '/references'],
    [{ fields: 7 }, '/fields'],
    [{ references: { items: { r: 1 } } }, '/references/items/r'],
    [{ references: { items: { '': {} } } }, '/references/items/'],
    [{ fields: { fields: { f: null } } }, '/fields/fields/f'],
    [{ fields: { fields: { ['f'.repeat(257)]: {} } } }, `/fields/fields/${'f'.repeat(257)}`],
    [{ sharedWith: {} }, '/sharedWith'],
    [{ sharedWith: null }, '/sharedWith'],
    [{ sharedWith: Array.from({ length: 1001 }, () => 'u') }, '/sharedWith'],
    [{ collectionId: 7 }, '/collectionId'],
    [{ collectionId: 'é'.repeat(33) }, '/collectionId'],
  ])('[BODY-5] [BODY-11] %j answers BAD_BODY at %j', async (body, path) => {
    expect(await refused(JSON.stringify(body))).toEqual([
      400,
      { error: expect.stringContaining(path), errorCode: 'BAD_BODY', path },
    ])
  })
})

it('[BODY-5] [REST-14] a refusal is short even when the name it quotes is long', async () => {
  const long = 'x'.repeat(1_000_000)
  for (const body of [{ id: long }, { pages: { [long]: {} } }, { fields: { fields: { [long]: 1 } } }, { sharedWith: long }])
    expect((await refused(body)).map((part) => JSON.stringify(part).length).reduce((a, b) => a + b)).toBeLessThan(10_000)
})

describe('members that the relay sets itself', () => {
  it('[BODY-10] a PUT cannot change the members that the relay sets', async () => {
    const lies = {
      id: 'mine',
      serverVersion: 99,
      version: 98,
      ownerId: 'eve',
      ownerName: 'Eve',
      owner_id: 'eve',
      isRelayDocument: false,
      createdAt: 5,
      modifiedAt: 6,
      lastModifiedBy: 'x',
      lockedBy: 'y',
      access: 'none',
      sizeBytes: -1,
    }
    const put = await call('PUT', '/api/docs/mine', { body: lies })
    expect(put.json).toMatchObject({
      id: 'mine',
      title: 'Untitled Document',
      name: 'Untitled Document',
      owner_id: 'ann',
      ownerId: 'ann',
      ownerName: 'ann',
      workspace_id: relay.workspace,
      workspaceId: relay.workspace,
      is_relay_document: true,
      isRelayDocument: true,
      collectionId: null,
      serverVersion: 1,
      newVersion: 1,
      success: true,
      createdAt: 5,
      lastModifiedBy: 'x',
      lockedBy: 'y',
      access: 'owner',
      pageCount: 0,
      canvasPageCount: 0,
      prosePageCount: 0,
      sharedWith: [],
    })
    expect(put.json.updated_at).toBe(new Date(put.json.modifiedAt as number).toISOString())
    const { json } = await call('GET', '/api/docs/mine')
    expect(json).toMatchObject({
      serverVersion: 1,
      version: 1,
      ownerId: 'ann',
      ownerName: 'ann',
      isRelayDocument: true,
      createdAt: 5,
      modifiedAt: 6,
    })
    expect(json.owner_id).toBe('eve')
    expect('name' in json || 'title' in json).toBe(false)
  })

  it('[BODY-10] the title is taken from name, then title, and the one that differs from the stored title wins', async () => {
    const put = async (body: object): Promise<unknown> => (await call('PUT', '/api/docs/titled', { body })).json.title
    const read = async (): Promise<unknown[]> => {
      const { name, title } = (await call('GET', '/api/docs/titled')).json
      return [name, title]
    }
    expect(await put({ title: 'T' })).toBe('T')
    expect(await read()).toEqual([undefined, 'T'])
    expect(await put({ name: 'T', title: 'New' })).toBe('New')
    expect(await read()).toEqual(['New', 'New'])
    expect(await put({ name: 'Newer', title: 'New' })).toBe('Newer')
    expect(await put({ name: 'A', title: 'B' })).toBe('A')
    expect(await read()).toEqual(['A', 'A'])
    expect(await put({ name: 'A', title: '' })).toBe('Untitled Document')
    expect(await put({ name: 7, title: { x: 1 } })).toBe('Untitled Document')
    expect(await read()).toEqual([7, { x: 1 }])
  })

  it('[BODY-10] a body with the id of another document answers ID_MISMATCH and names both ids', async () => {
    expect(await refused({ id: 'else' })).toEqual([
      400,
      { error: expect.any(String), errorCode: 'ID_MISMATCH', pathId: 'refused', bodyId: 'else' },
    ])
    for (const id of [7, null, '']) expect((await refused({ id }))[1].errorCode).toBe('ID_MISMATCH')
  })

  it('[BODY-11] a document id may be any text up to 256 bytes except paths and control characters', async () => {
    const path = (id: string) => `/api/docs/${encodeURIComponent(id)}`
    for (const id of [
      'a',
      '😀',
      'a b',
      '%',
      'x'.repeat(256),
      'é'.repeat(128),
      '__proto__',
      'constructor',
      'a.b',
      '.',
      '?',
      '#',
      '+',
      'collection',
      '\'"<>',
    ]) {
      const put = await call('PUT', path(id), { body: { id } })
      expect([id, put.status, put.json.id]).toEqual([id, 200, id])
      expect((await call('GET', path(id))).json.id).toBe(id)
    }
    for (const id of ['x'.repeat(257), 'é'.repeat(129), 'a..b', '..a', 'a/b', 'a\\b', 'a\0', '\u007f', 'a\n', '\u0085']) {
      for (const method of ['GET', 'PUT', 'DELETE']) answered(await call(method, path(id), { body: {} }), id)
    }
    answered(await call('GET', '/api/docs/%ed%a0%80'), 'surrogate')
    function answered({ status, json }: RawAnswer, id: string) {
      expect([id, status, json]).toEqual([id, 400, { error: expect.any(String), errorCode: 'BAD_ID', field: 'id' }])
    }
  })

  it('[BODY-13] [PERM-7] users and objects in sharedWith are stored as given, with all their members', async () => {
    const sharedWith = [
      'bob',
      { userId: 'cid', permission: 'edit', more: { x: 1 } },
      { user_id: 'dan', role: 'viewer' },
      { id: 'eve', permission: 'boss' },
      {},
    ]
    await call('PUT', '/api/docs/shared', { body: { sharedWith } })
    expect((await call('GET', '/api/docs/shared')).json.sharedWith).toEqual(sharedWith)
    const level = async (sub: string) => (await call('GET', '/api/docs/shared', { as: { sub, role: 'member' } })).json
    expect((await level('bob')).sharedWith).toEqual(['bob'])
    expect((await level('cid')).sharedWith).toEqual(sharedWith)
    expect((await level('dan')).sharedWith).toEqual([{ user_id: 'dan', role: 'viewer' }])
    expect((await level('eve')).errorCode).toBe('VIEW_FORBIDDEN')
  })

  it('[BODY-14] [BODY-15] sizeBytes is the stored body in bytes, and the counts are those of its pages', async () => {
    const small = (await call('PUT', '/api/docs/sized', { body: { id: 'sized', name: 'é', pages: [], richTextPages: [] } })).json
    const spaced = (
      await call('PUT', '/api/docs/sized', { body: '{ "id" : "sized", "name":"\\u00e9",\n"pages":[], "richTextPages":[] }' })
    ).json
    expect(spaced.sizeBytes).toBe(small.sizeBytes)
    expect(small.sizeBytes).toBe(Buffer.byteLength('{"id":"sized","name":"é","pages":[],"richTextPages":[]}'))
    const pages = { pages: [{ id: 'a' }, { id: 'b' }], richTextPages: [{ id: 'c', content: '' }] }
    expect((await call('PUT', '/api/docs/sized', { body: pages })).json).toMatchObject({
      pageCount: 3,
      canvasPageCount: 2,
      prosePageCount: 1,
    })
  })
})
