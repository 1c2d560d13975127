import { chunkFrames, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { commitHold } from '../commit-hold.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { documentsOf, metric, openWire, pause, storedKeys, type WireClient } from '../wire-client.ts'

const commits = commitHold()
let relay: RelayUnderTest
beforeAll(async () => {
  const env = {
    RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '500',
    RELAY_WRITES_PER_SEC: '0',
    ...commits.env,
  }
  relay = await startRelayUnderTest({ env })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  commits.remove()
})

// A failed test must not keep commits held for the next one.
afterEach(() => commits.release())

const newDocument = documentsOf(() => relay)

const ACK = ['ack']
const enter = async (docId: string, features?: readonly string[], sub = 'ann', role = 'owner'): Promise<WireClient> =>
  (await openWire(relay)).enter(relay.token({ sub, role }), docId, features)

async function acked(client: WireClient, ordinal: number): Promise<void> {
  await until(`ack ${ordinal}`, () => client.acks().at(-1) === ordinal)
}

const id16 = (id: number) => Buffer.alloc(16, id)
const textError = (code: string, more: object = {}) => ({
  error: expect.stringMatching(new RegExp(`^${code}: .`)),
  code,
  requestId: null,
  ...more,
})
/** A malformed update: it announces one struct of a client and ends. */
const BROKEN = Uint8Array.of(1, 1, 9, 0, 4)
const close = (...clients: WireClient[]) => clients.forEach((client) => void client.socket.close())

describe('writes', () => {
  it('[WS-31] an update goes to all other connections of the room as sub-type 2, not to its sender or another room', async () => {
    const [one, two] = [await newDocument(), await newDocument()]
    const [ann, ben, cat] = [await enter(one), await enter(one), await enter(two)]
    const before = [ann, ben, cat].map((client) => client.of(TAG.sync).length)
    const update = ann.put('a')
    ann.update(update)
    await until('ben', () => ben.has('a'))
    await pause(80)
    expect([ann, ben, cat].map((client, at) => client.of(TAG.sync).length - (before[at] ?? 0))).toEqual([0, 1, 0])
    expect(ben.of(TAG.sync).at(-1)).toEqual(Buffer.from(syncFrame(SYNC.update, update)))
    close(ann, ben, cat)
  })

  it('[WS-30] an update that adds nothing is not broadcast and no error; at level view only a step2 may add nothing', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const [ann, ben] = [await enter(id, ACK), await enter(id)]
    ann.update(ann.put('a'))
    await until('ben', () => ben.has('a'))
    const vic = await enter(id, ACK, 'vic', 'viewer')
    const count = ann.of(TAG.sync).length + ben.of(TAG.sync).length
    const state = Y.encodeStateAsUpdate(ann.doc)
    ben.update(state)
    ben.step2(state)
    vic.step2(state)
    vic.update(state)
    await acked(vic, 3)
    expect(vic.errors()).toEqual([textError('ERR_EDIT_FORBIDDEN', { frame: 3 })])
    expect(ann.of(TAG.sync).length + ben.of(TAG.sync).length).toBe(count)
    expect(ben.errors()).toEqual([])
    vic.step2(Y.encodeStateAsUpdate(newDoc('v')))
    await acked(vic, 4)
    expect(vic.errors()[1]).toEqual(textError('ERR_EDIT_FORBIDDEN', { frame: 4 }))
    expect(await storedKeys(relay, id)).toEqual(['a'])
    close(ann, ben, vic)
  })

  it('[WS-32] [WS-38] an update with a gap is not applied; its sender alone gets a resync, and ERR_SYNC_GAP only with `ack`', async () => {
    const id = await newDocument()
    const [before, bad] = [await metric(relay, 'relay_sync_gaps_total'), await metric(relay, 'relay_bad_updates_total')]
    const [ann, ben, old] = [await enter(id, ACK), await enter(id), await enter(id)]
    ann.following = false
    old.following = false
    ann.put('missing')
    old.put('missing too')
    for (let i = 0; i < 5; i++) ann.update(ann.put(`a${i}`))
    old.update(old.put('b'))
    await acked(ann, 6)
    expect(ann.errors()).toEqual([2, 3, 4, 5, 6].map((frame) => textError('ERR_SYNC_GAP', { frame })))
    expect(old.errors()).toEqual([])
    const asked = () => [ann, old].map((client) => client.syncs().filter((kind) => kind === SYNC.step1).length)
    await until('both to be asked', () => asked().every((times) => times >= 2))
    expect(asked()).toEqual([2, 2])
    expect(ben.keys()).toEqual([])
    for (const client of [ann, old]) client.step2(Y.encodeStateAsUpdate(client.doc))
    await until('all of it', () => ben.keys().length === 8)
    expect(ann.socket.readyState).toBe(1)
    await until('the count', async () => (await metric(relay, 'relay_sync_gaps_total')) === before + 6)
    expect(await metric(relay, 'relay_bad_updates_total')).toBe(bad)
    close(ann, ben, old)
  })

  it('[WS-32] a client that itself lacks content is asked once a second until the relay has the missing update', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id), await enter(id, ACK)]
    ann.following = false
    const missing = ann.put('one')
    const later = ann.put('two')
    // Ben holds this update as pending, and sends it in his step2.
    Y.applyUpdate(ben.doc, later)
    expect(ben.doc.store.pendingStructs).not.toBe(null)
    ben.step2(Y.encodeStateAsUpdate(ben.doc))
    await until('the error', () => ben.errors().length > 0)
    expect(ben.errors()[0]).toEqual(textError('ERR_SYNC_GAP', { frame: 2 }))
    // Ben's answer to the step1 has the same gap. The relay asks once a second, not without a pause.
    const askedAt = performance.now()
    await until('the second error', () => ben.errors().length > 1)
    await pause(300)
    const secondsBegun = Math.ceil((performance.now() - askedAt) / 1_000)
    expect(ben.errors().length).toBeLessThanOrEqual(1 + secondsBegun)
    ann.update(missing)
    ann.update(later)
    await until('ben to have both', () => ben.keys().length === 2)
    close(ann, ben)
  })

  it('[WS-33] [WS-56] [OPS-4] bad updates are refused and reach nobody, and the third closes with 1003', async () => {
    const id = await newDocument()
    const [bad, closes] = [
      await metric(relay, 'relay_bad_updates_total'),
      await metric(relay, 'relay_ws_closes_total', { code: '1003' }),
    ]
    const [ann, ben] = [await enter(id, ACK), await enter(id)]
    const count = ben.frames.length
    ann.update(BROKEN)
    ann.send(TAG.sync, Buffer.from([SYNC.update, 200, 1]))
    ann.update(ann.put('good'))
    ann.update(Uint8Array.of(0))
    expect(await ann.closed).toEqual({ code: 1003, reason: 'protocol' })
    expect(ann.errors()).toEqual([2, 3, 5].map((frame) => textError('ERR_BAD_UPDATE', { frame })))
    await until('the good one', () => ben.has('good'))
    expect(ben.frames.length).toBe(count + 1)
    expect(await storedKeys(relay, id)).toEqual(['good'])
    await until('the counts', async () => (await metric(relay, 'relay_bad_updates_total')) === bad + 3)
    await until('the close', async () => (await metric(relay, 'relay_ws_closes_total', { code: '1003' })) === closes + 1)
    close(ben)
  })

  it('[WS-8] [WS-56] text, empty and server-side messages are ignored violations; reserved and unknown tags are no violations', async () => {
    const client = await enter(await newDocument(), ACK)
    for (const tag of [3, 4, 5, 6, 11, 12, 13, 19, 200, 255]) client.send(tag, Buffer.from('{}'))
    client.socket.send('text')
    client.send()
    client.update(client.put('a'))
    await acked(client, 2)
    client.send(TAG.authResponse, Buffer.from('{"success":true}'))
    expect(await client.closed).toEqual({ code: 1003, reason: 'protocol' })
    expect(client.errors()).toEqual([])
  })

  it('[WS-10] [WS-59] a SYNC message of another sub-type, or none, answers ERR_BAD_FRAME and takes no ordinal', async () => {
    const client = await enter(await newDocument(), ACK)
    client.send(TAG.sync, Buffer.from([3, 0]))
    client.send(TAG.sync)
    client.update(client.put('a'))
    await acked(client, 2)
    expect(client.errors()).toEqual([textError('ERR_BAD_FRAME'), textError('ERR_BAD_FRAME')])
    close(client)
  })

  it('[WS-38] without the ack feature no SYNC_ACK and no frame member is sent', async () => {
    const id = await newDocument({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const [ann, vic] = [await enter(id), await enter(id, [], 'vic', 'viewer')]
    ann.update(ann.put('a'))
    ann.update(BROKEN)
    vic.update(vic.put('v'))
    await Promise.all([vic.next(TAG.error), ann.next(TAG.error)])
    await pause(150)
    expect(vic.errors()).toEqual([textError('ERR_EDIT_FORBIDDEN')])
    expect(ann.errors()).toEqual([textError('ERR_BAD_UPDATE')])
    expect([ann, vic].flatMap((client) => client.of(TAG.syncAck))).toEqual([])
    close(ann, vic)
  })
})

