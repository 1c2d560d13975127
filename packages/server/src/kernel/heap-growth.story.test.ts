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

async function growthOf(prelude: string): Promise<number> {
  const script = [
    '--expose-gc',
    '--max-old-space-size=4096',
    '--max-semi-space-size=16',
    '--input-type=module',
    '--eval',
    CHURN(prelude),
  ]
  const { stdout } = await promisify(execFile)(process.execPath, script)
  return Number(stdout.split(' ')[0])
}

it('the heap of old objects grows to twice of what is in use, and without the flag beyond that', async () => {
  const module = JSON.stringify(new URL('heap-growth.ts', import.meta.url).href)
  const bounded = await growthOf(`import { boundHeapGrowth } from ${module}\n boundHeapGrowth()`)
  expect(bounded).toBeLessThan(2.8)
  expect(await growthOf('')).toBeGreaterThan(bounded)
})
