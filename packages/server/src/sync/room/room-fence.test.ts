import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { Storage } from '../../drivers/sql/storage.ts'
import { editRequest } from '../testing/room-editing.ts'
import { BODY, put, setShape, untilAsync } from '../testing/room-fixture.ts'
import { createDocument, openTestStorage, type TestClient, TestWorker, until } from '../testing/worker-harness.ts'

const OURS = 1
const ANOTHER = 2
/** The incarnation as which the process calls the store. */
const node = { inc: OURS }
let storage: Storage
let worker: TestWorker
beforeAll(async () => {
  storage = await openTestStorage({ node })
  worker = new TestWorker(storage, { rooms: { saveIdleMs: 60_000, saveLatestMs: 60_000, compactRecords: 5 } })
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  await storage[Symbol.asyncDispose]()
})

const headOf = async (head: DocumentHead) => (await storage.documents.read(head))?.head as DocumentHead
const takenBy = async (inc: number, { key }: DocumentHead): Promise<number> => {
  node.inc = inc
  const outcome = await storage.ownership.acquire(key)
  node.inc = OURS
  if (outcome.kind !== 'acquired') throw new Error(outcome.kind)
  return outcome.epoch
}
const openOwned = async (): Promise<{ head: DocumentHead; room: number; ann: TestClient }> => {
  const head = await createDocument(storage.documents, BODY)
  const room = await worker.open(head, await takenBy(OURS, head))
  const ann = worker.client()
  ann.joinRoom(room)
  await until(() => ann.synced && ann.ordinal > 0 && ann.settled === ann.ordinal)
  return { head: await headOf(head), room, ann }
}
const wasFenced = (room: number) => worker.of('fenced').some((message) => message.room === room)

it('[LIFE-26] the owner of a document stores edits, calls, bodies, snapshots and points', async () => {
  const { head, room, ann } = await openOwned()
  for (let i = 0; i < 8; i++) {
    setShape(ann, `s${i}`)
    await until(() => ann.settled === ann.ordinal)
  }
  expect(await worker.job(room, { kind: 'put', request: put(head, { ...BODY, extra: { put: true } }) })).toMatchObject({
    outcome: { kind: 'written' },
  })
  const edit = editRequest(head, 'rename_document', { docId: head.id, name: 'New' })
  expect(await worker.job(room, { kind: 'edit', request: edit })).toMatchObject({ outcome: { kind: 'edited' } })
  ann.leave()
  await untilAsync(async () => (await storage.recovery.list(head.key)).some(({ reason }) => reason === 'last-leave'))
  expect(await worker.job(room, { kind: 'evict' })).toMatchObject({ kind: 'evicted' })
  const now = await headOf(head)
  expect([now.coveredSeq, now.bodyAhead, now.owner]).toEqual([now.lastSeq, false, { owner: OURS, epoch: 1 }])
  expect(await storage.updates.load(head.key)).toMatchObject({ kind: 'loaded', snapshot: { throughSeq: now.lastSeq } })
  expect(wasFenced(room)).toBe(false)
})

it('[LIFE-26] an edit in the room of a former owner is not acknowledged and not stored, and ends the room', async () => {
  const { head, room, ann } = await openOwned()
  const { settled } = ann
  await takenBy(ANOTHER, head)
  setShape(ann, 'late')
  await until(() => wasFenced(room))
  expect([ann.settled, ann.ordinal]).toEqual([settled, settled + 1])
  expect(await headOf(head)).toEqual({ ...head, owner: { owner: ANOTHER, epoch: 2 } })
})

it('[LIFE-26] a PUT, an edit and a save of a former owner store nothing, and end the room', async () => {
  for (const task of ['put', 'edit', 'settle'] as const) {
    const { head, room, ann } = await openOwned()
    setShape(ann, 'before')
    await until(() => ann.settled === ann.ordinal)
    await takenBy(ANOTHER, head)
    const before = await headOf(head)
    const outcome = await worker.job(
      room,
      task === 'settle'
        ? { kind: task }
        : task === 'put'
          ? { kind: task, request: put(head, { ...BODY, extra: {} }) }
          : { kind: task, request: editRequest(head, 'rename_document', { docId: head.id, name: 'New' }) },
    )
    expect(outcome).toEqual({ kind: 'moved' })
    expect(await headOf(head)).toEqual(before)
    await until(() => wasFenced(room))
  }
})

it('[LIFE-26] a document whose log lacks a cold write does not open for a former owner', async () => {
  const head = await createDocument(storage.documents, BODY)
  const epoch = await takenBy(OURS, head)
  await takenBy(ANOTHER, head)
  expect(await worker.tryOpen(9_001, head, epoch)).toBe('fenced')
  expect((await headOf(head)).lastSeq).toBe(0)
})
