import { RelayError } from '@docrelay/client/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

let relay: RelayUnderTest
let documents = 0

const OPEN_LIMITS = { RELAY_WRITES_PER_SEC: '0', RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '200' }

interface Body {
  readonly [member: string]: unknown
  readonly serverVersion: number
  readonly name: string
  readonly pages: { id: string; name: string; shapes: { id: string; [member: string]: unknown }[] }[]
  readonly richTextPages: { id: string; name: string; content: string }[]
}

async function document(content = '<p>hello</p>'): Promise<string> {
  const id = `doc-${++documents}`
  await relay.rest().putDocument(id, {
    name: `Document ${documents}`,
    custom: { kept: [1, 'two', null] },
    pages: [{ id: 'canvas', name: 'Canvas', shapes: [{ id: 's1', type: 'rectangle', x: 1, y: 2, extra: true }] }],
    richTextPages: [{ id: 'text', name: 'Text', content }],
  })
  return id
}

const get = async (id: string) => (await relay.rest().getDocument(id)) as Body
const page = (doc: Y.Doc) => doc.getXmlFragment('prose:text')

function appendText(doc: Y.Doc, text: string): void {
  const paragraph = page(doc).get(page(doc).length - 1) as Y.XmlElement
  const last = paragraph.get(paragraph.length - 1)
  if (last instanceof Y.XmlText) last.insert(last.length, text)
  else paragraph.push([new Y.XmlText(text)])
}

