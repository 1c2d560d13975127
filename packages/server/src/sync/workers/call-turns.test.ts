import { describe, expect, it } from 'vitest'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import type { RoomTurn } from '../room/room-host.ts'
import { CallTurns } from './call-turns.ts'

/** Creates the calls of one workspace. The test sets the debt of the workspace and grants its turns one by one. */
function callsOf(owedMs: number) {
  const time = manualTime()
  const asked: RoomTurn[] = []
  const debt = { ms: owedMs }
  const calls = new CallTurns({
    turns: { ask: (turn) => asked.push(turn), isInDebt: () => debt.ms > 100, workspaceOwesMs: () => debt.ms },
    timers: time.timers,
  })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const start = (name: string) =>
    calls.run('ws', () => {
      begun.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  const turn = async () => {
    asked.shift()?.run(0)
    await time.advance(0)
  }
  return { time, asked, debt, begun, ends, start, turn }
}

describe('calls that wait for their turn', () => {
  it('[WS-12] calls run one at a time and in order, and after each call the workspace rests for as long as the call worked', async () => {
    const { time, asked, debt, begun, ends, start, turn } = callsOf(500)
    const answers = [start('a'), start('b')]
    expect(asked).toHaveLength(1)
    await turn()
    expect([begun, asked.length]).toEqual([['a'], 0])
    debt.ms += 300
    ends.get('a')?.()
    expect(await answers[0]).toBe('a')
    await time.advance(299)
    expect(asked).toHaveLength(0)
    await time.advance(1)
    await turn()
    expect(begun).toEqual(['a', 'b'])
  })

  it('[WS-12] the next call runs without a rest once the debt is small', async () => {
    const { debt, begun, ends, start, turn } = callsOf(500)
    const first = start('a')
    void start('b')
    await turn()
    debt.ms = 50
    ends.get('a')?.()
    await first
    await turn()
    expect(begun).toEqual(['a', 'b'])
  })

  it('[WS-12] when a call gives up after 20 s, the turn that was requested for it goes to the next call', async () => {
    const { time, asked, begun, start, turn } = callsOf(500)
    const given = start('a')
    await time.advance(10_000)
    void start('b')
    await time.advance(10_000)
    expect(await given).toBe('busy')
    expect(asked).toHaveLength(1)
    await turn()
    expect(begun).toEqual(['b'])
  })
})
