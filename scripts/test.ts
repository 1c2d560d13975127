// `npm test`: runs everything that CI runs. `--lanes=unit,engines` runs only these lanes, without the checks and with fewer runs of laws.
// Other arguments filter the files. Up to three failed files run once more, alone: a test that then passes is printed as flaky, with its
// first failure, and counts as passed. `--once` disables that. `--costs` lists every file with its time and processor time. The last line is
// `N passed, N failed, N skipped`; a step that is not a test suite counts as one.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { processorSeconds } from './processor-seconds.ts'
import { LANES } from './test-lanes.ts'
import { openTestFolder } from './test-folder.ts'
import { filesToRunAgain, NO_NOTES, type RunNotes, summarise, type VitestReport, withSecondRun } from './test-report.ts'

const ROOT = join(import.meta.dirname, '..')
/** Number of slowest files, and of costliest files, in the list. */
const SHOWN = 10
const BIN = join(ROOT, 'node_modules', '.bin')

interface Step {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

const node = (name: string, ...args: string[]): Step => ({ name, command: process.execPath, args })

const CHECKS: readonly Step[] = [
  node('types', 'scripts/check-types.mjs'),
  { name: 'lint', command: join(BIN, 'oxlint'), args: ['--type-aware', 'packages', 'scripts', 'bench'] },
  node('layers', 'scripts/check-layers.ts'),
  { name: 'format', command: join(BIN, 'biome'), args: ['format', '.'] },
  { name: 'unused', command: join(BIN, 'knip'), args: [] },
  node('docs', 'scripts/generate-docs.ts', '--check'),
  node('rules', 'scripts/rules.ts', '--check'),
]

interface Outcome {
  readonly step: Step
  readonly code: number
  readonly output: string
  readonly seconds: number
}

const testFolder = openTestFolder(process.env)
const running = new Set<ChildProcess>()
// A signal to this process alone is passed on to its children; Ctrl-C reaches all of them directly.
process.once('SIGTERM', () => {
  for (const child of running) child.kill('SIGTERM')
  testFolder.remove()
  process.exit(1)
})

function runStep(step: Step, env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    const child = spawn(step.command, step.args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', ...env },
    })
    running.add(child)
    let output = ''
    const take = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    const end = (code: number) => resolve({ step, code, output, seconds: (performance.now() - startedAt) / 1000 })
    child.on('error', (error) => {
      output += error.message
      end(1)
    })
    child.on('close', (code) => end(code ?? 1))
  })
}

