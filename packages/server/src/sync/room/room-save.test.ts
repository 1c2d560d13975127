import { describe, expect, it } from 'vitest'
import { patienceClock } from '../../kernel/testing/patience.ts'
import * as Y from 'yjs'
import type { DocumentWrite } from '../../documents/document-store.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { RoomFixture, guarding, recording, setShape, shapesOf, untilAsync, write } from '../testing/room-fixture.ts'
import { TestWorker, until } from '../testing/worker-harness.ts'

const IDLE_MS = 60
const at = new RoomFixture({ saveIdleMs: IDLE_MS, saveLatestMs: 250, compactRecords: 20 })
const { openRoom, joined, body, headOf, settle } = at

describe('storing the body of a live document', () => {
  it('[LIFE-9] [LIFE-11] [BODY-10] settle stores every edit applied before it, keeps members unknown to the live document and sets the timestamps', async () => {
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

  it('[LIFE-10] the body is stored some time after the last edit, and in endless typing after the first edit', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'idle')
    await untilAsync(async () => shapesOf(await body(head))?.includes('idle') === true)
    const versions = new Set<number>()
    const startedAt = performance.now()
    const givenUp = patienceClock(5_000)
    for (let i = 0; versions.size < 4 && !givenUp(); i++) {
      setShape(ann, 'typing', { i })
      await new Promise((resolve) => setTimeout(resolve, 15))
      versions.add((await headOf(head)).version)
    }
    expect(versions.size).toBe(4)
    // Four versions took at least this long, so versions are not stored per edit: at least the idle time passes between two of them.
    expect(performance.now() - startedAt).toBeGreaterThan(2 * IDLE_MS)
  })

  it('[LIFE-10] the body is stored at once when the last participant leaves', async () => {
    const slow = new TestWorker(at.storage)
    const { head, room } = await openRoom(slow)
    const ann = await joined(room, {}, slow)
    setShape(ann, 'last')
    ann.leave()
    await untilAsync(async () => shapesOf(await body(head))?.includes('last') === true)
    await slow[Symbol.asyncDispose]()
  })

  it('[LIFE-28] [LIFE-10] drain stores every body and leaves a snapshot', async () => {
    const draining = new TestWorker(at.storage)
    const { head, room } = await openRoom(draining)
    const ann = await joined(room, {}, draining)
    setShape(ann, 'drained')
    draining.host.receive([{ kind: 'drain' }])
    await until(() => draining.of('drained').length === 1)
    expect(shapesOf(await body(head))).toContain('drained')
    const log = await at.storage.updates.load(head.key)
    expect(log).toMatchObject({ kind: 'loaded', records: [] })
    await draining[Symbol.asyncDispose]()
  })

  it('[LIFE-12] [LIFE-13] when a change of sharing raised the version meanwhile, a save merges it and is retried', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 's1')
    await settle(room)
    const before = await headOf(head)
    await at.storage.documents.write(write(before, { sharedWith: [{ userId: 'bob', permission: 'view' }] }))
    setShape(ann, 's2')
    expect(await settle(room)).toMatchObject({ version: before.version + 2 })
    expect(await headOf(head)).toMatchObject({ version: before.version + 2, sharedWith: [{ userId: 'bob', permission: 'view' }] })
    expect(shapesOf(await body(head))).toEqual(expect.arrayContaining(['s1', 's2']))
  })

  it('[LIFE-18] a save that removes all shapes is accepted, and captures the state before as a recovery point', async () => {
    const writes: DocumentWrite[] = []
    const watching = new TestWorker({ updates: at.storage.updates, documents: recording(at.storage.documents, writes) })
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

  it('[LIFE-16] a live body above the max_doc_bytes of its writer is stored and counted', async () => {
    const capped = new TestWorker(at.storage)
    const { head, room } = await openRoom(capped)
    const ann = await joined(room, { maxDocBytes: 500 }, capped)
    setShape(ann, 'big', { data: 'x'.repeat(1_000) })
    await settle(room, capped)
    expect((await headOf(head)).sizeBytes).toBeGreaterThan(1_000)
    await until(() => capped.of('report').some(({ counters }) => counters.doc_over_cap_snapshots === 1))
    await capped[Symbol.asyncDispose]()
  })

  it('[1.5] while the store fails, settle fails and nothing is lost; the next settle stores', async () => {
    let down = false
    const documents = guarding(at.storage.documents, () => {
      if (down) throw new RelayError('UNAVAILABLE', 'the disk is full')
    })
    const flaky = new TestWorker({ updates: at.storage.updates, documents })
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
    const log = await at.storage.updates.load(head.key)
    const doc = new Y.Doc()
    if (log.kind === 'loaded')
      for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
    expect(Y.encodeStateVector(doc)).toEqual(Y.encodeStateVector(ann.doc))
    expect(Y.encodeStateVector(bob.doc)).toEqual(Y.encodeStateVector(ann.doc))
  })
})
