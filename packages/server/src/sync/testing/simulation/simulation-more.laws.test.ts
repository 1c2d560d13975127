import { expect, it } from 'vitest'
import { playSeeds, told } from './report.ts'
import { simulate } from './simulation.ts'

const PATIENCE_MS = 900_000

it('[LIFE-25] [LIFE-26] [LIFE-27] another 250 seeds of faults violate no invariant', { timeout: PATIENCE_MS }, async () => {
  expect(await playSeeds(251, 500)).toHaveLength(250)
})

// In seed 50 a reader at another node waits while the owner loses its database and closes the room. Meanwhile the reader's node, where
// no connection is joined, forgets its own room.
it.each([50])('[LIFE-11] seed %i violates no invariant', { timeout: PATIENCE_MS }, async (seed) => {
  const run = await simulate({ seed })
  expect(run.violation, told(run)).toBeNull()
})
