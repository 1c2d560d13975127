import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { documentsOf, metric, openWire, pause, type WireClient } from '../wire-client.ts'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'

let relay: SharedRelay
beforeAll(async () => {
  relay = await sharedRelay()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const newDocument = documentsOf(() => relay)

const enter = async (docId: string, sub = 'ann', features?: readonly string[], role = 'owner'): Promise<WireClient> =>
  (await openWire(relay)).enter(relay.token({ sub, role }), docId, features)

async function signedIn(sub = 'ann', role = 'owner'): Promise<WireClient> {
  const client = await openWire(relay)
  client.auth(relay.token({ sub, role }))
  await client.next(TAG.authResponse)
  return client
}

describe('an existing editor client', () => {
  it('[WS-11] [WS-23] [WS-25] AUTH, JOIN_DOC, step1 and AWARENESS sent in one burst are all answered in order', async () => {
    const id = await newDocument({ richTextPages: [{ id: 'p', name: 'P', content: '<p>text</p>' }] })
    const first = await openWire(relay)
    first.auth(relay.token({ sub: 'bo' }))
    first.join(id)
    first.step1()
    first.presence({ client: first.doc.clientID, clock: 1, state: { user: 'bo' } })
    await until('the answer', () => first.syncs().includes(SYNC.step2))
    expect(first.tags()).toEqual([TAG.authResponse, TAG.sync, TAG.sync])
    expect(first.syncs()).toEqual([SYNC.step1, SYNC.step2])
    first.step2()
    first.step2()
    await first.settled()

    const second = await openWire(relay)
    second.auth(relay.token())
    second.join(id)
    second.step1()
    second.presence({ client: second.doc.clientID, clock: 1, state: { user: 'ann' } })
    await until('the answer', () => second.syncs().includes(SYNC.step2))
    expect(second.tags()).toEqual([TAG.authResponse, TAG.sync, TAG.awareness, TAG.sync])
    expect(second.present()).toEqual([[{ client: first.doc.clientID, clock: 1, state: { user: 'bo' } }]])
    expect((await first.next(TAG.awareness)).length).toBeGreaterThan(0)
    expect(first.errors()).toEqual([])
    for (const client of [first, second]) client.socket.close()
  })

  it('[WS-25] each step1 gets exactly one step2 with everything that its vector lacks, at level view too', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const ann = await enter(id)
    ann.update(ann.put('a'))
    await ann.settled()
    const vic = await signedIn('vic', 'viewer')
    vic.join(id)
    for (let i = 0; i < 3; i++) vic.step1()
    vic.step1(Y.encodeStateVector(ann.doc))
    await until('four answers', () => vic.syncs().filter((kind) => kind === SYNC.step2).length === 4)
    await vic.settled()
    expect(vic.syncs()).toEqual([0, 1, 1, 1, 1])
    const sizes = vic.of(TAG.sync).map((frame) => frame.length)
    expect(sizes[4]).toBeLessThan(sizes[3] as number)
    expect(vic.errors()).toEqual([])
    for (const client of [ann, vic]) client.socket.close()
  })

  it.each([
    ['truncated', Uint8Array.of(5, 1)],
    ['with trailing bytes', Uint8Array.of(0, 0)],
    ['empty', new Uint8Array()],
  ])('[WS-25] [WS-56] a state vector that is %s answers ERR_BAD_FRAME, and the third closes with 1003', async (_, vector) => {
    const client = await signedIn()
    client.join(await newDocument())
    for (let i = 0; i < 3; i++) client.step1(vector)
    expect(await client.closed).toEqual({ code: 1003, reason: 'protocol' })
    expect(client.errors()).toEqual(
      Array(3).fill({ error: expect.stringMatching(/^ERR_BAD_FRAME: /), code: 'ERR_BAD_FRAME', requestId: null }),
    )
    expect(client.syncs()).toEqual([SYNC.step1])
  })
})

describe('JOIN_DOC', () => {
  it('[WS-21] [WS-22] [WS-59] a refused JOIN_DOC answers the first failing check, and socket and document stay usable', async () => {
    const [gone, secret, mine] = [await newDocument(), await newDocument({}, 'eve'), await newDocument({}, 'mia')]
    await relay.rest().deleteDocument(gone)
    const client = await signedIn('mia', 'member')
    const told = async (docId: string) => {
      client.join(docId)
      return client.nextJson(TAG.error)
    }
    const bare = (code: string) => ({ error: code, code, requestId: null })
    expect(await told(gone)).toEqual(bare('ERR_DELETED'))
    for (const id of ['never-stored', '', '../x', 'a/b', 'x'.repeat(300), '\u0000', 'ü'])
      expect(await told(id)).toEqual(bare('ERR_UNKNOWN_DOC'))
    expect(await told(secret)).toEqual({
      error: expect.stringMatching(/^ERR_VIEW_FORBIDDEN: ./),
      code: 'ERR_VIEW_FORBIDDEN',
      requestId: null,
    })
    client.join(mine)
    expect((await client.next(TAG.sync))[1]).toBe(SYNC.step1)
    client.socket.close()
  })

  it('[WS-21] [WS-27] after a refused JOIN_DOC nothing comes from the earlier document, and writes to it are dropped', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id, 'ann', ['ack']), await enter(id, 'ben')]
    ann.join('unknown')
    await ann.next(TAG.error)
    const before = ann.frames.length
    ann.update(ann.put('lost'))
    ann.step1()
    ben.update(ben.put('kept'))
    await ben.settled()
    await ann.settled()
    expect(ann.tags().slice(before)).toEqual([TAG.heartbeat])
    expect(ben.has('lost')).toBe(false)
    for (const client of [ann, ben]) client.socket.close()
  })

  it.each([
    ['no JSON', Buffer.from('{')],
    ['a string', Buffer.from('"doc-1"')],
    ['no docId', Buffer.from('{}')],
    ['a number', Buffer.from('{"docId":7}')],
  ])('[WS-56] [WS-59] JOIN_DOC with %s answers ERR_BAD_FRAME and keeps the document', async (_, payload) => {
    const id = await newDocument()
    const client = await enter(id, 'ann', ['ack'])
    client.send(TAG.joinDoc, payload)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_BAD_FRAME', requestId: null })
    client.update(client.put('still here'))
    await until('the ack', () => client.acks().at(-1) === 2)
    client.socket.close()
  })

  it('[WS-24] [WS-39] a second JOIN_DOC switches documents: presence is removed, ordinals restart, and pieces are dropped', async () => {
    const [one, two] = [await newDocument(), await newDocument()]
    const [ann, ben] = [await enter(one, 'ann', ['ack']), await enter(one, 'ben')]
    ann.presence({ client: 7, clock: 3, state: { at: 'one' } })
    await ben.next(TAG.awareness)
    ann.update(ann.put('one'))
    await until('the ack', () => ann.acks().at(-1) === 2)
    const piece = syncFrame(SYNC.update, ann.put('never completed'))
    ann.sendChunk(1, 0, 2, piece.subarray(0, 5))
    ann.following = false
    ann.join(two)
    expect((await ann.next(TAG.sync))[1]).toBe(SYNC.step1)
    await until('the null state', () => ben.present().at(-1)?.[0]?.state === null)
    expect(ben.present()).toEqual([[{ client: 7, clock: 3, state: { at: 'one' } }], [{ client: 7, clock: 4, state: null }]])
    ann.sendChunk(1, 1, 2, piece.subarray(5))
    const acks = ann.acks().length
    ann.step2()
    await until('the ack', () => ann.acks().length > acks)
    expect(ann.acks().at(-1)).toBe(1)
    const syncs = ann.of(TAG.sync).length
    ben.update(ben.put('late'))
    await ben.settled()
    await ann.settled()
    expect(ann.of(TAG.sync).length).toBe(syncs)
    expect(ann.of(TAG.syncChunkAck)).toEqual([])
    for (const client of [ann, ben]) client.socket.close()
  })

  it('[WS-24] [WS-59] more than 5 JOIN_DOCs per second after a burst of 20 answer ERR_RATE_LIMIT, and the document stays joined', async () => {
    const id = await newDocument()
    const before = await metric(relay, 'relay_rate_limit_rejections_total', { surface: 'join' })
    const [client, peer] = [await enter(id), await enter(id, 'ben')]
    const sentAt = performance.now()
    for (let i = 0; i < 30; i++) client.join(id)
    client.update(client.put('behind all'))
    await until('what was sent behind them', () => peer.has('behind all'))
    await client.settled()
    const { length } = client.errors()
    expect(length).toBeLessThanOrEqual(11)
    expect(length).toBeGreaterThanOrEqual(10 - Math.ceil(((performance.now() - sentAt) / 1_000) * 5))
    expect(client.errors()).toEqual(Array(length).fill({ error: 'ERR_RATE_LIMIT', code: 'ERR_RATE_LIMIT', requestId: null }))
    expect(await metric(relay, 'relay_rate_limit_rejections_total', { surface: 'join' })).toBe(before + length)
    const other = await enter(id)
    other.update(other.put('seen'))
    await until('the binding to be alive', () => client.has('seen'))
    for (const one of [client, peer, other]) one.socket.close()
  })

  it('[WS-23] [YDOC-9] many simultaneous joins of a cold document get the same seeded content, once', async () => {
    const content = Array.from({ length: 200 }, (_, i) => `<p>${i} lorem ipsum</p>`).join('')
    const id = await newDocument({ richTextPages: [{ id: 'p', name: 'P', content }] })
    const clients = await Promise.all(Array.from({ length: 12 }, (_, i) => enter(id, `u${i}`)))
    const states = clients.map(({ doc }) => Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64'))
    expect(new Set(states).size).toBe(1)
    expect(clients[0]?.doc.getXmlFragment('prose:p').length).toBe(200)
    for (const client of clients) client.socket.close()
  })
})

