import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { heapGrowthFlag } from './heap-growth.ts'

const MIB = 1024 ** 2

it.each([
  [512 * MIB, null],
  [2047 * MIB, null],
  [2048 * MIB, '--heap-growing-percent=100'],
  [4144 * MIB, '--heap-growing-percent=100'],
] as const)('with a heap limit of %i bytes the flag is %s', (limitBytes, flag) => {
  expect(heapGrowthFlag(limitBytes)).toBe(flag)
})

/**
 * Keeps some 60 MiB of old objects in use and replaces them again and again. Prints the largest size of the heap while it does, as a multiple
 * of what is in use at the end.
 */
const CHURN = (prelude: string): string => `
  import { getHeapStatistics } from 'node:v8'
  ${prelude}
  const made = (i) => Array.from({ length: 100 }, (_, k) => ({ i, k }))
  const kept = Array.from({ length: 15_000 }, (_, i) => made(i))
  let most = 0
  for (let i = 0; i < 120_000; i++) {
    kept[(i * 7_919) % kept.length] = made(i)
    if (i % 500 === 0 && i > 40_000) most = Math.max(most, getHeapStatistics().used_heap_size)
  }
  globalThis.gc()
  console.log(most / getHeapStatistics().used_heap_size, kept.length)`

/**
 * Makes 300,000 objects that live, and then a million at the same place of the code that are garbage at once. Prints by how many MB the old objects
 * grow meanwhile.
 */
const LIVING_THEN_GARBAGE = (prelude: string): string => `
  import { getHeapSpaceStatistics } from 'node:v8'
  ${prelude}
  const made = (i) => [i, i + 1, i + 2]
  const kept = []
  for (let i = 0; i < 300_000; i++) kept.push(made(i))
  const recent = Array.from({ length: 16 }, () => null)
  const oldBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size
  globalThis.gc()
  const before = oldBytes()
  for (let i = 0; i < 1_000_000; i++) recent[i % 16] = made(i)
  console.log((oldBytes() - before) / 1e6, kept.length, recent.length)`

/** Runs a script in a process of its own and returns the first number that it prints. */
async function printed(script: string, ...flags: readonly string[]): Promise<number> {
  const argv = ['--expose-gc', '--max-old-space-size=4096', ...flags, '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, argv)
  return Number(stdout.split(' ')[0])
}

const BOUNDED = `import { boundHeapGrowth } from ${JSON.stringify(new URL('heap-growth.ts', import.meta.url).href)}
  boundHeapGrowth()`

it('the heap of old objects grows to twice of what is in use, and without the flag beyond that', async () => {
  const bounded = await printed(CHURN(BOUNDED), '--max-semi-space-size=16')
  expect(bounded).toBeLessThan(2.8)
  expect(await printed(CHURN(''), '--max-semi-space-size=16')).toBeGreaterThan(bounded)
})

it('garbage from a place of the code that once made what lives does not become old, and without the flag all of it does', async () => {
  expect(await printed(LIVING_THEN_GARBAGE(BOUNDED), '--max-semi-space-size=1')).toBeLessThan(5)
  const flags = ['--max-semi-space-size=1', '--heap-growing-percent=1000']
  expect(await printed(LIVING_THEN_GARBAGE(''), ...flags)).toBeGreaterThan(30)
})
