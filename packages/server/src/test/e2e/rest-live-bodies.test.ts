import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type Call, rawHttp } from '../raw-http.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let call: Call
let made = 0

beforeAll(async () => {
  relay = await sharedRelay()
  call = rawHttp(relay)
})
afterAll(() => relay?.[Symbol.asyncDispose]())

type Body = Record<string, unknown>
const ODD = { '': [null], constructor: { x: 1 }, '😀': '\u0000', deep: { deeper: [{ deepest: [] }] } }

async function joined(body: object) {
  const id = `b${++made}`
  expect((await call('PUT', `/api/docs/${id}`, { body })).status).toBe(200)
  const client = relay.sync(id)
  await saved(client)
  return {
    id,
    doc: client.doc,
    /** Makes a live edit, waits until it is durable, and returns the body from REST. */
    async after(edit: (doc: Y.Doc) => void): Promise<Body> {
      client.doc.transact(() => edit(client.doc))
      await saved(client)
      return (await call('GET', `/api/docs/${id}`)).json
    },
    read: async (): Promise<Body> => (await call('GET', `/api/docs/${id}`)).json,
    put: async (next: object): Promise<Body> => (await call('PUT', `/api/docs/${id}`, { body: next })).json,
    [Symbol.dispose]: () => client.destroy(),
  }
}

const prose = (doc: Y.Doc, page: string) => doc.getXmlFragment(`prose:${page}`)
function paragraph(words: string): Y.XmlElement {
  const element = new Y.XmlElement('paragraph')
  element.insert(0, [new Y.XmlText(words)])
  return element
}
function textOf(doc: Y.Doc, page: string, block: number): Y.XmlText {
  return (prose(doc, page).get(block) as Y.XmlElement).get(0) as Y.XmlText
}

/** Returns a body without the members that a live edit of a shape changes. */
const without = (body: Body, ...names: string[]) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

describe('a live edit of a document stored by PUT', () => {
  const list = {
    ...ODD,
    name: 'List',
    pages: [
      {
        id: 'p',
        name: 'P',
        ...ODD,
        shapes: [
          { id: 's', ...ODD },
          { id: 'g', type: 'group' },
        ],
      },
      { id: 'q', name: 'Q' },
    ],
    richTextPages: [{ id: 't', name: 'T', ...ODD, content: '<P>not <b>canonical</b>&nbsp;' }],
    references: { ...ODD, items: { r: { id: 'r', ...ODD } }, order: ['r'] },
    fields: { ...ODD, fields: { f: { name: 'f', value: 'v', ...ODD } }, order: ['f'] },
  }
  const keyed = {
    ...ODD,
    title: 'Keyed',
    pages: { p: { id: 'p', ...ODD, shapes: { s: { id: 's', ...ODD } }, shapeOrder: ['s'] }, q: { id: 'q', shapes: [] } },
    pageOrder: ['p', 'q'],
    richTextPages: { ...ODD, pages: { t: { id: 't', content: '<i>x', order: 3, ...ODD } }, pageOrder: ['t'], activePageId: 't' },
  }

  it.each([
    ['list', list],
    ['keyed', keyed],
  ])(
    '[BODY-2] [BODY-7] [BODY-9] [LIFE-9] a live edit leaves everything else of a body in %s form unchanged, at every depth',
    async (_, body) => {
      using live = await joined(body)
      const before = await live.read()
      const after = await live.after((doc) => doc.getMap('shapes:p').set('new', { id: 'new', x: 1 }))
      const changing = ['pages', 'version', 'serverVersion']
      expect(without(after, ...changing)).toEqual(without(before, ...changing))
      const text = JSON.stringify(after.pages)
      expect(text).toContain('"new"')
      const [page] = Array.isArray(after.pages) ? (after.pages as Body[]) : Object.values(after.pages as Record<string, Body>)
      expect(page).toMatchObject(ODD)
      expect(Array.isArray(page?.shapes)).toBe(Array.isArray(body.pages))
      const back = await live.after((doc) => doc.getMap('shapes:p').delete('new'))
      expect(without(back, 'version', 'serverVersion')).toEqual(without(before, 'version', 'serverVersion'))
    },
  )

  it('[BODY-2] a page that a client adds is stored in the form of the pages container', async () => {
    const addPages = (doc: Y.Doc) => {
      doc.getMap('canvasPages').set('n', { id: 'n', name: 'New' })
      doc.getArray('canvasPageOrder').push(['n'])
      doc.getMap('shapes:n').set('x', { id: 'x' })
      doc.getMap('prosePages').set('m', { id: 'm', name: 'Also new', order: 9 })
      doc.getArray('prosePageOrder').push(['m'])
      prose(doc, 'm').push([paragraph('words')])
    }
    using a = await joined(list)
    const listed = await a.after(addPages)
    expect(listed.pages).toMatchObject([{ id: 'p' }, { id: 'q' }, { id: 'n', name: 'New', shapes: [{ id: 'x' }] }])
    expect(listed.richTextPages).toMatchObject([{ id: 't' }, { id: 'm', content: '<p>words</p>' }])
    using b = await joined(keyed)
    const byKey = await b.after(addPages)
    expect(byKey).toMatchObject({
      pageOrder: ['p', 'q', 'n'],
      pages: { n: { id: 'n', shapes: { x: { id: 'x' } }, shapeOrder: ['x'] } },
    })
    expect(byKey.richTextPages).toMatchObject({
      pageOrder: ['t', 'm'],
      pages: { m: { content: '<p>words</p>' } },
      activePageId: 't',
    })
  })

  it('[BODY-9] prose is returned as it was PUT until its page is edited, then as canonical HTML', async () => {
    const content = '<P CLASS=x>one <b>two</b>&nbsp;</P>\n<unknown>three</unknown>'
    using live = await joined({
      richTextPages: [
        { id: 't', content },
        { id: 'u', content },
      ],
    })
    const after = (await live.after((doc) => prose(doc, 't').push([paragraph('four')]))).richTextPages as { content: string }[]
    expect(after[1]?.content).toBe(content)
    expect(after[0]?.content).toMatch(/^<p[^>]*>one <strong>two<\/strong>[^]*three[^]*<p>four<\/p>$/)
  })
})

