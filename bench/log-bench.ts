// `npm run bench:log -- --former <checkout>`: the cost of an edit in the log of a SQLite store, for this program and for a former one, whose checkout
// has its node_modules. The rounds of the two programs take turns. The cost includes all that follows from an edit: stored bodies, compactions,
// deletions and checkpoints. With `--start`: how long a store with a log of 1 GiB takes to open, and how long its documents take.
import { execFileSync, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { creation, update, written } from '@docrelay/server/documents/testing/document-writes'
import { updateChecksum } from '@docrelay/server/drivers/sql/checksum'
import { openStorageOf, type Round } from './log-load.ts'

const { values: options } = parseArgs({
  options: {
    former: { type: 'string' },
    documents: { type: 'string', default: '400' },
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '5' },
    folder: { type: 'string', default: tmpdir() },
    start: { type: 'boolean', default: false },
    open: { type: 'string' },
  },
})
const HERE = resolve(import.meta.dirname, '..')
const sides = [
  { name: 'former', checkout: resolve(options.former ?? HERE) },
  { name: 'this', checkout: HERE },
] as const
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const print = (line: string): boolean => process.stdout.write(`${line}\n`)

async function startLoad(checkout: string, path: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'log-load.ts'), [checkout, path, options.documents], { execArgv: [] })
  await once(child, 'message')
  return child
}

async function compareEdits(folder: string): Promise<void> {
  const loads = []
  for (const { name, checkout } of sides)
    loads.push({ name, child: await startLoad(checkout, join(folder, `${name}.db`)), rounds: [] as Round[] })
  const runRound = async ({ child }: { child: ChildProcess }, seconds = Number(options.seconds)): Promise<Round> => {
    child.send(seconds)
    return ((await once(child, 'message')) as [Round])[0]
  }
  // Warm-up rounds compile the code of both programs; their results are dropped.
  for (const load of loads) await runRound(load, 5)
  for (let i = 0; i < Number(options.rounds); i++) for (const load of loads) load.rounds.push(await runRound(load))
  print(
    '| program | pages per commit of 36 documents | all pages per 36 edits | bytes written per edit | storage thread µs per edit | commit p50 ms | p99 | worst | edits | compactions | deletions |',
  )
  print('|---|---|---|---|---|---|---|---|---|---|---|')
  for (const { name, rounds, child } of loads) {
    const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0)
    const edits = sum((round) => round.edits)
    const cells = [
      (sum((round) => round.editPages) / sum((round) => round.commits)).toFixed(1),
      ((sum((round) => round.pages) / edits) * 36).toFixed(1),
      (sum((round) => round.bytes) / edits).toFixed(0),
      `${median(rounds.map((round) => round.micros / round.edits)).toFixed(1)} (${rounds.map((round) => (round.micros / round.edits).toFixed(1)).join(', ')})`,
      median(rounds.map((round) => round.commitMs.p50)).toFixed(2),
      median(rounds.map((round) => round.commitMs.p99)).toFixed(1),
      Math.max(...rounds.map((round) => round.commitMs.worst)).toFixed(0),
      edits,
      sum((round) => round.compactions),
      sum((round) => round.deletions),
    ]
    print(`| ${name} | ${cells.join(' | ')} |`)
    child.send(0)
    await once(child, 'exit')
  }
}

const LOG_DOCUMENTS = 2400
const LOG_RECORDS = 1000
const LOG_BYTES = 400
const COLD_LOADS = 100

/** Makes a store of the former program whose records take 1 GiB. */
async function makeLongLog(path: string): Promise<void> {
  const host = await openStorageOf(sides[0].checkout, `sqlite:${path}`)
  const keys: number[] = []
  for (let i = 0; i < LOG_DOCUMENTS; i++)
    keys.push(written(await host.documents.write(creation({ workspaceId: 'w', id: `doc-${i}` }))).key)
  await host[Symbol.asyncDispose]()
  const db = new DatabaseSync(path)
  const insert = db.prepare('insert into updates (key, seq, actor, at_ms, crc32, bytes) values (?, ?, ?, ?, ?, ?)')
  const bytes = new Uint8Array(LOG_BYTES).fill(7)
  // Each transaction appends one record to every document, as the edits of many documents arrive.
  for (let seq = 1; seq <= LOG_RECORDS; seq++) {
    db.exec('begin')
    for (const key of keys) insert.run(key, seq, 'ada', 5, updateChecksum(key, seq, 'ada', 5, bytes), bytes)
    db.exec('commit')
  }
  db.exec(`update log_heads set last_seq = ${LOG_RECORDS}; pragma wal_checkpoint(truncate)`)
  db.close()
}

/** Run in a process of its own: opens a store and some of its documents, and prints how long it took. */
async function openOnce(checkout: string, path: string): Promise<void> {
  const from = performance.now()
  const host = await openStorageOf(checkout, `sqlite:${path}`)
  const openedMs = performance.now() - from
  const states = await Promise.all(
    Array.from({ length: COLD_LOADS }, (_, i) => host.documents.state({ workspaceId: 'w', id: `doc-${i * 20 + 7}` })),
  )
  const heads = states.flatMap((state) => (state.kind === 'document' ? [state.head] : []))
  // Appends as many recent records as the store keeps, so that a load has to skip them.
  for (const { key, lastSeq } of heads.slice(0, 4)) {
    const more = Array.from({ length: 1000 }, (_, i) => ({
      key,
      afterSeq: lastSeq + i,
      actor: 'ada',
      atMs: 5,
      update: update(7),
    }))
    await host.updates.append(more)
  }
  const times: number[] = []
  for (const { key } of heads.slice(4)) {
    const before = performance.now()
    const log = await host.updates.load(key)
    times.push(performance.now() - before)
    if (log.kind !== 'loaded' || log.records.length < LOG_RECORDS) throw new Error(log.kind)
  }
  await host[Symbol.asyncDispose]()
  print(JSON.stringify({ openedMs, loadMs: median(times), worstMs: Math.max(...times) }))
}

async function compareStarts(folder: string): Promise<void> {
  const paths = sides.map(({ name }) => join(folder, `${name}-long.db`))
  const [former = '', here = ''] = paths
  await makeLongLog(former)
  copyFileSync(former, here)
  print(`a store of ${(statSync(former).size / 2 ** 30).toFixed(2)} GiB, ms; the first start of this program migrates it`)
  print('| program | starts | first load of a cold document, median of each start | worst |')
  print('|---|---|---|---|')
  const runs = sides.map(() => [] as { openedMs: number; loadMs: number; worstMs: number }[])
  for (let i = 0; i < 5; i++) {
    for (const [side, { name }] of sides.entries()) {
      const args = [import.meta.filename, '--former', sides[0].checkout, '--open', `${name}:${paths[side] ?? ''}`]
      runs[side]?.push(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as (typeof runs)[number][number])
    }
  }
  for (const [side, { name }] of sides.entries()) {
    const all = runs[side] ?? []
    const list = (of: (run: (typeof all)[number]) => number): string => all.map((run) => of(run).toFixed(1)).join(', ')
    print(`| ${name} | ${list((run) => run.openedMs)} | ${list((run) => run.loadMs)} | ${list((run) => run.worstMs)} |`)
  }
}

if (options.open !== undefined) {
  const [name = '', path = ''] = options.open.split(':')
  await openOnce(sides.find((side) => side.name === name)?.checkout ?? HERE, path)
} else {
  const folder = mkdtempSync(join(options.folder, 'log-bench-'))
  try {
    await (options.start ? compareStarts(folder) : compareEdits(folder))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
