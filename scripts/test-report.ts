/** The part of vitest's JSON report that is read here. */
export interface VitestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message?: string
    readonly startTime?: number
    readonly endTime?: number
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages?: readonly string[] | null
    }[]
  }[]
}

/** The notes that scripts/run-notes.ts adds to the report. */
export interface RunNotes {
  /** Why a test was skipped, by its full name. */
  readonly skips: Readonly<Record<string, string>>
  /** Expected and received values of a failed test, by its full name; empty when there are none. */
  readonly diffs: Readonly<Record<string, string>>
  /** The processor time of each file, by its name. */
  readonly processorSeconds: Readonly<Record<string, number>>
  /** Errors that no test caught; each is a failure. */
  readonly unhandled: readonly string[]
}

export interface Summary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: readonly { readonly name: string; readonly message: string }[]
  readonly skips: readonly { readonly name: string; readonly reason: string }[]
  /** The files that took a second or longer, slowest first. `atSecond`: when the file began, in seconds after the first file of the run. */
  readonly slowest: readonly { readonly name: string; readonly seconds: number; readonly atSecond: number }[]
  /** All files that ended, by processor time, the most first. */
  readonly costs: readonly { readonly name: string; readonly processorSeconds: number }[]
}

/** The notes of a run that could not write any. */
export const NO_NOTES: RunNotes = { skips: {}, diffs: {}, processorSeconds: {}, unhandled: [] }

/** More failed files than this are not run again: then the code is at fault, and a second run would only hide it. */
const MOST_FILES_AGAIN = 3

/** Returns the failed files to run a second time: none when many failed, or when an error occurred outside tests. */
export function filesToRunAgain(report: VitestReport | null, notes: RunNotes): readonly string[] {
  const failed = (report?.testResults ?? []).filter(({ status }) => status === 'failed').map(({ name }) => name)
  return notes.unhandled.length === 0 && failed.length <= MOST_FILES_AGAIN ? failed : []
}

/** Returns the report of the first run, in which the results of a second run replace those of the same files. */
export function withSecondRun(first: VitestReport, second: VitestReport | null): VitestReport {
  const again = new Map((second?.testResults ?? []).map((file) => [file.name, file]))
  return { testResults: first.testResults.map((file) => again.get(file.name) ?? file) }
}

/**
 * Counts every test, and each check as one test. A file that could not be loaded counts as one failure. The reason for a skipped test is at
 * the end of its name, as in `… (skipped: needs PostgreSQL)`, or in `context.skip('…')`.
 */
export function summarise(report: VitestReport | null, notes: RunNotes, checks: readonly boolean[]): Summary {
  let passed = checks.filter((ok) => ok).length
  const failedChecks = checks.length - passed
  const failures: { name: string; message: string }[] = []
  const skips: { name: string; reason: string }[] = []
  for (const file of report?.testResults ?? []) {
    let failedHere = 0
    for (const test of file.assertionResults) {
      if (test.status === 'passed') passed++
      else if (test.status === 'failed') {
        failedHere++
        const message = ownFrames((test.failureMessages ?? []).join('\n'))
        failures.push({
          name: `${file.name}: ${test.fullName}`,
          message: `${message}\n${notes.diffs[test.fullName] ?? ''}`.trimEnd(),
        })
      } else skips.push({ name: test.fullName, reason: skipReason(test.fullName, notes.skips[test.fullName]) })
    }
    if (file.status === 'failed' && failedHere === 0)
      failures.push({ name: file.name, message: file.message ?? 'the file could not be run' })
  }
  for (const error of notes.unhandled) failures.push({ name: 'an error outside tests', message: ownFrames(error) })
  return {
    passed,
    failed: failedChecks + failures.length,
    skipped: skips.length,
    failures,
    skips,
    slowest: slowestOf(report),
    costs: costsOf(notes),
  }
}

function slowestOf(report: VitestReport | null): Summary['slowest'] {
  const files = report?.testResults ?? []
  const firstAt = Math.min(...files.map(({ startTime = 0 }) => startTime))
  return files
    .map(({ name, startTime = 0, endTime = 0 }) => ({
      name,
      seconds: (endTime - startTime) / 1000,
      atSecond: (startTime - firstAt) / 1000,
    }))
    .filter(({ seconds }) => seconds >= 1)
    .toSorted((a, b) => b.seconds - a.seconds)
}

function costsOf(notes: RunNotes): Summary['costs'] {
  return Object.entries(notes.processorSeconds)
    .map(([name, seconds]) => ({ name, processorSeconds: seconds }))
    .toSorted((a, b) => b.processorSeconds - a.processorSeconds)
}

function skipReason(name: string, given: string | undefined): string {
  if (given !== undefined && given !== '') return given
  return /\(skipped: (.+)\)$/.exec(name)?.[1] ?? 'no reason given'
}

/** Removes stack frames of libraries, which do not help a reader. */
function ownFrames(message: string): string {
  return message
    .split('\n')
    .filter((line) => !/^\s+at .*(\/node_modules\/|node:internal|<anonymous>\))/.test(line))
    .join('\n')
}
