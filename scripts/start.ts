// `npm start`: runs a real issuer, the relay with its console on its embedded store, a sample workspace and a scripted agent, until Ctrl-C.
// The state is kept in .dev/ between runs. DOCRELAY_DEV_DIR chooses another folder; RELAY_PORT, RELAY_MCP_PORT, RELAY_METRICS_PORT and
// DOCRELAY_DEV_ISSUER_PORT choose other ports.
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import '../packages/docrelay/src/try-out/end-with-parent.js'
import { runTryOut } from '../packages/docrelay/src/try-out/try-out.ts'
import { builtConsole } from './built-console.ts'
import { bundledRelay } from './relay-bundle.ts'

const ROOT = join(import.meta.dirname, '..')
const USAGE = `npm start -- [--open] [--no-agent]

  --open       opens the first link in the browser
  --no-agent   leaves out the scripted agent
`

async function main(): Promise<void> {
  const { open, agent } = options()
  const chosen = process.env['DOCRELAY_DEV_DIR']
  await runTryOut(
    {
      state: resolve(chosen ?? join(ROOT, '.dev')),
      stateIsChosen: chosen !== undefined,
      ownConfig: join(ROOT, 'relay.toml'),
      relayProgram: await bundledRelay(),
      console: builtConsole,
      examples: join(ROOT, 'examples'),
      shownFrom: ROOT,
      command: 'npm start',
      example: 'npm run example',
      withAgent: agent,
      open,
      terminal: { out: (text) => console.log(text), err: (text) => console.error(text) },
    },
    process.env,
  )
}

function options(): { readonly open: boolean; readonly agent: boolean } {
  try {
    const { values } = parseArgs({
      options: { open: { type: 'boolean', default: false }, agent: { type: 'boolean', default: true } },
      allowNegative: true,
    })
    return values
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`, { cause: error })
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
