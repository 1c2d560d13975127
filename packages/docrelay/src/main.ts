import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { END_WITH_THIS } from './try-out/relay-process.ts'
import { runTryOut, type Terminal } from './try-out/try-out.ts'

export const USAGE = `docrelay: documents in which people and agents write together.

  docrelay try      tries it out on this machine: an issuer without passwords, the relay with its
                    console, sample documents and a scripted agent. Keeps them in ./.docrelay
                    --open opens the browser, --no-agent leaves out the agent
  docrelay serve    runs the relay for your own identity provider; \`docrelay serve --help\` says how.
                    \`docrelay init\`, \`config check\`, \`backup\` and the other commands of the relay work too
`

const RELAY = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const CONSOLE = fileURLToPath(new URL('../../console/dist', import.meta.url))
const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url))

/** Runs the command that the arguments name. Sets exit code 2 for an invalid command line. */
export async function main(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args
  const terminal: Terminal = {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
  }
  if (command === undefined || command === '--help' || command === 'help') return terminal.out(USAGE.trimEnd())
  if (command !== 'try') return runRelay(args)
  const asked = optionsOf(rest)
  if ('flaw' in asked) {
    terminal.err(`${asked.flaw}\n\n${USAGE.trimEnd()}`)
    process.exitCode = 2
    return
  }
  if (asked.help) return terminal.out(USAGE.trimEnd())
  try {
    await tryOut(asked, terminal)
  } catch (error) {
    terminal.err(error instanceof Error ? error.message : String(error))
    process.exit(1)
  }
}

interface TryOptions {
  readonly open: boolean
  readonly agent: boolean
  readonly help: boolean
}

/** Returns the options of `docrelay try`, or why they are invalid. */
function optionsOf(args: readonly string[]): TryOptions | { readonly flaw: string } {
  const flag = { type: 'boolean', default: false } as const
  try {
    const options = { open: flag, agent: { type: 'boolean', default: true }, help: flag } as const
    const { values } = parseArgs({ args: [...args], options, allowNegative: true })
    return values
  } catch (error) {
    return { flaw: (error as Error).message }
  }
}

async function tryOut(asked: TryOptions, terminal: Terminal): Promise<void> {
  const folder = process.cwd()
  const chosen = process.env['DOCRELAY_DEV_DIR']
  await runTryOut(
    {
      state: resolve(chosen ?? '.docrelay'),
      stateIsChosen: chosen !== undefined,
      ownConfig: join(folder, 'relay.toml'),
      relayProgram: RELAY,
      console: () => CONSOLE,
      examples: EXAMPLES,
      shownFrom: folder,
      command: 'npx docrelay try',
      example: null,
      withAgent: asked.agent,
      open: asked.open,
      terminal,
    },
    process.env,
  )
}

/** Runs a command of the relay in a child process. The child gets the signals of this process and ends with it, even after `kill -9`. */
export function runRelay(args: readonly string[], program = RELAY): Promise<void> {
  return new Promise((resolve) => {
    const relay = spawn(process.execPath, ['--import', END_WITH_THIS, program, ...args], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => relay.kill(signal))
    relay.on('exit', (code) => {
      process.exitCode = code ?? 1
      resolve()
    })
  })
}
