import { expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { headOf, TestStore } from '../testing/gateway-bench.ts'
import { ScriptedWorkers } from '../testing/scripted-workers.ts'
import { openRooms } from './rooms.ts'

it('[LIFE-8] [LIFE-25] a document that was deleted and created again has one room, also when two open it while the room of the former one is closed', async () => {
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
