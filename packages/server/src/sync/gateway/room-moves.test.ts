import { awarenessFrame, syncFrame } from '@docrelay/protocol/codec'
import { expect, it } from 'vitest'
import { createChangeRecords } from '../../documents/change-records.ts'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { headOf, startBench, TestStore } from '../testing/gateway-bench.ts'
import { ScriptedWorkers } from '../testing/scripted-workers.ts'
import { until } from '../testing/worker-harness.ts'
import { openRooms } from './rooms.ts'

const EDIT = syncFrame(2, Uint8Array.of(0, 0))

/** Rooms without sockets, and a document that is open in worker 0. */
async function openAlone() {
  const time = manualTime()
  const workers = new ScriptedWorkers()
  const rooms = openRooms({ workers, store: new TestStore(), ...time, log: silentLogger })
  const head = headOf('doc')
  const entered = await rooms.enter(head)
  if (entered.kind !== 'open') throw new Error('not open')
  return { time, workers, rooms, head, number: entered.room.number }
}

it('[C8] a misplaced room moves to the best worker with its connections and unacknowledged writes, while calls wait', async () => {
  await using bench = await startBench()
  const { workers, rooms } = bench
  const head = bench.store.put(headOf('doc'))
  workers.settles = false
  workers.broadcasts = false
  workers.jobs.set('hand-over', 'hang')
  const client = await bench.joined('doc', {}, ['ack'])
  client.send(EDIT)
  await client.settled()
  const [{ room, ordinal } = { room: 0, ordinal: 0 }] = workers.of('sync')
  workers.best = 3
  workers.misplace(room)
  const settling = rooms.settle(head)
  await client.settled()
  expect(workers.of('job').map(({ task }) => task.kind)).toEqual(['hand-over'])
  workers.emit({ kind: 'reload', room, without: 0 })
  await settling
  expect(workers.openedIn).toEqual([0, 3])
  expect(workers.of('sync').map((sync) => sync.ordinal)).toEqual([ordinal, ordinal])
  expect(workers.posted.slice(-4).map(({ kind }) => kind)).toEqual(['open', 'join', 'sync', 'job'])
  expect(client.socket.readyState).toBe(client.socket.OPEN)
})

it.each([
  ['is busy', { kind: 'busy' }],
  ['could not store the document', { kind: 'failed', code: 'UNAVAILABLE', message: 'no' }],
] as const)('[C8] a misplaced room that %s stays where it is, and is usable at once', async (_, outcome) => {
  const { rooms, workers, time, head, number } = await openAlone()
  workers.jobs.set('hand-over', outcome)
  workers.best = 3
  workers.misplace(number)
  await time.advance(10)
  expect((await rooms.enter(head)).kind).toBe('open')
  expect(workers.openedIn).toEqual([0])
})

it('[C8] [C6] when the worker ends during a move, the room opens once more and the move has no further effect', async () => {
  const { rooms, workers, time, head, number } = await openAlone()
  workers.jobs.set('hand-over', 'hang')
  workers.misplace(number)
  workers.openOutcome = 'hang'
  workers.end(null)
  await time.advance(10)
  expect(workers.openedIn).toEqual([0, 0])
  let isEntered = false
  const again = rooms.enter(head).then(() => {
    isEntered = true
  })
  await time.advance(10)
  expect(isEntered).toBe(false)
  workers.emit({ kind: 'opened', room: number, outcome: 'opened' })
  await again
})

it('[C8] [LIFE-23] a document that is deleted during a move is gone and not opened again', async () => {
  const { rooms, workers, time, head, number } = await openAlone()
  workers.jobs.set('hand-over', 'hang')
  workers.misplace(number)
  const dropping = rooms.drop(head)
  workers.emit({ kind: 'reload', room: number, without: 0 })
  await time.advance(10)
  await dropping
  expect(rooms.isResident(head)).toBe(false)
  expect(workers.openedIn).toEqual([0])
})

