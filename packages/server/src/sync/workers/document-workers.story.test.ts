import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { Storage } from '../../drivers/sql/storage.ts'
import { silentLogger } from '../../kernel/log.ts'
import { packFromWorker, packToWorker, unpackFromWorker, unpackToWorker } from './document-batch.ts'
import { Quarantine } from './document-quarantine.ts'
import { type DocumentWorkers, openDocumentWorkers } from './document-workers.ts'
import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { quadratic } from '../testing/update-writer.ts'
import { createDocument, openTestStorage, until } from '../testing/worker-harness.ts'
import { sharedWatch, type Running, Watchdog, watchedMemory } from './watchdog.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import { stopwatch } from '../../kernel/testing/patience.ts'

describe('the watchdog of a worker', () => {
  const running = { room: 3, connection: 4, join: 1, ordinal: 9, bytes: 100 }

  /** Creates a watchdog whose checks are followed by a measurement of the thread's processor time, as in the relay. `cpuMs` is the measured value. */
  function watched() {
    const memory = watchedMemory()
    const [watch, dog] = [sharedWatch(memory), new Watchdog(memory)]
    const look = async (nowMs: number, cpuMs: number | null | Promise<number> = null) => {
      const stuck = dog.overdue(nowMs)
      const measured = dog.measure(async () => cpuMs)
      if (!(cpuMs instanceof Promise)) await measured
      return stuck
    }
    return { watch, dog, look }
  }

  it('[C5] an operation over its deadline is reported, and an operation that has ended is not', async () => {
    const { watch, look } = watched()
    expect(await look(0)).toBeNull()
    watch.begin(running)
    expect(await look(100)).toBeNull()
    expect(await look(2_000)).toBeNull()
    expect(await look(2_100)).toEqual(running)
    watch.end()
    expect(await look(9_000)).toBeNull()
    expect(await look(99_000)).toBeNull()
  })

  it('[C5] a busy worker that ends each operation in time is not reported', async () => {
    const { watch, look } = watched()
    for (let i = 0; i < 100; i++) {
      watch.begin({ ...running, ordinal: i })
      expect(await look(i * 250)).toBeNull()
    }
  })

  it('[C5] the deadline grows by a second per MiB of the operation', async () => {
    const { watch, look } = watched()
    watch.begin({ ...running, bytes: 4 * 1024 * 1024 })
    await look(0)
    expect(await look(5_900)).toBeNull()
    expect(await look(6_000)).not.toBeNull()
  })

  it('[C5] an operation that gets no processor time is reported only after five times its deadline', async () => {
    const { watch, look } = watched()
    watch.begin(running)
    await look(0, 70_000)
    expect(await look(50, 70_010)).toBeNull()
    expect(await look(2_000, 70_500)).toBeNull()
    expect(await look(3_000, 71_400)).toBeNull()
    expect(await look(3_450, 71_510)).toBeNull()
    expect(await look(3_500, 71_510)).toEqual(running)
    watch.begin(running)
    await look(10_000, 71_510)
    expect(await look(19_900, 71_600)).toBeNull()
    expect(await look(20_000, 71_600)).toEqual(running)
  })

  it('[C5] a thread that does not report its processor time is also given five times the deadline', async () => {
    const { watch, look } = watched()
    const never = new Promise<number>(() => undefined)
    watch.begin(running)
    for (const nowMs of [0, 2_100, 9_900]) expect(await look(nowMs, never)).toBeNull()
    expect(await look(10_000, never)).toEqual(running)
  })

  it('[C5] processor time of one operation does not count for the next operation, even when it is reported late', async () => {
    const { watch, look } = watched()
    watch.begin(running)
    await look(0, 1_000)
    const late = Promise.withResolvers<number>()
    await look(50, late.promise)
    watch.begin(running)
    expect(await look(100, 9_000)).toBeNull()
    late.resolve(1_010)
    expect(await look(150, 9_040)).toBeNull()
    expect(await look(2_200, 10_400)).toBeNull()
    expect(await look(3_900, 10_600)).toBeNull()
    expect(await look(3_950, 10_600)).toEqual(running)
  })

  it('[C5] an idle thread is not asked for its processor time', async () => {
    const { watch, dog, look } = watched()
    let asked = 0
    const ask = async () => ++asked
    await dog.measure(ask)
    watch.begin(running)
    await look(0)
    await dog.measure(ask)
    expect(asked).toBe(1)
    watch.end()
    await look(100)
    await dog.measure(ask)
    expect(asked).toBe(1)
  })
})

