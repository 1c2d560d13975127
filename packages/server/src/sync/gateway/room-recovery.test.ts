import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import type { Ownership } from '../ownership.port.ts'
import { headOf, startBench } from '../testing/gateway-bench.ts'
import { MemoryOwnership } from '../testing/memory-ownership.ts'
import { until } from '../testing/worker-harness.ts'
import { RoomRecovery } from './room-recovery.ts'

const MINUTE_MS = 60_000
const EDIT = syncFrame(2, Uint8Array.of(0, 0))

it('[LIFE-26] a document that seems to end nodes is not opened for 60 s, at most once in ten minutes, and other documents are not affected', async () => {
  const time = manualTime()
  const recovery = new RoomRecovery({ post: () => {}, clock: time.clock, log: silentLogger, isWatched: () => false })
  const [bad, good] = ['bad', 'good'].map((id) => ({ workspaceId: 'w', id })) as [Ref, Ref]
  expect(recovery.isBarred(bad)).toBe(false)
  expect(recovery.bar(bad)).toBe(true)
  expect([recovery.isBarred(bad), recovery.isBarred(good)]).toEqual([true, false])
  await time.advance(MINUTE_MS - 1)
  expect(recovery.isBarred(bad)).toBe(true)
  await time.advance(1)
  expect([recovery.isBarred(bad), recovery.bar(bad), recovery.isBarred(bad)]).toEqual([false, false, false])
  await time.advance(9 * MINUTE_MS)
  expect([recovery.bar(bad), recovery.isBarred(bad)]).toEqual([true, true])
})

it('[C6] a document that ends a worker for the third time gets no other worker, and its sockets are closed', async () => {
  await using bench = await startBench()
  bench.store.put(headOf('doc'))
  bench.workers.settles = false
  const client = await bench.joined('doc', {}, ['ack'])
  client.send(EDIT)
  await client.settled()
  const [{ room } = { room: 0 }] = bench.workers.of('sync')
  for (let at = 0; at < 3; at++) {
    bench.workers.posted.length = 0
    bench.workers.end({ room, connection: 0, join: 0, ordinal: 0 })
  }
  expect(bench.workers.posted).toEqual([])
  expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_UNAVAILABLE' })
  expect(await client.closed).toMatchObject({ code: 1012 })
})

it('[C6] the sender of the write that ends a worker for the third time gets ERR_BAD_UPDATE and 1003, and the others 1012', async () => {
  await using bench = await startBench()
  bench.store.put(headOf('doc'))
  bench.workers.settles = false
  bench.workers.broadcasts = false
  const other = await bench.joined('doc', { sub: 'ann' }, ['ack'])
  const sender = await bench.joined('doc', { sub: 'bob' }, ['ack'])
  sender.send(EDIT)
  await sender.settled()
  const [running] = bench.workers.of('sync')
  if (running === undefined) throw new Error('nothing was handed over')
  for (let at = 0; at < 2; at++) bench.workers.end({ room: running.room, connection: 0, join: 0, ordinal: 0 })
  bench.workers.posted.length = 0
  bench.workers.end(running)
  expect(bench.workers.posted).toEqual([])
  expect(await sender.nextJson(TAG.error)).toMatchObject({ code: 'ERR_BAD_UPDATE', frame: 1 })
  expect(await sender.closed).toEqual({ code: 1003, reason: 'protocol' })
  expect(await other.nextJson(TAG.error)).toMatchObject({ code: 'ERR_UNAVAILABLE' })
  expect(await other.closed).toMatchObject({ code: 1012 })
  // Each end of a worker counts as one refused update.
  expect(bench.gateway.metrics().counters.badUpdates).toBe(3)
})

it('[C6] the write that ended a worker is not sent to a room again, even if the store answers only at a later try', async () => {
  const time = manualTime()
  let isDown = false
  const owned = new MemoryOwnership({ clock: systemClock }).of(1)
  const ownership: Ownership = {
    ...owned,
    acquire: async (key, seen) => {
      if (isDown) throw new Error('the store does not answer')
      return owned.acquire(key, seen)
    },
  }
  const homes = { onLost() {}, isFull: () => false, onDrained() {} }
  await using bench = await startBench({ rooms: { ...time, nodes: { ownership, links: { peers: () => [] }, homes } } })
  const { workers } = bench
  bench.store.put(headOf('doc'))
  workers.settles = false
  workers.broadcasts = false
  const client = await bench.joined('doc', {}, ['ack'])
  client.send(EDIT)
  await client.settled()
  const [running] = workers.of('sync')
  if (running === undefined) throw new Error('nothing was handed over')
  // An append fails. Before the room is open again, the worker ends and the store stops answering.
  workers.openOutcome = 'hang'
  workers.emit({ kind: 'reset', room: running.room, writers: [], clocks: [] })
  await until(() => workers.of('open').length === 2)
  isDown = true
  workers.posted.length = 0
  workers.end(running)
  expect(await client.closed).toEqual({ code: 1003, reason: 'protocol' })
  await time.advance(5_500)
  isDown = false
  await time.advance(1_000)
  expect(workers.posted.map(({ kind }) => kind)).toEqual(['open', 'join', 'leave'])
})

interface Ref {
  readonly workspaceId: string
  readonly id: string
}
