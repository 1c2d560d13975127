import { prepareValue } from '@docrelay/model/body-prepare'
import type { Json } from '@docrelay/model/json'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead, DocumentStore, DocumentWrite } from '../documents/document-store.port.ts'
import type { PutOutcome, PutRequest } from '../documents/residents.port.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { RelayError } from '../kernel/errors.ts'
import { createDocument, openTestStorage, type TestClient, TestWorker, until } from './testing/worker-harness.ts'

let storage: Storage
let worker: TestWorker

beforeAll(async () => {
  storage = await openTestStorage()
  worker = new TestWorker(storage, { rooms: { saveIdleMs: 60, saveLatestMs: 250, compactRecords: 20 } })
})

afterAll(async () => {
  await worker?.[Symbol.asyncDispose]()
  await storage?.[Symbol.asyncDispose]()
})

const BODY = {
  pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 's0', type: 'rect', x: 1 }] }],
  richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>one</p>' }],
  modifiedAt: 5,
  lastModifiedBy: 'nobody',
  extra: { kept: true },
}

async function openRoom(on: TestWorker = worker, body: Parameters<typeof createDocument>[1] = BODY) {
  const head = await createDocument(storage.documents, body)
  return { head, room: await on.open(head) }
}

async function joined(
  room: number,
  given: Parameters<TestClient['joinRoom']>[1] = {},
  on: TestWorker = worker,
): Promise<TestClient> {
  const client = on.client()
  client.joinRoom(room, given)
  await until(() => client.synced)
  return client
}

async function body(head: DocumentHead): Promise<Record<string, Json>> {
  const record = await storage.documents.read(head)
  return JSON.parse(new TextDecoder().decode(record?.body)) as Record<string, Json>
}

async function headOf(head: DocumentHead): Promise<DocumentHead> {
  return (await storage.documents.read(head))?.head as DocumentHead
}

const shapesOf = (value: Record<string, Json>) => (value.pages as { shapes: { id: string }[] }[])[0]?.shapes.map(({ id }) => id)
const setShape = (client: TestClient, id: string, value: object = {}) => client.doc.getMap('shapes:c1').set(id, { id, ...value })
const settle = (room: number, on = worker) => on.job(room, { kind: 'settle' })

function put(
  head: DocumentHead,
  value: Record<string, Json>,
  given: Partial<Pick<PutRequest, 'expectedVersion'>> & { quotaBytes?: number } = {},
): PutRequest {
  const prepared = prepareValue({ id: head.id, ...value }, head.id, head.facts.title)
  if (!prepared.ok) throw new Error(prepared.refusal.message)
  const limits = { quotaBytes: given.quotaBytes ?? null, maxDocBytes: null } as PutRequest['access']['limits']
  return {
    ref: { workspaceId: head.workspaceId, id: head.id },
    access: { sub: 'ann', workspaceId: 'ws', role: 'owner', limits },
    enforcePrivateDocs: false,
    body: prepared.prepared,
    expectedVersion: given.expectedVersion ?? null,
    precondition: 'none',
    overrideTombstone: false,
  }
}

async function putTo(room: number, request: PutRequest, on = worker): Promise<PutOutcome> {
  const outcome = await on.job(room, { kind: 'put', request })
  if (outcome.kind !== 'put') throw new Error(`the PUT ended ${JSON.stringify(outcome)}`)
  return outcome.outcome
}

