import { expect, it } from 'vitest'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { silentLogger } from '../../kernel/log.ts'
import { headOf, startBench, TestStore } from '../testing/gateway-bench.ts'
import { ScriptedWorkers } from '../testing/scripted-workers.ts'
import { openRooms } from './rooms.ts'
import { TAG } from '@docrelay/protocol/frames'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

it('[PERM-2] news of the sharing changes rights only when it is newer than the sharing with which the room was opened', async () => {
  await using bench = await startBench()
  const shared = headOf('doc', { version: 5, sharedWith: [{ userId: 'vic', permission: 'edit' }] })
  bench.store.put(shared)
  const client = await bench.joined('doc', { sub: 'vic', role: 'member' })
  bench.rooms.sharingChanged({ ...shared, version: 4, sharedWith: [] })
  await pause(50)
  expect(client.jsonOf(TAG.error)).toEqual([])
  bench.rooms.sharingChanged({ ...shared, key: shared.key + 1, version: 9, sharedWith: [] })
  await pause(50)
  expect(client.jsonOf(TAG.error)).toEqual([])
  bench.rooms.sharingChanged({ ...shared, version: 6, sharedWith: [] })
  expect((await client.nextJson(TAG.error))['error']).toMatch(/^ERR_VIEW_FORBIDDEN/)
  bench.rooms.sharingChanged(shared)
})

it('[WS-22] [PERM-2] a person with new access keeps it when older news of the sharing arrives after a JOIN that read the newest', async () => {
  await using bench = await startBench()
  const head = bench.store.put(headOf('doc', { version: 1 }))
  await bench.joined('doc', { sub: 'ann' })
  bench.store.put({ ...head, version: 3, sharedWith: [{ userId: 'vic', permission: 'edit' }] })
  const vic = await bench.joined('doc', { sub: 'vic', role: 'member' })
  bench.rooms.sharingChanged({ ...head, version: 2, sharedWith: [] })
  await vic.settled()
  expect(vic.jsonOf(TAG.error)).toEqual([])
  bench.rooms.sharingChanged({ ...head, version: 4, sharedWith: [] })
  expect((await vic.nextJson(TAG.error))['error']).toMatch(/^ERR_VIEW_FORBIDDEN/)
})

it('[WS-22] [PERM-2] a JOIN that read an older sharing than the room knows reads the document again and uses the newest', async () => {
  await using bench = await startBench()
  const shared = bench.store.put(headOf('doc', { version: 1, sharedWith: [{ userId: 'vic', permission: 'edit' }] }))
  await bench.joined('doc', { sub: 'ann' })
  const newest = { ...shared, version: 2, sharedWith: [] }
  bench.rooms.sharingChanged(newest)
  let asked = 0
  bench.store.answer = async () => ({ kind: 'document', head: ++asked === 1 ? shared : newest })
  const vic = await bench.authed({ sub: 'vic', role: 'member' })
  vic.join('doc')
  expect((await vic.nextJson(TAG.error))['error']).toMatch(/^ERR_VIEW_FORBIDDEN/)
  expect([asked, bench.workers.of('join').length]).toEqual([2, 1])
})

it('[WS-54] news of a deletion drops the deleted document, and no later document with the same id', async () => {
  const workers = new ScriptedWorkers()
  const rooms = openRooms({ workers, store: new TestStore(), ...manualTime(), log: silentLogger })
  const head = headOf('doc')
  await rooms.enter(head)
  await rooms.news.dropLife({ ...head, key: head.key - 1 })
  expect(rooms.isResident(head)).toBe(true)
  await rooms.news.dropLife({ ...head, id: 'other' })
  expect(workers.of('job')).toEqual([])
  await rooms.news.dropLife(head)
  expect(rooms.isResident(head)).toBe(false)
  expect(workers.of('job').map(({ task }) => task.kind)).toEqual(['drop'])
})

it('[WS-53] an event of a change waits only until the frames of the change were sent to the members', async () => {
  await using bench = await startBench()
  const head = headOf('doc', { lastSeq: 7 })
  bench.store.put(head)
  expect(bench.rooms.news.handedOut(head, 9)).toBe(null)
  await bench.joined('doc')
  const { room } = bench.workers.of('open')[0] as { readonly room: number }
  // In a relay of one node the rooms report no sequence, and events of its documents do not wait.
  expect(bench.rooms.news.handedOut(head, 9)).toBe(null)
  const updates = (durableSeq: number) =>
    bench.workers.emit({ kind: 'updates', room, updates: [Uint8Array.of(0, 0)], senders: [0], durableSeq })
  updates(7)
  expect(bench.rooms.news.handedOut(head, 7)).toBe(null)
  expect(bench.rooms.news.handedOut({ ...head, key: head.key + 1 }, 9)).toBe(null)
  const order: string[] = []
  const [eight, nine] = [8, 9].map((seq) => bench.rooms.news.handedOut(head, seq)?.then(() => order.push(`through ${seq}`)))
  await pause(30)
  expect(order).toEqual([])
  updates(8)
  await eight
  expect(order).toEqual(['through 8'])
  updates(12)
  await nine
  expect(order).toEqual(['through 8', 'through 9'])
})

it('[WS-53] [WS-54] an event stops waiting when the document is dropped, and after 2 s at the latest', async () => {
  await using bench = await startBench()
  const head = headOf('doc')
  bench.store.put(head)
  await bench.joined('doc')
  const { room } = bench.workers.of('open')[0] as { readonly room: number }
  bench.workers.emit({ kind: 'updates', room, updates: [Uint8Array.of(0, 0)], senders: [0], durableSeq: 1 })
  const startedAt = performance.now()
  await bench.rooms.news.handedOut(head, 5)
  expect(performance.now() - startedAt).toBeGreaterThan(1_900)
  const waiting = bench.rooms.news.handedOut(head, 5)
  expect(waiting).not.toBe(null)
  await bench.rooms.news.dropLife(head)
  const droppedAt = performance.now()
  await waiting
  expect(performance.now() - droppedAt).toBeLessThan(1_000)
})
