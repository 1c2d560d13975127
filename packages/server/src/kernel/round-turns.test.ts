import { expect, it } from 'vitest'
import { createRoundTurns } from './round-turns.ts'

/** Makes turns whose rounds the test starts. */
function rounds(perRound: number) {
  const due: (() => void)[] = []
  const ran: string[] = []
  const turns = createRoundTurns({ perRound, soon: (work) => due.push(work) })
  return {
    ran,
    ask: (holder: string, name = holder) => turns.run(holder, () => ran.push(name)),
    /** Runs the next round and returns the names of the work that ran in it. */
    next(): readonly string[] {
      const before = ran.length
      due.shift()?.()
      return ran.slice(before)
    },
    due,
  }
}

it('[H1] the first tasks of a round run at once, the others in later rounds, a fixed number in each', () => {
  const { ask, ran, next } = rounds(2)
  for (const name of ['1', '2', '3', '4', '5']) ask('noisy', name)
  expect(ran).toEqual(['1', '2'])
  expect([next(), next(), next()]).toEqual([['3', '4'], ['5'], []])
})

it('[H1] a holder that arrives last waits for one turn of each other holder, not for all their tasks', () => {
  const { ask, next } = rounds(2)
  for (let i = 0; i < 10; i++) ask('noisy')
  ask('quiet')
  expect(next()).toEqual(['noisy', 'quiet'])
})

it('[H1] without waiting tasks no round is scheduled', () => {
  const { ask, next, due } = rounds(2)
  ask('one')
  next()
  next()
  expect(due).toEqual([])
})

it('[H1] a task that throws does not stop the others', () => {
  const due: (() => void)[] = []
  const ran: string[] = []
  const turns = createRoundTurns({ perRound: 1, soon: (work) => due.push(work) })
  turns.run('a', () => ran.push('first'))
  turns.run('a', () => {
    throw new Error('bad work')
  })
  turns.run('b', () => ran.push('last'))
  expect(() => due.shift()?.()).toThrow('bad work')
  while (due.length > 0) due.shift()?.()
  expect(ran).toEqual(['first', 'last'])
})
