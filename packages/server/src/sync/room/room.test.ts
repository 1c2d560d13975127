import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { SYNC } from '@docrelay/protocol/frames'
import { RoomFixture } from '../testing/room-fixture.ts'
import { gatedUpdates, type TestClient, TestWorker, until } from '../testing/worker-harness.ts'
import { UpdateWriter } from '../testing/update-writer.ts'

const at = new RoomFixture({}, { richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>one</p>' }] })
const { openRoom, joined } = at

const settled = (client: TestClient) => until(() => client.settled === client.ordinal)

async function stored(key: number): Promise<Uint8Array> {
  const log = await at.storage.updates.load(key)
  if (log.kind !== 'loaded') throw new Error(`the log is ${log.kind}`)
  const doc = new Y.Doc()
  if (log.snapshot !== null) Y.applyUpdate(doc, log.snapshot.update)
  for (const { update } of log.records) Y.applyUpdate(doc, update)
  expect(doc.store.pendingStructs).toBeNull()
  return Y.encodeStateVector(doc)
}

const sameState = (a: Y.Doc, b: Y.Doc) => Y.encodeStateAsUpdate(a).toString() === Y.encodeStateAsUpdate(b).toString()

describe('joining and synchronising', () => {
  it('[WS-23] [WS-25] [WS-31] a join gets a step1 and exactly one step2, and an edit reaches everyone but its sender', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    expect(ann.received).toEqual([SYNC.step1, SYNC.step2])
    expect(ann.text()).toBe('<paragraph>one</paragraph>')
    const before = at.worker.of('updates').length
    ann.doc.getMap('shapes:c1').set('s1', { id: 's1', type: 'rect' })
    await until(() => bob.doc.getMap('shapes:c1').has('s1'))
    await settled(ann)
    expect(ann.received).toEqual([SYNC.step1, SYNC.step2])
    const sent = at.worker.of('updates').slice(before)
    expect(sent).toHaveLength(1)
    expect(sent[0]).toMatchObject({ room, senders: [ann.connection] })
    expect(await stored(head.key)).toEqual(Y.encodeStateVector(ann.doc))
  })

  it('[WS-25] a step1 is answered with only what its state vector lacks, also for a caller without the right to write', async () => {
    const { room } = await openRoom()
    const viewer = await joined(room, { canWrite: false })
    expect(viewer.text()).toBe('<paragraph>one</paragraph>')
    const before = viewer.received.length
    viewer.send(0, syncMessage(SYNC.step1, Y.encodeStateVector(viewer.doc)))
    await until(() => viewer.received.length > before)
    expect(viewer.received.slice(before)).toEqual([SYNC.step2])
  })

  it('[WS-25] an undecodable or huge state vector answers ERR_BAD_FRAME and is a violation', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    const vectors = [
      new Uint8Array([5]),
      new Uint8Array([1, 255]),
      new Uint8Array(1024 * 1024 + 1),
      new UpdateWriter().uint(100_001).bytes(),
    ]
    for (const vector of vectors) ann.send(0, syncMessage(SYNC.step1, vector))
    await until(() => ann.refusals.length === vectors.length)
    for (const refusal of ann.refusals) expect(refusal).toMatchObject({ code: 'ERR_BAD_FRAME', violation: true, ordinal: 0 })
  })

  it('[WS-10] [WS-33] a message that is not exactly one SYNC message is refused', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    ann.send(++ann.ordinal, new Uint8Array([SYNC.update, 2, 0, 0, 0]))
    ann.send(++ann.ordinal, new Uint8Array([SYNC.step2, 9, 0]))
    ann.send(0, new Uint8Array([3, 0]))
    ann.send(0, new Uint8Array([]))
    await until(() => ann.refusals.length === 4)
    expect(ann.refusals.map(({ code }) => code)).toEqual(['ERR_BAD_UPDATE', 'ERR_BAD_UPDATE', 'ERR_BAD_FRAME', 'ERR_BAD_FRAME'])
    await settled(ann)
  })

  it('[WS-26] a state above 8 MiB is sent as updates of at most 4 MiB and one last step2', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    for (let i = 0; i < 12; i++) ann.doc.getMap('shapes:c1').set(`s${i}`, { id: `s${i}`, data: 'x'.repeat(900_000) })
    await settled(ann)
    const bob = await joined(room)
    const [first, ...rest] = bob.received
    expect(first).toBe(SYNC.step1)
    expect(rest.pop()).toBe(SYNC.step2)
    expect(rest.length).toBeGreaterThanOrEqual(2)
    expect(rest.every((type) => type === SYNC.update)).toBe(true)
    expect(sameState(ann.doc, bob.doc)).toBe(true)
    for (const { connection, frames } of at.worker.of('direct')) {
      if (connection === bob.connection) for (const frame of frames) expect(frame.length).toBeLessThan(6 * 1024 * 1024)
    }
  })

  it('[WS-24] after a second join the room drops messages of the first join', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    const earlier = ann.join
    ann.joinRoom(room)
    await until(() => ann.synced)
    const refusals = ann.refusals.length
    at.worker.host.receive([
      {
        kind: 'sync',
        room,
        connection: ann.connection,
        join: earlier,
        ordinal: 7,
        payload: syncMessage(SYNC.update, new Uint8Array([9])),
      },
    ])
    ann.doc.getMap('shapes:c1').set('a', { id: 'a' })
    await settled(ann)
    expect(ann.refusals).toHaveLength(refusals)
  })
})

