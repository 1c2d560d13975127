import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { headOf, startBench, TestStore } from '../testing/gateway-bench.ts'
import { MemoryOwnership } from '../testing/memory-ownership.ts'
import { ScriptedWorkers } from '../testing/scripted-workers.ts'
import { until } from '../testing/worker-harness.ts'
import type { EdgeEnd, RoomEdge } from './room-edge.ts'
import { openRooms } from './rooms.ts'

const [HERE, OTHER] = [1, 2]
const EDIT = syncFrame(2, Uint8Array.of(0, 0))

/** A node that owns a document and hands it over to another node, which has connections in it. Two people are joined here. */
async function handingOver() {
  const ownership = new MemoryOwnership({ clock: systemClock })
  const homes = { onLost() {}, isFull: () => false, onDrained() {} }
  const nodes = { ownership: ownership.of(HERE), links: { peers: () => [OTHER] }, homes }
  const bench = await startBench({ rooms: { nodes } })
  const { workers, rooms } = bench
  const head = bench.store.put(headOf('doc'))
  workers.settles = false
  workers.broadcasts = false
  workers.jobs.set('hand-over', 'hang')
  const good = await bench.joined('doc', { sub: 'ann' }, ['ack'])
  const bad = await bench.joined('doc', { sub: 'bob' }, ['ack'])
  good.send(EDIT)
  bad.send(EDIT)
  await Promise.all([good.settled(), bad.settled()])
  const [mine, theirs] = workers.of('sync')
  const entered = await rooms.enter(head)
  if (mine === undefined || theirs === undefined || entered.kind !== 'open') throw new Error('the document is not open')
  const ends: EdgeEnd[] = []
  const edge: RoomEdge = {
    isWatching: false,
    edge: OTHER,
    members: 1,
    updates() {},
    awareness() {},
    changed() {},
    mended() {},
    ended: (end) => void ends.push(end),
  }
  rooms.hosted.addEdge(entered.room, edge)
  const handing = rooms.departures.handOver()
  await until(() => workers.of('job').length === 1)
  const [{ job } = { job: 0 }] = workers.of('job')
  workers.posted.length = 0
  return { bench, workers, good, bad, mine, theirs, ends, handing, job, owner: () => ownership.ownerOf(head.key)?.owner }
}

it('[C10] [LIFE-28] a document that breaks while it is handed over opens again here, without the writes of the connection that broke it', async () => {
  const { bench, workers, good, bad, mine, theirs, ends, handing, job, owner } = await handingOver()
  await using _ = bench
  workers.emit({ kind: 'expel', connection: theirs.connection, code: 1003, word: 'protocol' })
  workers.emit({ kind: 'reload', room: mine.room, without: theirs.connection })
  workers.emit({ kind: 'done', job, outcome: { kind: 'failed', code: 'NOT_PERSISTED', message: 'The live document ended.' } })
  await handing
  expect(await bad.closed).toEqual({ code: 1003, reason: 'protocol' })
  expect(ends).toEqual([{ kind: 'reload', without: theirs.connection, resumes: false }])
  expect(workers.of('open').map(({ room }) => room)).toEqual([mine.room])
  expect(workers.of('sync')).toEqual([mine])
  expect(owner()).toBe(HERE)
  workers.emit({ kind: 'settled', connection: mine.connection, join: mine.join, ordinal: mine.ordinal })
  expect((await good.next(TAG.syncAck))[1]).toBe(mine.ordinal)
})

it('[LIFE-28] a document that was closed for its hand-over is opened at the next owner and not here', async () => {
  const { bench, workers, mine, ends, handing, job, owner } = await handingOver()
  await using _ = bench
  workers.emit({ kind: 'reload', room: mine.room, without: 0 })
  workers.emit({ kind: 'done', job, outcome: { kind: 'evicted' } })
  await handing
  expect([owner(), ends]).toEqual([OTHER, [{ kind: 'moved' }]])
  await until(() => workers.openedIn.length === 2)
  expect(workers.openedIn.map((home) => home < 0)).toEqual([false, true])
})

it('[LIFE-28] a document that is not handed over, because calls run in it, stays open here', async () => {
  const { bench, workers, ends, handing, job, owner } = await handingOver()
  await using _ = bench
  workers.jobs.set('hand-over', { kind: 'busy' })
  workers.emit({ kind: 'done', job, outcome: { kind: 'busy' } })
  await handing
  expect([owner(), ends, workers.of('open')]).toEqual([HERE, [], []])
})

it('[LIFE-8] [LIFE-25] a document that was deleted and created again gets one room, even if two callers open it while the old room closes', async () => {
  const time = manualTime()
  const workers = new ScriptedWorkers()
  const rooms = openRooms({ workers, store: new TestStore(), ...time, log: silentLogger })
  await rooms.enter(headOf('doc'))
  workers.jobs.set('drop', 'hang')
  const again = headOf('doc')
  const entering = [rooms.enter(again), rooms.enter(again)]
  await time.advance(10)
  workers.emit({ kind: 'done', job: workers.of('job')[0]?.job ?? 0, outcome: { kind: 'evicted' } })
  const entered = await Promise.all(entering)
  expect(entered).toMatchObject([
    { kind: 'open', room: { key: again.key } },
    { kind: 'open', room: { key: again.key } },
  ])
  expect(workers.of('open').filter(({ key }) => key === again.key)).toHaveLength(1)
})