describe('a PUT based on an older read than the live edits', () => {
  it('[LIFE-14] prose is merged block by block, and within a changed block around its unchanged beginning and end', async () => {
    const body = (content: string) => ({ richTextPages: [{ id: 't', content }] })
    using live = await joined(body('<p>alpha beta gamma</p><p>second</p><p>third</p>'))
    live.doc.transact(() => {
      textOf(live.doc, 't', 0).insert(0, 'LIVE ')
      textOf(live.doc, 't', 2).insert(5, ' live')
    })
    // The PUT of a client that read version 1 and changed one word and the second block.
    await live.put(body('<p>alpha BETA gamma</p><p>2nd</p><p>third</p>'))
    const after = await live.after(() => {})
    const content = JSON.stringify(after.richTextPages).replaceAll(/<p[^>]*>/g, '<p>')
    expect(content).toContain('<p>LIVE alpha BETA gamma</p><p>2nd</p><p>third live</p>')
  })

  it('[LIFE-13] a live edit that is not stored yet survives a PUT that leaves its part unchanged', async () => {
    const shapes = [
      { id: 'a', x: 1 },
      { id: 'b', x: 1 },
    ]
    const body = (more: object[]) => ({
      pages: [{ id: 'p', shapes: more }],
      richTextPages: [{ id: 't', content: '<p>one</p><p>two</p>' }],
    })
    using live = await joined(body(shapes))
    const page = live.doc.getMap('shapes:p')
    live.doc.transact(() => {
      page.set('a', { id: 'a', x: 2 })
      page.set('c', { id: 'c' })
      page.delete('b')
      textOf(live.doc, 't', 1).insert(3, ' live')
      prose(live.doc, 't').push([paragraph('three')])
    })
    // The PUT is sent at once on another connection, so it may come before or after the edit. The result must be the same.
    await live.put(body([...shapes, { id: 'd', y: 1 }]))
    const after = await live.after(() => {})
    const found = (after.pages as { shapes: Body[] }[])[0]?.shapes.map(({ id, x }) => [id, x])
    expect(found?.toSorted()).toEqual([
      ['a', 2],
      ['c', undefined],
      ['d', undefined],
    ])
    const text = JSON.stringify(after.richTextPages)
    for (const words of ['one', 'two live', 'three']) expect(text).toContain(words)
  })

  it('[LIFE-14] [LIFE-13] content that a PUT removes disappears for joined clients at once, in one transaction', async () => {
    using live = await joined({
      pages: [
        { id: 'p', shapes: [{ id: 'a' }] },
        { id: 'q', shapes: [{ id: 'z' }] },
      ],
      richTextPages: [{ id: 't', content: '<p>x</p>' }],
      fields: { fields: { f: { name: 'f', value: 'v' } }, order: ['f'] },
    })
    let transactions = 0
    live.doc.on('afterTransaction', (transaction: Y.Transaction) => void (transaction.changed.size > 0 && transactions++))
    await live.put({ pages: [{ id: 'p' }] })
    const after = await live.after(() => {})
    expect(after).toMatchObject({ pages: [{ id: 'p' }], richTextPages: [] })
    expect('fields' in after).toBe(false)
    expect([...live.doc.getMap('shapes:p').keys()]).toEqual([])
    expect([...live.doc.getMap('fields').keys()]).toEqual([])
    expect(live.doc.getArray('canvasPageOrder').toArray()).toEqual(['p'])
    expect(transactions).toBe(1)
  })

  it('[YDOC-7] a title changed over REST is not undone by an older live one', async () => {
    using live = await joined({ name: 'First' })
    await live.put({ name: 'Second' })
    const after = await live.after((doc) => doc.getMap('shapes:p').set('x', { id: 'x' }))
    expect(after.name).toBe('Second')
    const stale = await live.after((doc) => {
      doc.getMap('metadata').set('title', 'Stale')
      doc.getMap('metadata').set('updatedAt', 5)
    })
    expect(stale.name).toBe('Second')
    expect(live.doc.getMap('metadata').get('title')).toBe('Second')
    const renamed = await live.after((doc) => {
      doc.getMap('metadata').set('title', 'Third')
      doc.getMap('metadata').set('updatedAt', Date.now() + 1000)
    })
    expect(renamed.name).toBe('Third')
  })
})