describe('right to write', () => {
  it('[WS-27] a write at level view answers ERR_EDIT_FORBIDDEN before it is decoded, and changes nothing', async () => {
    const { head, room } = await openRoom()
    const [viewer, bob] = [await joined(room, { canWrite: false }), await joined(room)]
    const before = await stored(head.key)
    viewer.doc.getMap('shapes:c1').set('s', { id: 's' })
    viewer.write(SYNC.update, new Uint8Array([255, 255]))
    await until(() => viewer.refusals.length === 2)
    for (const refusal of viewer.refusals) expect(refusal).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', violation: false })
    await settled(viewer)
    expect(bob.doc.getMap('shapes:c1').has('s')).toBe(false)
    expect(await stored(head.key)).toEqual(before)
  })

  it('[WS-30] at level view a step2 that adds nothing is accepted, and an update that adds nothing is refused', async () => {
    const { room } = await openRoom()
    const editor = await joined(room)
    const viewer = await joined(room, { canWrite: false })
    viewer.write(SYNC.step2, Y.encodeStateAsUpdate(viewer.doc))
    viewer.write(SYNC.step2, new Uint8Array([0, 0]))
    await settled(viewer)
    expect(viewer.refusals).toEqual([])
    viewer.write(SYNC.update, Y.encodeStateAsUpdate(viewer.doc))
    await until(() => viewer.refusals.length === 1)
    expect(viewer.refusals[0]?.code).toBe('ERR_EDIT_FORBIDDEN')
    const other = new Y.Doc()
    other.getMap('shapes:c1').set('x', { id: 'x' })
    viewer.write(SYNC.step2, Y.encodeStateAsUpdate(other))
    await until(() => viewer.refusals.length === 2)
    expect(editor.doc.getMap('shapes:c1').has('x')).toBe(false)
  })

  it('[WS-54] [WS-19] a changed right applies to the next message', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    ann.doc.getMap('shapes:c1').set('a', { id: 'a' })
    at.worker.host.receive([{ kind: 'rights', room, connection: ann.connection, canWrite: false, maxDocBytes: null }])
    ann.doc.getMap('shapes:c1').set('b', { id: 'b' })
    at.worker.host.receive([{ kind: 'rights', room, connection: ann.connection, canWrite: true, maxDocBytes: null }])
    await until(() => ann.refusals.length === 1)
    expect(ann.refusals[0]).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', ordinal: ann.ordinal })
    const bob = await joined(room)
    expect([...bob.doc.getMap('shapes:c1').keys()]).toEqual(['a'])
  })
})

