import { describe, expect, it } from 'vitest'
import type { TaskOutcome, TaskPool } from '../../kernel/task-pool.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { LoadSlots } from './room-host.ts'
import { openScratchPool, type ScratchResult, type ScratchTask } from './room-scratch.ts'

type Outcome = TaskOutcome<ScratchResult>

/** A pool that keeps every task until the test answers it. `owed`: what the workspaces owe at the start, in ms. */
function scripted(owed: Readonly<Record<string, number>> = {}) {
  const time = manualTime()
  const debts = new Map(Object.entries(owed))
  const owesMs = (workspaceId: string) => debts.get(workspaceId) ?? 0
  const running: { readonly task: ScratchTask; readonly answer: (outcome: Outcome) => void }[] = []
  const pool: TaskPool<ScratchTask, ScratchResult> = {
    run: ({ task }) => new Promise((answer) => running.push({ task, answer })),
    [Symbol.asyncDispose]: async () => undefined,
  }
  const charge = (workspaceId: string, tookMs: number) => void debts.set(workspaceId, owesMs(workspaceId) + tookMs)
  const scratch = openScratchPool({ slots: new LoadSlots(1, owesMs), clock: time.clock, charge, pool })
  return { time, debts, running, scratch }
}

const took = (tookMs: number): Outcome => ({ kind: 'done', result: { passed: true, tookMs } })
const NOTHING = new Uint8Array()

describe('scratch tasks of several workspaces', () => {
  it('[C12] [G9] one scratch task runs at a time, and the next task belongs to the workspace with the least debt', async () => {
    const { time, running, scratch } = scripted({ quiet: 30 })
    const ended: string[] = []
    const ask = (workspaceId: string) =>
      void scratch.loadMs(workspaceId, NOTHING).then((ms) => ended.push(`${workspaceId} ${ms}`))
    for (const workspaceId of ['noisy', 'noisy', 'noisy', 'quiet', 'new']) ask(workspaceId)
    for (const [turn, ms] of [40, 10, 25, 40, 40].entries()) {
      await time.advance(0)
      expect(running).toHaveLength(turn + 1)
      running[turn]?.answer(took(ms))
    }
    await time.advance(0)
    // The order follows from the debts: after its first task `noisy` owes 40, `quiet` owes 30 and `new` owes nothing.
    expect(ended).toEqual(['noisy 40', 'new 10', 'quiet 25', 'noisy 40', 'noisy 40'])
  })

  it('[G9] a scratch task is charged its processor time; a failed task the elapsed time, at most its deadline', async () => {
    const { time, debts, running, scratch } = scripted()
    const next = async (outcome: Outcome, passedMs = 0) => {
      await time.advance(passedMs)
      running.at(-1)?.answer(outcome)
    }
    const trial = scratch.trial('w', NOTHING, NOTHING)
    await next(took(12), 500)
    expect(await trial).toBe(true)
    expect(debts.get('w')).toBe(12)
    const snapshot = scratch.verify('w', new Uint8Array(1024 * 1024), NOTHING)
    await next({ kind: 'done', result: { passed: false, tookMs: 8 } })
    expect(await snapshot).toBe('differs')
    expect(debts.get('w')).toBe(20)
    const failed = scratch.loadMs('w', NOTHING)
    await next({ kind: 'failed', detail: 'out of memory' }, 700)
    expect(await failed).toBeNull()
    expect(debts.get('w')).toBe(720)
    const overdue = scratch.loadMs('x', NOTHING)
    await next({ kind: 'overdue' }, 60_000)
    expect(await overdue).toBeNull()
    expect(debts.get('x')).toBe(2_000)
  })
})
