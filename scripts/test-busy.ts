// `npm run test:busy`: runs the tests under load, to find those that wait for a time instead of a condition. `--load=8` busy threads
// (default 8), `--times=3` runs (default 1), `--minutes=40` at most for each run. Other arguments are passed to scripts/test.ts.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
/** Ties a child process to this one, so that it ends with this one in every case. */
const TIED = ['--import', './packages/docrelay/src/try-out/end-with-parent.js']
const SPIN =
  "for (let n = 0; n < Number(process.argv[1]); n++) new (require('node:worker_threads').Worker)('for (;;);', { eval: true })"

interface Options {
  readonly load: number
  readonly times: number
  readonly minutes: number
  readonly rest: readonly string[]
}

function optionsOf(words: readonly string[]): Options {
  const number = (name: string, usual: number, most: number): number => {
    const word = words.find((each) => each.startsWith(`--${name}=`))
    const value = word === undefined ? usual : Number(word.slice(name.length + 3))
    if (!Number.isInteger(value) || value < 1 || value > most)
      throw new Error(`--${name} is a number from 1 to ${most} (got ${word})`)
    return value
  }
  const rest = words.filter((word) => !/^--(load|times|minutes)=/.test(word))
  return { load: number('load', 8, 64), times: number('times', 1, 20), minutes: number('minutes', 40, 120), rest }
}

/** Runs the tests once. Returns 1 when they do not end in time. */
function runTests(rest: readonly string[], minutes: number): Promise<number> {
  const child = spawn(process.execPath, [...TIED, 'scripts/test.ts', '--once', ...rest], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const tooLong = setTimeout(() => {
    console.error(`FAIL the tests did not end within ${minutes} minutes`)
    child.kill('SIGTERM')
  }, minutes * 60_000)
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      clearTimeout(tooLong)
      resolve(code ?? 1)
    })
  })
}

/** Starts busy threads in a session of their own, like other programs of the machine, because the scheduler shares the cores between sessions. */
function spin(load: number): ChildProcess {
  return spawn(process.execPath, [...TIED, '--eval', SPIN, String(load)], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

async function main(): Promise<number> {
  const { load, times, minutes, rest } = optionsOf(process.argv.slice(2))
  const spinning = spin(load)
  let failed = 0
  for (let run = 1; run <= times; run++) {
    const startedMs = performance.now()
    const code = await runTests(rest, minutes)
    if (code !== 0) failed++
    const took = ((performance.now() - startedMs) / 60_000).toFixed(1)
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'} run ${run} of ${times} beside ${load} busy threads (${took} min)`)
  }
  spinning.kill('SIGKILL')
  return failed === 0 ? 0 : 1
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  return 1
})
