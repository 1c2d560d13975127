import { SYNC } from '@docrelay/protocol/frames'
import { syncFrame } from '@docrelay/protocol/codec'
import { afterAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead, DocumentStore } from '../../documents/document-store.port.ts'
import { type ManualTime, manualTime } from '../../kernel/testing/manual-time.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { put, RoomFixture, write } from '../testing/room-fixture.ts'
import { UpdateWriter } from '../testing/update-writer.ts'
import { gatedUpdates, type TestClient, TestWorker, until } from '../testing/worker-harness.ts'
import { writeAwareness } from './awareness.ts'
import { noWatch } from './room-host.ts'

const PAGE = '<p id="blk-1">one</p><p id="blk-2">two</p>'
const BODY = { name: 'Test', pages: [], richTextPages: [{ id: 'p1', name: 'Prose', order: 0, content: PAGE }] }
const ROOMS = { saveIdleMs: 60_000, saveLatestMs: 60_000 }
const INSERT = { pageId: 'p1', content: `${PAGE}<p>new words</p>`, format: 'html' } as const

const at = new RoomFixture(ROOMS, BODY)

const workers: TestWorker[] = []
/** Release all held writes. They are called at the end, because a worker whose write is still held back could not end. */
const releases: (() => void)[] = []
afterAll(async () => {
  for (const release of releases) release()
  for (const worker of workers) await worker[Symbol.asyncDispose]()
})

function started(worker: TestWorker): TestWorker {
  workers.push(worker)
  return worker
}

/** A worker whose first write of a version waits until `release` is called. Then `before` runs, and after it the write. */
function pausedWorker(
  before: (documents: DocumentStore, ref: Parameters<DocumentStore['state']>[0]) => Promise<void> = async () => {},
  time: Partial<ManualTime> = {},
) {
  const { documents } = at.storage
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  releases.push(released.resolve)
  let isFirst = true
  const store: DocumentStore = {
    ...documents,
    async write(given) {
      if (given.bump && isFirst) {
        isFirst = false
        reached.resolve()
        await released.promise
        await before(documents, given.ref)
      }
      return documents.write(given)
    },
  }
  const { clock, timers } = time
  const given = { rooms: ROOMS, ...(clock && { clock }), ...(timers && { timers }) }
  const worker = started(new TestWorker({ ...at.storage, documents: store }, given))
  return { worker, reached: reached.promise, release: released.resolve }
}

/** Lets a client leave and join again with the copy that it has, as after a broken socket. */
async function reconnect(client: TestClient, room: number): Promise<void> {
  client.leave()
  client.joinRoom(room)
  await until(() => client.synced && client.settled === client.ordinal)
}

async function contentOf(head: DocumentHead): Promise<string> {
  return ((await at.body(head)).richTextPages as { content: string }[])[0]?.content ?? ''
}

const timesIn = (text: string): number => text.split('new words').length - 1