async function runChecks(): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const step of CHECKS) {
    const outcome = await runStep(step)
    report(outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

function report({ step, code, output, seconds }: Outcome): void {
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${step.name} (${seconds.toFixed(1)} s)`)
  if (code !== 0) console.log(indented(output))
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `     ${line}`)
    .join('\n')
}

interface Suites {
  readonly outcome: Outcome
  readonly report: VitestReport | null
  readonly notes: RunNotes
}

/** The options of the command. Empty lanes and filters mean all. */
interface Wanted {
  readonly lanes: readonly string[]
  readonly filters: readonly string[]
  /** Whether failed files are not run again. */
  readonly once: boolean
  /** Whether to list every file with its time and processor time, not only the ten slowest and costliest. */
  readonly costs: boolean
}

function wantedOf(words: readonly string[]): Wanted {
  const option = '--lanes='
  const lanes = words.filter((word) => word.startsWith(option)).flatMap((word) => word.slice(option.length).split(','))
  const unknown = lanes.find((lane) => !LANES.some(({ name }) => name === lane))
  if (unknown !== undefined) throw new Error(`there is no lane ${unknown}; there are ${LANES.map(({ name }) => name).join(', ')}`)
  const filters = words.filter((word) => !word.startsWith(option) && word !== '--once' && word !== '--costs')
  return { lanes, filters, once: words.includes('--once'), costs: words.includes('--costs') }
}

/**
 * Returns the number of workers. Files that do not wait for a relay keep a core busy nearly all the time, so one process more than cores is
 * enough; each further one would only load the same modules again.
 */
function workersFor(lanes: readonly string[]): readonly string[] {
  const waits = lanes.length === 0 || LANES.some(({ name, startsRelay }) => startsRelay && lanes.includes(name))
  return waits ? [] : [`--maxWorkers=${availableParallelism() + 1}`]
}

async function runSuites(
  { lanes, filters }: Pick<Wanted, 'lanes' | 'filters'>,
  options: readonly string[] = [],
): Promise<Suites> {
  const folder = await mkdtemp(join(testFolder.path, 'run-'))
  try {
    const reportFile = join(folder, 'report.json')
    const notesFile = join(folder, 'notes.json')
    const reporters = ['--reporter=json', `--outputFile=${reportFile}`, '--reporter=./scripts/run-notes.ts']
    const projects = lanes.flatMap((lane) => ['--project', lane])
    const args = [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...reporters,
      ...workersFor(lanes),
      ...options,
      ...projects,
      ...filters,
    ]
    const env = {
      DOCRELAY_RUN_NOTES: notesFile,
      TMPDIR: testFolder.path,
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/docrelay-tests'),
      DOCRELAY_TEST_OWN_POSTGRES: '1',
      ...(lanes.length === 0 ? { DOCRELAY_TEST_FULL: '1' } : {}),
    }
    const outcome = await runStep({ name: 'tests', command: process.execPath, args }, env)
    const notes = (await readJson<RunNotes>(notesFile)) ?? NO_NOTES
    return { outcome, report: (await readJson<VitestReport>(reportFile)) ?? null, notes }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs up to three failed files once more, one after another. A test that then passes depends on timing or on an order that is not guaranteed. */
async function withFailedFilesAgain(first: Suites, lanes: readonly string[]): Promise<Suites> {
  const files = filesToRunAgain(first.report, first.notes)
  if (first.report === null || files.length === 0) return first
  const again = await runSuites({ lanes, filters: files }, ['--no-file-parallelism'])
  const failedAgain = new Set(summarise(again.report, again.notes, []).failures.map(({ name }) => name))
  for (const { name, message } of summarise(first.report, first.notes, []).failures)
    if (!failedAgain.has(name)) console.log(`flaky ${name}\n${indented(message)}`)
  return {
    outcome: again.outcome,
    report: withSecondRun(first.report, again.report),
    notes: {
      ...again.notes,
      skips: { ...first.notes.skips, ...again.notes.skips },
      processorSeconds: { ...again.notes.processorSeconds, ...first.notes.processorSeconds },
    },
  }
}

async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}

async function main(): Promise<number> {
  const wanted = wantedOf(process.argv.slice(2))
  const everything = wanted.lanes.length === 0 && wanted.filters.length === 0
  // The checks run one after another while the suites run, because the target machine has two cores.
  const [checks, once] = await Promise.all([everything ? runChecks() : [], runSuites(wanted)])
  const suites = wanted.once ? once : await withFailedFilesAgain(once, wanted.lanes)
  const summary = summarise(
    suites.report,
    suites.notes,
    checks.map(({ code }) => code === 0),
  )
  for (const failure of summary.failures) console.log(`FAIL ${failure.name}\n${indented(failure.message)}`)
  for (const skip of summary.skips) console.log(`skip ${skip.name}: ${skip.reason}`)
  for (const { name, seconds, atSecond } of wanted.costs ? summary.slowest : summary.slowest.slice(0, SHOWN))
    console.log(`slow ${seconds.toFixed(1).padStart(5)} s from second ${atSecond.toFixed(0)}  ${relative(ROOT, name)}`)
  for (const { name, processorSeconds: used } of wanted.costs ? summary.costs : summary.costs.slice(0, SHOWN))
    console.log(`cost ${used.toFixed(1).padStart(5)} s of processor time  ${relative(ROOT, name)}`)
  const took = `${once.outcome.seconds.toFixed(1)} s, ${processorSeconds().toFixed(0)} s of processor time`
  console.log(`${suites.outcome.code === 0 ? 'ok  ' : 'FAIL'} tests (${took})`)
  // The runner can fail without a failing test, for example on an unhandled rejection. Then its own output is the only explanation.
  const unexplained = suites.outcome.code !== 0 && summary.failures.length === 0
  if (unexplained) console.log(indented(suites.outcome.output.slice(-8000)))
  const failed = summary.failed + (unexplained ? 1 : 0)
  console.log(`${summary.passed} passed, ${failed} failed, ${summary.skipped} skipped`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  return 1
})
testFolder.remove()