describe('acknowledgements', () => {
  it('[WS-40] [LIFE-2] the broadcast comes before the commit, the ack after it, also for a repeated update that adds nothing', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id, ACK), await enter(id, ACK, 'ben')]
    // Waits for earlier writes, so that only the edit is written next.
    await Promise.all([acked(ann, 1), acked(ben, 1)])
    commits.hold()
    const update = ann.put('a')
    ann.update(update)
    await until('ben', () => ben.has('a'))
    ben.update(update)
    await Promise.all([ann.settled(), ben.settled()])
    expect([ann.acks().at(-1), ben.acks().at(-1)]).toEqual([1, 1])
    commits.release()
    await Promise.all([acked(ann, 2), acked(ben, 2)])
    expect(ben.errors()).toEqual([])
    close(ann, ben)
  })

  it('[WS-40] [LIFE-3] acknowledged edits are there after the process is killed', async () => {
    const id = await newDocument()
    const ann = await enter(id, ACK)
    let sent = 0
    const typing = setInterval(() => ann.update(ann.put(`k${++sent}`)), 3)
    await until('some edits to be durable', () => (ann.acks().at(-1) ?? 0) > 50)
    await relay.kill()
    clearInterval(typing)
    await ann.closed
    const safe = (ann.acks().at(-1) ?? 0) - 1
    await relay.restart()
    const stored = await storedKeys(relay, id)
    for (let i = 1; i <= safe; i++) expect(stored).toContain(`k${i}`)
  })

  it('[WS-39] [WS-41] ordinals count refused, no-op and chunked messages; acks only rise and follow the ERRORs they cover', async () => {
    const client = await enter(await newDocument(), ACK)
    client.following = false
    const chunked = chunkFrames(syncFrame(SYNC.update, client.put('c')), id16(1), 8)
    for (const chunk of chunked.slice(0, -1)) client.send(chunk)
    client.update(client.put('not yet'))
    client.send(chunked.at(-1) as Uint8Array)
    client.update(BROKEN)
    client.step2()
    client.update(Y.encodeStateAsUpdate(client.doc))
    client.sendChunk(2, 9, 3, Buffer.of(0))
    await acked(client, 7)
    expect(client.errors()).toMatchObject(
      [
        { code: 'ERR_SYNC_GAP', frame: 2 },
        { code: 'ERR_MESSAGE_TOO_LARGE', frame: 7 },
        { code: 'ERR_BAD_UPDATE', frame: 4 },
      ].sort((a, b) => order(client, a.code) - order(client, b.code)),
    )
    const acks = client.acks()
    expect(acks).toEqual([...acks].sort((a, b) => a - b))
    for (const { code, frame } of [
      { code: 'ERR_SYNC_GAP', frame: 2 },
      { code: 'ERR_BAD_UPDATE', frame: 4 },
      { code: 'ERR_MESSAGE_TOO_LARGE', frame: 7 },
    ]) {
      const errorAt = client.frames.findIndex((data) => data[0] === TAG.error && data.includes(code))
      const ackAt = client.frames.findIndex((data) => data[0] === TAG.syncAck && (data[1] ?? 0) >= frame)
      expect(errorAt).toBeLessThan(ackAt)
    }
    close(client)
  })

  it('[WS-41] one ack covers many writes', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id, ACK), await enter(id)]
    await acked(ann, 1)
    commits.hold()
    for (let i = 0; i < 150; i++) ann.update(ann.put(`k${i}`))
    await until('the first to be on its way', () => ben.has('k0'))
    commits.release()
    await acked(ann, 151)
    expect(ann.acks().length).toBeLessThan(40)
    close(ann, ben)
  })
})

