import { systemClock } from '../../kernel/clock.ts'
import { prepareValue } from '@docrelay/model/body-prepare'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentWrite } from '../../documents/document-store.port.ts'
import { silentLogger } from '../../kernel/log.ts'
import { BODY, RoomFixture, put, setShape, shapesOf, untilAsync, write } from '../testing/room-fixture.ts'
import { openTestStorage, TestWorker, until } from '../testing/worker-harness.ts'

const at = new RoomFixture({ saveIdleMs: 60, saveLatestMs: 250, compactRecords: 20 })
const { openRoom, joined, body, headOf, settle, putTo, vectorOf } = at

describe('loading and leaving memory', () => {
  it('[LIFE-17] evict is refused while someone is joined, and a join during an evict wins', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'kept')
    expect(await at.worker.job(room, { kind: 'evict' })).toEqual({ kind: 'busy' })
    ann.leave()
    const evicting = at.worker.job(room, { kind: 'evict' })
    const bob = at.worker.client()
    bob.joinRoom(room)
    expect(await evicting).toEqual({ kind: 'busy' })
    await until(() => bob.synced)
    expect(bob.doc.getMap('shapes:c1').has('kept')).toBe(true)
    bob.leave()
    expect(await at.worker.job(room, { kind: 'evict' })).toEqual({ kind: 'evicted' })
    expect(await headOf(head)).toMatchObject({ bodyAhead: false })
    expect(await at.worker.job(room, { kind: 'settle' })).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' })
  })

  it('[LIFE-17] a document loaded after eviction is served from its stored bytes until someone edits it', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'kept')
    ann.leave()
    await at.worker.job(room, { kind: 'evict' })
    const again = await at.worker.open(head)
    const bob = await joined(again)
    await until(() => bob.settled === bob.ordinal)
    expect(bob.doc.getMap('shapes:c1').has('kept')).toBe(true)
    expect(at.worker.host.isLive(again)).toBe(false)
    setShape(bob, 'more')
    await until(() => bob.settled === bob.ordinal)
    expect(at.worker.host.isLive(again)).toBe(true)
    await settle(again)
    expect(shapesOf(await body(head))).toEqual(expect.arrayContaining(['s0', 'kept', 'more']))
  })

  it('[LIFE-7] [D8] compacting a long log loses no record', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    for (let i = 0; i < 60; i++) {
      setShape(ann, `s${i}`)
      await until(() => ann.settled === ann.ordinal)
    }
    await untilAsync(async () => {
      const log = await at.storage.updates.load(head.key)
      return log.kind === 'loaded' && log.snapshot !== null && log.records.length < 20
    })
    const log = await at.storage.updates.load(head.key)
    const doc = new Y.Doc()
    if (log.kind === 'loaded')
      for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
    expect(Y.encodeStateVector(doc)).toEqual(Y.encodeStateVector(ann.doc))
  })

  it('[YDOC-8] [LIFE-15] [LIFE-13] a cold write is applied to live state as an edit, so nothing is doubled', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'old')
    ann.leave()
    await at.worker.job(room, { kind: 'evict' })
    const now = await headOf(head)
    const cold = prepareValue(
      { ...(await body(head)), richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>one and more</p>' }] },
      head.id,
      'Test',
    )
    if (!cold.ok) throw new Error(cold.refusal.message)
    const written = await at.storage.documents.write({ ...write(now, {}), set: { body: cold.prepared }, log: { kind: 'cold' } })
    expect(written.kind).toBe('written')
    const again = await at.worker.open(head)
    ann.joinRoom(again)
    await until(() => ann.synced)
    expect(ann.text()).toBe('<paragraph>one and more</paragraph>')
    expect(await headOf(head)).toMatchObject({ bodyAhead: false })
  })

  it('[YDOC-9] the seed of a document is durable before any client receives it, and two nodes make the same bytes', async () => {
    const { head, room } = await openRoom()
    const log = await at.storage.updates.load(head.key)
    expect(log).toMatchObject({ kind: 'loaded', records: [{ seq: 1, actor: 'system' }] })
    const other = await openTestStorage()
    const twin = new TestWorker(other)
    const record = await at.storage.documents.read(head)
    const made = await other.documents.write({
      ref: head,
      expect: { kind: 'absent' },
      set: {
        ownerId: 'ann',
        ownerName: 'ann',
        titleChangedAtMs: 1,
        body: { bytes: record?.body as Uint8Array, facts: head.facts, blobReferences: [] },
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

  it('[YDOC-10] doubled prose loses its second half once, at load', async () => {
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
    at.worker.host.receive([{ kind: 'leave', room, connection: ann.connection }])
    await at.worker.job(room, { kind: 'drop' })
    const again = await at.worker.open(head)
    ann.joinRoom(again)
    await until(() => ann.synced)
    expect(ann.text()).toBe('<paragraph>a</paragraph><paragraph>b</paragraph>')
    const seq = (await headOf(head)).lastSeq
    at.worker.host.receive([{ kind: 'leave', room: again, connection: ann.connection }])
    await at.worker.job(again, { kind: 'drop' })
    await at.worker.open(head)
    expect((await headOf(head)).lastSeq).toBe(seq)
  })

  it('[YDOC-12] the relay edits under a random client id, a new one for each load', async () => {
    const ids = new Set<number>()
    const { head, room } = await openRoom()
    for (let i = 0; i < 3; i++) {
      const on = i === 0 ? room : await at.worker.open(head)
      const before = new Set(Y.decodeStateVector(await vectorOf(head)).keys())
      await putTo(on, put(await headOf(head), { ...BODY, name: `Name ${i}` }))
      for (const id of Y.decodeStateVector(await vectorOf(head)).keys()) if (!before.has(id)) ids.add(id)
      await at.worker.job(on, { kind: 'evict' })
    }
    expect(ids.size).toBe(3)
    expect(ids.has(0)).toBe(false)
  })

  it('[LIFE-23] a dropped document is never stored again', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'late')
    await until(() => ann.settled === ann.ordinal)
    await at.storage.documents.remove(head, head.key, Date.now())
    await at.worker.job(room, { kind: 'drop' })
    expect(await at.worker.job(room, { kind: 'settle' })).toMatchObject({ kind: 'failed' })
    expect(await at.storage.documents.state(head)).toMatchObject({ kind: 'tombstone' })
    expect(await at.worker.tryOpen(9_999, head)).toBe('gone')
  })
})

describe('durability', () => {
  it('[LIFE-3] [LIFE-1] the next worker has all acknowledged changes of a worker that ended abruptly', async () => {
    const ended = new TestWorker(at.storage)
    const { head, room } = await openRoom(ended)
    const ann = await joined(room, {}, ended)
    for (let i = 0; i < 30; i++) setShape(ann, `s${i}`)
    await until(() => ann.settled === ann.ordinal)
    const next = new TestWorker(at.storage)
    const bob = await joined(await next.open(head), {}, next)
    expect(Y.encodeStateVector(bob.doc)).toEqual(Y.encodeStateVector(ann.doc))
    expect(await settle(await next.open(head), next)).toMatchObject({ kind: 'settled' })
    expect(shapesOf(await body(head))).toContain('s29')
    ended.abandon()
    await next[Symbol.asyncDispose]()
  })

  it('[LIFE-4] [LIFE-7] the updates of all rooms in one turn are appended in one call, a small record each', async () => {
    const appends: number[][] = []
    const updates = {
      ...at.storage.updates,
      append: (records: Parameters<typeof at.storage.updates.append>[0]) => {
        appends.push(records.map(({ update }) => update.length))
        return at.storage.updates.append(records)
      },
    }
    // The clock stands still during the edits: on a busy machine a turn could otherwise end between two rooms.
    let standsAtMs: number | null = null
    const clock = { ...systemClock, monotonicMs: () => standsAtMs ?? systemClock.monotonicMs() }
    const counting = new TestWorker({ documents: at.storage.documents, updates }, { clock })
    const rooms = await Promise.all([openRoom(counting), openRoom(counting), openRoom(counting)])
    const clients = await Promise.all(rooms.map(({ room }) => joined(room, {}, counting)))
    await until(() => clients.every(({ settled, ordinal }) => settled === ordinal))
    appends.length = 0
    standsAtMs = systemClock.monotonicMs()
    const batch = clients.map((client, i) => {
      const doc = new Y.Doc()
      doc.getMap('shapes:c1').set('a', { id: 'a' })
      const update = Y.encodeStateAsUpdate(doc)
      const payload = new Uint8Array([2, update.length, ...update])
      return {
        kind: 'sync' as const,
        room: rooms[i]?.room as number,
        connection: client.connection,
        join: client.join,
        ordinal: ++client.ordinal,
        payload,
      }
    })
    counting.host.receive(batch)
    await until(() => clients.every(({ settled, ordinal }) => settled === ordinal))
    expect(appends).toHaveLength(1)
    expect(appends[0]).toHaveLength(3)
    expect(Math.max(...(appends[0] ?? []))).toBeLessThan(100)
    await counting[Symbol.asyncDispose]()
  })

  it('[OPS-5] the log line of a refused append contains the answer of the update log', async () => {
    const lines: (Record<string, unknown> | undefined)[] = []
    const log = {
      ...silentLogger,
      error: (_event: string, _msg: string, fields?: Record<string, unknown>) => void lines.push(fields),
    }
    const worker = new TestWorker({ documents: at.storage.documents, updates: at.storage.updates }, { log })
    const { head, room } = await openRoom(worker)
    const client = await joined(room, {}, worker)
    await until(() => client.settled === client.ordinal)
    const state = await at.storage.documents.state(head)
    const afterSeq = state.kind === 'document' ? state.head.lastSeq : -1
    const update = Y.encodeStateAsUpdate(new Y.Doc())
    await at.storage.updates.append([{ key: head.key, afterSeq, actor: 'another process', atMs: 1, update }])
    setShape(client, 'late')
    await until(() => lines.length > 0)
    expect(lines[0]).toMatchObject({ docId: head.id, reason: 'conflict', error: '{"kind":"conflict"}' })
    worker.abandon()
  })

  it('[LIFE-8] a stuck save of one document neither blocks nor fails another document', async () => {
    const stuck: (() => void)[] = []
    let hold = ''
    const documents = {
      ...at.storage.documents,
      write: async (given: DocumentWrite) => {
        if (given.ref.id === hold) await new Promise<void>((resolve) => stuck.push(resolve))
        return at.storage.documents.write(given)
      },
    }
    const two = new TestWorker({ documents, updates: at.storage.updates })
    const [a, b] = [await openRoom(two), await openRoom(two)]
    const [ann, bob] = [await joined(a.room, {}, two), await joined(b.room, {}, two)]
    hold = a.head.id
    setShape(ann, 'x')
    const waiting = settle(a.room, two)
    setShape(bob, 'y')
    expect(await settle(b.room, two)).toMatchObject({ kind: 'settled' })
    const carl = await joined(a.room, {}, two)
    setShape(ann, 'z')
    await until(() => carl.doc.getMap('shapes:c1').has('z'))
    hold = ''
    for (const go of stuck.splice(0)) go()
    expect(await waiting).toMatchObject({ kind: 'settled' })
    await two[Symbol.asyncDispose]()
  })

  it('[WS-30] [WS-31] an update that adds nothing is neither logged nor sent to anyone', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    setShape(ann, 'a')
    await until(() => ann.settled === ann.ordinal && bob.doc.getMap('shapes:c1').has('a'))
    const before = (await at.storage.documents.read(head))?.head.lastSeq
    const sent = at.worker.of('updates').length
    bob.write(1, Y.encodeStateAsUpdate(bob.doc))
    bob.write(2, Y.encodeStateAsUpdate(bob.doc))
    await until(() => bob.settled === bob.ordinal)
    expect(bob.refusals).toEqual([])
    expect(at.worker.of('updates')).toHaveLength(sent)
    expect((await at.storage.documents.read(head))?.head.lastSeq).toBe(before)
  })

  it('[WS-31] several edits of one busy sender are sent as one update', async () => {
    const { room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const from = at.worker.of('updates').length
    for (let i = 0; i < 200; i++) setShape(ann, 's', { i })
    await until(() => (bob.doc.getMap('shapes:c1').get('s') as { i?: number } | undefined)?.i === 199)
    const updates = at.worker
      .of('updates')
      .slice(from)
      .flatMap((message) => message.updates)
    expect(updates.length).toBeLessThan(20)
    await until(() => ann.settled === ann.ordinal)
  })
})
