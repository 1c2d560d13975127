import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { patienceClock } from '../../kernel/testing/patience.ts'

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

const require = createRequire(import.meta.url)
const COMMAND = require.resolve('@modelcontextprotocol/conformance/dist/index.js')
const LONGEST_MS = 55_000
const LOOK_MS = 250

/** One line of the suite's report. */
interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
  readonly details?: { readonly untestable?: boolean; readonly note?: string }
}

export interface Findings {
  readonly checks: number
  /** Failed checks, and warnings: the suite warns where a server violates a SHOULD. */
  readonly failures: readonly string[]
  /** Checks that the suite could not run on this server, and why. */
  readonly untestable: readonly string[]
  readonly skipped: readonly string[]
}

/** Runs the suite's command line. Ends it after `LONGEST_MS`, more on a busy machine. */
async function runCommand(...args: readonly string[]): Promise<{ readonly stdout: string }> {
  const ending = new AbortController()
  const isTooLong = patienceClock(LONGEST_MS)
  const watch = setInterval(() => isTooLong() && ending.abort(), LOOK_MS)
  const options = { signal: ending.signal, maxBuffer: 32 * 1_048_576 }
  try {
    return await promisify(execFile)(process.execPath, [COMMAND, ...args], options)
  } finally {
    clearInterval(watch)
  }
}

/** Returns the frozen scenarios of a revision: those that count, and those that run without counting. */
export async function scenariosOf(revision: Revision): Promise<{ readonly scored: string[]; readonly unscored: string[] }> {
  const { stdout } = await runCommand('list', '--server', '--requirements', revision)
  const [, scored = ''] = /^Server scenarios.*\n([^]*?)\n\n/m.exec(stdout) ?? []
  return { scored: all(scored, /^ {2}- (\S+)$/gm), unscored: all(stdout, /^ {4}- (\S+) \[server\]/gm) }
}

function all(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, found]) => found ?? '')
}

/** Runs all scenarios of a revision against the endpoint at `url`. Returns the findings by scenario. */
export async function runSuite(url: string, revision: Revision): Promise<ReadonlyMap<string, Findings>> {
  const folder = await mkdtemp(join(tmpdir(), 'docrelay-conformance-'))
  try {
    const args = ['server', '--url', url, '--requirements', revision, '--output-dir', folder]
    // A failing exit code is ignored: the findings are in the report.
    await runCommand(...args).catch((error: { readonly code?: unknown }) => {
      if (error.code !== 1) throw error
    })
    const findings = new Map<string, Findings>()
    for (const name of await readdir(folder)) {
      const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? name
      findings.set(scenario, judge(JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'))))
    }
    return findings
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function judge(checks: readonly Check[]): Findings {
  const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  const lines = (some: readonly Check[]) =>
    some.map(({ id, errorMessage, details }) => `${id}: ${errorMessage ?? details?.note ?? 'no reason given'}`)
  return {
    checks: checks.length,
    failures: lines(bad.filter(({ details }) => details?.untestable !== true)),
    untestable: lines(bad.filter(({ details }) => details?.untestable === true)),
    skipped: lines(checks.filter(({ status }) => status === 'SKIPPED')),
  }
}

/** Prints the outcome of each scenario. */
export function printSummary(revision: Revision, scenarios: readonly string[], findings: ReadonlyMap<string, Findings>): void {
  for (const scenario of scenarios) {
    process.stdout.write(`${revision} ${scenario}: ${outcomeOf(findings.get(scenario))}\n`)
  }
}

function outcomeOf(found: Findings | undefined): string {
  if (found === undefined) return 'not run'
  const { checks, failures, untestable, skipped } = found
  const passed = checks - failures.length - untestable.length - skipped.length
  const rest = [
    ...failures.map((reason) => `failed ${reason}`),
    ...[...untestable, ...skipped].map((reason) => `skipped ${reason}`),
  ]
  return [`${passed} of ${checks} checks passed`, ...rest].join('\n    ')
}
