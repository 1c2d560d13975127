import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Storage } from '../../drivers/sql/storage.ts'
import { LIGHT_OPTIONS } from '../workers/light-home.ts'
import { createDocument, gatedUpdates, openTestStorage, TestWorker, until } from '../testing/worker-harness.ts'

let storage: Storage
beforeAll(async () => {
  storage = await openTestStorage()
})
afterAll(() => storage[Symbol.asyncDispose]())

const PAGE = { id: 'p1', name: 'P', content: '<p id="a">one</p>' }

/** Opens a document with one person. The test can hold back or refuse its appends with `gate`. */
async function joinedBehindGate() {
  const gate = gatedUpdates(storage.updates)
  const worker = new TestWorker({ ...storage, updates: gate.updates })
  const head = await createDocument(storage.documents, { richTextPages: [PAGE] })
  const room = await worker.open(head)
  const client = worker.client()
  client.joinRoom(room)
  await until(() => client.synced && client.settled === client.ordinal)
  return { gate, worker, head, room, client, [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose]() }
}

it('[C8] a room that is handed over stores and broadcasts every edit that it has received, and then sends reload', async () => {
  await using worker = new TestWorker(storage)
  const head = await createDocument(storage.documents, { richTextPages: [PAGE], lastModifiedBy: 'ann' })
  const room = await worker.open(head)
  const [one, other] = [worker.client(), worker.client()]
  for (const client of [one, other]) client.joinRoom(room, { sub: 'ben' })
  await until(() => one.synced && other.synced)
  one.doc.getMap('metadata').set('title', 'Typed')
  expect(await worker.job(room, { kind: 'hand-over' })).toEqual({ kind: 'evicted' })
  await until(() => worker.of('reload').length > 0)
  expect(worker.of('reload')).toEqual([{ kind: 'reload', room, without: 0, clocks: [] }])
  expect(one.settled).toBe(one.ordinal)
  expect(other.doc.getMap('metadata').get('title')).toBe('Typed')
  const record = await storage.documents.read(head)
  expect(record?.head).toMatchObject({ facts: { title: 'Typed' } })
  expect(record?.head.coveredSeq).toBe(record?.head.lastSeq)
  expect(JSON.parse(new TextDecoder().decode(record?.body))).toMatchObject({ lastModifiedBy: 'ben' })
})

it('[C8] a room neither applies nor acknowledges an edit sent after its hand-over; the next room gets the edit', async () => {
  await using at = await joinedBehindGate()
  const { gate, worker, head, room, client } = at
  gate.close()
  client.doc.getMap('metadata').set('title', 'First')
  const handing = worker.job(room, { kind: 'hand-over' })
  await new Promise((resolve) => setTimeout(resolve, 20))
  gate.open()
  expect(await handing).toEqual({ kind: 'evicted' })
  await until(() => worker.of('reload').length > 0)
  const settled = client.settled
  client.doc.getMap('metadata').set('title', 'Late')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([client.settled, client.ordinal]).toEqual([settled, settled + 1])
  const next = await worker.open((await storage.documents.read(head))?.head ?? head)
  const again = worker.client()
  again.joinRoom(next)
  await until(() => again.synced)
  expect(again.doc.getMap('metadata').get('title')).toBe('First')
  client.joinRoom(next)
  await until(() => again.doc.getMap('metadata').get('title') === 'Late')
})

it('[C8] a room is not handed over while a call waits for its answer', async () => {
  await using worker = new TestWorker(storage)
  const head = await createDocument(storage.documents, { richTextPages: [PAGE] })
  const room = await worker.open(head)
  const encoding = worker.job(room, { kind: 'encode' })
  expect(await worker.job(room, { kind: 'hand-over' })).toEqual({ kind: 'busy' })
  expect((await encoding).kind).toBe('encoded')
  expect(worker.of('reload')).toEqual([])
})

it('[C8] [LIFE-6] a room whose log refuses an edit during a hand-over is reset, and the reset names its writers', async () => {
  await using at = await joinedBehindGate()
  const { gate, worker, room, client } = at
  gate.fail()
  client.doc.getMap('metadata').set('title', 'Lost')
  expect((await worker.job(room, { kind: 'hand-over' })).kind).toBe('failed')
  await until(() => worker.of('reset').length > 0)
  expect(worker.of('reset')[0]?.writers).toEqual([{ connection: client.connection, ordinal: client.ordinal }])
  expect(worker.of('reload')).toEqual([])
})

it('[C8] [BODY-10] a body that the next home of a light room stores is stamped with the writer of its edits', async () => {
  await using light = new TestWorker(storage, { rooms: LIGHT_OPTIONS })
  await using heavy = new TestWorker(storage)
  const head = await createDocument(storage.documents, { richTextPages: [PAGE], lastModifiedBy: 'somebody' })
  const room = await light.open(head)
  const client = light.client()
  client.joinRoom(room, { sub: 'carl' })
  await until(() => client.synced)
  client.doc.getMap('metadata').set('title', 'Moved')
  expect(await light.job(room, { kind: 'hand-over' })).toEqual({ kind: 'evicted' })
  const stored = await storage.documents.read(head)
  expect(Buffer.from(stored?.body ?? []).toString()).not.toContain('Moved')
  const next = await heavy.open(stored?.head ?? head)
  expect((await heavy.job(next, { kind: 'settle' })).kind).toBe('settled')
  const settled = JSON.parse(Buffer.from((await storage.documents.read(head))?.body ?? []).toString())
  expect(settled).toMatchObject({ name: 'Moved', lastModifiedBy: 'carl' })
})
