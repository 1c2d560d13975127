import { expect, it } from 'vitest'
import { createFairTurns, createLanes } from './fair-turns.ts'

/** Runs tasks that the test ends, and records the order in which they began. */
function recorder(turns: ReturnType<typeof createFairTurns>) {
  const began: string[] = []
  const finish: (() => void)[] = []
  const ask = (holder: string, name: string, givenUp?: AbortSignal) =>
    turns.run(
      holder,
      () => {
        began.push(name)
        return new Promise<void>((resolve) => finish.push(resolve))
      },
      givenUp,
    )
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    began,
    ask,
    settle,
    async next() {
      finish.shift()?.()
      await settle()
    },
  }
}

it('[C11] holders get turns in rotation, however many tasks one of them has waiting', async () => {
  const { began, ask, next, settle } = recorder(createFairTurns({ slots: 1, perHolder: 1 }))
  for (let i = 0; i < 4; i++) void ask('a', `a${i}`)
  for (let i = 0; i < 2; i++) void ask('b', `b${i}`)
  void ask('c', 'c0')
  await settle()
  for (let i = 0; i < 7; i++) await next()
  expect(began).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3'])
})

it('[C11] a holder uses at most its own slots, so that another one starts at once', async () => {
  const { began, ask, next, settle } = recorder(createFairTurns({ slots: 2, perHolder: 1 }))
  for (let i = 0; i < 3; i++) void ask('a', `a${i}`)
  await settle()
  expect(began).toEqual(['a0'])
  void ask('b', 'b0')
  await settle()
  expect(began).toEqual(['a0', 'b0'])
  await next()
  expect(began).toEqual(['a0', 'b0', 'a1'])
})

it('[C11] a task aborted while it waits never runs and delays nobody', async () => {
  const turns = createFairTurns({ slots: 1, perHolder: 1 })
  const { began, ask, next, settle } = recorder(turns)
  const controller = new AbortController()
  void ask('a', 'a0')
  const given = ask('a', 'a1', controller.signal)
  void ask('a', 'a2')
  await settle()
  controller.abort(new Error('left'))
  await expect(given).rejects.toThrow('left')
  await expect(ask('a', 'a3', controller.signal)).rejects.toThrow('left')
  expect(turns.waiting('a')).toBe(1)
  await next()
  expect(began).toEqual(['a0', 'a2'])
})

it('[C11] a failing task ends its turn', async () => {
  const turns = createFairTurns({ slots: 1, perHolder: 1 })
  await expect(turns.run('a', () => Promise.reject(new Error('bad')))).rejects.toThrow('bad')
  await expect(
    turns.run('a', () => {
      throw new Error('thrown')
    }),
  ).rejects.toThrow('thrown')
  expect(await turns.run('a', async () => 1)).toBe(1)
})

it('[C11] a light task starts beside heavy ones of any holder', async () => {
  const lanes = createLanes({ slots: 2, perHolder: 2 })
  const began: string[] = []
  const finish: (() => void)[] = []
  const ask = (holder: string, name: string, heavy: boolean) =>
    lanes.run({ holder, heavy }, () => {
      began.push(name)
      return new Promise<void>((resolve) => finish.push(resolve))
    })
  for (let i = 0; i < 3; i++) void ask('a', `heavy a${i}`, true)
  void ask('b', 'heavy b', true)
  void ask('c', 'light c', false)
  await new Promise((resolve) => setImmediate(resolve))
  expect(began.toSorted()).toEqual(['heavy a0', 'light c'])
  expect([lanes.waiting('a'), lanes.waiting('b'), lanes.waiting('c')]).toEqual([2, 1, 0])
  finish[began.indexOf('heavy a0')]?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect(began[2]).toBe('heavy b')
})
