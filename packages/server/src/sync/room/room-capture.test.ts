import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { put, RoomFixture, setShape, shapesOf, untilAsync } from '../testing/room-fixture.ts'
import { TestWorker, until } from '../testing/worker-harness.ts'

// The timer never saves in these tests. A room saves only when somebody leaves or when a test asks for it.
const at = new RoomFixture({ saveIdleMs: 60_000, saveLatestMs: 120_000 })
const { openRoom, joined, body, headOf, putTo, settle } = at

const pointsOf = ({ key }: DocumentHead) => at.storage.recovery.list(key)
const shapesAt = async ({ key }: DocumentHead, index: number) => {
  const point = await at.storage.recovery.read(key, (await pointsOf({ key } as DocumentHead))[index]?.pointId ?? '')
  return point.kind === 'point' ? shapesOf(JSON.parse(new TextDecoder().decode(point.body))) : point.kind
}
const untilPoints = (head: DocumentHead, count: number) => untilAsync(async () => (await pointsOf(head)).length === count)
/** Resolves when the room has finished all work that it got before. */
const idle = (room: number, on = at.worker) => settle(room, on)

describe('recovery points of a live document', () => {
  it('[LIFE-19] [LIFE-21] when the last participant leaves, the document is stored and a recovery point is taken', async () => {
    const { head, room } = await openRoom()
    const [ann, ben] = [await joined(room), await joined(room)]
    setShape(ann, 's1')
    await until(() => ann.settled === ann.ordinal)
    ann.leave()
    await idle(room)
    // The only point is the state before the first change, which the write of the body has captured. One participant is still joined.
    expect(await pointsOf(head)).toHaveLength(1)
    setShape(ben, 's2')
    await until(() => ben.settled === ben.ordinal)
    ben.leave()
    await untilPoints(head, 2)
    expect(await shapesAt(head, 0)).toEqual(['s0', 's1', 's2'])
    expect(await shapesAt(head, 1)).toEqual(['s0'])
    expect((await pointsOf(head))[0]?.version).toBe((await headOf(head)).version)
  })

  it('[LIFE-19] participants who come and go without a change cause no second recovery point', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 's1')
    ann.leave()
    await untilPoints(head, 2)
    for (let i = 0; i < 3; i++) {
      const reader = await joined(room, { canWrite: false })
      reader.leave()
      await idle(room)
    }
    expect(await pointsOf(head)).toHaveLength(2)
    await at.worker.job(room, { kind: 'evict' })
    const again = await at.worker.open(head)
    const ben = await joined(again)
    ben.leave()
    await at.worker.job(again, { kind: 'evict' })
    expect(await pointsOf(head)).toHaveLength(2)
  })

  it('[LIFE-20] edits that undo each other make no recovery point', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    ann.leave()
    await untilPoints(head, 1)
    const ben = await joined(room)
    setShape(ben, 's1')
    ben.doc.getMap('shapes:c1').delete('s1')
    await until(() => ben.settled === ben.ordinal)
    ben.leave()
    await idle(room)
    expect(shapesOf(await body(head))).toEqual(['s0'])
    expect(await pointsOf(head)).toHaveLength(1)
  })

  it('[LIFE-18] a live edit and a PUT that empty the document are each preceded by a recovery point of the state before', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 's1')
    await settle(room)
    for (const id of ['s0', 's1']) ann.doc.getMap('shapes:c1').delete(id)
    await settle(room)
    expect(shapesOf(await body(head))).toEqual([])
    expect(await shapesAt(head, 0)).toEqual(['s0', 's1'])
    setShape(ann, 's2')
    await settle(room)
    const before = await body(head)
    const zeroed = { ...before, pages: [{ id: 'c1', name: 'Canvas', shapes: [] }] }
    expect(await putTo(room, put(await headOf(head), zeroed))).toMatchObject({ kind: 'written' })
    expect(await shapesAt(head, 0)).toEqual(['s2'])
  })

  it('[OPS-8] a failed capture does not keep the document in memory, and is tried again later', async () => {
    let failures = 1
    const calls: string[] = []
    const recovery: Pick<RecoveryStore, 'capture'> = {
      async capture(key, reason, nowMs) {
        calls.push(reason)
        if (failures-- > 0) throw new RelayError('UNAVAILABLE', 'the disk is full')
        return at.storage.recovery.capture(key, reason, nowMs)
      },
    }
    await using worker = new TestWorker({ ...at.storage, recovery })
    const { head, room } = await openRoom(worker)
    const ann = await joined(room, {}, worker)
    setShape(ann, 's1')
    ann.leave()
    await idle(room, worker)
    expect(await worker.job(room, { kind: 'evict' })).toEqual({ kind: 'evicted' })
    expect(calls).toEqual(['last-leave', 'last-leave'])
    expect(await shapesAt(head, 0)).toEqual(['s0', 's1'])
  })
})

