import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { TypistsPlan } from './play-typists.ts'
import { isKept, type Played } from './played.ts'

export interface Run {
  readonly store: string
  readonly plan: TypistsPlan
  readonly isUnlimited: boolean
}

const BOUNDS = { ackP99Ms: 50, lagMs: 50, tasks: 0.95 } as const

const HEAD = `# Typists beside agents: results

Each row is one run of \`npm run faults:typists -- --resume\`, which appends it (see [bench/README.md](../README.md)). A letter counts as
missing when it is nowhere at the end; of calls of any kind, *untold* are those missing letters of which no call told, and *not back*
those that were neither back after all calls were undone nor named as kept. The last column says whether acknowledgements took at
most ${BOUNDS.ackP99Ms} ms (p99), the main loop was at most ${BOUNDS.lagMs} ms late, and agents finished ${BOUNDS.tasks * 100} % of their tasks within three tries.

| Store | People | Agents | Calls | Time | kill -9 | Limits | Seed | Letters acknowledged | Missing | Untold | Not back | Views | Calls of tools | Tasks done | Ack p50, p99, worst | Main loop late | Bounds |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
`

/** Returns the cells that identify a run. Two runs with the same cells are the same run. */
function planCells({ store, plan, isUnlimited }: Run): string {
  const { typists, keystrokesPerSec, agents, calls, secs, killEverySecs, seed } = plan
  const kill = killEverySecs === null ? 'never' : `every ${killEverySecs} s`
  const people = `${typists} at ${keystrokesPerSec}/s`
  return [store, people, agents, calls, `${secs} s`, kill, isUnlimited ? 'none' : 'default', seed].join(' | ')
}

/** Returns the table row about a run. */
export function rowOf(run: Run, played: Played): string {
  const { acknowledged, missing, untold, notBack, notJudged, different, calls, tasks } = played
  const at = quantiles(played.ackMs)
  const cells = [
    planCells(run),
    number(acknowledged),
    number(missing),
    untold.length,
    run.plan.calls === 'careful' ? '–' : `${notBack.length}${notJudged === 0 ? '' : ` (${number(notJudged)} not judged)`}`,
    different.length === 0 ? 'equal' : 'DIFFERENT',
    number(calls),
    `${tasks.done} of ${tasks.done + tasks.failed}`,
    `${at(0.5)}, ${at(0.99)}, ${at(1)} ms`,
    `${played.worstLagMs.toFixed(0)} ms`,
    isKept(played) ? (isWithinBounds(played) ? 'kept' : 'missed') : 'LOST',
  ]
  return `| ${cells.join(' | ')} |`
}

/** Whether acks, lag and tasks of a run are within their bounds. [AG-97] */
export function isWithinBounds({ ackMs, worstLagMs, tasks }: Played): boolean {
  const p99 = Number(quantiles(ackMs)(0.99))
  const isDone = tasks.done >= BOUNDS.tasks * (tasks.done + tasks.failed)
  return p99 <= BOUNDS.ackP99Ms && worstLagMs <= BOUNDS.lagMs && isDone
}

function quantiles(ackMs: readonly number[]): (share: number) => string {
  const sorted = ackMs.toSorted((a, b) => a - b)
  return (share) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
}

function number(n: number): string {
  return n.toLocaleString('en')
}

/** Whether the file has a row of this run. */
export function isDone(file: string, run: Run): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes(`\n| ${planCells(run)} | `)
}

export function append(file: string, row: string): void {
  if (!existsSync(file)) writeFileSync(file, HEAD)
  appendFileSync(file, `${row}\n`)
}
