import { platform } from '@docrelay/client/environment'
import { SyncClient, type SyncClientOptions } from '@docrelay/client/sync/sync-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { saved, until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

const ANN = { sub: 'ann', role: 'member' }
let relay: SharedRelay
const ann = () => relay.rest(ANN)
const clients: SyncClient[] = []
beforeAll(async () => {
  relay = await sharedRelay()
})
afterAll(async () => {
  for (const client of clients) client.destroy()
  await relay?.[Symbol.asyncDispose]()
})

let made = 0
async function newDocument(body: Record<string, unknown> = {}): Promise<string> {
  const id = `state-${++made}`
  await ann().putDocument(id, { name: id, ...body })
  return id
}
const put = (client: SyncClient, key: string) => client.doc.getMap('fields').set(key, { name: key, value: '' })
const keysOf = async (id: string) =>
  Object.keys(((await ann().getDocument(id)) as { fields?: { fields: object } }).fields?.fields ?? {}).sort()
/** Returns `saved` and `refusal` of a client's state in one string. */
const savedAndRefusal = ({ state }: SyncClient) => `${state.saved} ${state.refusal}`
/** Returns a client of a new document that has not connected yet, and the list of values that its `saved` takes. */
async function disconnectedClient(doc = new Y.Doc()) {
  const id = await newDocument()
  const seen: string[] = []
  const onState: SyncClientOptions['onState'] = ({ saved: now }) => seen.push(now)
  const client = new SyncClient({ url: relay.wsUrl, docId: id, doc, token: () => relay.token(ANN), onState })
  clients.push(client)
  return { id, client, seen }
}
/** Returns a client that has joined a new document; its field `key`, when one is named, is already acknowledged. */
async function joinedClient(key?: string) {
  const id = await newDocument()
  const client = relay.sync(id, ANN)
  await saved(client)
  if (key !== undefined) put(client, key)
  await saved(client)
  return { id, client }
}
/** Returns a client whose connection is authenticated; the relay may still refuse to let it join the document. */
async function connectedClient(id: string, who: object = ANN): Promise<SyncClient> {
  const client = relay.sync(id, who)
  await until('the connection', () => client.state.connection === 'authenticated')
  return client
}

describe('state saved of the sync client', () => {
  it('[WS-64] a client without edits is saved before, during and after a connection', async () => {
    const { client, seen } = await disconnectedClient()
    expect(client.state.saved).toBe('saved')
    client.connect()
    await until('the first sync', () => client.state.synced)
    client.disconnect()
    expect(client.state.saved).toBe('saved')
    expect(new Set(seen)).toEqual(new Set(['saved']))
  })

  it('[WS-64] an edit made offline is unsaved, and saved only when it is durable', async () => {
    const { id, client, seen } = await disconnectedClient()
    put(client, 'early')
    expect(client.state.saved).toBe('unsaved')
    client.connect()
    await saved(client)
    expect(await keysOf(id)).toEqual(['early'])
    client.disconnect()
    put(client, 'late')
    expect(client.state.saved).toBe('unsaved')
    client.connect()
    await saved(client)
    expect(await keysOf(id)).toEqual(['early', 'late'])
    expect(seen.filter((now, i) => now !== seen[i - 1])).toEqual(['unsaved', 'saving', 'saved', 'unsaved', 'saving', 'saved'])
  })

  it('[WS-64] a client started with a stored copy is unsaved until the relay has that copy', async () => {
    const doc = new Y.Doc()
    doc.getMap('fields').set('kept', { name: 'kept', value: '' })
    const { id, client } = await disconnectedClient(doc)
    expect(client.state.saved).toBe('unsaved')
    client.connect()
    await saved(client)
    expect(await keysOf(id)).toEqual(['kept'])
  })
})

