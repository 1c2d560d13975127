import { type Loaded, loadConfig } from '../config/load.ts'
import { problemLine } from '../config/problem.ts'
import type { CommandCall, CommandIo } from './command.ts'

/** Options of `relay serve` that override keys; each is also the name under which problems cite it. [CFG-11] */
const OVERRIDES = ['host', 'port', 'data-dir', 'region', 'tenancy', 'tenancy-workspace'] as const

/** The configuration of a call, with every problem and warning written to stderr, one line each. [CFG-5, CFG-7] */
export function effectiveConfig(call: CommandCall, io: CommandIo): Loaded {
  const options = Object.fromEntries(OVERRIDES.map((name) => [`--${name}`, call.text(name)]))
  const loaded = loadConfig({ options, env: io.env, configPath: call.text('config'), cwd: io.cwd })
  if (loaded.kind === 'refused') {
    for (const warning of loaded.warnings) io.stderr(`warning: ${warning}\n`)
    for (const problem of loaded.problems) io.stderr(`${problemLine(problem)}\n`)
  }
  return loaded
}
