import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isKept, missedBounds, type NodesPlayed, type NodesRun } from './play-nodes.ts'

const HEAD = `# Several nodes under faults: results

Each row is one run of \`npm run faults:nodes\`, which appends it (see [bench/README.md](../README.md)): two or three relay processes on one
PostgreSQL and one Redis, with people, writers over REST and agents with tools at each of them, and one fault. *Acknowledged* and *missing*
count marks that were acknowledged and looked for at a relay that never served the load, and in the log itself. *Foreign* are appends of a node
to the log of a document that another node owned. *Elsewhere* is what clients of nodes noticed that the fault did not hit. The last column says
whether everything was kept, and which bounds of the fault were missed; on a busy machine times say little.

| Fault | Seed | Epoch | Edits/s | Typed: acknowledged, missing | Saved over REST | Tools | Appends, foreign | Replicas | Stale reads | Closes, elsewhere | Pause elsewhere | Reconnect p99 | Taken over | Result |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
`

/** The cells that say what was played; two runs with the same ones are the same run. */
function planCells({ fault, seed, sabotaged }: NodesRun): string {
  return [fault, seed, sabotaged ? 'left out' : 'compared'].join(' | ')
}

/** One line about a run, a row of the table. */
export function rowOf(run: NodesRun, played: NodesPlayed): string {
  const { losses, closes, closesElsewhere, reconnectP99Ms } = played
  const of = ({ checked, missing }: { readonly checked: number; readonly missing: number }) => `${number(checked)}, ${missing}`
  const missed = missedBounds(run, played)
  const cells = [
    planCells(run),
    played.editsPerSec.toFixed(0),
    of(losses.typed),
    of(losses.saved),
    of(losses.tools),
    `${number(played.appends)}, ${played.foreignAppends.length}`,
    played.differences.length === 0 ? `equal after ${secs(played.equalAfterMs)}` : 'DIFFERENT',
    played.staleReads.length,
    `${closes.length}, ${closesElsewhere.length}`,
    secs(played.pauseElsewhereMs),
    reconnectP99Ms === null ? '–' : secs(reconnectP99Ms),
    played.takeovers,
    isKept(run, played) ? (missed.length === 0 ? 'kept' : `kept; missed: ${missed.join(', ')}`) : 'NOT KEPT',
  ]
  return `| ${cells.join(' | ')} |`
}

function secs(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function number(n: number): string {
  return n.toLocaleString('en')
}

/** Whether the file has a row of this run. */
export function isDone(file: string, run: NodesRun): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes(`\n| ${planCells(run)} | `)
}

export function append(file: string, row: string): void {
  if (!existsSync(file)) writeFileSync(file, HEAD)
  appendFileSync(file, `${row}\n`)
}