it('[LIFE-19] somebody who leaves while a recovery point is being stored makes another one due', async () => {
  const release: (() => void)[] = []
  const recovery: Pick<RecoveryStore, 'capture'> = {
    async capture(key, reason, nowMs) {
      await new Promise<void>((resolve) => release.push(resolve))
      return at.storage.recovery.capture(key, reason, nowMs)
    },
  }
  await using worker = new TestWorker({ ...at.storage, recovery })
  const { head, room } = await openRoom(worker)
  const ann = await joined(room, {}, worker)
  setShape(ann, 's1')
  ann.leave()
  await until(() => release.length === 1)
  const ben = await joined(room, {}, worker)
  setShape(ben, 's2')
  await until(() => ben.settled === ben.ordinal)
  ben.leave()
  release[0]?.()
  await until(() => release.length === 2)
  release[1]?.()
  await untilPoints(head, 3)
  expect(await shapesAt(head, 0)).toEqual(['s0', 's1', 's2'])
})

describe('pausing edits with a quiet settle', () => {
  const quiet = (room: number, quietMs: number) => at.worker.job(room, { kind: 'settle', quietMs })

  it('[LIFE-22] after a quiet settle edits wait until the pause ends, and none is lost', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 's1')
    await quiet(room, 1_000)
    const state = await headOf(head)
    setShape(ann, 's2')
    await new Promise((resolve) => setTimeout(resolve, 50))
    // The change was neither logged nor acknowledged: the stored state is complete without it.
    expect(await headOf(head)).toEqual(state)
    expect(ann.settled).toBeLessThan(ann.ordinal)
    await until(() => ann.settled === ann.ordinal)
    await settle(room)
    expect(shapesOf(await body(head))).toEqual(['s0', 's1', 's2'])
  })

  it('[LIFE-13] a PUT during the pause and overlapping pauses lose no edit', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    await Promise.all([quiet(room, 1_000), quiet(room, 40), quiet(room, 80)])
    setShape(ann, 's1')
    const renamed = { ...(await body(head)), name: 'Renamed' }
    expect(await putTo(room, put(await headOf(head), renamed))).toMatchObject({ kind: 'written' })
    expect(ann.settled).toBeLessThan(ann.ordinal)
    await until(() => ann.settled === ann.ordinal)
    await settle(room)
    expect(shapesOf(await body(head))).toEqual(['s0', 's1'])
    expect((await body(head)).name).toBe('Renamed')
  })

  it('[LIFE-23] a document dropped during the pause stays dropped', async () => {
    const { room } = await openRoom()
    const ann = await joined(room)
    await quiet(room, 60)
    setShape(ann, 's1')
    await at.worker.job(room, { kind: 'drop' })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(ann.settled).toBeLessThan(ann.ordinal)
    expect(at.worker.of('reset').filter((message) => message.room === room)).toEqual([])
  })
})

describe('the whole live document as one encoded answer', () => {
  const decoded = (update: Uint8Array) => {
    const doc = new Y.Doc()
    Y.applyUpdate(doc, update)
    return { shapes: doc.getMap('shapes:c1').toJSON(), prose: doc.getXmlFragment('prose:p1').toJSON(), doc }
  }
  const encoded = async (room: number, on = at.worker) => {
    const outcome = await on.job(room, { kind: 'encode' })
    if (outcome.kind !== 'encoded') throw new Error(`not encoded: ${JSON.stringify(outcome)}`)
    return outcome
  }

  it('[REST-31] the answer is the state of a joined client with the version in the store', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 's1', { x: 1 })
    const { version, update } = await encoded(room)
    expect(decoded(update).shapes).toEqual(ann.doc.getMap('shapes:c1').toJSON())
    expect(decoded(update).prose).toEqual(ann.doc.getXmlFragment('prose:p1').toJSON())
    expect(Y.encodeStateVector(decoded(update).doc)).toEqual(Y.encodeStateVector(ann.doc))
    expect(version).toBe((await headOf(head)).version)
    expect(shapesOf(await body(head))).toContain('s1')
  })

  it('[REST-31] [YDOC-8] a document that was never opened is seeded for the answer, and later answers continue the same history', async () => {
    const { head, room } = await openRoom()
    const first = await encoded(room)
    expect(Object.keys(decoded(first.update).shapes)).toEqual(['s0'])
    expect(first.version).toBe(head.version)
    await at.worker.job(room, { kind: 'evict' })
    const again = await at.worker.open(head)
    const second = await encoded(again)
    expect(at.worker.host.isLive(again)).toBe(false)
    const both = new Y.Doc()
    for (const { update } of [first, second]) Y.applyUpdate(both, update)
    expect(both.getXmlFragment('prose:p1').toJSON()).toBe(decoded(first.update).prose)
  })

  it('[REST-31] [D3] while a client types without a pause the answer still comes and contains only durable changes', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    let n = 0
    const typing = setInterval(() => setShape(ann, 'typing', { n: ++n }), 1)
    try {
      for (let i = 0; i < 5; i++) {
        const { update } = await encoded(room)
        const durable = new Y.Doc()
        const log = await at.storage.updates.load(head.key)
        if (log.kind !== 'loaded') throw new Error('no log')
        for (const record of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(durable, record.update)
        const vector = Y.encodeStateVector(durable)
        Y.applyUpdate(durable, update)
        expect(Y.encodeStateVector(durable)).toEqual(vector)
      }
    } finally {
      clearInterval(typing)
    }
    expect(n).toBeGreaterThan(5)
  })
})
