import { describe, expect, it } from 'vitest'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import type { RoomTask } from '../worker-messages.ts'
import { put, RoomFixture } from '../testing/room-fixture.ts'
import { TestWorker, until } from '../testing/worker-harness.ts'

const at = new RoomFixture()
/** A second workspace that works a little. A workspace counts as indebted only while another workspace works too. */
const QUIET = ['quiet', 1] as const

/** A worker whose clock stands still, and which handles further turns only when the test calls `others`. */
async function slowWorker() {
  const time = manualTime()
  const later: (() => void)[] = []
  const worker = new TestWorker(at.storage, {
    clock: time.clock,
    timers: time.timers,
    processorMs: () => 0,
    soon: (work) => later.push(work),
  })
  const { head, room } = await at.openRoom(worker)
  const owes = (...workspaces: (readonly [string, number])[]) => worker.host.receive([{ kind: 'spent', workspaces }])
  const outcomes: string[] = []
  const start = (name: string, task: RoomTask) =>
    void worker.job(room, task).then((outcome) => {
      const refused = outcome.kind === 'failed' ? ` ${outcome.code} ${JSON.stringify(outcome.details)}` : ''
      outcomes.push(`${name} ${outcome.kind}${refused}`)
    })
  const isDone = async (count: number) => {
    await until(() => {
      void time.advance(5)
      return outcomes.length >= count
    })
    return outcomes
  }
  const others = () => {
    for (const work of later.splice(0)) work()
  }
  return { time, worker, room, head, owes, start, others, isDone, outcomes, later }
}

describe('PUTs and tool calls of a workspace in debt', () => {
  it('[WS-12] a PUT waits until the messages of other workspaces were handled', async () => {
    const { owes, start, others, isDone, outcomes, head, later, time } = await slowWorker()
    owes(['ws', 3_000], QUIET)
    start('put', { kind: 'put', request: put(head, { name: 'late' }) })
    await time.advance(50)
    expect([outcomes, later.length]).toEqual([[], 1])
    others()
    expect(await isDone(1)).toEqual(['put put'])
  })

  it('[WS-12] a burst of calls of a workspace that owes little, or that works alone, runs at once', async () => {
    for (const debts of [[['ws', 90], QUIET] as const, [['ws', 4_000]] as const]) {
      const { owes, start, isDone, head, later } = await slowWorker()
      owes(...debts)
      for (let i = 0; i < 20; i++) start(`put ${i}`, { kind: 'put', request: put(head, { name: `n${i}` }) })
      expect(await isDone(20)).toEqual(Array.from({ length: 20 }, (_, i) => `put ${i} put`))
      expect(later).toEqual([])
    }
  })

  it('[WS-12] a call whose turn does not come within 20 s fails with 503 and a retry time, and does nothing', async () => {
    const { owes, start, time, isDone, outcomes, head, others } = await slowWorker()
    owes(['ws', 1e9], QUIET)
    start('put', { kind: 'put', request: put(head, { name: 'never' }) })
    for (let second = 1; second <= 20; second++) {
      expect(outcomes).toEqual([])
      owes(QUIET)
      await time.advance(1_000)
    }
    expect(await isDone(1)).toEqual(['put failed UNAVAILABLE {"retryAfterMs":5000}'])
    others()
    const stored = await at.storage.documents.state({ workspaceId: 'ws', id: head.id })
    expect(stored).toMatchObject({ head: { version: head.version } })
  })

  it('[WS-12] [LIFE-17] a document stays resident while a call waits for its turn', async () => {
    const { owes, start, others, isDone, head, time } = await slowWorker()
    owes(['ws', 3_000], QUIET)
    start('put', { kind: 'put', request: put(head, { name: 'late' }) })
    start('evict', { kind: 'evict' })
    expect(await isDone(1)).toEqual(['evict busy'])
    others()
    await time.advance(1)
    expect(await isDone(2)).toEqual(['evict busy', 'put put'])
  })
})
