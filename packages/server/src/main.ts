import { mkdirSync, readFileSync } from 'node:fs'
import { constants, enableCompileCache } from 'node:module'
import type { CommandIo } from './commands/command.ts'
import { runCommandLine } from './commands/command-line.ts'

/** The process as commands use it. */
function processIo(): CommandIo {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  return {
    env: process.env,
    cwd: process.cwd(),
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    // The handlers stay: without them a second signal or exception would end the process during the drain.
    onStopSignal(callback) {
      const first = once(callback)
      process.on('SIGTERM', first)
      process.on('SIGINT', first)
    },
    onCrash(callback) {
      process.on('uncaughtException', once(callback))
    },
    keepCompiledCode,
  }
}

/**
 * A reader of the output may end before this process, for example `head` or a collector of logs. The command goes on, and its exit code
 * stays true; a relay that serves must not end because its log has lost its reader.
 */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

/**
 * Threads start without a compile cache unless the environment names the folder. Node checks what it reads there and
 * compiles again when it does not match.
 */
function keepCompiledCode(folder: string): void {
  if ((process.env['NODE_COMPILE_CACHE'] ?? '') !== '') return
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return
  }
  const { status } = enableCompileCache(folder)
  if (status === constants.compileCacheStatus.ENABLED) process.env['NODE_COMPILE_CACHE'] = folder
}

function once<A extends readonly unknown[]>(callback: (...args: A) => void): (...args: A) => void {
  let called = false
  return (...args) => {
    if (called) return
    called = true
    callback(...args)
  }
}

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return manifest.version
}

/** Runs the command line of this process and ends the process with the exit code of the command. */
export async function main(): Promise<void> {
  const code = await runCommandLine(process.argv.slice(2), processIo(), {
    version: version(),
    loadRelay: () => import('./compose.ts'),
  })
  // A handle that a command left open must not keep the process alive; writes to pipes are flushed first.
  await Promise.all([flushed(process.stdout), flushed(process.stderr)])
  process.exit(code)
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}

if (import.meta.main) await main()
