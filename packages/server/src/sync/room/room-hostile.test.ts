import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { RelayError } from '../../kernel/errors.ts'
import { dice } from '../../kernel/testing/dice.ts'
import { SYNC } from '@docrelay/protocol/frames'
import { ClientIdBudget, LoadSlots } from './room-host.ts'
import { runScratch } from './room-scratch.ts'
import { put, RoomFixture } from '../testing/room-fixture.ts'
import { createDocument, type TestClient, TestWorker, until } from '../testing/worker-harness.ts'
import { quadratic, UpdateWriter } from '../testing/update-writer.ts'
import type { UpdateLog } from '../update-log.port.ts'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

const at = new RoomFixture({}, { richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>one</p>' }] })
const { openRoom, joined } = at

const settled = (client: TestClient) => until(() => client.settled === client.ordinal, 10_000)
const equal = (a: Y.Doc, b: Y.Doc) => Buffer.from(Y.encodeStateAsUpdate(a)).equals(Buffer.from(Y.encodeStateAsUpdate(b)))

describe('hostile clients of a room', () => {
  it.each([1, 5, 20])('[WS-32] [G8] Y7: %i large updates behind a gap are not kept, logged or sent to joiners', async (count) => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    ann.answersStep1 = false
    await settled(ann)
    const before = (await at.storage.documents.read(head))?.head.lastSeq
    const data = 'x'.repeat(250_000)
    for (let i = 0; i < count; i++)
      ann.write(SYNC.update, new UpdateWriter().block(70 + i, 5, 1, (w) => w.string('any', data)).deletes([]))
    await settled(ann)
    expect((await at.storage.documents.read(head))?.head.lastSeq).toBe(before)
    const bob = await joined(room)
    expect(Y.encodeStateAsUpdate(bob.doc).length).toBeLessThan(5_000)
  })

  it.each([100, 1_000, 10_000])(
    '[WS-34] [G4] Y11: %i roots, types or keys in one frame stay within the limits, and the room can be loaded again',
    async (count) => {
      const { head, room } = await openRoom()
      const ann = await joined(room)
      ann.write(
        SYNC.update,
        new UpdateWriter().block(71, 0, Math.min(count, 9_900), (w, i) => w.string(`r${i}`, 'x')).deletes([]),
      )
      ann.write(SYNC.update, new UpdateWriter().block(72, 0, count, (w) => w.type('types')).deletes([]))
      ann.write(SYNC.update, new UpdateWriter().block(73, 0, count, (w, i) => w.entry('keys', `k${i}`)).deletes([]))
      await settled(ann)
      await at.worker.job(room, { kind: 'settle' })
      expect(ann.refusals).toEqual([])
      ann.leave()
      await until(() => true)
      expect(await at.worker.job(room, { kind: 'evict' })).toEqual({ kind: 'evicted' })
      const again = await at.worker.open(head)
      const bob = await joined(again)
      expect(bob.doc.getMap('keys').size).toBe(count)
    },
  )

  it('[G12] Y19: 200 requests for the whole state of 600 kB take less than 2 s of processor time', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    for (let i = 0; i < 30; i++) ann.doc.getMap('shapes:c').set(`s${i}`, { id: `s${i}`, data: 'x'.repeat(20_000) })
    await settled(ann)
    const answers = () =>
      at.worker.of('direct').filter(({ connection, frames }) => connection === ann.connection && frames[0]?.[1] === SYNC.step2)
    const seen = answers().length
    const took = threadTime()
    for (let i = 0; i < 200; i++) ann.send(0, new Uint8Array([SYNC.step1, 1, 0]))
    await until(() => answers().length === seen + 200)
    expect(took()).toBeLessThan(2_000)
  })

  it('[LIFE-18] Y20: a small update that deletes all shapes is accepted, and the empty document is stored', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    ann.doc.getMap('shapes:c1').set('s', { id: 's' })
    ann.doc.getMap('canvasPages').set('c1', { id: 'c1', name: 'Canvas' })
    await at.worker.job(room, { kind: 'settle' })
    ann.doc.getMap('shapes:c1').delete('s')
    expect(await at.worker.job(room, { kind: 'settle' })).toMatchObject({ kind: 'settled' })
    expect((await at.storage.documents.read(head))?.head.facts.shapeCount).toBe(0)
    expect(ann.refusals).toEqual([])
  })

  it('[G10] a message above the limit is tried on a copy first, and later messages of its sender wait for it', async () => {
    const careful = new TestWorker(at.storage, { rooms: { trialBytes: 50_000 } })
    const { room } = await openRoom(careful)
    const [ann, bob] = [await joined(room, {}, careful), await joined(room, {}, careful)]
    ann.doc.getArray('any').push(['x'.repeat(100_000)])
    ann.doc.getArray('any').push(['after'])
    bob.doc.getArray('other').push(['beside'])
    await settled(ann)
    await until(() => equal(ann.doc, bob.doc))
    expect(bob.doc.getArray('any').length).toBe(2)
    expect(ann.refusals).toEqual([])
    await careful[Symbol.asyncDispose]()
  })

  it('[G10] a message that fails its trial is refused and its sender closed; the room does not change', async () => {
    const careful = new TestWorker(at.storage, { rooms: { trialBytes: 50_000 } })
    const { room } = await openRoom(careful)
    const [ann, bob] = [await joined(room, {}, careful), await joined(room, {}, careful)]
    await settled(ann)
    const before = Y.encodeStateAsUpdate(bob.doc)
    ann.write(SYNC.update, quadratic(30_000))
    await until(() => ann.expelled !== null, 8_000)
    expect(ann.expelled).toBe(1003)
    expect(ann.refusals).toMatchObject([{ code: 'ERR_BAD_UPDATE', ordinal: ann.ordinal }])
    expect(Y.encodeStateAsUpdate(bob.doc)).toEqual(before)
    bob.doc.getArray('other').push(['goes on'])
    await settled(bob)
    await careful[Symbol.asyncDispose]()
  })

  it('[G9] [C10] updates that together would make a document too costly to load are not logged, and their sender is closed', {
    timeout: patience(60_000),
  }, async () => {
    const patient = new TestWorker(at.storage, { rooms: { debtMs: 1e9 } })
    const { head, room } = await openRoom(patient)
    const [ann, bob] = [await joined(room, {}, patient), await joined(room, {}, patient)]
    bob.doc.getArray('other').push(['kept'])
    await settled(bob)
    // Bob applies no further updates: they would cost his copy as much time as the room.
    bob.update = () => undefined
    for (let i = 0; i < 60 && ann.expelled === null; i++) {
      ann.write(SYNC.update, quadratic(1_500, i * 1_500))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await until(() => ann.expelled !== null, 30_000)
    expect(ann.expelled).toBe(1003)
    await until(() => patient.of('reload').length > 0)
    expect(patient.of('reload')).toEqual([{ kind: 'reload', room, without: ann.connection, clocks: [] }])
    expect(patient.of('reset')).toEqual([])
    const took = stopwatch()
    await patient.open(head)
    expect(took()).toBeLessThan(4_000)
    await patient[Symbol.asyncDispose]()
  })

  it('[WS-12] a connection whose waiting writes exceed their cost limit is closed with 1013; the room drops them and stays usable', async () => {
    const strict = new TestWorker(at.storage, { rooms: { debtMs: 300 } })
    const { room } = await openRoom(strict)
    const [ann, bob] = [await joined(room, {}, strict), await joined(room, {}, strict)]
    await settled(ann)
    for (let i = 0; i < 30; i++) ann.write(SYNC.update, quadratic(1_500, i * 1_500))
    await until(() => ann.expelled !== null, 20_000)
    expect(ann.expelled).toBe(1013)
    ann.leave()
    bob.doc.getArray('other').push(['goes on'])
    await settled(bob)
    expect(ann.settled).toBeLessThan(ann.ordinal)
    await strict[Symbol.asyncDispose]()
  })

  it('[WS-12] letters typed just before leaving are applied although a costly write of another client comes first', async () => {
    const { room } = await openRoom()
    const [ann, bob, eve] = [await joined(room), await joined(room), await joined(room)]
    await Promise.all([settled(ann), settled(bob), settled(eve)])
    ann.write(SYNC.update, quadratic(3_000))
    bob.doc.getArray('other').push(['typed'])
    bob.leave()
    await until(() => eve.doc.getArray('other').length === 1, 10_000)
    await settled(ann)
    expect(ann.refusals).toEqual([])
  })

  it('[D8] [G10] the scratch check accepts a snapshot that decodes to its state vector and refuses any other', () => {
    const doc = new Y.Doc()
    doc.getArray('a').push([1, 2])
    const snapshot = Y.encodeStateAsUpdate(doc)
    const vector = Y.encodeStateVector(doc)
    expect(runScratch({ kind: 'verify', snapshot, vector }).passed).toBe(true)
    doc.getArray('a').push([3])
    expect(runScratch({ kind: 'verify', snapshot, vector: Y.encodeStateVector(doc) }).passed).toBe(false)
    expect(runScratch({ kind: 'verify', snapshot: snapshot.slice(0, -2), vector }).passed).toBe(false)
    const later = Y.encodeStateAsUpdate(doc, vector)
    expect(runScratch({ kind: 'trial', state: snapshot, update: later }).passed).toBe(true)
    expect(runScratch({ kind: 'trial', state: new Uint8Array([0, 0]), update: later }).passed).toBe(false)
  })
})

