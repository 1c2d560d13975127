import { describe, expect, it } from 'vitest'
import type { Once } from '../documents/once.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { createReplays } from './replays.ts'
import { failure, success } from './results.ts'
import type { ToolFailure, ToolSuccess } from './tool.ts'

const CALL = { caller: 'ann', tool: 'insert_block', requestId: 'r', args: { docId: 'd', fields: [{ a: 1, b: 2 }] } }

/** Makes a `run` function that counts its calls and gives the listed outcomes one after another. */
function runs(...outcomes: readonly (ToolSuccess | ToolFailure | Error)[]) {
  let count = 0
  return {
    get count() {
      return count
    },
    run: async () => {
      const outcome = outcomes[Math.min(count++, outcomes.length - 1)] as ToolSuccess | ToolFailure | Error
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
}

const done = success({ id: 'x' })
const again = success({ id: 'x', replayed: true })

describe('repeating a call', () => {
  it('[TOOL-22] a repeat within ten minutes gets the first success, a later one runs again', async () => {
    const time = manualTime()
    const replays = createReplays(time.clock)
    const first = runs(done)
    expect(await replays.once(CALL, first.run)).toEqual(done)
    await time.advance(599_999)
    expect(await replays.once({ ...CALL, args: { fields: [{ b: 2, a: 1 }], docId: 'd' } }, first.run)).toEqual(again)
    await time.advance(1)
    expect(await replays.once(CALL, first.run)).toEqual(done)
    expect(first.count).toBe(2)
  })

  it('[TOOL-22] only a call with the same caller, tool and arguments is a repeat', async () => {
    const replays = createReplays(manualTime().clock)
    const first = runs(done)
    await replays.once(CALL, first.run)
    for (const other of [{ caller: 'bob' }, { tool: 'add_prose_page' }, { requestId: 's' }])
      expect(await replays.once({ ...CALL, ...other }, first.run)).toEqual(done)
    expect(await replays.once({ ...CALL, args: { docId: 'e' } }, first.run)).toMatchObject({
      code: 'ERR_REQUEST_ID_REUSED',
      facts: { requestId: 'r' },
    })
    expect(first.count).toBe(4)
  })

  it('[TOOL-22] a repeat waits for a running first call, and runs itself when that call failed or was aborted', async () => {
    for (const fails of [failure('ERR_LAST_PAGE', 'it is the last'), new Error('given up')]) {
      const replays = createReplays(manualTime().clock)
      const order = runs(fails, done)
      const all = await Promise.allSettled([1, 2, 3, 4].map(() => replays.once(CALL, order.run)))
      const [first, ...others] = all
      expect(first).toMatchObject(fails instanceof Error ? { status: 'rejected' } : { value: fails })
      expect(others.map((one) => one.status === 'fulfilled' && one.value)).toEqual([done, again, again])
      expect(order.count).toBe(2)
    }
  })

  it('[TOOL-22] the store keeps a digest of caller, tool and request id', async () => {
    const replays = createReplays(manualTime().clock)
    const named: Once[] = []
    const run = async (once: Once) => (named.push(once), failure('ERR_LAST_PAGE', 'it is the last'))
    const others = [{ args: { docId: 'e' } }, { caller: 'bob' }, { tool: 'add_prose_page' }, { requestId: 's' }]
    for (const call of [
      CALL,
      { ...CALL, args: { fields: [{ b: 2, a: 1 }], docId: 'd' } },
      ...others.map((one) => ({ ...CALL, ...one })),
    ])
      await replays.once(call, run)
    const [first, same, elsewhere] = named
    expect(first).toEqual({
      requestId: 'r',
      request: expect.stringMatching(/^\S{44}$/),
      digest: expect.stringMatching(/^\S{44}$/),
    })
    expect(same).toEqual(first)
    expect([elsewhere?.request, elsewhere?.digest === first?.digest]).toEqual([first?.request, false])
    expect(new Set(named.map(({ request }) => request)).size).toBe(4)
  })

  it('[TOOL-22] memory keeps an answer from the store no longer than the store does', async () => {
    const replays = createReplays(manualTime().clock)
    const stored = runs(again)
    expect(await Promise.all([1, 2].map(() => replays.once(CALL, stored.run)))).toEqual([again, again])
    expect(await replays.once(CALL, stored.run)).toEqual(again)
    expect(stored.count).toBe(3)
  })

  it('[TOOL-22] when the memory is full it forgets the oldest calls, and their repeats run again', async () => {
    const replays = createReplays(manualTime().clock, 4_000)
    const large = runs(success({ text: 'x'.repeat(1_000) }))
    for (const requestId of ['a', 'b', 'c', 'd', 'e']) await replays.once({ ...CALL, requestId }, large.run)
    expect(await replays.once({ ...CALL, requestId: 'e' }, large.run)).toMatchObject({ structured: { replayed: true } })
    expect(large.count).toBe(5)
    await replays.once({ ...CALL, requestId: 'a' }, large.run)
    expect(large.count).toBe(6)
  })
})
