/** A group of test files that run together, because they have the same requirements and time limits. */
export interface Lane {
  readonly name: 'page-time' | 'time' | 'repeats' | 'browser' | 'long' | 'stories' | 'engines' | 'laws' | 'unit'
  /** Patterns of names and folders. A file belongs to the first lane that matches. */
  readonly files: readonly string[]
  /**
   * Whether test files in one process share their modules, which saves more than a second of processor time for each file that talks to a relay.
   * False for files that measure their own process.
   */
  readonly sharesModules: boolean
  /** Whether the run needs a PostgreSQL server. */
  readonly needsPostgres: boolean
  /** Whether files start the relay, for which it is bundled before the run. */
  readonly startsRelay: boolean
  /** Whether files open pages of the console. It is built before the run, and one browser is started for all files. */
  readonly opensPages: boolean
  /** Whether the files of this lane run one after another, after all earlier lanes, because they measure time. */
  readonly alone?: true
}

/** The lanes in the order of matching; the last lane takes the remaining files. */
export const LANES: readonly Lane[] = [
  // Tests that must measure time on pages of the console.
  {
    name: 'page-time',
    files: ['packages/console/src/test/**/*.browser.time.test.ts'],
    sharesModules: false,
    needsPostgres: false,
    startsRelay: true,
    opensPages: true,
    alone: true,
  },
  // Other tests that must measure time.
  {
    name: 'time',
    files: ['**/*.time.test.ts'],
    sharesModules: false,
    needsPostgres: false,
    startsRelay: true,
    opensPages: false,
    alone: true,
  },
  // Suites that import other test files to run them again. In a process that has run those files already, their tests would be missing.
  {
    name: 'repeats',
    files: ['packages/server/src/sync/remote/{gateway,live}-remote.test.ts'],
    sharesModules: false,
    needsPostgres: false,
    startsRelay: false,
    opensPages: false,
  },
  // Pages of the console in a real browser.
  {
    name: 'browser',
    files: ['packages/console/src/test/**/*.browser.test.ts'],
    sharesModules: true,
    needsPostgres: false,
    startsRelay: true,
    opensPages: true,
  },
  // Tests of twenty seconds and more: they build and install packages, start the whole try-out, or kill relays one after another.
  {
    name: 'long',
    files: ['**/*.long.test.ts'],
    sharesModules: true,
    needsPostgres: true,
    startsRelay: true,
    opensPages: false,
  },
  // Tests that run the relay as a process, and stories across folders and nodes.
  {
    name: 'stories',
    files: ['packages/server/src/test/**/*.test.ts', 'packages/server/src/sync/remote/**/*.test.ts', '**/*.story.test.ts'],
    sharesModules: true,
    needsPostgres: true,
    startsRelay: true,
    opensPages: false,
  },
  // Tests on real stores: databases, object storage, files.
  {
    name: 'engines',
    files: ['packages/server/src/{drivers,backup,verify}/**/*.test.ts', '**/*.{contract,engine}.test.ts'],
    sharesModules: true,
    needsPostgres: true,
    startsRelay: true,
    opensPages: false,
  },
  // Long runs with generated or hostile input.
  {
    name: 'laws',
    files: ['**/*[-.]{law,laws,fuzz,model,histories,crash}.test.ts', '**/*hostile*.test.ts'],
    sharesModules: true,
    needsPostgres: false,
    startsRelay: false,
    opensPages: false,
  },
  {
    name: 'unit',
    files: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    sharesModules: true,
    needsPostgres: false,
    startsRelay: false,
    opensPages: false,
  },
]

/** Returns the file patterns of a lane for the test runner: its own files without those of earlier lanes. */
export function patternsOf(lane: Lane): { readonly include: readonly string[]; readonly exclude: readonly string[] } {
  const before = LANES.slice(0, LANES.indexOf(lane))
  return { include: lane.files, exclude: ['**/node_modules/**', ...before.flatMap(({ files }) => files)] }
}