describe('limits on costly work', () => {
  it('[G4] Y12: a workspace may introduce 65,536 client ids at once and 8,192 more per hour', () => {
    const budget = new ClientIdBudget()
    expect(budget.take('w', 65_536, 0)).toBe(true)
    expect(budget.take('w', 1, 0)).toBe(false)
    expect(budget.take('x', 1, 0)).toBe(true)
    expect(budget.take('w', 8_192, 3_600_000)).toBe(true)
    expect(budget.take('w', 2, 3_600_000)).toBe(false)
  })

  it('[C8] at most two cold loads run at once, the others wait in order', async () => {
    const slots = new LoadSlots(2, () => 0)
    let running = 0
    let most = 0
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        slots.run('w', async () => {
          most = Math.max(most, ++running)
          order.push(i)
          await new Promise((resolve) => setTimeout(resolve, 2))
          running--
        }),
      ),
    )
    expect(most).toBe(2)
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })
})

describe('cold loads of several workspaces', () => {
  it('[C8] a workspace with little debt loads its document before 100 waiting loads of an indebted workspace', async () => {
    const slots = new LoadSlots(1, (workspaceId) => (workspaceId === 'noisy' ? 900 : 1))
    const order: string[] = []
    const load = (workspaceId: string) =>
      slots.run(workspaceId, async () => {
        order.push(workspaceId)
        await new Promise((resolve) => setImmediate(resolve))
      })
    await Promise.all([...Array.from({ length: 100 }, () => load('noisy')), load('quiet')])
    expect(order.indexOf('quiet')).toBe(1)
    expect(order).toHaveLength(101)
  })
})