describe('resynchronising', () => {
  it('[WS-32] an update with a gap is not applied, logged or broadcast, and its sender is sent a step1', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const before = await stored(head.key)
    const gapped = gapBehind(ann.doc)
    ann.answersStep1 = false
    const seen = ann.received.length
    ann.write(SYNC.update, gapped)
    await until(() => ann.received.length > seen)
    expect(ann.received.slice(seen)).toEqual([SYNC.step1])
    expect(ann.refusals).toMatchObject([{ code: 'ERR_SYNC_GAP', violation: false, ordinal: ann.ordinal }])
    expect(await stored(head.key)).toEqual(before)
    expect(bob.doc.getMap('any').size).toBe(0)
    ann.write(SYNC.update, gapped)
    ann.write(SYNC.update, gapped)
    await settled(ann)
    expect(ann.received.slice(seen)).toEqual([SYNC.step1])
    await until(() => ann.received.length === seen + 2, 1_500)
  })

  it('[WS-32] a step2 that begins within content that somebody else sent meanwhile is applied without its known part', async () => {
    const { room } = await openRoom()
    const [ann, bob, cid] = [await joined(room), await joined(room), await joined(room)]
    const words = new Y.Doc()
    words.getText('words').insert(0, 'abc')
    ann.write(SYNC.update, Y.encodeStateAsUpdate(words))
    await settled(ann)
    words.getText('words').insert(3, 'def')
    // One item of six letters, of which the room has three.
    bob.write(SYNC.step2, Y.encodeStateAsUpdate(words))
    await settled(bob)
    expect(bob.refusals).toEqual([])
    await until(() => cid.doc.getText('words').toString() === 'abcdef')
  })

  it('[WS-32] [3.4] after dropped messages of any kind client and relay end equal, with nothing pending', async () => {
    const { room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const dropping = ann.doc
    const held: number[] = []
    for (let i = 0; i < 40; i++) {
      const room_ = ann.room
      if (i % 3 === 0) ann.room = 0
      dropping.getArray('any').push([i])
      ann.room = room_
      held.push(i)
    }
    await until(() => sameState(ann.doc, bob.doc), 3_000)
    expect(bob.doc.getArray('any').toArray()).toEqual(held)
    expect(bob.doc.store.pendingStructs).toBeNull()
  })

  it('[3.4] a client with pending content of its own gets the whole state, then a step1', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    const own = new Y.Doc()
    own.getArray('any').push([1])
    const one = Y.encodeStateAsUpdate(own)
    const vector = Y.encodeStateVector(own)
    own.getArray('any').push([2])
    const middle = Y.encodeStateVector(own)
    own.getArray('any').push([3])
    const skipping = Y.mergeUpdates([one, Y.encodeStateAsUpdate(own, middle)])
    expect(vector).not.toEqual(middle)
    ann.answersStep1 = false
    const seen = ann.received.length
    ann.write(SYNC.step2, skipping)
    await until(() => ann.received.length === seen + 2)
    expect(ann.received.slice(seen)).toEqual([SYNC.update, SYNC.step1])
    ann.write(SYNC.step2, skipping)
    await until(() => ann.received.length === seen + 3, 1_500)
    expect(ann.received.slice(seen)).toEqual([SYNC.update, SYNC.step1, SYNC.step1])
  })

  it('[WS-29] a resync requested by the main thread sends a step1', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    ann.answersStep1 = false
    const seen = ann.received.length
    at.worker.host.receive([{ kind: 'resync', room, connection: ann.connection }])
    await until(() => ann.received.length > seen)
    expect(ann.received.slice(seen)).toEqual([SYNC.step1])
  })

  it('[WS-33] [D3] a refused update leaves the document, its log and the other clients unchanged', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const before = await stored(head.key)
    const state = Y.encodeStateAsUpdate(bob.doc)
    const bad = new UpdateWriter().block(9, 0, 1, (w) => w.string('metadata', 'x')).deletes([])
    ann.write(SYNC.update, bad)
    await until(() => ann.refusals.length === 1)
    expect(ann.refusals[0]).toMatchObject({ code: 'ERR_BAD_UPDATE', violation: true, ordinal: ann.ordinal })
    await settled(ann)
    expect(await stored(head.key)).toEqual(before)
    expect(Y.encodeStateAsUpdate(bob.doc)).toEqual(state)
  })
})