describe('chunks', () => {
  it('[WS-35] [WS-37] pieces of 262,144 bytes in any order make one update, and SYNC_CHUNK_ACK comes once', async () => {
    const id = await newDocument()
    const [ann, ben] = [await enter(id, ACK), await enter(id)]
    const pieces = chunkFrames(syncFrame(SYNC.update, ann.put('big', 'x'.repeat(600_000))), id16(7))
    expect(pieces.map((piece) => piece.length - 25).slice(0, 2)).toEqual([262_144, 262_144])
    for (const piece of [pieces[2], pieces[0], pieces[2], pieces[1]]) ann.send(piece as Uint8Array)
    await until('ben', () => ben.has('big'))
    await acked(ann, 2)
    expect(ann.of(TAG.syncChunkAck)).toEqual([Buffer.concat([Buffer.of(TAG.syncChunkAck), id16(7)])])
    expect(ben.of(TAG.syncChunkAck)).toEqual([])
    close(ann, ben)
  })

  it('[WS-37] a refused chunked message is acknowledged after its ERROR', async () => {
    const client = await enter(await newDocument(), ACK)
    for (const piece of chunkFrames(syncFrame(SYNC.update, BROKEN), id16(1), 4)) client.send(piece)
    await client.next(TAG.syncChunkAck)
    expect(client.errors()).toEqual([textError('ERR_BAD_UPDATE', { frame: 2 })])
    close(client)
  })

  it('[WS-36] a chunked message above a limit is refused once, and each remaining piece is ignored and is a violation', async () => {
    const client = await enter(await newDocument(), ACK)
    client.sendChunk(1, 0, 65, Buffer.of(0))
    client.sendChunk(1, 1, 65, Buffer.of(0))
    for (let id = 2; id < 7; id++) client.sendChunk(id, 0, 2, Buffer.of(0))
    client.sendChunk(6, 1, 2, Buffer.of(0))
    await until('the refusals', () => client.errors().length === 2)
    client.sendChunk(9, 2, 2, Buffer.of(0))
    expect(await client.closed).toEqual({ code: 1003, reason: 'protocol' })
    const bare = { error: 'ERR_MESSAGE_TOO_LARGE', code: 'ERR_MESSAGE_TOO_LARGE', requestId: null }
    expect(client.errors()).toEqual([2, 3, 4].map((frame) => ({ ...bare, frame })))
  })

  it('[WS-36] a piece with another total restarts the message of its id', async () => {
    const client = await enter(await newDocument(), ACK)
    const frame = syncFrame(SYNC.update, client.put('a'))
    client.sendChunk(1, 0, 3, Buffer.from('nonsense'))
    client.sendChunk(1, 0, 2, frame.subarray(0, 6))
    client.sendChunk(1, 1, 2, frame.subarray(6))
    await acked(client, 2)
    expect(client.errors()).toEqual([])
    close(client)
  })
})

function newDoc(key: string): Y.Doc {
  const doc = new Y.Doc()
  doc.getMap('fields').set(key, { name: key, value: key })
  return doc
}

/** Returns the index of the first ERROR with this code. */
function order(client: WireClient, code: string): number {
  return client.errors().findIndex((error) => error['code'] === code)
}