describe('loads that fail', () => {
  const broken = (load: UpdateLog['load']): UpdateLog => ({
    append: (records) => at.storage.updates.append(records),
    after: (key, seq) => at.storage.updates.after(key, seq),
    compact: (key, snapshot) => at.storage.updates.compact(key, snapshot),
    rebuild: (key, rebuilt) => at.storage.updates.rebuild(key, rebuilt),
    purgeRemovals: (beforeMs, limit) => at.storage.updates.purgeRemovals(beforeMs, limit),
    load,
  })

  it('[WS-22] [D7] a load answers unavailable when the store fails, and gone when the document was deleted', async () => {
    const head = await createDocument(at.storage.documents)
    const down = new TestWorker({
      documents: at.storage.documents,
      updates: broken(() => Promise.reject(new RelayError('UNAVAILABLE', 'no'))),
    })
    expect(await down.tryOpen(1, head)).toBe('unavailable')
    expect(await down.job(1, { kind: 'settle' })).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' })
    await down[Symbol.asyncDispose]()
    await at.storage.documents.remove(head, head.key, Date.now())
    expect(await at.worker.tryOpen(8_001, head)).toBe('gone')
  })

  it('[YDOC-11] [LIFE-5] a damaged log makes the document unavailable and stays untouched while the body lacks logged changes', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    ann.doc.getMap('shapes:c1').set('unsaved', { id: 'unsaved' })
    await settled(ann)
    const damaged = new TestWorker({
      documents: at.storage.documents,
      updates: broken(async () => ({ kind: 'damaged', detail: 'test', safeThroughSeq: 0 })),
    })
    const before = await at.storage.updates.load(head.key)
    expect(await damaged.tryOpen(1, head)).toBe('damaged-log')
    expect(await at.storage.updates.load(head.key)).toEqual(before)
    await damaged[Symbol.asyncDispose]()
  })

  it('[YDOC-11] [D7] a damaged log is rebuilt from a body that contains every logged change', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    ann.doc.getMap('metadata').set('title', 'Saved')
    await at.worker.job(room, { kind: 'settle' })
    ann.leave()
    await at.worker.job(room, { kind: 'evict' })
    let times = 0
    const load: UpdateLog['load'] = async (key) =>
      times++ === 0 ? { kind: 'damaged', detail: 'test', safeThroughSeq: 0 } : at.storage.updates.load(key)
    const healing = new TestWorker({ documents: at.storage.documents, updates: broken(load) })
    // The caller looks the document up again, because it has a new lineage now.
    expect(await healing.tryOpen(1, head)).toBe('gone')
    const again = await healing.open(head)
    const bob = await joined(again, {}, healing)
    expect(bob.doc.getMap('metadata').get('title')).toBe('Saved')
    expect(bob.text()).toBe('<paragraph>one</paragraph>')
    await healing[Symbol.asyncDispose]()
  })

  /** Opens a document whose stored snapshot has a valid checksum but cannot be decoded. */
  async function openUndecodable(edit: (client: TestClient) => Promise<void>) {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    await at.worker.job(room, { kind: 'settle' })
    await edit(ann)
    const log = await at.storage.updates.load(head.key)
    const throughSeq = log.kind === 'loaded' ? (log.records.at(-1)?.seq ?? log.snapshot?.throughSeq ?? 0) : 0
    const snapshot = { update: new Uint8Array([9, 9, 9]), stateVector: Y.encodeStateVector(ann.doc), throughSeq }
    expect(await at.storage.updates.compact(head.key, snapshot)).toBe('stored')
    const other = new TestWorker(at.storage)
    return { head, other, room: await other.open(head) }
  }

  it('[YDOC-11] a stored state that cannot be decoded resets its room once and is then rebuilt from the body', async () => {
    const { head, other, room } = await openUndecodable(async () => undefined)
    expect(await other.job(room, { kind: 'put', request: put(head, { name: 'Changed' }) })).toMatchObject({ code: 'UNAVAILABLE' })
    await until(() => other.of('reset').length > 0)
    expect(await other.tryOpen(8_200, head)).toBe('gone')
    const bob = await joined(await other.open(head), {}, other)
    expect(bob.text()).toBe('<paragraph>one</paragraph>')
    await other[Symbol.asyncDispose]()
  })

  it('[YDOC-11] [D7] a stored state that cannot be decoded makes the document unavailable, with one reset, while the body lacks logged changes', async () => {
    const { head, other, room } = await openUndecodable(async (ann) => {
      ann.doc.getMap('shapes:c1').set('unsaved', { id: 'unsaved' })
      await settled(ann)
    })
    expect(await other.job(room, { kind: 'settle' })).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' })
    await until(() => other.of('reset').length > 0)
    for (let i = 0; i < 3; i++) expect(await other.tryOpen(8_100 + i, head)).toBe('damaged-log')
    expect(other.of('reset')).toHaveLength(1)
    await other[Symbol.asyncDispose]()
  })

  it('[YDOC-11] a document whose log lacks a record accepts no writes', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    ann.doc.getArray('any').push([1])
    ann.doc.getArray('any').push([2])
    await settled(ann)
    const load: UpdateLog['load'] = async (key) => {
      const log = await at.storage.updates.load(key)
      return log.kind === 'loaded' ? { ...log, records: log.records.slice(-1) } : log
    }
    const partial = new TestWorker({ documents: at.storage.documents, updates: broken(load) })
    const partly = await partial.open(head)
    const bob = await joined(partly, {}, partial)
    bob.doc.getArray('any').push([3])
    await until(() => partial.of('refused').some(({ code }) => code === 'ERR_EDIT_FORBIDDEN'))
    await partial[Symbol.asyncDispose]()
  })
})

