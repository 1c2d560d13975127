import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Load, Measured } from './generator.ts'
import { startRelayServer } from './relay-server.ts'
import { startPeer, type RunningServer } from './servers.ts'
import type { Scenario, Target } from './sync-scenarios.ts'

/** Time for a run beyond its warm-up and its window. A server that has collapsed may never deliver everything. */
const LONGEST_BESIDE_SECONDS = 240

export interface Timing {
  readonly warmUpSec: number
  readonly measureSec: number
}

/**
 * Measures a scenario on a server that is started for it, with a generator in a process of its own. Returns `null` when the generator gave up: it
 * lost a connection, or the server did not deliver an edit that it had accepted.
 */
export async function measure(target: Target, scenario: Omit<Scenario, 'targets'>, timing: Timing): Promise<Measured | null> {
  const ids = Array.from({ length: scenario.docs }, (_, i) => `bench-${i}`)
  const server = await start(target, ids, scenario.limits)
  try {
    const { clientsPerDoc, rate, window } = scenario
    return await generate({
      dialect: target === 'relay' || target === 'bare' ? target : 'hocuspocus',
      servers: [{ port: server.port, pid: server.pid }],
      beside: {},
      docs: ids.map((id, i) => ({ id, token: server.tokens?.[i] ?? 'none' })),
      ...{ clientsPerDoc, rate, window },
      ...timing,
    })
  } finally {
    await server.stop()
  }
}

function start(
  target: Target,
  docs: readonly string[],
  limits: Scenario['limits'],
): Promise<RunningServer & { readonly tokens?: readonly string[] }> {
  switch (target) {
    case 'relay':
      return startRelayServer({ docs, limits })
    case 'hocuspocus':
      return startPeer('hocuspocus.ts')
    case 'hocuspocus storing each change':
      return startPeer('hocuspocus.ts', { args: ['each-change'] })
    case 'bare':
      return startPeer('bare-ws.ts')
  }
}

/** Runs the load in a process of its own. Returns `null` when the generator gave up, as `measure` does. */
export async function generate(load: Load): Promise<Measured | null> {
  const generator = spawn(process.execPath, [`${import.meta.dirname}/generator.ts`], { stdio: ['pipe', 'pipe', 'inherit'] })
  const longestMs = (load.warmUpSec + load.measureSec + LONGEST_BESIDE_SECONDS) * 1_000
  const timer = setTimeout(() => generator.kill('SIGKILL'), longestMs)
  // Ignores write errors: a generator that ends early does not read all of its input.
  generator.stdin.on('error', () => undefined)
  generator.stdin.end(JSON.stringify(load))
  const printed = await text(generator.stdout)
  clearTimeout(timer)
  return printed === '' ? null : (JSON.parse(printed, withLatency) as Measured)
}

/** A percentile without samples is null in JSON. It becomes infinity, since deliveries that never came took forever. */
function withLatency(name: string, value: unknown): unknown {
  return value === null && (name === 'p50' || name === 'p99') ? Number.POSITIVE_INFINITY : value
}
