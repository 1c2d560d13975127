import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
    pool: 'forks',
    // One less than the cores is vitest's own choice: on two cores that is one file at a time, and most of the stories wait.
    maxWorkers: Math.max(2, availableParallelism()),
    // Tests of one file that run beside each other mostly wait for the clock of a relay.
    maxConcurrency: 12,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