it('[C8] a message above the bounds of the home moves the room, and the next home gets all messages in order', async () => {
  await using bench = await startBench()
  const { workers } = bench
  bench.store.put(headOf('doc'))
  workers.jobs.set('hand-over', 'hang')
  workers.settles = false
  workers.broadcasts = false
  const client = await bench.joined('doc', {}, ['ack'])
  client.send(EDIT)
  await client.settled()
  workers.takesBytes = 10
  const large = syncFrame(2, new Uint8Array(20))
  client.send(large)
  client.send(EDIT)
  await client.settled()
  expect(workers.of('sync').map(({ ordinal }) => ordinal)).toEqual([1])
  expect(workers.of('job').map(({ task }) => task.kind)).toEqual(['hand-over'])
  workers.best = 2
  workers.takesBytes = Number.POSITIVE_INFINITY
  workers.emit({ kind: 'reload', room: workers.of('sync')[0]?.room ?? 0, without: 0 })
  await client.settled()
  expect(workers.openedIn).toEqual([0, 2])
  expect(workers.of('sync').map(({ ordinal }) => ordinal)).toEqual([1, 1, 2, 3])
  expect(workers.of('sync').at(2)?.payload).toEqual(large.subarray(1))
})

it('[C8] a room that must move is asked again until it moves, and no call runs in between', async () => {
  const { rooms, workers, time, head, number } = await openAlone()
  workers.jobs.set('hand-over', { kind: 'busy' })
  workers.misplace(number, 'must')
  await time.advance(10)
  const settling = rooms.settle(head)
  await time.advance(100)
  const asked = workers.of('job').map(({ task }) => task.kind)
  expect(asked.length).toBeGreaterThan(2)
  expect(new Set(asked)).toEqual(new Set(['hand-over']))
  workers.best = 3
  workers.jobs.set('hand-over', { kind: 'evicted' })
  await time.advance(30)
  workers.emit({ kind: 'reload', room: number, without: 0 })
  await time.advance(10)
  await settling
  expect(workers.openedIn).toEqual([0, 3])
})

it('[C8] a room that must move while its document loads moves when it is loaded', async () => {
  const time = manualTime()
  const workers = new ScriptedWorkers()
  workers.openOutcome = 'hang'
  workers.jobs.set('hand-over', 'hang')
  const rooms = openRooms({ workers, store: new TestStore(), ...time, log: silentLogger })
  void rooms.enter(headOf('doc'))
  await time.advance(1)
  workers.misplace(1, 'must')
  await time.advance(1)
  expect(workers.of('job')).toEqual([])
  workers.emit({ kind: 'opened', room: 1, outcome: 'opened' })
  await time.advance(1)
  expect(workers.of('job').map(({ task }) => task.kind)).toEqual(['hand-over'])
})

it('[C8] a task that its home refuses runs in the home to which the room moves', async () => {
  const { rooms, workers, time, head, number } = await openAlone()
  workers.jobs.set('settle', { kind: 'elsewhere' })
  workers.jobs.set('hand-over', { kind: 'evicted' })
  const settling = rooms.settle(head)
  await time.advance(10)
  expect(workers.of('job').map(({ task }) => task.kind)).toEqual(['settle', 'hand-over'])
  workers.jobs.set('settle', { kind: 'settled', version: 1 })
  workers.best = 1
  workers.emit({ kind: 'reload', room: number, without: 0 })
  await time.advance(10)
  await settling
  expect(workers.openedIn).toEqual([0, 1])
})

it('[C8] a document that exceeds the bounds of the home in which it was to be opened is opened in another home', async () => {
  const time = manualTime()
  const workers = new ScriptedWorkers()
  workers.openOutcome = 'hang'
  const rooms = openRooms({ workers, store: new TestStore(), ...time, log: silentLogger })
  const entering = rooms.enter(headOf('doc'))
  await time.advance(1)
  workers.best = 4
  workers.emit({ kind: 'opened', room: 1, outcome: 'elsewhere' })
  workers.emit({ kind: 'opened', room: 1, outcome: 'opened' })
  expect((await entering).kind).toBe('open')
  expect(workers.openedIn).toEqual([0, 4])
})

