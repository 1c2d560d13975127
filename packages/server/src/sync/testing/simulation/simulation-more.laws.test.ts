import { expect, it } from 'vitest'
import { playSeeds, told } from './report.ts'
import { simulate } from './simulation.ts'

const PATIENCE_MS = 900_000

it('[LIFE-25] [LIFE-26] [LIFE-27] another 250 seeds of faults violate no invariant', { timeout: PATIENCE_MS }, async () => {
  expect(await playSeeds(251, 500)).toHaveLength(250)
})

// In each of them something was violated once.
it.each([
  [44, 'a reader at another node waits while the owner loses the database and its room is closed'],
  [66, 'the same while nobody is joined at the node of the reader, which forgets its room meanwhile'],
])('[LIFE-11] nothing is violated in seed %i: %s', { timeout: PATIENCE_MS }, async (seed) => {
  const run = await simulate({ seed })
  expect(run.violation, told(run)).toBeNull()
})
