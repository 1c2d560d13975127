import { expect, test } from 'vitest'
import { mapAtOnce } from './at-once.ts'

test('mapAtOnce resolves with the results in the order of the items, however long each call takes', async () => {
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const results = await mapAtOnce([9, 1, 5], 3, async (ms, index) => {
    await sleep(ms)
    return `${index}: ${ms}`
  })
  expect(results).toEqual(['0: 9', '1: 1', '2: 5'])
})

test('mapAtOnce runs at most the given number of calls at a time, and reaches it', async () => {
  let [under, most] = [0, 0]
  await mapAtOnce(Array.from({ length: 20 }), 4, async () => {
    most = Math.max(most, ++under)
    await new Promise((resolve) => setImmediate(resolve))
    under--
  })
  expect(most).toBe(4)
})

test('mapAtOnce rejects with the first failure, and begins no further call', async () => {
  const begun: number[] = []
  const all = mapAtOnce([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item)
    await new Promise((resolve) => setImmediate(resolve))
    if (item === 1) throw new Error('item 1')
  })
  await expect(all).rejects.toThrow('item 1')
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(begun.length).toBeLessThan(5)
})