describe('edits that the relay refuses', () => {
  it('[WS-64] a client is refused when another client deletes its document, before and after further edits', async () => {
    const { id, client } = await joinedClient('before')
    await ann().deleteDocument(id)
    await until('the end', () => client.state.saved !== 'saved')
    expect(savedAndRefusal(client)).toBe('refused ERR_DELETED')
    put(client, 'after')
    await ann().listDocuments()
    expect(savedAndRefusal(client)).toBe('refused ERR_DELETED')
  })

  it.each([
    ['an unknown document', 'nowhere', ANN, 'ERR_UNKNOWN_DOC'],
    ['a deleted document', 'buried', ANN, 'ERR_DELETED'],
    ['a document that is not shared with the caller', 'theirs', { sub: 'eve', role: 'member' }, 'ERR_VIEW_FORBIDDEN'],
  ])('[WS-64] joining %s sets the refusal with its reason, which an edit does not clear', async (_, id, who, code) => {
    for (const each of ['buried', 'theirs']) await ann().putDocument(each, {}, { overrideTombstone: true })
    await ann().deleteDocument('buried')
    const client = await connectedClient(id, who)
    await until('the refusal', () => client.state.refusal !== null)
    expect(savedAndRefusal(client)).toBe(`refused ${code}`)
    put(client, 'typed')
    await ann().listDocuments()
    expect(savedAndRefusal(client)).toBe(`refused ${code}`)
  })

  it('[WS-64] [WS-62] a copy of a deleted and recreated document is refused and not merged, also after a reconnect', async () => {
    const { id, client } = await joinedClient('old')
    const { lineage } = client.state
    client.disconnect()
    await ann().deleteDocument(id)
    await ann().putDocument(id, {}, { overrideTombstone: true })
    client.connect()
    await until('the refusal', () => client.state.refusal !== null)
    expect(savedAndRefusal(client)).toBe('refused ERR_LINEAGE')
    client.disconnect()
    client.connect()
    await until('the refusal', () => client.state.connection === 'authenticated' && client.state.refusal !== null)
    expect([client.state.lineage, await keysOf(id)]).toEqual([lineage, []])

    const kept = new Y.Doc()
    Y.applyUpdate(kept, Y.encodeStateAsUpdate(client.doc))
    const later = relay.sync(id, ANN, { doc: kept, ...(lineage !== null && { lineage }) })
    await until('the refusal', () => later.state.refusal !== null)
    expect(savedAndRefusal(later)).toBe('refused ERR_LINEAGE')
    expect(await keysOf(id)).toEqual([])
  })

  it('[WS-62] a copy without lineage of a recreated document is refused at every join and does not adopt the new lineage', async () => {
    const { id, client: first } = await joinedClient('old')
    const kept = new Y.Doc()
    Y.applyUpdate(kept, Y.encodeStateAsUpdate(first.doc))
    first.destroy()
    await ann().deleteDocument(id)
    await ann().putDocument(id, {}, { overrideTombstone: true })
    const later = relay.sync(id, ANN, { doc: kept })
    for (let join = 0; join < 3; join++) {
      await until('the refusal', () => later.state.connection === 'authenticated' && later.state.refusal !== null)
      expect([savedAndRefusal(later), later.state.lineage]).toEqual(['refused ERR_DELETED', null])
      later.disconnect()
      later.connect()
      await until('the next join', () => later.state.connection === 'authenticated')
      await ann().listDocuments()
    }
    expect(await keysOf(id)).toEqual([])
  })

  it('[WS-64] an edit that breaks a rule is refused with its reason', async () => {
    const { client } = await joinedClient()
    // `metadata` may only be used as a map.
    const broken = new Y.Doc()
    broken.getArray('metadata').insert(0, ['an element of a list'])
    Y.applyUpdate(client.doc, Y.encodeStateAsUpdate(broken))
    await until('the refusal', () => client.state.refusal !== null)
    expect(savedAndRefusal(client)).toBe('refused ERR_BAD_UPDATE')
  })

  it('[WS-64] [WS-61] an edit of a reader is refused, and accepted once the level allows it', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const vic = relay.sync(id, { sub: 'vic', role: 'member' })
    await saved(vic)
    expect(vic.state.level).toBe('view')
    put(vic, 'too early')
    await until('the refusal', () => vic.state.saved === 'refused')
    expect(savedAndRefusal(vic)).toBe('refused ERR_EDIT_FORBIDDEN')
    await ann().shareDocument(id, [{ userId: 'vic', permission: 'edit' }])
    await saved(vic)
    expect([vic.state.level, await keysOf(id)]).toEqual(['edit', ['too early']])
  })

  it('[WS-63] [WS-64] a client learns the id of the document that was restored from its own', async () => {
    const { id, client } = await joinedClient('x')
    await ann().captureRecoveryPoint(id)
    const [point] = await ann().recoveryPoints(id)
    const { newDocId } = await ann().restoreRecoveryPoint(id, point?.id ?? '')
    await until('the end', () => client.state.refusal !== null)
    expect([savedAndRefusal(client), client.state.successor]).toEqual(['refused ERR_DELETED', newDocId])
  })
})

