import type { RunningRelay, startRelay } from '../compose.ts'
import { systemClock } from '../kernel/clock.ts'
import { unreachable } from '../kernel/errors.ts'
import { systemRandom } from '../kernel/ids.ts'
import { createLogger, type Logger } from '../kernel/log.ts'
import { type Command, type CommandIo, CONFIG_OPTION, type ExitCode } from './command.ts'
import { effectiveConfig } from './effective-config.ts'

/** Where `startRelay` comes from; loaded late, so that other commands do not wait for the whole service. */
export type LoadRelay = () => Promise<{ readonly startRelay: typeof startRelay }>

export function serveCommand(loadRelay: LoadRelay): Command {
  return {
    name: 'serve',
    usage:
      '[--config <file>] [--host <address>] [--port <n>] [--data-dir <dir>] [--region <code>] [--tenancy=<mode>] [--tenancy-workspace=<id>]',
    summary: 'runs the service until SIGTERM or SIGINT',
    options: {
      ...CONFIG_OPTION,
      host: { type: 'string' },
      port: { type: 'string' },
      'data-dir': { type: 'string' },
      region: { type: 'string' },
      tenancy: { type: 'string' },
      'tenancy-workspace': { type: 'string' },
    },
    words: 0,
    async run(call, io) {
      const loaded = effectiveConfig(call, io)
      if (loaded.kind === 'refused') return 2
      const { config } = loaded
      const log = createLogger({
        level: config.log.level,
        format: config.log.format,
        clock: systemClock,
        write: (line) => io.stderr(line),
      })
      for (const warning of loaded.warnings) log.warn('config.warning', warning)
      const stopped = new Promise<Ending>((resolve) => io.onStopSignal(() => resolve({ kind: 'stopped' })))
      const crashed = new Promise<Ending>((resolve) => io.onCrash((error) => resolve({ kind: 'crashed', error })))
      let relay: RunningRelay | Ending
      try {
        const service = await loadRelay()
        const starting = service.startRelay({ config, log, clock: systemClock, random: systemRandom })
        // The start may wait for a database or for keys; nothing has been accepted yet that a stop would have to finish.
        relay = await Promise.race([starting, stopped])
      } catch (error) {
        log.error('relay.start_failed', 'The relay could not start.', { error })
        return 1
      }
      if ('kind' in relay) return 0
      announce(relay, io)
      const failed = relay.failed.then((error): Ending => ({ kind: 'failed', error }))
      return endedBy(await Promise.race([stopped, failed, crashed]), relay, log)
    },
  }
}

/** Why a running relay ends. */
type Ending =
  | { readonly kind: 'stopped' }
  /** The store is gone. */
  | { readonly kind: 'failed'; readonly error: Error }
  /** An exception that nobody caught: what the process holds can no longer be trusted. */
  | { readonly kind: 'crashed'; readonly error: unknown }

async function endedBy(ending: Ending, relay: RunningRelay, log: Logger): Promise<ExitCode> {
  switch (ending.kind) {
    case 'stopped':
      return drained(relay, log)
    case 'failed':
      // Nothing can be made durable any more, so there is nothing to drain for.
      log.error('relay.failed', 'The relay cannot store anything any more and ends; everything acknowledged is durable.', {
        error: ending.error,
      })
      return 1
    case 'crashed':
      // Acknowledgements follow commits, so those that leave while the sockets close are still true.
      log.error('relay.crashed', 'An exception that nobody caught ends the relay; everything acknowledged is durable.', {
        error: ending.error,
      })
      await drained(relay, log)
      return 1
    default:
      return unreachable(ending)
  }
}

/** One line per listener on stdout, e.g. `main http://0.0.0.0:9876`. [CFG-13] */
function announce(relay: RunningRelay, io: CommandIo): void {
  for (const { name, url } of relay.listeners) io.stdout(`${name} ${url}\n`)
}

/** [LIFE-28] */
async function drained(relay: RunningRelay, log: Logger): Promise<ExitCode> {
  try {
    const outcome = await relay.drain()
    if (outcome === 'clean') return 0
    log.error('relay.drain_overrun', 'The relay did not finish within shutdown_grace_secs; everything acknowledged is durable.')
  } catch (error) {
    log.error('relay.drain_failed', 'The relay did not stop cleanly; everything acknowledged is durable.', { error })
  }
  return 1
}