describe('convergence', () => {
  it('[N-11] after dropped messages of every kind and then silence, all clients are equal with nothing pending', async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const { room } = await openRoom()
      const clients = [await joined(room), await joined(room), await joined(room)]
      const random = dice(seed)
      for (let i = 0; i < 150; i++) {
        const client = clients[random(3)] as TestClient
        const bound = client.room
        // The next frame is lost (0), followed by a truncated frame (1), repeated (2), or sent normally.
        const fate = random(8)
        if (fate === 0) client.room = 0
        client.doc.getArray('any').insert(random(client.doc.getArray('any').length + 1), [i])
        client.room = bound
        if (fate === 1) client.write(SYNC.update, Y.encodeStateAsUpdate(client.doc).slice(0, -3))
        if (fate === 2) client.write(SYNC.update, Y.encodeStateAsUpdate(client.doc))
        if (random(5) === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      for (const { connection } of clients) at.worker.host.receive([{ kind: 'resync', room, connection }])
      const [a, b, c] = clients as [TestClient, TestClient, TestClient]
      await until(() => a.doc.getArray('any').length === 150 && equal(a.doc, b.doc) && equal(b.doc, c.doc), 3_000)
      for (const { doc } of clients) expect(doc.store.pendingStructs).toBeNull()
    }
  })
})