describe.each(await storesUnderTest())('live documents on $name', ({ env, remove }) => {
  beforeAll(async () => {
    relay = await startRelayUnderTest({ env: { ...OPEN_LIMITS, ...env } })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await remove()
  })

  describe('two editors and REST on one document', () => {
    it('[YDOC-1] [YDOC-9] [WS-23] [WS-25] a joining client gets the stored body as a live document', async () => {
      const id = await document('<h1>Title</h1><p>some <strong>bold</strong> text</p>')
      const client = relay.sync(id)
      await saved(client)
      expect(client.doc.getMap('metadata').get('title')).toBe((await get(id)).name)
      expect(client.doc.getMap('shapes:canvas').get('s1')).toMatchObject({ id: 's1', x: 1, extra: true })
      expect(page(client.doc).toString()).toContain('<paragraph>some ')
      client.destroy()
    })

    it('[WS-31] [WS-40] [LIFE-11] edits of two clients converge, are acknowledged, and REST sees them at once', async () => {
      const id = await document()
      const [ann, ben] = [relay.sync(id, { sub: 'ann' }), relay.sync(id, { sub: 'ben' })]
      await saved(ann, ben)
      appendText(ann.doc, ' from ann')
      await until('ben to see it', () => page(ben.doc).toString().includes('from ann'))
      appendText(ben.doc, ' and ben')
      await saved(ann, ben)
      await until('both to agree', () => page(ann.doc).toString() === page(ben.doc).toString())
      const body = await get(id)
      expect(body.richTextPages[0]?.content).toMatch(/<p( id="[^"]*")?>hello from ann and ben<\/p>/)
      expect(body['custom']).toEqual({ kept: [1, 'two', null] })
      expect(body.serverVersion).toBe(2)
      ann.destroy()
      ben.destroy()
    })

    it('[LIFE-13] [LIFE-14] a PUT on a live document is merged and broadcast, and live edits elsewhere survive', async () => {
      const id = await document()
      const ann = relay.sync(id)
      await saved(ann)
      const stored = await get(id)
      ann.doc.getMap('shapes:canvas').set('live', { id: 'live', type: 'ellipse', x: 5, y: 5 })
      ann.doc.getArray('shapeOrder:canvas').push(['live'])
      await saved(ann)
      await relay.rest().putDocument(
        id,
        {
          ...stored,
          pages: [{ id: 'canvas', name: 'Renamed', shapes: [{ id: 's1', type: 'rectangle', x: 99, y: 2, extra: true }] }],
        },
        { expectedVersion: stored.serverVersion },
      )
      await until('the PUT to arrive', () => (ann.doc.getMap('shapes:canvas').get('s1') as { x: number }).x === 99)
      expect(ann.doc.getMap('shapes:canvas').has('live')).toBe(true)
      const body = await get(id)
      expect(body.pages[0]?.name).toBe('Renamed')
      expect(body.pages[0]?.shapes.map((shape) => shape.id).sort()).toEqual(['live', 's1'])
      ann.destroy()
    })

    it('[LIFE-23] [WS-21] [WS-54] a deleted document ends for every client at once, and later joins are refused', async () => {
      const id = await document()
      const events: string[] = []
      const ann = relay.sync(id, {}, { onEvent: (event) => events.push(`${event.eventType} ${event.docId}`) })
      await saved(ann)
      await relay.rest().deleteDocument(id)
      await until('the event', () => events.includes(`deleted ${id}`))
      const late = relay.sync(id)
      await until('the refusal', () => late.state.refusal === 'ERR_DELETED')
      await expect(relay.rest().getDocument(id)).rejects.toMatchObject({ status: 404 })
      await expect(relay.rest().putDocument(id, {})).rejects.toMatchObject({ status: 410, code: 'TOMBSTONED' })
      ann.destroy()
      late.destroy()
    })

    it('[WS-51] [WS-52] [WS-53] created, updated and deleted events reach every connection that may read the document', async () => {
      const home = await document()
      const seen: string[] = []
      const stranger: string[] = []
      const watching = relay.sync(
        home,
        {},
        { onEvent: (event) => seen.push(`${event.eventType} ${event.docId} ${event.userId}`) },
      )
      const member = { sub: 'mia', role: 'member' }
      const outsider = relay.sync(home, member, { onEvent: (event) => stranger.push(event.docId) })
      await saved(watching)
      await until('the outsider to be refused', () => outsider.state.refusal === 'ERR_VIEW_FORBIDDEN')
      const ben = { sub: 'ben' }
      await relay.rest(ben).putDocument('events-doc', { name: 'one' })
      await relay.rest(ben).putDocument('events-doc', { name: 'two' })
      await relay.rest(ben).deleteDocument('events-doc')
      await until('three events', () => seen.length >= 3)
      expect(seen).toEqual(['created events-doc ben', 'updated events-doc ben', 'deleted events-doc ben'])
      expect(stranger).toEqual([])
      watching.destroy()
      outsider.destroy()
    })

    it('[WS-27] [PERM-1] a viewer receives the document and its own edits are refused', async () => {
      const id = await document()
      await relay.rest().putDocument(id, { ...(await get(id)), sharedWith: [{ userId: 'vic', permission: 'view' }] })
      const vic = relay.sync(id, { sub: 'vic', role: 'viewer' })
      const ann = relay.sync(id)
      await saved(ann)
      await until('the viewer to be in sync', () => vic.state.synced)
      appendText(ann.doc, '!')
      await until('the viewer to see it', () => page(vic.doc).toString().includes('hello!'))
      appendText(vic.doc, '?')
      await until('the refusal', () => vic.state.saved === 'refused')
      expect((await get(id)).richTextPages[0]?.content).toContain('hello!<')
      vic.destroy()
      ann.destroy()
    })

    it('[WS-42] [WS-45] [WS-46] presence reaches other clients and later joiners, and ends with its connection', async () => {
      const id = await document()
      const ann = relay.sync(id, { sub: 'ann' })
      ann.awareness.setLocalState({ user: { name: 'Ann' } })
      await saved(ann)
      const ben = relay.sync(id, { sub: 'ben' })
      await until('ben to see ann', () => [...ben.awareness.getStates().values()].some((state) => state['user']?.name === 'Ann'))
      ann.destroy()
      await until('ann to vanish', () => ![...ben.awareness.getStates().values()].some((state) => state['user']?.name === 'Ann'))
      ben.destroy()
    })
  })

  describe('durability', () => {
    it('[LIFE-3] [A-10] [AUTH-14] after kill -9 every acknowledged edit is there, and a revocation holds from the first request on', async () => {
      const id = await document()
      const jti = 'to-be-revoked'
      const [ann, revoked] = [relay.sync(id), relay.sync(id, { jti })]
      await saved(ann, revoked)
      const answer = await fetch(`${relay.baseUrl}/api/v1/internal/revoke`, {
        method: 'POST',
        headers: { authorization: 'Bearer revocation-secret-for-tests', 'content-type': 'application/json' },
        body: JSON.stringify({ revocations: [{ jti, revoked_at: new Date().toISOString() }] }),
      })
      expect(answer.status).toBe(204)
      await until('the socket to close', () => revoked.state.closed?.code === 4401)
      revoked.destroy()
      for (let i = 0; i < 20; i++) appendText(ann.doc, ` ${i}`)
      await saved(ann)
      const text = page(ann.doc).toString()
      ann.destroy()
      await relay.kill()
      await relay.restart()
      await expect(relay.rest({ jti }).listDocuments()).rejects.toSatisfy((error: RelayError) => error.code === 'TOKEN_REVOKED')
      expect((await get(id)).richTextPages[0]?.content).toContain('hello 0 1 2 3')
      const fresh = relay.sync(id)
      await saved(fresh)
      expect(page(fresh.doc).toString()).toBe(text)
      fresh.destroy()
    })

    it('[LIFE-28] SIGTERM closes sockets with 1012, saves and exits with 0, and a client reconnects by itself', {
      timeout: patience(40_000),
    }, async () => {
      const id = await document()
      const ann = relay.sync(id)
      await saved(ann)
      appendText(ann.doc, ' before the stop')
      await saved(ann)
      // The close code of the socket that is open now. Later attempts to connect fail while the relay is away.
      const closed = new Promise<number>((resolve) => ann.on('state', ({ closed: how }) => how && resolve(how.code)))
      expect(await relay.stop()).toBe(0)
      expect(await closed).toBe(1012)
      appendText(ann.doc, ' and while it was down')
      await relay.restart()
      await until('the client to be back', () => ann.state.saved === 'saved', 20_000)
      expect((await get(id)).richTextPages[0]?.content).toContain('before the stop and while it was down')
      ann.destroy()
    })
  })
})
