import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { openWire, storedKeys, type WireClient } from '../wire-client.ts'

const ANN = { sub: 'ann', role: 'member' }
const BOTH = ['ack', 'joined']
const LINEAGE = /^[A-Za-z0-9_-]{16}$/

let relay: RelayUnderTest
const ann = () => relay.rest(ANN)
const enter = async (docId: string, features = ['ack'], who = ANN): Promise<WireClient> =>
  (await openWire(relay)).enter(relay.token(who), docId, features)
const joinedFrames = (client: WireClient) => client.jsonOf(18)
const lineageOf = async (docId: string) => (await ann().listDocuments()).find(({ id }) => id === docId)?.['lineage']
/** Makes an edit and waits until it is durable. */
const write = (client: WireClient, key: string): Promise<void> => client.write(client.put(key))
async function recreate(docId: string): Promise<void> {
  await ann().deleteDocument(docId)
  await ann().putDocument(docId, { name: 'Another' }, { overrideTombstone: true })
}
let made = 0
async function newDocument(body: Record<string, unknown> = {}): Promise<string> {
  const id = `life-${++made}`
  await ann().putDocument(id, { name: id, ...body })
  return id
}

describe.each(await storesUnderTest())('a document id deleted and created again, on $name', ({ env, remove }) => {
  beforeAll(async () => {
    relay = await startRelayUnderTest({
      env: { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '100', RELAY_WRITES_PER_SEC: '0', ...env },
    })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await remove()
  })

  it('[WS-62] a copy of a deleted document is not merged into the new one, and its client is refused once', async () => {
    const id = await newDocument()
    const old = await enter(id)
    await write(old, 'old')
    await recreate(id)
    const fresh = await enter(id)
    await write(fresh, 'new')
    old.frames.length = 0
    old.join(id)
    old.step1()
    await until('the refusal', () => old.errors().length > 0)
    expect(old.errors()).toEqual([{ error: 'ERR_DELETED', code: 'ERR_DELETED', requestId: null, frame: 1 }])
    old.update(old.put('more'))
    await until('the next refusal', () => old.errors().length > 1)
    expect(old.errors()[1]).toMatchObject({ code: 'ERR_DELETED' })
    await write(fresh, 'newer')
    expect(await storedKeys(relay, id)).toEqual(['new', 'newer'])
    expect([fresh.keys(), old.socket.readyState]).toEqual([['new', 'newer'], old.socket.OPEN])
    old.socket.close()
    fresh.socket.close()
  })

  it('[WS-62] [WS-56] sending a copy of the deleted document repeatedly is no violation', async () => {
    const id = await newDocument()
    const old = await enter(id)
    await write(old, 'old')
    await recreate(id)
    for (let time = 1; time <= 5; time++) {
      const before = old.errors().length
      old.join(id)
      old.step1()
      await until('the refusal', () => old.errors().length > before)
    }
    await old.settled()
    expect(old.socket.readyState).toBe(old.socket.OPEN)
    expect(await storedKeys(relay, id)).toEqual([])
    old.socket.close()
  })

  it('[WS-62] a client without lineage is accepted when the relay already has its content or its client id is new', async () => {
    const id = await newDocument({ fields: { fields: { seeded: { name: 'seeded', value: '1' } } } })
    const first = await enter(id)
    await write(first, 'old')
    await recreate(id)
    const second = await enter(id)
    await write(second, 'kept')
    second.frames.length = 0
    second.join(id)
    second.step1()
    await write(second, 'again')
    expect(await storedKeys(relay, id)).toEqual(['again', 'kept'])
    first.socket.close()
    second.socket.close()
  })

  it('[WS-61] [WS-23] JOINED comes after AUTH_RESPONSE and before step1 with level, lineage and version, only when requested', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const lineage = await lineageOf(id)
    expect(lineage).toMatch(LINEAGE)
    const client = await openWire(relay)
    client.auth(relay.token(ANN), BOTH)
    client.join(id)
    client.step1()
    await client.next(TAG.sync)
    expect(client.tags().slice(0, 3)).toEqual([TAG.authResponse, 18, TAG.sync])
    expect(client.jsonOf(TAG.authResponse)[0]).toMatchObject({ features: BOTH, protocol: '4.2' })
    expect(joinedFrames(client)).toEqual([{ docId: id, level: 'owner', lineage, serverVersion: 1 }])
    const vic = await enter(id, ['joined'], { sub: 'vic', role: 'member' })
    expect(joinedFrames(vic)).toMatchObject([{ level: 'view', lineage }])
    const plain = await enter(id, ['ack'])
    expect(joinedFrames(plain)).toEqual([])
    for (const each of [client, vic, plain]) each.socket.close()
  })

  it('[WS-61] JOINED comes again with each change of the level: by a share, a transfer and a changed role', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const vic = await enter(id, BOTH, { sub: 'vic', role: 'member' })
    const levels = () => joinedFrames(vic).map(({ level }) => level)
    await ann().shareDocument(id, [{ userId: 'vic', permission: 'editor' }])
    await until('level edit', () => levels().length === 2)
    expect(joinedFrames(vic)[1]).toEqual({ docId: id, level: 'edit' })
    await ann().shareDocument(id, [{ userId: 'vic', permission: 'editor', userName: 'Vic' }])
    await ann().transferDocument(id, 'vic')
    await until('level owner', () => levels().length === 3)
    vic.auth(relay.token({ sub: 'vic', role: 'viewer' }), BOTH)
    await until('level view', () => levels().length === 4)
    expect(levels()).toEqual(['view', 'edit', 'owner', 'view'])
    await relay.rest({ sub: 'root', role: 'owner' }).transferDocument(id, 'ann')
    await relay.rest({ sub: 'root', role: 'owner' }).shareDocument(id, [])
    await until('the end', () => vic.errors().some(({ code }) => code === 'ERR_VIEW_FORBIDDEN'))
    expect(levels()).toHaveLength(4)
    vic.socket.close()
  })

  it('[WS-62] JOIN_DOC with another lineage answers ERR_LINEAGE with the current one, and nothing that follows is merged', async () => {
    const id = await newDocument()
    const former = await lineageOf(id)
    const client = await enter(id, BOTH)
    await write(client, 'old')
    await recreate(id)
    const present = await lineageOf(id)
    expect(present).not.toBe(former)
    const before = client.frames.length
    client.joinLineage(id, former)
    client.step1()
    client.step2(Y.encodeStateAsUpdate(client.doc))
    await until('the refusal', () => client.errors().length > 0)
    await client.settled()
    expect(client.errors()).toEqual([
      { error: expect.stringMatching(/^ERR_LINEAGE: /), code: 'ERR_LINEAGE', requestId: null, lineage: present },
    ])
    expect(
      client
        .tags()
        .slice(before)
        .filter((tag) => tag !== TAG.docEvent),
    ).toEqual([TAG.error, TAG.heartbeat])
    expect(await storedKeys(relay, id)).toEqual([])
    client.joinLineage(id, present)
    await until('JOINED', () => joinedFrames(client).length === 2)
    client.socket.close()
  })

  it('[WS-62] [WS-9] a lineage that is not a string answers ERR_BAD_FRAME, and the earlier document stays joined', async () => {
    const id = await newDocument()
    const client = await enter(id, BOTH)
    for (const lineage of [7, null]) {
      const before = client.errors().length
      client.joinLineage(id, lineage)
      await until('the refusal', () => client.errors().length > before)
    }
    expect(client.errors().map(({ code }) => code)).toEqual(['ERR_BAD_FRAME', 'ERR_BAD_FRAME'])
    await write(client, 'still here')
    expect(await storedKeys(relay, id)).toEqual(['still here'])
    client.socket.close()
  })

  it('[WS-62] a new client that reuses a known Y client id is accepted when it names the lineage', async () => {
    const id = await newDocument()
    const old = await enter(id)
    await write(old, 'old')
    await recreate(id)
    const plain = await openWire(relay)
    plain.doc.clientID = old.doc.clientID
    await plain.enter(relay.token(ANN), id, ['ack'])
    plain.update(plain.put('unlucky'))
    await until('the refusal', () => plain.errors().length > 0)
    const named = await openWire(relay)
    named.doc.clientID = old.doc.clientID
    named.following = true
    named.auth(relay.token(ANN), BOTH)
    named.joinLineage(id, await lineageOf(id))
    named.step1()
    await until('the sync', () => named.syncs().includes(SYNC.step2))
    await write(named, 'lucky')
    expect(await storedKeys(relay, id)).toEqual(['lucky'])
    for (const client of [old, plain, named]) client.socket.close()
  })

  it('[WS-63] [LIFE-22] the deletion event of a restore names the new document to all joined clients, and a plain deletion none', async () => {
    const id = await newDocument()
    const client = await enter(id, BOTH)
    await write(client, 'first')
    expect(await ann().captureRecoveryPoint(id)).toBe(true)
    const [point] = await ann().recoveryPoints(id)
    const { newDocId } = await ann().restoreRecoveryPoint(id, point?.id ?? '')
    await until('both events', () => client.jsonOf(TAG.docEvent).length >= 2)
    const [deleted, created] = client.jsonOf(TAG.docEvent)
    expect(deleted).toEqual({ eventType: 'deleted', docId: id, userId: 'ann', successor: newDocId })
    expect(created).toMatchObject({
      eventType: 'created',
      docId: newDocId,
      metadata: { lineage: expect.stringMatching(LINEAGE) },
    })
    expect(await lineageOf(newDocId)).not.toBe(undefined)
    await ann().deleteDocument(newDocId)
    await until('the third', () => client.jsonOf(TAG.docEvent).length >= 3)
    expect(client.jsonOf(TAG.docEvent)[2]).toEqual({ eventType: 'deleted', docId: newDocId, userId: 'ann' })
    client.socket.close()
  })

  it('[WS-62] [WS-61] clients that type while another owner deletes and recreates the document bring no old content back', async () => {
    const id = await newDocument()
    const [one, two] = [await enter(id), await enter(id, BOTH)]
    for (const client of [one, two]) await write(client, `first of ${client.doc.clientID}`)
    let typed = 0
    const type = (client: WireClient) => client.update(client.put(`old-${++typed}`))
    for (let round = 0; round < 10; round++) for (const client of [one, two]) type(client)
    const deleting = ann().deleteDocument(id)
    for (let round = 0; round < 10; round++) for (const client of [one, two]) type(client)
    await deleting
    const root = relay.rest({ sub: 'root', role: 'owner' })
    await root.putDocument(
      id,
      { name: 'Another', sharedWith: [{ userId: 'ann', permission: 'edit' }] },
      { overrideTombstone: true },
    )
    for (const client of [one, two]) {
      client.frames.length = 0
      client.join(id)
      client.step1()
      for (let round = 0; round < 5; round++) type(client)
    }
    await until('both refusals', () => [one, two].every((client) => client.errors().some(({ code }) => code === 'ERR_DELETED')))
    const fresh = await enter(id)
    await write(fresh, 'new')
    expect(await storedKeys(relay, id)).toEqual(['new'])
    for (const client of [one, two, fresh]) client.socket.close()
  })

  it('[WS-61] [LIFE-3] [WS-62] lineage and known client ids are the same after kill -9', async () => {
    const id = await newDocument()
    const old = await enter(id)
    await write(old, 'old')
    await recreate(id)
    const lineage = await lineageOf(id)
    await relay.kill()
    await relay.restart()
    expect(await lineageOf(id)).toBe(lineage)
    const kept = new Y.Doc()
    Y.applyUpdate(kept, Y.encodeStateAsUpdate(old.doc))
    const again = relay.sync(id, ANN, { doc: kept })
    await until('the refusal', () => again.state.refusal === 'ERR_DELETED', 20_000)
    expect(await storedKeys(relay, id)).toEqual([])
    again.destroy()
  })

  it('[WS-61] [WS-23] under load JOINED always precedes the step1 of its own join, also for joins in quick succession', async () => {
    const ids = [await newDocument(), await newDocument()]
    const busy = await Promise.all(ids.map((id) => enter(id)))
    let done = false
    const load = (async () => {
      for (let n = 0; !done; n++) {
        for (const client of busy) client.update(client.put(`busy-${n % 50}`))
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    const client = await openWire(relay)
    client.auth(relay.token(ANN), BOTH)
    for (let n = 0; n < 16; n++) {
      client.join(ids[n % 2] ?? '')
      if (n % 4 === 3) client.auth(relay.token(ANN), BOTH)
    }
    await until('every JOINED', () => joinedFrames(client).length === 16)
    await client.settled()
    done = true
    await load
    expect(joinedFrames(client).map(({ docId }) => docId)).toEqual(Array.from({ length: 16 }, (_, n) => ids[n % 2]))
    const steps = client.frames.filter((frame) => frame[0] === 18 || (frame[0] === TAG.sync && frame[1] === SYNC.step1))
    let sinceJoined = 2
    for (const frame of steps) {
      sinceJoined = frame[0] === 18 ? 0 : sinceJoined + 1
      // A second step1 within one join would be a resync, which nothing here causes.
      expect(sinceJoined).toBeLessThan(2)
    }
    for (const each of [client, ...busy]) each.socket.close()
  })
})
