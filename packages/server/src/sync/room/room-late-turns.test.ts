import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Storage } from '../../drivers/sql/storage.ts'
import { systemClock } from '../../kernel/clock.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'
import { createDocument, openTestStorage, type TestClient, TestWorker, until } from '../testing/worker-harness.ts'
import type { ToWorker } from '../worker-messages.ts'
import { LIGHT_OPTIONS } from '../workers/light-home.ts'

let storage: Storage
beforeAll(async () => {
  storage = await openTestStorage()
})
afterAll(() => storage[Symbol.asyncDispose]())

/** Returns `count` writes of a client, each of another shape, as messages that a test sends together. */
function writesOf(client: TestClient, count: number): ToWorker[] {
  const { room, connection, join } = client
  const typist = new Y.Doc()
  const messages: ToWorker[] = []
  typist.on('update', (update: Uint8Array) => {
    const payload = syncFrame(SYNC.update, update).subarray(1)
    messages.push({ kind: 'sync', room, connection, join, ordinal: ++client.ordinal, payload })
  })
  for (let i = 0; i < count; i++) typist.getMap('shapes:c1').set(`${connection}-${i}`, { id: `${connection}-${i}` })
  return messages
}

it('[C8] all edits that a person sent before leaving are stored when the room moves while most of them wait for their turn', async () => {
  let passedMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs }
  // Every write takes as long as a whole turn.
  const watch = { begin: () => void (passedMs += 20), end: () => undefined }
  await using worker = new TestWorker(storage, { rooms: LIGHT_OPTIONS, clock, watch })
  const head = await createDocument(storage.documents)
  const room = await worker.open(head)
  const client = worker.client()
  client.joinRoom(room)
  await until(() => client.synced)
  const { connection } = client
  const count = 30
  worker.host.receive([...writesOf(client, count), { kind: 'leave', room, connection }])
  const givenUp = patienceClock(5_000)
  while ((await worker.job(room, { kind: 'hand-over' })).kind !== 'evicted' && !givenUp());
  const log = await storage.updates.load(head.key)
  const stored = new Y.Doc()
  if (log.kind === 'loaded') for (const { update } of log.records) Y.applyUpdate(stored, update)
  expect(stored.getMap('shapes:c1').size).toBe(count)
})

it('[WS-41] [WS-12] gathered edits also get their turn when the room stops gathering before their window has ended', async () => {
  const time = manualTime()
  let passedMs = 0
  const clock = { ...time.clock, monotonicMs: () => time.clock.monotonicMs() + passedMs }
  let isBusy = false
  const later: (() => void)[] = []
  const soon = (work: () => void): void => void (isBusy ? later.push(work) : setImmediate(work))
  let lastOfTurn = 0
  const watch = {
    begin: ({ ordinal }: { readonly ordinal: number }) => void (ordinal === lastOfTurn && (passedMs += 50)),
    end: () => undefined,
  }
  await using worker = new TestWorker(storage, { clock, timers: time.timers, watch, soon, processorMs: () => 0 })
  const untilPassed = async (holds: () => boolean): Promise<void> => {
    const givenUp = patienceClock(3_000)
    while (!holds() && !givenUp()) await time.advance(5)
  }
  const opening = worker.open(await createDocument(storage.documents))
  let room = 0
  void opening.then((number) => (room = number))
  await untilPassed(() => room !== 0)
  const [ann, ben] = [worker.client(), worker.client()]
  for (const client of [ann, ben]) client.joinRoom(room)
  await untilPassed(() => ann.synced && ben.synced && [ann, ben].every(({ settled, ordinal }) => settled === ordinal))
  await time.advance(2_000)

  // Forty edits arrive at once. The last four do not fit into the turn, and the room begins to gather edits.
  isBusy = true
  const writes = writesOf(ann, 40)
  lastOfTurn = ann.ordinal - 4
  worker.host.receive(writes)
  // A second later another edit is gathered. Then the four edits get their turn. By now the load is so low that no window is opened.
  passedMs += 1_000
  worker.host.receive(writesOf(ben, 1))
  isBusy = false
  for (const work of later.splice(0)) work()
  await untilPassed(() => ben.settled === ben.ordinal)
  expect([ann.settled, ben.settled]).toEqual([ann.ordinal, ben.ordinal])
})
