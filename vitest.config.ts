import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { type Lane, LANES, patternsOf } from './scripts/test-lanes.ts'

/** Set by `npm test`, which CI runs. */
const FULL = process.env['DOCRELAY_TEST_FULL'] === '1'
const FEWER_LAW_RUNS = { find: /^fast-check$/, replacement: join(import.meta.dirname, 'scripts/scaled-laws.ts') }

/** The files of a lane and how they run. */
function project(lane: Lane, index: number) {
  const { include, exclude } = patternsOf(lane)
  const alone = lane.alone === true
  return {
    resolve: { alias: FULL || lane.name === 'laws' ? [] : [FEWER_LAW_RUNS] },
    test: {
      name: lane.name,
      include: [...include],
      exclude: [...exclude],
      pool: 'forks' as const,
      isolate: !lane.sharesModules,
      // Tests of one file that run beside each other mostly wait for the clock of a relay.
      maxConcurrency: 12,
      setupFiles: ['./scripts/test-setup.ts'],
      sequence: { groupOrder: alone ? 1 + index : 0 },
      fileParallelism: !alone,
      globalSetup: [
        ...(lane.needsPostgres ? ['./scripts/shared-postgres.ts'] : []),
        ...(lane.startsRelay ? ['./scripts/relay-for-run.ts'] : []),
        ...(lane.opensPages ? ['./scripts/browser-for-run.ts'] : []),
      ],
    },
  }
}

export default defineConfig({
  test: {
    // More files than cores: most stories wait for a relay or for its clock half of the time.
    maxWorkers: Math.max(4, availableParallelism()),
    projects: LANES.map(project),
  },
})
