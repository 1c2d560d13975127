import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type Call, type RawRequest, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'

let relay: RelayUnderTest
let call: Call
let made = 0

beforeAll(async () => {
  relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0', RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '200' } })
  call = rawHttp(relay)
})
afterAll(() => relay?.[Symbol.asyncDispose]())

/** A request to one document: method, rest of the path, and options. */
type Step = readonly [method: string, tail: string, options?: RawRequest]

const LIST = {
  name: 'Plan',
  tags: ['a'],
  extra: { '': [null, 1e21, '\u0000'], __proto: 1 },
  pages: [
    {
      id: 'p1',
      name: 'One',
      note: 'kept',
      shapes: [
        { id: 's1', type: 'rectangle', x: 1, more: { y: [1] } },
        { id: 's2', type: 'odd' },
      ],
    },
    { id: 'p2', name: 'Two', shapes: [] },
  ],
  richTextPages: [
    { id: 't1', name: 'Text', content: '<h1>Title</h1><P class=x>not <b>canonical</b>&nbsp;</P>', extra: true },
    { id: 't2', name: 'Empty', content: '' },
  ],
  references: { items: { r1: { id: 'r1', title: 'R' } }, itemOrder: ['r1'], style: 'apa', more: 1 },
  fields: { fields: { f: { name: 'f', value: 'v', more: 2 } }, order: ['f'], more: 3 },
}
const KEYED = {
  title: 'Keyed',
  pages: { p1: { id: 'p1', name: 'One', shapes: { s1: { id: 's1', x: 5 } }, shapeOrder: ['s1'], note: 1 } },
  pageOrder: ['p1'],
  richTextPages: {
    pages: { t1: { id: 't1', name: 'T', content: '<p>keyed</p>', order: 0 } },
    pageOrder: ['t1'],
    activePageId: 't1',
    more: 4,
  },
}
const BIG = { ...LIST, pad: 'x'.repeat(5000) }
const claims = (more: object): RawRequest['as'] => ({ wsp: [{ id: 'default', role: 'owner', ...more }] })
const put = (body: unknown, tail = '', more: RawRequest = {}): Step => ['PUT', tail, { body, ...more }]
const get: Step = ['GET', '']

const SCENARIOS: readonly (readonly [string, readonly Step[]])[] = [
  ['[REST-16] equal content, thrice', [put(LIST), put(LIST), put(LIST), get]],
  ['[BODY-2] [LIFE-13] list to keyed form and back', [put(KEYED), get, put(LIST), get]],
  [
    '[BODY-2] mixed forms',
    [put({ ...LIST, richTextPages: KEYED.richTextPages }), get, put({ ...KEYED, richTextPages: LIST.richTextPages }), get],
  ],
  [
    '[LIFE-14] containers missing are emptied, sharing and collection stay',
    [put({ ...LIST, sharedWith: ['bob'], collectionId: 'c' }), put({ name: 'bare' }), get],
  ],
  [
    '[BODY-7] members come and go at every depth',
    [
      put({ ...LIST, extra: undefined, other: { deep: [{}] } }),
      get,
      put({ ...LIST, pages: [{ ...LIST.pages[0], note: undefined, shapes: [{ id: 's1', z: 1 }] }] }),
      get,
    ],
  ],
  [
    '[BODY-9] prose that is not canonical',
    [
      put({ ...LIST, richTextPages: [{ id: 't1', content: '<i>x</i> <unknown>y' }] }),
      get,
      put({
        ...LIST,
        richTextPages: [
          { id: 't1', content: 'plain' },
          { id: 'new', content: '<p>n</p>' },
        ],
      }),
      get,
    ],
  ],
  [
    '[BODY-10] titles',
    [put({ name: 'Plan', title: 'New' }), get, put({ title: 'T' }), get, put({}), get, put({ name: '' }), get],
  ],
  [
    '[BODY-1] page order and shape order',
    [
      put({ ...LIST, pages: LIST.pages.toReversed(), richTextPages: LIST.richTextPages.toReversed() }),
      get,
      put({ ...LIST, pages: [{ ...LIST.pages[0], shapes: LIST.pages[0]?.shapes.toReversed() }] }),
      get,
    ],
  ],
  [
    '[BODY-1] references and fields',
    [
      put({ ...LIST, references: { items: {}, order: [] }, fields: { odd: true } }),
      get,
      put({ ...LIST, references: undefined, fields: undefined }),
      get,
      put(LIST),
      get,
    ],
  ],
  [
    '[REST-15] [REST-19] conditions',
    [
      put(LIST, '?expectedVersion=1'),
      put(LIST, '?expectedVersion=1'),
      put(LIST, '', { headers: { 'if-match': '"1"' } }),
      put(LIST, '', { headers: { 'if-none-match': '*' } }),
      put(LIST, '?expectedVersion=2'),
      ['GET', '', { headers: { 'if-none-match': '"3"' } }],
      get,
    ],
  ],
  ['[BODY-5] [BODY-8] bodies that are refused', [put('{'), put({ pages: 1 }), put({ id: 'x' }), put({ sharedWith: 1 }), get]],
  [
    '[LIFE-16] limits of the caller',
    [
      put(BIG, '', { as: claims({ max_doc_bytes: 1000 }) }),
      put(BIG, '', { as: claims({ quota_bytes: 1 }) }),
      put({ name: 'small' }, '', { as: claims({ quota_bytes: 1, max_doc_bytes: 1000 }) }),
      get,
    ],
  ],
  [
    '[PERM-3] rights',
    [
      put({ ...LIST, sharedWith: [{ userId: 'bob', permission: 'view' }] }),
      ['GET', '', { as: { sub: 'bob', role: 'member' } }],
      put(LIST, '', { as: { sub: 'bob', role: 'member' } }),
      put(LIST, '', { as: { sub: 'eve', role: 'member' } }),
      ['DELETE', '', { as: { sub: 'bob', role: 'member' } }],
      get,
    ],
  ],
  [
    '[REST-24] collection',
    [
      ['PUT', '/collection', { body: { collectionId: 'c' } }],
      ['PUT', '/collection', { body: { collectionId: 'c' } }],
      get,
      ['PUT', '/collection', { body: { collectionId: null } }],
      get,
    ],
  ],
  [
    '[REST-23] transfer',
    [
      ['POST', '/transfer', { body: { to_user_id: 'bob' } }],
      get,
      ['POST', '/transfer', { body: { newOwnerId: 'ann', newOwnerName: 'Ann' } }],
      get,
    ],
  ],
  [
    '[REST-22] [REST-18] deleting and putting back',
    [['DELETE', ''], get, put(LIST), ['DELETE', ''], put(KEYED, '?overrideTombstone=true'), get],
  ],
]

