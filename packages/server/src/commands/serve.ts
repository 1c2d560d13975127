import { join } from 'node:path'
import type { RunningRelay, startRelay } from '../compose.ts'
import { systemClock } from '../kernel/clock.ts'
import { unreachable } from '../kernel/errors.ts'
import { systemRandom } from '../kernel/ids.ts'
import { createLogger, type Logger } from '../kernel/log.ts'
import { RefusedStart } from '../kernel/refused-start.ts'
import { type Command, type CommandIo, CONFIG_OPTION, type ExitCode } from './command.ts'
import { effectiveConfig } from './effective-config.ts'
import type { Config } from '../config/config.ts'

/** Loads `startRelay` when it is needed, so that other commands do not load the whole service. */
export type LoadRelay = () => Promise<{ readonly startRelay: typeof startRelay }>

export function serveCommand(loadRelay: LoadRelay): Command {
  return {
    name: 'serve',
    usage:
      '[--config <file>] [--host <address>] [--port <n>] [--data-dir <dir>] [--region <code>] [--tenancy=<mode>] [--tenancy-workspace=<id>] [--accept-loss]',
    summary: 'runs the service until SIGTERM or SIGINT',
    options: {
      ...CONFIG_OPTION,
      host: { type: 'string' },
      port: { type: 'string' },
      'data-dir': { type: 'string' },
      region: { type: 'string' },
      tenancy: { type: 'string' },
      'tenancy-workspace': { type: 'string' },
      'accept-loss': { type: 'boolean' },
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
      io.keepCompiledCode(join(config.storage.dataDir ?? 'data', 'compiled-code'))
      try {
        const service = await loadRelay()
        const acceptLoss = call.flag('accept-loss')
        const starting = service.startRelay({ config, log, clock: systemClock, random: systemRandom, acceptLoss })
        // The start may wait for a database or for keys. A stop during the start has nothing to finish, since nothing was accepted yet.
        relay = await Promise.race([starting, stopped])
      } catch (error) {
        // The reason is part of the message, because fields are cut after 200 characters, and it may name a path and a remedy.
        const reason = error instanceof Error ? error.message : String(error)
        const remedy = error instanceof RefusedStart ? error.remedy : undefined
        log.error('relay.start_failed', `The relay could not start: ${reason}.`, { error, remedy })
        return 1
      }
      if ('kind' in relay) return 0
      announce(relay, io)
      logStart(relay, config, log)
      const failed = relay.failed.then((error): Ending => ({ kind: 'failed', error }))
      return endedBy(await Promise.race([stopped, failed, crashed]), relay, log)
    },
  }
}

/** Why a running relay ends. */
type Ending =
  | { readonly kind: 'stopped' }
  /** The store can store nothing any more. */
  | { readonly kind: 'failed'; readonly error: Error }
  /** Nobody caught an exception, so the state of the process can no longer be trusted. */
  | { readonly kind: 'crashed'; readonly error: unknown }

async function endedBy(ending: Ending, relay: RunningRelay, log: Logger): Promise<ExitCode> {
  switch (ending.kind) {
    case 'stopped':
      return drained(relay, log)
    case 'failed':
      // Nothing can be made durable any more, so draining would be useless.
      log.error('relay.failed', 'The relay cannot store anything any more and ends; everything acknowledged is durable.', {
        error: ending.error,
      })
      return 1
    case 'crashed':
      // Acknowledgements follow commits, so those sent while the sockets close are still true.
      log.error('relay.crashed', 'An exception that nobody caught ends the relay; everything acknowledged is durable.', {
        error: ending.error,
      })
      await drained(relay, log)
      return 1
    default:
      return unreachable(ending)
  }
}

/** Writes one line per listener to stdout, e.g. `main http://0.0.0.0:9876`. [CFG-13] */
function announce(relay: RunningRelay, io: CommandIo): void {
  for (const { name, url } of relay.listeners) io.stdout(`${name} ${url}\n`)
}

/** Logs the kinds of stores only, since their URLs may hold credentials. [OPS-13] */
function logStart({ release, listeners }: RunningRelay, { storage, blobs }: Config, log: Logger): void {
  log.info('relay.started', 'The relay takes requests.', {
    ...release,
    node: process.versions.node,
    storage: storage.url.split(':')[0],
    blobs: blobs.url.split(':')[0],
    listeners: listeners.map(({ name, url }) => `${name} ${url}`),
  })
}

/** Drains the relay and returns the exit code. [LIFE-28] */
async function drained(relay: RunningRelay, log: Logger): Promise<ExitCode> {
  log.info('relay.stopping', 'The relay takes no new work and finishes what it has.')
  try {
    const outcome = await relay.drain()
    if (outcome === 'clean') {
      log.info('relay.stopped', 'The relay has stopped; everything acknowledged is durable.')
      return 0
    }
    log.error('relay.drain_overrun', 'The relay did not finish within shutdown_grace_secs; everything acknowledged is durable.')
  } catch (error) {
    log.error('relay.drain_failed', 'The relay did not stop cleanly; everything acknowledged is durable.', { error })
  }
  return 1
}