describe('materialising', () => {
  it('[LIFE-9] [LIFE-11] [BODY-10] settle stores every edit applied before it, with members outside the Y.Doc kept and stamps set', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room, { sub: 'ann' })
    setShape(ann, 's1', { x: 2 })
    const outcome = await settle(room)
    expect(outcome).toEqual({ kind: 'settled', version: head.version + 1 })
    const after = await body(head)
    expect(shapesOf(after)).toContain('s1')
    expect(after.extra).toEqual({ kept: true })
    expect(after.lastModifiedBy).toBe('ann')
    expect(after.modifiedAt).toBeGreaterThan(5)
    expect('lastModifiedByName' in after).toBe(false)
    expect(await headOf(head)).toMatchObject({ version: head.version + 1, bodyAhead: false })
    expect((await headOf(head)).coveredSeq).toBe((await headOf(head)).lastSeq)
  })

  it('[LIFE-12] the version rises exactly when the body changed', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    expect(await settle(room)).toMatchObject({ version: head.version })
    ann.doc.getMap('unknown').set('a', 1)
    expect(await settle(room)).toMatchObject({ version: head.version })
    expect((await headOf(head)).coveredSeq).toBe((await headOf(head)).lastSeq)
    expect((await body(head)).modifiedAt).toBe(5)
    setShape(ann, 's2')
    expect(await settle(room)).toMatchObject({ version: head.version + 1 })
    expect(await settle(room)).toMatchObject({ version: head.version + 1 })
  })

  it('[LIFE-10] stores some time after the last edit, and during endless typing at the latest some time after the first', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'idle')
    await untilAsync(async () => shapesOf(await body(head))?.includes('idle') === true)
    const versions = new Set<number>()
    const until_ = performance.now() + 700
    for (let i = 0; performance.now() < until_; i++) {
      setShape(ann, 'typing', { i })
      await new Promise((resolve) => setTimeout(resolve, 15))
      versions.add((await headOf(head)).version)
    }
    expect(versions.size).toBeGreaterThanOrEqual(2)
    expect(versions.size).toBeLessThan(8)
  })

  it('[LIFE-10] stores at once when the last participant leaves', async () => {
    const slow = new TestWorker(storage)
    const { head, room } = await openRoom(slow)
    const ann = await joined(room, {}, slow)
    setShape(ann, 'last')
    ann.leave()
    await untilAsync(async () => shapesOf(await body(head))?.includes('last') === true)
    await slow[Symbol.asyncDispose]()
  })

  it('[LIFE-28] [LIFE-10] draining stores everything and leaves a snapshot', async () => {
    const draining = new TestWorker(storage)
    const { head, room } = await openRoom(draining)
    const ann = await joined(room, {}, draining)
    setShape(ann, 'drained')
    draining.host.receive([{ kind: 'drain' }])
    await until(() => draining.of('drained').length === 1)
    expect(shapesOf(await body(head))).toContain('drained')
    const log = await storage.updates.load(head.key)
    expect(log).toMatchObject({ kind: 'loaded', records: [] })
    await draining[Symbol.asyncDispose]()
  })

  it('[LIFE-12] [LIFE-13] a version that moved meanwhile (sharing) is a conflict that is merged and retried', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 's1')
    await settle(room)
    const before = await headOf(head)
    await storage.documents.write(write(before, { sharedWith: [{ userId: 'bob', permission: 'view' }] }))
    setShape(ann, 's2')
    expect(await settle(room)).toMatchObject({ version: before.version + 2 })
    expect(await headOf(head)).toMatchObject({ version: before.version + 2, sharedWith: [{ userId: 'bob', permission: 'view' }] })
    expect(shapesOf(await body(head))).toEqual(expect.arrayContaining(['s1', 's2']))
  })

  it('[LIFE-18] shapes that vanish in one save are captured first; the save is accepted', async () => {
    const writes: DocumentWrite[] = []
    const watching = new TestWorker({ updates: storage.updates, documents: recording(storage.documents, writes) })
    const { head, room } = await openRoom(watching)
    const ann = await joined(room, {}, watching)
    setShape(ann, 's1')
    await settle(room, watching)
    ann.doc.transact(() => [...ann.doc.getMap('shapes:c1').keys()].forEach((id) => ann.doc.getMap('shapes:c1').delete(id)))
    await settle(room, watching)
    expect(writes.map(({ capture }) => capture?.reason)).toEqual([undefined, 'zeroing'])
    expect(shapesOf(await body(head)) ?? []).toEqual([])
    await watching[Symbol.asyncDispose]()
  })

  it('[LIFE-16] a live body above max_doc_bytes is stored and counted, not refused', async () => {
    const capped = new TestWorker(storage, { rooms: { maxDocBytes: 500 } })
    const { head, room } = await openRoom(capped)
    const ann = await joined(room, {}, capped)
    setShape(ann, 'big', { data: 'x'.repeat(1_000) })
    await settle(room, capped)
    expect((await headOf(head)).sizeBytes).toBeGreaterThan(1_000)
    await until(() => capped.of('report').some(({ counters }) => counters.doc_over_cap_snapshots === 1))
    await capped[Symbol.asyncDispose]()
  })

  it('[1.5] a store that refuses for a while loses nothing: settle fails, the next one stores', async () => {
    let down = false
    const documents = guarding(storage.documents, () => {
      if (down) throw new RelayError('UNAVAILABLE', 'the disk is full')
    })
    const flaky = new TestWorker({ updates: storage.updates, documents })
    const { head, room } = await openRoom(flaky)
    const ann = await joined(room, {}, flaky)
    down = true
    setShape(ann, 's1')
    expect(await settle(room, flaky)).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' })
    await until(() => ann.settled === ann.ordinal)
    down = false
    expect(await settle(room, flaky)).toMatchObject({ kind: 'settled', version: head.version + 1 })
    expect(shapesOf(await body(head))).toContain('s1')
    await flaky[Symbol.asyncDispose]()
  })

  it('[LIFE-8] [LIFE-9] edits during a save are neither lost nor stored twice', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const saves: Promise<unknown>[] = []
    for (let i = 0; i < 120; i++) {
      setShape(i % 2 === 0 ? ann : bob, `e${i}`, { i })
      if (i % 10 === 0) saves.push(settle(room))
      if (i % 4 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(saves)
    await until(() => ann.settled === ann.ordinal && bob.settled === bob.ordinal)
    await settle(room)
    expect(shapesOf(await body(head))).toEqual(expect.arrayContaining(Array.from({ length: 120 }, (_, i) => `e${i}`)))
    const log = await storage.updates.load(head.key)
    const doc = new Y.Doc()
    if (log.kind === 'loaded')
      for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
    expect(Y.encodeStateVector(doc)).toEqual(Y.encodeStateVector(ann.doc))
    expect(Y.encodeStateVector(bob.doc)).toEqual(Y.encodeStateVector(ann.doc))
  })
})