describe('acknowledgements', () => {
  it('[WS-39] [WS-40] [WS-41] ordinals settle in order, and a refused ordinal settles after its refusal', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    const from = at.worker.messages.length
    ann.doc.getMap('shapes:c1').set('a', { id: 'a' })
    const refused = ann.write(SYNC.update, new Uint8Array([7]))
    ann.doc.getMap('shapes:c1').set('b', { id: 'b' })
    await settled(ann)
    const mine = at.worker.messages.slice(from).filter((m) => 'connection' in m && m.connection === ann.connection)
    const acks = mine.flatMap((m) => (m.kind === 'settled' ? [m.ordinal] : []))
    expect(acks).toEqual([...acks].sort((a, b) => a - b))
    expect(new Set(acks).size).toBe(acks.length)
    const refusal = mine.findIndex((m) => m.kind === 'refused' && m.ordinal === refused)
    const covering = mine.findIndex((m) => m.kind === 'settled' && m.ordinal >= refused)
    expect(refusal).toBeGreaterThanOrEqual(0)
    expect(refusal).toBeLessThan(covering)
  })

  it('[D-13] [LIFE-2] [WS-40] while a commit is delayed only the broadcast is sent, and a repeated update waits for the commit of the first', async () => {
    const gate = gatedUpdates(at.storage.updates)
    const held = new TestWorker({ documents: at.storage.documents, updates: gate.updates })
    const { head, room } = await openRoom(held)
    const [ann, bob] = [await joined(room, {}, held), await joined(room, {}, held)]
    await settled(ann)
    gate.close()
    ann.doc.getMap('shapes:c1').set('a', { id: 'a' })
    const written = ann.ordinal
    await until(() => bob.doc.getMap('shapes:c1').has('a'))
    bob.write(SYNC.update, Y.encodeStateAsUpdate(bob.doc))
    const settling = held.job(room, { kind: 'settle' })
    const early = await Promise.race([settling, new Promise((resolve) => setTimeout(() => resolve('nothing'), 100))])
    expect(early).toBe('nothing')
    expect(ann.settled).toBeLessThan(written)
    expect(bob.settled).toBeLessThan(bob.ordinal)
    expect((await at.storage.documents.read(head))?.head.version).toBe(head.version)
    gate.open()
    await settled(ann)
    await settled(bob)
    expect(await settling).toMatchObject({ kind: 'settled' })
    await held[Symbol.asyncDispose]()
  })

  it('[WS-41] in a busy room an ack waits for the end of the send window, and is sent then without further traffic', async () => {
    await using own = new TestWorker(at.storage, { rooms: { windowMs: 1024 } })
    const { room } = await openRoom(own)
    const ann = await joined(room, {}, own)
    await settled(ann)
    for (let i = 0; i < 800; i++) ann.doc.getMap('shapes:c1').set(`s${i}`, { id: `s${i}`, type: 'rect' })
    await until(() => own.of('updates').at(-1)?.senders.includes(ann.connection) === true)
    // After so many edits the window is at least a quarter of a second long.
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(ann.settled).toBeLessThan(ann.ordinal)
    await until(() => ann.settled === ann.ordinal)
  })

  it('[WS-11] [WS-40] a refusal neither overtakes earlier messages of its turn nor settles them', async () => {
    const gate = gatedUpdates(at.storage.updates)
    const held = new TestWorker({ documents: at.storage.documents, updates: gate.updates })
    const { room } = await openRoom(held)
    const [ann, bob] = [await joined(room, {}, held), await joined(room, {}, held)]
    await settled(ann)
    const [connection, join, first] = [ann.connection, ann.join, ann.ordinal + 1]
    const sync = (ordinal: number, payload: Uint8Array) => ({ kind: 'sync', room, connection, join, ordinal, payload }) as const
    bob.room = 0
    bob.doc.getMap('shapes:c1').set('a', { id: 'a' })
    gate.close()
    held.host.receive([
      sync(first, syncMessage(SYNC.update, Uint8Array.of(9))),
      sync(first + 1, syncMessage(SYNC.update, Y.encodeStateAsUpdate(bob.doc, Y.encodeStateVector(ann.doc)))),
      sync(first + 2, Uint8Array.of(SYNC.update, 200)),
    ])
    await until(() => ann.refusals.length === 2)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(ann.refusals.map(({ ordinal }) => ordinal)).toEqual([first, first + 2])
    expect(ann.settled).toBeLessThan(first + 1)
    gate.open()
    await until(() => ann.settled === first + 2)
    await held[Symbol.asyncDispose]()
  })

  it('[LIFE-6] writes of a failed append are never settled: the reset names their writers and the room is dropped', async () => {
    const gate = gatedUpdates(at.storage.updates)
    const failing = new TestWorker({ documents: at.storage.documents, updates: gate.updates })
    const { head, room } = await openRoom(failing)
    const ann = await joined(room, {}, failing)
    await settled(ann)
    const before = await stored(head.key)
    gate.fail()
    ann.doc.getMap('shapes:c1').set('lost', { id: 'lost' })
    const lost = ann.ordinal
    await until(() => failing.of('reset').length === 1)
    expect(failing.of('reset')[0]).toEqual({ kind: 'reset', room, writers: [{ connection: ann.connection, ordinal: lost }] })
    expect(ann.settled).toBeLessThan(lost)
    expect(await stored(head.key)).toEqual(before)
    gate.open()
    const again = await failing.open(head)
    ann.joinRoom(again)
    await until(() => ann.synced)
    await settled(ann)
    expect(await stored(head.key)).toEqual(Y.encodeStateVector(ann.doc))
    await failing[Symbol.asyncDispose]()
  })
})

function syncMessage(type: number, data: Uint8Array): Uint8Array {
  return new UpdateWriter()
    .raw([type])
    .uint(data.length)
    .raw([...data])
    .bytes()
}

/** Returns an update that depends on content that nobody else has. */
function gapBehind(doc: Y.Doc): Uint8Array {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
  copy.getMap('any').set('first', 1)
  const vector = Y.encodeStateVector(copy)
  copy.getMap('any').set('second', 2)
  return Y.encodeStateAsUpdate(copy, vector)
}