it('[C8] [WS-46] when a connection leaves while its room moves, the next home gets its messages and then its leave', async () => {
  await using bench = await startBench()
  const { workers } = bench
  bench.store.put(headOf('doc'))
  workers.jobs.set('hand-over', 'hang')
  workers.takesBytes = 10
  const client = await bench.joined('doc', {}, ['ack'])
  const presence = Uint8Array.of(1, 7, 1, 2, 123, 125)
  client.send(awarenessFrame(presence))
  client.send(syncFrame(2, new Uint8Array(20)))
  await client.settled()
  client.socket.close()
  await until(() => workers.of('leave').length === 1)
  expect(workers.of('sync')).toEqual([])
  workers.takesBytes = Number.POSITIVE_INFINITY
  const before = workers.posted.length
  const [{ room, connection } = { room: 0, connection: 0 }] = workers.of('join')
  workers.emit({ kind: 'reload', room, without: 0 })
  const after = workers.posted.slice(before)
  expect(after.map(({ kind }) => kind)).toEqual(['open', 'join', 'awareness', 'sync', 'leave'])
  expect(after[3]).toMatchObject({ connection, ordinal: 1 })
  await until(() => workers.of('open').length === 2)
})

it('[C8] a connection that left before a move is not reported to the next home', async () => {
  await using bench = await startBench()
  const { workers } = bench
  bench.store.put(headOf('doc'))
  const [ann, bob] = [await bench.joined('doc'), await bench.joined('doc')]
  ann.socket.close()
  await until(() => workers.of('leave').length === 1)
  workers.jobs.set('hand-over', 'hang')
  const room = workers.of('join')[0]?.room ?? 0
  workers.misplace(room)
  workers.emit({ kind: 'reload', room, without: 0 })
  await bob.settled()
  expect([workers.of('join').length, workers.of('leave').length]).toEqual([3, 1])
})

it('[C8] [AG-20] after a move, the next home gets the watch message before any write', async () => {
  const records = createChangeRecords()
  await using bench = await startBench({ rooms: { records } })
  const { workers } = bench
  const head = bench.store.put(headOf('doc'))
  workers.jobs.set('hand-over', 'hang')
  workers.takesBytes = 10
  const client = await bench.joined('doc')
  records.hold(head)
  client.send(syncFrame(2, new Uint8Array(20)))
  await client.settled()
  workers.takesBytes = Number.POSITIVE_INFINITY
  const before = workers.posted.length
  workers.emit({ kind: 'reload', room: workers.of('join')[0]?.room ?? 0, without: 0 })
  expect(workers.posted.slice(before).map(({ kind }) => kind)).toEqual(['open', 'watch', 'join', 'sync'])
})

it('[C8] [WS-29] a resync that is due while a room moves is sent by the next home', async () => {
  await using bench = await startBench({ settings: { writes: { ratePerSec: 20, burst: 1 } } })
  const { workers } = bench
  bench.store.put(headOf('doc'))
  workers.jobs.set('hand-over', 'hang')
  const [ann, bob] = [await bench.joined('doc'), await bench.joined('doc')]
  await bob.settled()
  const room = workers.of('join')[0]?.room ?? 0
  workers.misplace(room)
  for (let i = 0; i < 3; i++) ann.send(EDIT)
  await until(() => workers.of('resync').length === 1)
  workers.emit({ kind: 'reload', room, without: 0 })
  const [, , again, other] = workers.of('join')
  expect([again?.resumes, other?.resumes]).toEqual([false, true])
})

it('[C1] [C6] a room that is opened again moves before a kept write that exceeds the bounds of its home', async () => {
  await using bench = await startBench()
  const { workers } = bench
  bench.store.put(headOf('doc'))
  workers.settles = false
  workers.jobs.set('hand-over', 'hang')
  const client = await bench.joined('doc')
  client.send(EDIT)
  client.send(syncFrame(2, new Uint8Array(20)))
  await client.settled()
  expect(workers.of('sync')).toHaveLength(2)
  workers.takesBytes = 10
  workers.end(null)
  await client.settled()
  expect(workers.of('sync').map(({ ordinal }) => ordinal)).toEqual([1, 2, 1])
  expect(workers.of('job').map(({ task }) => task.kind)).toEqual(['hand-over'])
})