describe('a slow load', () => {
  it('[WS-11] [WS-26] [WS-49] during the load of a document heartbeats are answered and later frames wait', {
    timeout: patience(60_000),
  }, async () => {
    const paragraph = `<p>${'lorem ipsum dolor sit amet '.repeat(40)}</p>`
    const content = paragraph.repeat(7_600)
    const id = await newDocument({ richTextPages: [{ id: 'p', name: 'P', content }] })
    const client = await signedIn()
    client.join(id)
    client.step1()
    const echoes: number[] = []
    while (!client.syncs().includes(SYNC.step2)) {
      const took = stopwatch()
      const before = client.of(TAG.heartbeat).length
      client.send(TAG.heartbeat)
      await until('an echo', () => client.of(TAG.heartbeat).length > before, 20_000)
      echoes.push(took())
      await pause(50)
    }
    expect(Math.max(...echoes)).toBeLessThan(4_000)
    const answer = client.of(TAG.sync)
    expect(client.syncs()).toEqual([SYNC.step1, ...Array(answer.length - 2).fill(SYNC.update), SYNC.step2])
    expect(answer.length).toBeGreaterThan(2)
    for (const frame of answer.slice(1, -1)) expect(frame.length).toBeLessThanOrEqual(4 * 1024 * 1024 + 16)
    expect((answer.at(-1) as Buffer).length).toBeLessThanOrEqual(8 * 1024 * 1024)
    client.socket.close()
  })
})