describe('connecting', () => {
  const with_ = (more: object) =>
    new SyncClient({ url: relay.wsUrl, docId: 'd', doc: new Y.Doc(), token: () => relay.token(ANN), ...more })

  it.each(['/ws', '', 'relay.example/ws', 'ftp://relay.example/ws'])(
    '[WS-1] the client throws a named error for the url %j',
    (url) => {
      expect(() => with_({ url }).connect()).toThrow(
        expect.objectContaining({
          name: 'ClientSetupError',
          code: 'BAD_URL',
          message: expect.stringContaining(JSON.stringify(url)),
        }),
      )
    },
  )

  it('[WS-1] the client throws a named error where WebSocket is missing, and stops at an address that the platform refuses', async () => {
    const environment = { ...platform, hasWebSocket: () => false }
    expect(() => with_({ environment }).connect()).toThrow(
      expect.objectContaining({ name: 'ClientSetupError', code: 'NO_WEBSOCKET' }),
    )
    const openSocket = () => {
      throw new Error('an insecure address from a secure page')
    }
    const client = with_({ environment: { ...platform, openSocket } })
    client.connect()
    await until('the stop', () => client.state.connection === 'stopped')
    expect(client.state.closed?.reason).toBe('an insecure address from a secure page')
  })
})

describe('listeners', () => {
  it('[WS-64] several listeners get states, events and errors until they are removed', async () => {
    const id = await newDocument()
    const client = relay.sync(id, ANN)
    const seen: string[] = []
    client.on('state', ({ saved: now }) => seen.push(`one ${now}`))
    const off = client.on('state', ({ saved: now }) => seen.push(`two ${now}`))
    client.on('event', ({ eventType }) => seen.push(eventType))
    await saved(client)
    off()
    seen.length = 0
    put(client, 'x')
    await saved(client)
    await ann().deleteDocument(id)
    await until('the event', () => seen.includes('deleted'))
    expect(seen.every((line) => !line.startsWith('two'))).toBe(true)
    expect(new Set(seen)).toEqual(new Set(['one saving', 'one saved', 'one refused', 'deleted']))
  })
})

describe('awareness of other clients', () => {
  it('[WS-65] a cursor that would make editors throw is dropped, and the rest of its state is kept', async () => {
    const id = await newDocument()
    const [hostile, honest] = [relay.sync(id, ANN), relay.sync(id, { sub: 'ann', role: 'member' })]
    await saved(hostile, honest)
    const seenOf = () => honest.awareness.getStates().get(hostile.awareness.clientID)
    const position = { type: null, tname: 'prose:p', item: null, assoc: 0 }
    for (const cursor of [
      ...[7, 'x', [], true, {}, { anchor: 1, head: 2 }, { anchor: null, head: null }, { anchor: position }],
      { anchor: { ...position, item: { client: -1, clock: 0.5 } }, head: position },
    ]) {
      hostile.awareness.setLocalState({ user: { name: 'H' }, cursor, other: JSON.stringify(cursor) })
      await until('the state', () => seenOf()?.['other'] === JSON.stringify(cursor))
      expect(seenOf()).toEqual({ user: { name: 'H' }, other: JSON.stringify(cursor) })
    }
    const cursor = { anchor: position, head: position }
    hostile.awareness.setLocalState({ user: 7, cursor })
    await until('the state', () => seenOf()?.['user'] === 7)
    expect(seenOf()).toEqual({ user: 7 })
    hostile.awareness.setLocalState({ user: { name: 'H' }, cursor })
    await until('the cursor', () => seenOf()?.['cursor'] !== undefined)
    expect(seenOf()).toEqual({ user: { name: 'H' }, cursor })
    hostile.awareness.setLocalState(null)
    await until('the end', () => seenOf() === undefined)
  })
})