describe('batches between threads', () => {
  it('[C2] messages to a worker arrive unchanged and in order, and the originals stay usable', () => {
    const pool = new Uint8Array(256 * 1024).fill(7)
    const frame = pool.subarray(100, 110)
    const messages: ToWorker[] = [
      { kind: 'sync', room: 1, connection: 2, join: 1, ordinal: 1, payload: pool.subarray(0, 5) },
      { kind: 'awareness', room: 1, connection: 2, payload: frame },
      { kind: 'sync', room: 300, connection: 70_000, join: 2, ordinal: 2 ** 40, payload: pool.subarray(0, 100_000) },
      { kind: 'resync', room: 1, connection: 2 },
      { kind: 'sync', room: 1, connection: 2, join: 1, ordinal: 0, payload: new Uint8Array(0) },
    ]
    const { batch, transfer } = packToWorker(messages)
    expect(transfer.map((buffer) => buffer.byteLength)).toEqual([100_000])
    expect(unpackToWorker(structuredClone(batch, { transfer }))).toEqual(messages)
    expect([frame.byteLength, pool.byteLength]).toEqual([10, 256 * 1024])
  })

  it('[C6] a large frame from a socket can be sent to a worker twice', () => {
    const payload = Buffer.alloc(100_000, 7)
    const message: ToWorker = { kind: 'sync', room: 1, connection: 2, join: 1, ordinal: 1, payload }
    for (let handedOver = 0; handedOver < 2; handedOver++) {
      const { batch, transfer } = packToWorker([message])
      const [arrived] = unpackToWorker(structuredClone(batch, { transfer }))
      expect(arrived?.kind === 'sync' && payload.equals(arrived.payload)).toBe(true)
    }
  })

  it('[C2] messages from a worker arrive unchanged and in order, without the larger buffers they were slices of', () => {
    const pool = new Uint8Array(256 * 1024).fill(9)
    const messages: FromWorker[] = [
      { kind: 'updates', room: 5, updates: [pool.subarray(3, 9), pool.subarray(9, 10)], senders: [1, 0] },
      { kind: 'settled', connection: 9, join: 3, ordinal: 77 },
      { kind: 'direct', connection: 1, join: 1, frames: [pool.subarray(0, 20)] },
      { kind: 'updates', room: 5, updates: [pool.subarray(0, 90_000)], senders: [4] },
      { kind: 'drained' },
    ]
    const { batch, transfer } = packFromWorker(messages)
    const direct = batch.rest[0] as Extract<FromWorker, { kind: 'direct' }>
    expect(direct.frames[0]?.buffer.byteLength).toBe(20)
    expect(unpackFromWorker(structuredClone(batch, { transfer }))).toEqual(messages)
  })
})

describe('quarantine of documents', () => {
  it('[C6] a document that ended a worker is quarantined for ten minutes, and after a second end its whole workspace', () => {
    let now = 0
    const quarantine = new Quarantine(() => now)
    const [bad, good] = [
      { workspaceId: 'w', id: 'bad' },
      { workspaceId: 'w', id: 'good' },
    ]
    quarantine.note(bad)
    expect([quarantine.holds(bad), quarantine.holds(good)]).toEqual([true, false])
    now = 5 * 60_000
    quarantine.note(bad)
    expect([quarantine.holds(bad), quarantine.holds(good), quarantine.holds({ workspaceId: 'x', id: 'bad' })]).toEqual([
      true,
      true,
      false,
    ])
    now += 10 * 60_000
    expect([quarantine.holds(bad), quarantine.holds(good)]).toEqual([false, false])
  })
})

