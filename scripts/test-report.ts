/** What vitest's JSON reporter writes, as far as it is read here. */
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

/** What scripts/run-notes.ts adds to it. */
export interface RunNotes {
  /** Why a test was skipped, by its full name. */
  readonly skips: Readonly<Record<string, string>>
  /** Expected and received of a failed test, by its full name; empty where there is none. */
  readonly diffs: Readonly<Record<string, string>>
  /** Errors that no test caught; each is a failure. */
  readonly unhandled: readonly string[]
}

export interface Summary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: readonly { readonly name: string; readonly message: string }[]
  readonly skips: readonly { readonly name: string; readonly reason: string }[]
  /** The files that took longest, the slowest first. */
  readonly slowest: readonly { readonly name: string; readonly seconds: number }[]
}

/** More files than these fail for a reason of the code, and running them again would only hide it. */
const MOST_FILES_AGAIN = 3

/** The failed files that are worth a second run by themselves; none when many failed or when an error came from outside tests. */
export function filesToRunAgain(report: VitestReport | null, notes: RunNotes): readonly string[] {
  const failed = (report?.testResults ?? []).filter(({ status }) => status === 'failed').map(({ name }) => name)
  return notes.unhandled.length === 0 && failed.length <= MOST_FILES_AGAIN ? failed : []
}

/** The report of a whole run with the files of a second run in the places of the first. */
export function withSecondRun(first: VitestReport, second: VitestReport | null): VitestReport {
  const again = new Map((second?.testResults ?? []).map((file) => [file.name, file]))
  return { testResults: first.testResults.map((file) => again.get(file.name) ?? file) }
}

const SLOWEST = 10

/**
 * Counts every test once and every check as one. A file that could not be loaded counts as one failure.
 * A skipped test says why at the end of its name, as in `… (skipped: needs PostgreSQL)`, or in `context.skip('…')`.
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
  return { passed, failed: failedChecks + failures.length, skipped: skips.length, failures, skips, slowest: slowestOf(report) }
}

function slowestOf(report: VitestReport | null): Summary['slowest'] {
  return (report?.testResults ?? [])
    .map(({ name, startTime = 0, endTime = 0 }) => ({ name, seconds: (endTime - startTime) / 1000 }))
    .filter(({ seconds }) => seconds >= 1)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST)
}

function skipReason(name: string, given: string | undefined): string {
  if (given !== undefined && given !== '') return given
  return /\(skipped: (.+)\)$/.exec(name)?.[1] ?? 'no reason given'
}

/** Without the frames of libraries, of which a reader learns nothing. */
function ownFrames(message: string): string {
  return message
    .split('\n')
    .filter((line) => !/^\s+at .*(\/node_modules\/|node:internal|<anonymous>\))/.test(line))
    .join('\n')
}