describe('a client that joins while a write of the relay waits for the store', () => {
  it('[WS-25] [LIFE-3] gets nothing of an edit that is then refused over quota, so that its next reconnect does not bring the edit back', async () => {
    const { worker, reached, release } = pausedWorker()
    const { head, room } = await at.openRoom(worker)
    const ben = worker.client()
    const editing = editIn(worker, room, editRequest(head, 'set_prose', INSERT, { quotaBytes: 10 }))
    await reached
    ben.joinRoom(room)
    release()
    expect(await editing).toMatchObject({ kind: 'refused' })
    await until(() => ben.synced)
    expect(ben.text()).not.toContain('new words')
    await reconnect(ben, room)
    await at.settle(room, worker)
    expect(await contentOf(head)).toBe(PAGE)
  })

  it('[WS-25] [LIFE-3] gets nothing of a PUT that is then refused over quota, so that its next reconnect does not bring the PUT back', async () => {
    const { worker, reached, release } = pausedWorker()
    const { head, room } = await at.openRoom(worker)
    const ben = worker.client()
    const richTextPages = [{ ...BODY.richTextPages[0], content: INSERT.content }]
    const putting = at.putTo(room, put(head, { ...BODY, richTextPages }, { quotaBytes: 10 }), worker)
    await reached
    ben.joinRoom(room)
    release()
    expect(await putting).toMatchObject({ kind: 'refused' })
    await until(() => ben.synced)
    await reconnect(ben, room)
    await at.settle(room, worker)
    expect(await contentOf(head)).toBe(PAGE)
  })

  it('[WS-25] [LIFE-13] sees an edit only once when the edit lost a race for the version and was made again', async () => {
    const { worker, reached, release } = pausedWorker(async (documents, ref) => {
      const state = await documents.state(ref)
      if (state.kind === 'document') await documents.write(write(state.head, { collectionId: 'c' }))
    })
    const { head, room } = await at.openRoom(worker)
    const ben = worker.client()
    const editing = editIn(worker, room, editRequest(head, 'set_prose', INSERT))
    await reached
    ben.joinRoom(room)
    release()
    done(await editing)
    await until(() => ben.synced)
    await reconnect(ben, room)
    await at.settle(room, worker)
    expect([timesIn(ben.text()), timesIn(await contentOf(head))]).toEqual([1, 1])
  })

  it('[WS-23] [WS-25] gets step1, presence and one step2 in this order when the write is stored, even if it asked several times', async () => {
    const { worker, reached, release } = pausedWorker()
    const { head, room } = await at.openRoom(worker)
    const ann = await at.joined(room, {}, worker)
    ann.sendPresence(presenceOf(ann))
    await until(() => worker.of('awareness').length > 0)
    const editing = editIn(worker, room, editRequest(head, 'set_prose', INSERT))
    await reached
    const ben = worker.client()
    const kinds: number[] = []
    const take = ben.frame.bind(ben)
    ben.frame = (frame) => {
      kinds.push((frame[0] as number) * 10 + (frame[0] === 0 ? (frame[1] as number) : 0))
      take(frame)
    }
    ben.joinRoom(room)
    for (let i = 0; i < 3; i++) ben.send(0, syncFrame(SYNC.step1, Y.encodeStateVector(ben.doc)).subarray(1))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(kinds).toEqual([])
    release()
    done(await editing)
    await until(() => ben.synced)
    expect(kinds.slice(0, 3)).toEqual([SYNC.step1, 10, SYNC.step2])
    expect(kinds.filter((kind) => kind === SYNC.step2)).toHaveLength(1)
    expect(timesIn(ben.text())).toBe(1)
  })

  it('[LIFE-6] [WS-32] and whose update depends on a lost one is not refused, even if its step1 leaves after 6 s', async () => {
    const time = manualTime()
    const { worker, reached, release } = pausedWorker(undefined, time)
    const { head, room } = await at.openRoom(worker)
    const editing = editIn(worker, room, editRequest(head, 'set_prose', INSERT))
    await reached
    const ben = worker.client()
    // The edit of another person reached Ben and was lost with the former room. Ben's next edit depends on it.
    const lost = new Y.Doc()
    lost.getMap('keys').set('first', 1)
    Y.applyUpdate(ben.doc, Y.encodeStateAsUpdate(lost), ben)
    const known = Y.encodeStateVector(lost)
    lost.getMap('keys').set('second', 2)
    const next = Y.encodeStateAsUpdate(lost, known)
    Y.applyUpdate(ben.doc, next, ben)
    ben.joinRoom(room, { again: 1 })
    ben.write(SYNC.update, next)
    await time.advance(6_000)
    expect(ben.received).toEqual([])
    release()
    done(await editing)
    await until(() => ben.synced)
    // Ben answers the step1 with a step2, and both of his messages are applied.
    await passing(time, () => ben.settled === 2)
    expect([ben.refusals, ben.received.filter((type) => type === SYNC.step1)]).toEqual([[], [SYNC.step1]])
  })

  it('[WS-25] gets nothing when it left before the write was stored', async () => {
    const { worker, reached, release } = pausedWorker()
    const { head, room } = await at.openRoom(worker)
    const editing = editIn(worker, room, editRequest(head, 'set_prose', INSERT))
    await reached
    const ben = worker.client()
    ben.joinRoom(room)
    ben.leave()
    release()
    done(await editing)
    await at.joined(room, {}, worker)
    expect(worker.of('direct').filter(({ connection }) => connection === ben.connection)).toEqual([])
  })
})

