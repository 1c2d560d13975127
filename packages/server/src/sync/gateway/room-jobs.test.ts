import { expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { headOf, TestStore } from '../testing/gateway-bench.ts'
import { ScriptedWorkers } from '../testing/scripted-workers.ts'
import { openRooms } from './rooms.ts'

function openAlone() {
  const time = manualTime()
  const workers = new ScriptedWorkers()
  return { time, workers, rooms: openRooms({ workers, store: new TestStore(), ...time, log: silentLogger }) }
}

it('[LIFE-17] a document that its home closes after the eviction has timed out is loaded again, and a later JOIN_DOC finds it open', async () => {
  const { rooms, time, workers } = openAlone()
  const head = headOf('doc')
  await rooms.enter(head)
  workers.jobs.set('evict', 'hang')
  await time.advance(31_000)
  const evictions = () => workers.of('job').filter(({ task }) => task.kind === 'evict')
  expect(evictions()).toHaveLength(1)
  // The store does not answer for more than 30 s.
  await time.advance(30_000)
  expect(rooms.isResident(head)).toBe(true)
  expect(workers.of('open')).toHaveLength(1)
  workers.emit({ kind: 'done', job: evictions()[0]?.job ?? 0, outcome: { kind: 'evicted' } })
  expect((await rooms.enter(head)).kind).toBe('open')
  expect(workers.of('open')).toHaveLength(2)
})

it('[LIFE-17] an eviction that fails after it has timed out leaves the document in memory', async () => {
  const { rooms, time, workers } = openAlone()
  await rooms.enter(headOf('doc'))
  workers.jobs.set('evict', 'hang')
  await time.advance(61_000)
  const [eviction] = workers.of('job')
  workers.emit({ kind: 'done', job: eviction?.job ?? 0, outcome: { kind: 'busy' } })
  await time.advance(1)
  expect(rooms.isResident(headOf('doc'))).toBe(true)
  expect(workers.of('open')).toHaveLength(1)
})
