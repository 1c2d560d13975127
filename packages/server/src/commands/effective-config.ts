import { type Loaded, loadConfig } from '../config/load.ts'
import { problemLine } from '../config/problem.ts'
import type { CommandCall, CommandIo } from './command.ts'

/** Options of `relay serve` that override keys. Problems name the option in the same form. [CFG-11] */
const OVERRIDES = ['host', 'port', 'data-dir', 'region', 'tenancy', 'tenancy-workspace'] as const

/** Returns the configuration of a call and writes every problem and warning to stderr, one line each. [CFG-5, CFG-7] */
export function effectiveConfig(call: CommandCall, io: CommandIo): Loaded {
  const options = Object.fromEntries(OVERRIDES.map((name) => [`--${name}`, call.text(name)]))
  const loaded = loadConfig({ options, env: io.env, configPath: call.text('config'), cwd: io.cwd })
  if (loaded.kind === 'refused') {
    for (const warning of loaded.warnings) io.stderr(`warning: ${warning}\n`)
    for (const problem of loaded.problems) io.stderr(`${problemLine(problem)}\n`)
  }
  return loaded
}