describe('PUT on a live document', () => {
  it('[LIFE-13] [LIFE-14] only differences to the stored base are applied; live edits elsewhere survive', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'live')
    const outcome = await putTo(
      room,
      put(
        head,
        { ...BODY, pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 's0', type: 'rect', x: 9 }, { id: 'put' }] }] },
        { expectedVersion: head.version },
      ),
    )
    expect(outcome).toMatchObject({ kind: 'written', created: false, head: { version: head.version + 1 } })
    expect(shapesOf(await body(head))).toEqual(expect.arrayContaining(['s0', 'live', 'put']))
    await until(() => ann.doc.getMap('shapes:c1').has('put'))
    expect(ann.doc.getMap('shapes:c1').get('s0')).toMatchObject({ x: 9 })
    expect(await settle(room)).toMatchObject({ version: head.version + 1 })
  })

  it('[LIFE-13] a PUT is broadcast as one transaction, by the relay', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const from = worker.messages.length
    await putTo(
      room,
      put(head, {
        ...BODY,
        pages: [{ id: 'c1', name: 'New', shapes: [{ id: 'a' }, { id: 'b' }] }],
        richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>two</p>' }],
      }),
    )
    await until(() => ann.text() === '<paragraph>two</paragraph>')
    const sent = worker.messages.slice(from).flatMap((m) => (m.kind === 'updates' && m.room === room ? [m] : []))
    expect(sent).toHaveLength(1)
    expect(sent[0]?.senders).toEqual([0])
    expect(sent[0]?.updates).toHaveLength(1)
  })

  it('[REST-16] a version that does not match is refused and changes nothing', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const outcome = await putTo(room, put(head, { name: 'Other' }, { expectedVersion: head.version + 5 }))
    expect(outcome).toMatchObject({ kind: 'refused', code: 'VERSION_CONFLICT' })
    expect(ann.doc.getMap('metadata').get('title')).toBe('Test')
    expect(await headOf(head)).toMatchObject({ version: head.version })
  })

  it('[LIFE-16] a PUT over quota is refused by its projected size; the live document is as before and goes on', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const state = Y.encodeStateVector(ann.doc)
    const big = { ...BODY, pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 'fat', data: 'x'.repeat(5_000) }] }] }
    expect(await putTo(room, put(head, big, { quotaBytes: 10 }))).toMatchObject({ kind: 'refused', code: 'STORAGE_QUOTA' })
    expect(Y.encodeStateVector(ann.doc)).toEqual(state)
    setShape(ann, 'after')
    await until(() => bob.doc.getMap('shapes:c1').has('after') && ann.settled === ann.ordinal)
    expect(bob.doc.getMap('shapes:c1').has('fat')).toBe(false)
    await settle(room)
    expect(shapesOf(await body(head))).toEqual(['s0', 'after'])
  })

  it('[D3] [LIFE-2] nothing of a PUT is handed out before it is durable', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let hold = false
    const documents: DocumentStore = {
      ...storage.documents,
      write: async (w) => (hold && w.bump ? held.then(() => storage.documents.write(w)) : storage.documents.write(w)),
    }
    const slow = new TestWorker({ updates: storage.updates, documents })
    const { head, room } = await openRoom(slow)
    const ann = await joined(room, {}, slow)
    hold = true
    const putting = putTo(room, put(head, { ...BODY, name: 'Renamed' }), slow)
    setShape(ann, 'meanwhile')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(ann.doc.getMap('metadata').get('title')).toBe('Test')
    release()
    expect(await putting).toMatchObject({ kind: 'written' })
    await until(() => ann.doc.getMap('metadata').get('title') === 'Renamed' && ann.settled === ann.ordinal)
    await slow[Symbol.asyncDispose]()
  })

  it('[YDOC-7] a live title older than a PUT of the title loses against it', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    await putTo(room, put(head, { ...BODY, name: 'From REST' }))
    await until(() => ann.doc.getMap('metadata').get('title') === 'From REST')
    ann.doc.transact(() => {
      ann.doc.getMap('metadata').set('title', 'stale')
      ann.doc.getMap('metadata').set('updatedAt', 10)
    })
    await settle(room)
    expect((await body(head)).name).toBe('From REST')
    await until(() => ann.doc.getMap('metadata').get('title') === 'From REST')
    ann.doc.transact(() => {
      ann.doc.getMap('metadata').set('title', 'newer')
      ann.doc.getMap('metadata').set('updatedAt', Date.now() + 1_000)
    })
    await settle(room)
    expect((await body(head)).name).toBe('newer')
  })
})

