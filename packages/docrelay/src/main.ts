import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
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

/** Runs the command of this process. Sets the exit code: 2 for a command line that is not understood. */
export async function main(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args
  const terminal: Terminal = {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
  }
  if (command === undefined || command === '--help' || command === 'help') return terminal.out(USAGE.trimEnd())
  if (command !== 'try') return runRelay(args)
  try {
    await tryOut(rest, terminal)
  } catch (error) {
    terminal.err(error instanceof Error ? error.message : String(error))
    process.exit(1)
  }
}

async function tryOut(args: readonly string[], terminal: Terminal): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { open: { type: 'boolean', default: false }, agent: { type: 'boolean', default: true } },
    allowNegative: true,
  })
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
      withAgent: values.agent,
      open: values.open,
      terminal,
    },
    process.env,
  )
}

/** The commands of the relay itself, in a process of its own that gets the signals of this one. */
function runRelay(args: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const relay = spawn(process.execPath, [RELAY, ...args], { stdio: 'inherit' })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => relay.kill(signal))
    relay.on('exit', (code) => {
      process.exitCode = code ?? 1
      resolve()
    })
  })
}