/** Plays one scenario and returns its answers, without ids and times. */
async function answersOf(steps: readonly Step[], isLive: boolean): Promise<unknown[]> {
  const id = `document-${1000 + ++made}`
  await call('PUT', `/api/docs/${id}`, { body: LIST })
  const client = isLive ? relay.sync(id) : null
  if (client !== null) await saved(client)
  const answers: unknown[] = []
  for (const [method, tail, options] of steps) {
    const { status, headers, text } = await call(method, `/api/docs/${id}${tail}`, options)
    const plain = text
      .replaceAll(id, 'ID')
      .replaceAll(/"lineage":"[^"]*"/g, '"lineage":"L"')
      .replaceAll(/"(updated_at|modifiedAt|createdAt|deletedAt|sharedAt|usedBytes)":("[^"]*"|\d+)/g, '"$1":0')
      .replace(/to \d+ stored/, 'to some stored')
    answers.push({ status, etag: headers.etag, body: plain === '' ? '' : JSON.parse(plain) })
  }
  client?.destroy()
  return answers
}

describe('a live document answers like a cold one', () => {
  it.each(SCENARIOS)('%s: a live document answers like a cold one', async (_, steps) => {
    const [cold, live] = [await answersOf(steps, false), await answersOf(steps, true)]
    expect(live).toEqual(cold)
  })
})

describe('live edits', () => {
  const text = (doc: Y.Doc, page = 't1') => doc.getXmlFragment(`prose:${page}`).toString()
  async function joined(body: object = LIST) {
    const id = `l${++made}`
    await call('PUT', `/api/docs/${id}`, { body })
    const client = relay.sync(id)
    await saved(client)
    const read = async () => (await call('GET', `/api/docs/${id}`)).json as typeof LIST & { serverVersion: number }
    return { id, client, doc: client.doc, read }
  }
  const addParagraph = (doc: Y.Doc, words: string, page = 't1') => {
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.insert(0, [new Y.XmlText(words)])
    doc.getXmlFragment(`prose:${page}`).push([paragraph])
  }

  it('[LIFE-11] [REST-20] GET and HEAD show every acknowledged edit, content and version together, and the old ETag no longer matches', async () => {
    const { id, client, doc, read } = await joined()
    for (let edit = 1; edit <= 3; edit++) {
      doc.getMap('shapes:p1').set('s1', { id: 's1', type: 'rectangle', x: edit * 100 })
      await saved(client)
      const stale = await call('GET', `/api/docs/${id}`, { headers: { 'if-none-match': `"${edit}"` } })
      expect([stale.status, stale.headers.etag]).toEqual([200, `"${edit + 1}"`])
      expect((await call('HEAD', `/api/docs/${id}`)).headers.etag).toBe(`"${edit + 1}"`)
      const body = await read()
      expect([body.serverVersion, body.pages[0]?.shapes[0]?.x]).toEqual([edit + 1, edit * 100])
      const list = JSON.parse((await call('GET', `/api/docs?q=Plan`)).text) as { id: string; serverVersion: number }[]
      expect(list.find((one) => one.id === id)?.serverVersion).toBe(edit + 1)
    }
    client.destroy()
  })

  it('[LIFE-12] [REST-20] an edit that is undone before a save changes neither version nor bytes', async () => {
    const { id, client, doc } = await joined()
    const before = await call('GET', `/api/docs/${id}`)
    const shapes = doc.getMap('shapes:p1')
    const shape = shapes.get('s1')
    shapes.set('s1', { id: 's1', x: -1 })
    shapes.set('s1', shape)
    await saved(client)
    const after = await call('GET', `/api/docs/${id}`)
    expect([after.headers.etag, after.text]).toEqual([before.headers.etag, before.text])
    client.destroy()
  })

  it('[LIFE-13] [LIFE-14] a PUT made from an older read keeps edits of other parts, and joined clients receive it', async () => {
    const { id, client, doc, read } = await joined()
    const known = await read()
    addParagraph(doc, 'live words')
    doc.getMap('shapes:p1').set('s2', { id: 's2', type: 'odd', live: true })
    await saved(client)
    const pages = [
      { ...known.pages[0], shapes: [{ id: 's1', type: 'rectangle', x: 77 }, known.pages[0]?.shapes[1]] },
      known.pages[1],
    ]
    const answer = await call('PUT', `/api/docs/${id}?expectedVersion=1`, { body: { ...known, pages, name: 'Renamed' } })
    expect([answer.status, answer.json.newVersion, answer.json.title]).toEqual([200, 2, 'Renamed'])
    await until('the PUT to arrive', () => doc.getMap('metadata').get('title') === 'Renamed')
    expect(doc.getMap('shapes:p1').get('s1')).toMatchObject({ x: 77 })
    const now = await read()
    expect(now.pages[0]?.shapes).toMatchObject([{ x: 77 }, { live: true }])
    expect(now.richTextPages[0]?.content).toContain('live words')
    expect(text(doc)).toContain('live words')
    client.destroy()
  })

  it('[LIFE-13] a later save never undoes a collection change, a transfer or a PUT by others', async () => {
    const { id, client, doc, read } = await joined()
    const edit = async (words: string) => {
      addParagraph(doc, words)
      await saved(client)
    }
    await edit('one')
    await call('PUT', `/api/docs/${id}/collection`, { body: { collectionId: 'c' } })
    await edit('two')
    await call('POST', `/api/docs/${id}/transfer`, { body: { to_user_id: 'bob' } })
    await edit('three')
    await call('PUT', `/api/docs/${id}`, { body: { ...(await read()), extra: 'new', sharedWith: ['cid'] } })
    await edit('four')
    const now = await read()
    expect(now).toMatchObject({ collectionId: 'c', ownerId: 'bob', sharedWith: ['cid'], extra: 'new' })
    for (const words of ['one', 'two', 'three', 'four']) expect(now.richTextPages[0]?.content).toContain(words)
    client.destroy()
  })

  it('[BODY-10] a save sets an existing modifiedAt and lastModifiedBy, and adds none', async () => {
    const { client, doc, read, id } = await joined({ ...LIST, modifiedAt: 5, lastModifiedBy: 'x', createdAt: 3 })
    addParagraph(doc, 'mine')
    await saved(client)
    const now = (await read()) as unknown as Record<string, unknown>
    expect(Date.now() - (now.modifiedAt as number)).toBeLessThan(60_000)
    expect([now.lastModifiedBy, 'lastModifiedByName' in now, now.createdAt]).toEqual(['ann', false, 3])
    expect((await call('GET', `/api/docs?q=Plan`)).json).toContainEqual(expect.objectContaining({ id, lastModifiedBy: 'ann' }))
    client.destroy()
  })

  it('[LIFE-10] [LIFE-17] when the last client leaves the body is saved, and answers stay the same', async () => {
    const { id, client, doc } = await joined()
    addParagraph(doc, 'left behind')
    await saved(client)
    client.destroy()
    const first = await call('GET', `/api/docs/${id}`)
    await relay.kill()
    await relay.restart()
    const again = await call('GET', `/api/docs/${id}`)
    expect([again.headers.etag, again.text]).toEqual([first.headers.etag, first.text])
    expect(again.text).toContain('left behind')
  })
})