describe('loading and leaving memory', () => {
  it('[LIFE-17] evict refuses while someone is joined, and a join during it wins', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'kept')
    expect(await worker.job(room, { kind: 'evict' })).toEqual({ kind: 'busy' })
    ann.leave()
    const evicting = worker.job(room, { kind: 'evict' })
    const bob = worker.client()
    bob.joinRoom(room)
    expect(await evicting).toEqual({ kind: 'busy' })
    await until(() => bob.synced)
    expect(bob.doc.getMap('shapes:c1').has('kept')).toBe(true)
    bob.leave()
    expect(await worker.job(room, { kind: 'evict' })).toEqual({ kind: 'evicted' })
    expect(await headOf(head)).toMatchObject({ bodyAhead: false })
    expect(await worker.job(room, { kind: 'settle' })).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' })
  })

  it('[LIFE-17] a document that was evicted is served from its stored bytes, without a live document, until someone edits', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'kept')
    ann.leave()
    await worker.job(room, { kind: 'evict' })
    const again = await worker.open(head)
    const bob = await joined(again)
    await until(() => bob.settled === bob.ordinal)
    expect(bob.doc.getMap('shapes:c1').has('kept')).toBe(true)
    expect(worker.host.isLive(again)).toBe(false)
    setShape(bob, 'more')
    await until(() => bob.settled === bob.ordinal)
    expect(worker.host.isLive(again)).toBe(true)
    await settle(again)
    expect(shapesOf(await body(head))).toEqual(expect.arrayContaining(['s0', 'kept', 'more']))
  })

  it('[LIFE-7] [D8] a long log is compacted without losing a record', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    for (let i = 0; i < 60; i++) {
      setShape(ann, `s${i}`)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await until(() => ann.settled === ann.ordinal)
    await untilAsync(async () => {
      const log = await storage.updates.load(head.key)
      return log.kind === 'loaded' && log.snapshot !== null && log.records.length < 20
    })
    const log = await storage.updates.load(head.key)
    const doc = new Y.Doc()
    if (log.kind === 'loaded')
      for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
    expect(Y.encodeStateVector(doc)).toEqual(Y.encodeStateVector(ann.doc))
  })

  it('[YDOC-8] [LIFE-15] [LIFE-13] a cold write to a document with a Y state is applied as edits on it: older clients merge without doubling', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'old')
    ann.leave()
    await worker.job(room, { kind: 'evict' })
    const now = await headOf(head)
    const cold = prepareValue(
      { ...(await body(head)), richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>one and more</p>' }] },
      head.id,
      'Test',
    )
    if (!cold.ok) throw new Error(cold.refusal.message)
    const written = await storage.documents.write({ ...write(now, {}), set: { body: cold.prepared }, log: { kind: 'cold' } })
    expect(written.kind).toBe('written')
    const again = await worker.open(head)
    ann.joinRoom(again)
    await until(() => ann.synced)
    expect(ann.text()).toBe('<paragraph>one and more</paragraph>')
    expect(await headOf(head)).toMatchObject({ bodyAhead: false })
  })

  it('[YDOC-9] the seed is durable before anyone gets it, and the same bytes wherever it is made', async () => {
    const { head, room } = await openRoom()
    const log = await storage.updates.load(head.key)
    expect(log).toMatchObject({ kind: 'loaded', records: [{ seq: 1, actor: 'system' }] })
    const other = await openTestStorage()
    const twin = new TestWorker(other)
    const record = await storage.documents.read(head)
    const made = await other.documents.write({
      ref: head,
      expect: { kind: 'absent' },
      set: {
        ownerId: 'ann',
        ownerName: 'ann',
        titleChangedAtMs: 1,
        body: { bytes: record?.body as Uint8Array, facts: head.facts },
      },
      bump: true,
      nowMs: Date.now(),
      quotaBytes: null,
      log: { kind: 'cold' },
    })
    if (made.kind !== 'written') throw new Error(made.kind)
    await twin.open(made.head)
    const theirs = await other.updates.load(made.head.key)
    if (log.kind !== 'loaded' || theirs.kind !== 'loaded') throw new Error('not loaded')
    expect(theirs.records[0]?.update).toEqual(log.records[0]?.update)
    expect(room).toBeGreaterThan(0)
    await twin[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
  })

  it('[YDOC-10] doubled prose loses its second half at load, once', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const words = ['a', 'b', 'a', 'b'].map((word) => {
      const paragraph = new Y.XmlElement('paragraph')
      paragraph.insert(0, [new Y.XmlText(word)])
      return paragraph
    })
    ann.doc.transact(() => {
      const fragment = ann.doc.getXmlFragment('prose:p1')
      fragment.delete(0, fragment.length)
      fragment.insert(0, words)
    })
    await until(() => ann.settled === ann.ordinal)
    worker.host.receive([{ kind: 'leave', room, connection: ann.connection }])
    await worker.job(room, { kind: 'drop' })
    const again = await worker.open(head)
    ann.joinRoom(again)
    await until(() => ann.synced)
    expect(ann.text()).toBe('<paragraph>a</paragraph><paragraph>b</paragraph>')
    const seq = (await headOf(head)).lastSeq
    worker.host.receive([{ kind: 'leave', room: again, connection: ann.connection }])
    await worker.job(again, { kind: 'drop' })
    await worker.open(head)
    expect((await headOf(head)).lastSeq).toBe(seq)
  })

  it('[YDOC-12] the relay edits under a random client id that is new per load', async () => {
    const ids = new Set<number>()
    const { head, room } = await openRoom()
    for (let i = 0; i < 3; i++) {
      const on = i === 0 ? room : await worker.open(head)
      const before = new Set(Y.decodeStateVector(await vectorOf(head)).keys())
      await putTo(on, put(await headOf(head), { ...BODY, name: `Name ${i}` }))
      for (const id of Y.decodeStateVector(await vectorOf(head)).keys()) if (!before.has(id)) ids.add(id)
      await worker.job(on, { kind: 'evict' })
    }
    expect(ids.size).toBe(3)
    expect(ids.has(0)).toBe(false)
  })

  it('[LIFE-23] a dropped document is never stored again', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'late')
    await until(() => ann.settled === ann.ordinal)
    await storage.documents.remove(head, head.key, Date.now())
    await worker.job(room, { kind: 'drop' })
    expect(await worker.job(room, { kind: 'settle' })).toMatchObject({ kind: 'failed' })
    expect(await storage.documents.state(head)).toMatchObject({ kind: 'tombstone' })
    expect(await worker.tryOpen(9_999, head)).toBe('gone')
  })
})

function write(head: DocumentHead, set: DocumentWrite['set']): DocumentWrite {
  return {
    ref: { workspaceId: head.workspaceId, id: head.id },
    expect: { kind: 'document', key: head.key, version: head.version },
    set,
    bump: true,
    nowMs: Date.now(),
    quotaBytes: null,
    log: { kind: 'none' },
  }
}

function recording(documents: DocumentStore, writes: DocumentWrite[]): DocumentStore {
  return {
    ...documents,
    write(given) {
      writes.push(given)
      return documents.write(given)
    },
  }
}

function guarding(documents: DocumentStore, check: () => void): DocumentStore {
  return {
    ...documents,
    async write(given) {
      check()
      return documents.write(given)
    },
  }
}

async function vectorOf(head: DocumentHead): Promise<Uint8Array> {
  const log = await storage.updates.load(head.key)
  const doc = new Y.Doc()
  if (log.kind === 'loaded')
    for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
  return Y.encodeStateVector(doc)
}

async function untilAsync(holds: () => Promise<boolean>, withinMs = 3_000): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`did not hold within ${withinMs} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