it('[LIFE-26] a document that may have ended nodes is quarantined for ten minutes, and the rest of its workspace is not', () => {
  let now = 0
  const quarantine = new Quarantine(() => now)
  const [bad, good] = ['bad', 'good'].map((id) => ({ workspaceId: 'w', id })) as [DocumentRef, DocumentRef]
  for (let times = 0; times < 3; times++) quarantine.keep(bad)
  expect([quarantine.holds(bad), quarantine.holds(good)]).toEqual([true, false])
  now = 9 * 60_000
  quarantine.keep(bad)
  now += 9 * 60_000
  expect([quarantine.holds(bad), quarantine.holds(good)]).toEqual([true, false])
  quarantine.note(bad)
  expect(quarantine.holds(good)).toBe(true)
  now += 10 * 60_000
  expect(quarantine.holds(bad)).toBe(false)
})

describe('worker threads', () => {
  let storage: Storage
  let workers: DocumentWorkers
  const got: { worker: number; message: FromWorker }[] = []
  const ends: { worker: number; running: Running | null }[] = []

  beforeAll(async () => {
    storage = await openTestStorage()
    workers = openDocumentWorkers({
      count: 2,
      storagePort: () => storage.workerPort(),
      log: silentLogger,
      // Cutting is off: a write that takes too long in one piece must be caught by the watchdog.
      options: { heapMiB: 256, rooms: { cutMs: Number.POSITIVE_INFINITY } },
    })
    workers.onMessage((worker, message) => got.push({ worker, message }))
    workers.onEnded((worker, running) => ends.push({ worker, running }))
  })

  afterAll(async () => {
    await workers?.[Symbol.asyncDispose]()
    await storage?.[Symbol.asyncDispose]()
  })

  let rooms = 0
  async function open(worker: number, head: DocumentHead): Promise<number> {
    const room = ++rooms
    workers.post(worker, { kind: 'open', room, ref: { workspaceId: head.workspaceId, id: head.id }, key: head.key })
    const rights = { canWrite: true, maxDocBytes: null, knowsLineage: false }
    workers.post(worker, { kind: 'join', room, connection: room, join: 1, sub: 'ann', ...rights })
    await until(() => got.some(({ message }) => message.kind === 'opened' && message.room === room), 10_000)
    return room
  }
  const send = (worker: number, room: number, ordinal: number, type: 0 | 1 | 2, data: Uint8Array) =>
    workers.post(worker, { kind: 'sync', room, connection: room, join: 1, ordinal, payload: syncFrame(type, data).subarray(1) })
  const settled = (room: number, ordinal: number) =>
    got.some(({ message }) => message.kind === 'settled' && message.connection === room && message.ordinal >= ordinal)

  it('[C8] documents above 8 MiB share a separate worker, also when their size became known only at their first load', async () => {
    const head = await createDocument(storage.documents)
    const ref = { workspaceId: head.workspaceId, id: head.id }
    expect(workers.homeFor(ref, 9 * 1024 * 1024)).toBe(workers.count + 1)
    expect(workers.homeFor(ref, head.sizeBytes)).toBeLessThan(workers.count)
    const doc = new Y.Doc()
    for (let i = 0; i < 9; i++) doc.getMap('some other root').set(`${i}`, 'x'.repeat(1024 * 1024))
    const update = Y.encodeStateAsUpdate(doc)
    const stateVector = Y.encodeStateVector(doc)
    await storage.updates.rebuild(head.key, { lastSeq: 0, update, stateVector, detail: 'for the test', nowMs: 1 })
    const room = await open(workers.homeFor(ref), head)
    const heavyWorker = workers.homeFor(ref, head.sizeBytes)
    expect(heavyWorker).toBe(workers.count + 1)
    expect(workers.homeFor()).toBeLessThan(workers.count)
    workers.post(0, { kind: 'leave', room, connection: room })
    const again = await open(heavyWorker, head)
    expect(got.some(({ worker, message }) => worker === heavyWorker && message.kind === 'opened' && message.room === again)).toBe(
      true,
    )
  })

  it('[C8] a heavy room among small rooms is reported as misplaced until it is opened in the heavy worker', async () => {
    const head = await createDocument(storage.documents)
    const ref = { workspaceId: head.workspaceId, id: head.id }
    const misplaced: number[] = []
    workers.onMisplaced((number) => misplaced.push(number))
    const room = await open(0, head)
    const doc = new Y.Doc()
    for (let i = 0; i < 9; i++) {
      const before = Y.encodeStateVector(doc)
      doc.getMap('shapes:c').set(`${i}`, { id: `${i}`, text: 'x'.repeat(1_000_000) })
      send(0, room, i + 1, SYNC.update, Y.encodeStateAsUpdate(doc, before))
    }
    await until(() => settled(room, 9), 20_000)
    // The room knows its size once it has encoded the whole state, and compares it at the next edit.
    workers.post(0, { kind: 'job', job: 901, room, task: { kind: 'encode' } })
    await until(() => got.some(({ message }) => message.kind === 'done' && message.job === 901), 10_000)
    const before = Y.encodeStateVector(doc)
    doc.getMap('shapes:c').set('last', { id: 'last' })
    send(0, room, 10, SYNC.update, Y.encodeStateAsUpdate(doc, before))
    await until(() => misplaced.filter((number) => number === room).length > 1, 10_000)
    workers.post(0, { kind: 'job', job: 902, room, task: { kind: 'hand-over' } })
    await until(() => got.some(({ message }) => message.kind === 'reload' && message.room === room), 10_000)
    const best = workers.homeFor(ref, head.sizeBytes)
    expect(best).toBe(workers.count + 1)
    workers.post(best, { kind: 'open', room, ref, key: head.key })
    await until(
      () => got.some(({ worker, message }) => worker === best && message.kind === 'opened' && message.room === room),
      10_000,
    )
    const callsOfIt = () => misplaced.filter((number) => number === room).length
    const count = callsOfIt()
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(callsOfIt()).toBe(count)
  })

  it('[C2] [C3] an edit passes between the threads into the store and is reported as durable', async () => {
    const head = await createDocument(storage.documents)
    const worker = workers.homeFor()
    const room = await open(worker, head)
    expect(workers.homeFor()).not.toBe(worker)
    const doc = new Y.Doc()
    doc.getMap('shapes:c').set('a', { id: 'a' })
    send(worker, room, 1, SYNC.update, Y.encodeStateAsUpdate(doc))
    await until(() => settled(room, 1))
    const log = await storage.updates.load(head.key)
    expect(log.kind === 'loaded' && log.records.at(-1)?.actor).toBe('ann')
    send(worker, room, 0, SYNC.step1, new Uint8Array([0]))
    await until(() =>
      got.some(({ message }) => message.kind === 'direct' && message.connection === room && message.frames[0]?.[1] === 1),
    )
  })

  it('[C5] [C6] [WS-33] Y5: an update that never ends stops its worker after 2 s; other documents continue, and the log lacks the update', async () => {
    const [bad, good] = [await createDocument(storage.documents), await createDocument(storage.documents)]
    const room = await open(0, bad)
    const other = await open(1, good)
    const before = (await storage.documents.read(bad))?.head.lastSeq
    const took = stopwatch()
    send(0, room, 1, SYNC.update, quadratic(16_000))
    const doc = new Y.Doc()
    doc.getMap('shapes:c').set('a', { id: 'a' })
    send(1, other, 1, SYNC.update, Y.encodeStateAsUpdate(doc))
    await until(() => settled(other, 1), 1_000)
    await until(() => ends.length === 1, 8_000)
    expect(took()).toBeLessThan(4_500)
    expect(ends[0]).toMatchObject({ worker: 0, running: { room, connection: room, join: 1, ordinal: 1 } })
    expect((await storage.documents.read(bad))?.head.lastSeq).toBe(before)
    expect(workers.homeFor({ workspaceId: bad.workspaceId, id: bad.id })).toBe(workers.count)
    const again = await open(0, bad)
    doc.getMap('shapes:c').set('b', { id: 'b' })
    send(0, again, 1, SYNC.update, Y.encodeStateAsUpdate(doc))
    await until(() => settled(again, 1))
    const apart = await open(workers.count, await createDocument(storage.documents))
    expect(apart).toBeGreaterThan(0)
  })
})