it('[LIFE-22] [WS-25] a client that joins while a restore pauses the document is answered at once', async () => {
  const { room } = await at.openRoom()
  await at.worker.job(room, { kind: 'settle', quietMs: 60_000 })
  const ben = await at.joined(room)
  expect(ben.text()).toContain('two')
})

it('[G9] [C10] a client that joins between pieces of an update that is then refused gets none and stays joined', async () => {
  let [pieces, stepMs, nowMs] = [0, 0, 0]
  const later: (() => void)[] = []
  let isGated = false
  const worker = started(
    new TestWorker(at.storage, {
      rooms: { ...ROOMS, cutMs: 0, sliceMs: 0.001 },
      processorMs: () => (nowMs += stepMs),
      soon: (work) => void (isGated ? later.push(work) : setImmediate(work)),
      watch: {
        ...noWatch,
        begin: ({ ordinal }) => {
          // The first call belongs to the check of the whole update, and the other calls to its pieces.
          if (ordinal > 1 && ++pieces === 3) isGated = true
        },
      },
    }),
  )
  const { head, room } = await at.openRoom(worker)
  const [ann, ben] = [await at.joined(room, {}, worker), await at.joined(room, {}, worker)]
  await until(() => ann.settled === ann.ordinal && ben.settled === ben.ordinal)
  ben.leave()
  const costly = new UpdateWriter().block(73, 0, 60_000, (w, i) => w.entry('keys', `k${i}`)).deletes([])
  ann.write(SYNC.update, costly)
  await until(() => isGated)
  ben.joinRoom(room)
  stepMs = 3_000
  isGated = false
  for (const work of later) setImmediate(work)
  await until(() => ann.expelled !== null)
  expect([ann.expelled, ben.doc.getMap('keys').size]).toEqual([1003, 0])
  await until(() => worker.of('reload').length > 0)
  const next = await worker.open(head)
  await reconnect(ben, next)
  expect([ben.expelled, ben.refusals]).toEqual([null, []])
})

it('[AG-110] a client gets late words only when they are stored, so they stand once after the worker is killed', async () => {
  const gate = gatedUpdates(at.storage.updates)
  const worker = started(new TestWorker({ ...at.storage, updates: gate.updates }, { rooms: ROOMS }))
  const { head, room } = await at.openRoom(worker)
  const ann = await at.joined(room, {}, worker)
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(ann.doc))
  const known = Y.encodeStateVector(copy)
  const block = copy.getXmlFragment('prose:p1').get(0) as Y.XmlElement
  const text = block.get(0) as Y.XmlText
  text.insert(text.length, ' new words')
  const frame = Y.encodeStateAsUpdate(copy, known)
  const asHeading = { pageId: 'p1', id: 'blk-1', content: '<h2>one</h2>', format: 'html' } as const
  done(await editIn(worker, room, editRequest(head, 'set_prose', asHeading)))
  gate.close()
  ann.write(SYNC.update, frame)
  const ben = worker.client()
  ben.joinRoom(room)
  await new Promise((resolve) => setTimeout(resolve, 50))
  worker.abandon()

  const room2 = await at.worker.open(head)
  const [annAgain, benAgain] = [at.worker.client(), at.worker.client()]
  Y.applyUpdate(annAgain.doc, Y.encodeStateAsUpdate(copy))
  Y.applyUpdate(benAgain.doc, Y.encodeStateAsUpdate(ben.doc))
  for (const client of [annAgain, benAgain]) await reconnectAs(client, room2)
  await at.settle(room2)
  expect(timesIn(await contentOf(head))).toBe(1)
  gate.open()
})

async function reconnectAs(client: TestClient, room: number): Promise<void> {
  client.joinRoom(room)
  await until(() => client.synced && client.settled === client.ordinal)
}

/** Advances the clock in steps of 10 ms until `holds` returns true, for at most 5 s. */
async function passing(time: ManualTime, holds: () => boolean): Promise<void> {
  for (let turns = 0; turns < 500 && !holds(); turns++) await time.advance(10)
  expect(holds()).toBe(true)
}

/** Returns the payload of an AWARENESS frame with one state of the client. */
function presenceOf({ doc }: TestClient): Uint8Array {
  const state = new TextEncoder().encode('{"user":{"name":"Ann"}}')
  return writeAwareness([{ client: doc.clientID, clock: 1, state }])
}
