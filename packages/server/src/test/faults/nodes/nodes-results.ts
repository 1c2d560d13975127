import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isKept, missedBounds, type NodesPlayed, type NodesRun } from './play-nodes.ts'

const HEAD = `# Several nodes under faults: results

Each row is one run of \`npm run faults:nodes\`, which appends it (see [bench/README.md](../README.md)): two or three relay processes on one
PostgreSQL and one Redis, with people, writers over REST and agents with tools at each of them, and one fault, or several one after the other.
*Acknowledged* and *missing* count marks that were acknowledged and looked for at a relay that never served the load, and in the log itself.
*Foreign* are appends of a node to the log of a document that another node owned. *Elsewhere* is what clients of nodes noticed that the fault
did not hit; of several faults the longest pause is given, and the slowest reconnect of those that bound it. The last column says whether everything
was kept, and which bounds of which fault were missed; on a busy machine times say little.

`
const COLUMNS = [
  ...[
    'Faults',
    'Seed',
    'Epoch',
    'Edits/s',
    'Typed: acknowledged, missing',
    'Saved over REST',
    'Tools',
    'Appends, foreign',
    'Replicas',
  ],
  ...['Stale reads', 'Closes, elsewhere', 'Pause elsewhere', 'Reconnect p99', 'Taken over', 'Result'],
]
const TABLE_HEAD = `| ${COLUMNS.join(' | ')} |\n|${'---|'.repeat(COLUMNS.length)}\n`

/** The name of a run of several faults, which the seed alone determines. */
const SEVERAL = / of a sequence$/

/** Returns the cells that identify a run. Two runs with the same cells are the same run. */
function planCells({ faults, seed, sabotaged }: NodesRun): string {
  const [first] = faults
  const what = faults.length === 1 ? first : `${faults.length} of a sequence`
  return [what, seed, sabotaged ? 'left out' : 'compared'].join(' | ')
}

/** Returns the table row about a run. */
export function rowOf(run: NodesRun, played: NodesPlayed): string {
  const { losses, closes, faults } = played
  const of = ({ checked, missing }: { readonly checked: number; readonly missing: number }) => `${number(checked)}, ${missing}`
  const bounded = faults.length === 1 ? faults : faults.filter(({ fault }) => fault.startsWith('rolling'))
  const reconnects = bounded.flatMap(({ reconnectP99Ms }) => (reconnectP99Ms === null ? [] : [reconnectP99Ms]))
  const differences = faults.flatMap((one) => one.differences)
  const elsewhere = faults.reduce((sum, { closesElsewhere }) => sum + closesElsewhere.length, 0)
  const cells = [
    planCells(run),
    played.editsPerSec.toFixed(0),
    of(losses.typed),
    of(losses.saved),
    of(losses.tools),
    `${number(played.appends)}, ${played.foreignAppends.length}`,
    differences.length === 0 ? `equal after ${secs(Math.max(...faults.map(({ equalAfterMs }) => equalAfterMs)))}` : 'DIFFERENT',
    played.staleReads.length,
    `${closes.length}, ${elsewhere}`,
    secs(Math.max(...faults.map(({ pauseElsewhereMs }) => pauseElsewhereMs))),
    reconnects.length === 0 ? '–' : secs(Math.max(...reconnects)),
    played.takeovers,
    resultOf(run, played),
  ]
  return `| ${cells.join(' | ')} |`
}

function resultOf(run: NodesRun, played: NodesPlayed): string {
  const missed = played.faults.flatMap((one) => missedBounds(one).map((bound) => `${bound} (${one.fault})`))
  const wrong = played.faults.flatMap((one) => one.wrong.map((what) => `${one.fault}: ${what}`))
  const parts = [
    isKept(run, played) ? 'kept' : 'NOT KEPT',
    ...(played.faults.length < run.faults.length ? [`only ${played.faults.length} were played`] : []),
    ...played.faults.flatMap(({ told }) => told),
    ...wrong,
    ...(played.wrongEvents.length > 0 ? [`${played.wrongEvents.length} events missing or repeated`] : []),
    ...(played.lostWithTail > 0 ? [`gone with the tail of the database: ${played.lostWithTail}`] : []),
    ...(missed.length > 0 ? [`missed: ${missed.join(', ')}`] : []),
  ]
  return parts.join('; ')
}

function secs(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function number(n: number): string {
  return n.toLocaleString('en')
}

/** Whether the file has a row of this run. */
export function isDone(file: string, run: NodesRun): boolean {
  return rowsIn(file).some((row) => row.startsWith(`| ${planCells(run)} | `))
}

/** Adds the row, and computes the totals of all rows again. */
export function append(file: string, row: string): void {
  const rows = [...rowsIn(file), row]
  writeFileSync(file, `${HEAD}${totalOf(rows)}\n\n${TABLE_HEAD}${rows.join('\n')}\n`)
}

function rowsIn(file: string): readonly string[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  return lines.filter((line) => line.startsWith('| ') && !line.startsWith('| Fault'))
}

/** Returns the totals of the rows whose appends compared the epoch, and of the others. */
export function totalOf(rows: readonly string[]): string {
  const all = rows.map((row) => {
    const [
      ,
      what = '',
      ,
      epoch,
      ,
      typed = '',
      saved = '',
      tools = '',
      appends = '',
      replicas = '',
      stale = '',
      ,
      ,
      ,
      ,
      result = '',
    ] = row.split('|').map((cell) => cell.trim())
    const pairs = [typed, saved, tools].map((cell) => cell.split(', ').map(numberIn))
    return {
      isSabotaged: epoch !== 'compared',
      faults: Number(/ only (\d+) were played/.exec(result)?.[1] ?? (SEVERAL.test(what) ? Number.parseInt(what, 10) : 1)),
      acknowledged: pairs.reduce((sum, [checked = 0]) => sum + checked, 0),
      missing: pairs.reduce((sum, [, missing = 0]) => sum + missing, 0),
      foreign: numberIn(appends.split(', ')[1] ?? ''),
      different: replicas === 'DIFFERENT' ? 1 : 0,
      stale: numberIn(stale),
      missed: / missed: (.*)$/.exec(result)?.[1]?.split(', ').length ?? 0,
      notKept: result.startsWith('NOT KEPT') ? 1 : 0,
    }
  })
  const counted = all.filter(({ isSabotaged }) => !isSabotaged)
  const sum = (of: (one: (typeof all)[number]) => number): string => number(counted.reduce((total, one) => total + of(one), 0))
  return [
    `**In all, with the epoch compared: ${sum(({ faults }) => faults)} faults in ${counted.length} runs; ${sum(({ acknowledged }) => acknowledged)} edits acknowledged,`,
    `${sum(({ missing }) => missing)} of them missing; ${sum(({ foreign }) => foreign)} foreign appends; ${sum(({ stale }) => stale)} stale reads;`,
    `${sum(({ different }) => different)} runs with different replicas; ${sum(({ notKept }) => notKept)} runs not kept; ${sum(({ missed }) => missed)} bounds missed.**`,
  ].join('\n')
}

function numberIn(cell: string): number {
  return Number(cell.replaceAll(',', ''))
}
