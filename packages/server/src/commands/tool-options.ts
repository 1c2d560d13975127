import type { RelayOptions } from '../compose/base.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/ids.ts'
import { createLogger } from '../kernel/log.ts'
import { type CommandCall, type CommandIo, CONFIG_OPTION, type ExitCode } from './command.ts'
import { effectiveConfig } from './effective-config.ts'

/** Options that name the store of a command. */
export const STORE_OPTIONS = { ...CONFIG_OPTION, 'data-dir': { type: 'string' } } as const

/**
 * Runs a command on the store of the effective configuration. An error becomes a sentence on stderr and exit code 1.
 * [CFG-12]
 */
export async function onStore(
  call: CommandCall,
  io: CommandIo,
  work: (options: RelayOptions) => Promise<ExitCode>,
): Promise<ExitCode> {
  const loaded = effectiveConfig(call, io)
  if (loaded.kind === 'refused') return 2
  const { config } = loaded
  const log = createLogger({ level: 'warn', format: config.log.format, clock: systemClock, write: (line) => io.stderr(line) })
  try {
    return await work({ config, log, clock: systemClock, random: systemRandom })
  } catch (error) {
    io.stderr(`relay: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}
