/** A group of test files that run together and have one thing in common: what they need and how long they may take. */
export interface Lane {
  readonly name: 'time' | 'stories' | 'engines' | 'laws' | 'unit'
  /** Names and folders; a file belongs to the first lane that has it. */
  readonly files: readonly string[]
  /** Files of one process share their modules, which saves a third of the processor time. Not for files that start processes or servers. */
  readonly sharesModules: boolean
  /** One PostgreSQL server is there for the whole run. */
  readonly needsPostgres: boolean
}

/** In the order in which a file looks for its lane; the last one takes what is left. */
export const LANES: readonly Lane[] = [
  // What must measure time: runs one file after the other when everything else has ended.
  { name: 'time', files: ['**/*.time.test.ts'], sharesModules: false, needsPostgres: false },
  // The relay as a process, and stories that cross folders.
  {
    name: 'stories',
    files: ['packages/server/src/test/**/*.test.ts', '**/*.story.test.ts'],
    sharesModules: false,
    needsPostgres: true,
  },
  // Real stores: databases, object storage, files.
  {
    name: 'engines',
    files: ['packages/server/src/{drivers,backup,verify}/**/*.test.ts', '**/*.{contract,engine}.test.ts'],
    sharesModules: false,
    needsPostgres: true,
  },
  // Long runs of generated or hostile input.
  {
    name: 'laws',
    files: ['**/*[-.]{law,laws,fuzz,model,histories,crash}.test.ts', '**/*hostile*.test.ts'],
    sharesModules: true,
    needsPostgres: false,
  },
  { name: 'unit', files: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'], sharesModules: true, needsPostgres: false },
]

/** What a lane runs, as patterns of the test runner: its own files without those of the lanes before it. */
export function patternsOf(lane: Lane): { readonly include: readonly string[]; readonly exclude: readonly string[] } {
  const before = LANES.slice(0, LANES.indexOf(lane))
  return { include: lane.files, exclude: ['**/node_modules/**', ...before.flatMap(({ files }) => files)] }
}
