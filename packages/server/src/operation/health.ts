import type { Clock } from '../kernel/clock.ts'
import type { Timers } from '../kernel/timers.ts'

/** The outcome of one check in /readyz; `detail` contains no host, URL or secret. [OPS-2] */
export interface CheckOutcome {
  readonly ok: boolean
  readonly detail?: string
}

/** All checks, in the order in which /readyz shows them. Only one of several nodes has `cluster`. */
export const CHECKS = ['storage', 'log', 'bus', 'blobs', 'keys', 'cluster', 'draining'] as const
export type CheckName = (typeof CHECKS)[number]
export type Check = () => CheckOutcome | Promise<CheckOutcome>

type PerCheck<T> = Readonly<Record<Exclude<CheckName, 'cluster'>, T> & { cluster?: T }>
export type Checks = PerCheck<Check>

/**
 * /readyz shows this check, but its failure does not make the node unready: all nodes share the bus, so its outage must not take nodes out of the
 * load balancer. [LIFE-27]
 */
const INFORMS: CheckName = 'bus'

export interface Readiness {
  readonly status: 'ok' | 'unavailable'
  readonly checks: PerCheck<CheckOutcome>
}

const SHARED_MS = 1_000
const LIMIT_MS = 2_000

/**
 * Runs the checks at most once a second, however often /readyz is requested. A check that takes longer than two seconds
 * counts as failed. [OPS-2]
 */
export function createReadiness(
  checks: Checks,
  { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
): () => Promise<Readiness> {
  let startedMs = Number.NEGATIVE_INFINITY
  let current: Promise<Readiness> | null = null
  return () => {
    const nowMs = clock.monotonicMs()
    if (current !== null && nowMs - startedMs < SHARED_MS) return current
    startedMs = nowMs
    current = runChecks(checks, timers)
    return current
  }
}

async function runChecks(checks: Checks, timers: Timers): Promise<Readiness> {
  const asked = CHECKS.flatMap((name) => {
    const check = checks[name]
    return check === undefined ? [] : [{ name, check }]
  })
  const outcomes = await Promise.all(asked.map(async ({ name, check }) => [name, await withLimit(check, timers)] as const))
  const status = outcomes.every(([name, { ok }]) => ok || name === INFORMS) ? 'ok' : 'unavailable'
  return { status, checks: Object.fromEntries(outcomes) as PerCheck<CheckOutcome> }
}

async function withLimit(check: Check, timers: Timers): Promise<CheckOutcome> {
  let cancel = (): void => undefined
  const late = new Promise<CheckOutcome>((resolve) => {
    cancel = timers.after(LIMIT_MS, () => resolve({ ok: false, detail: 'no answer in time' }))
  })
  try {
    return await Promise.race([Promise.resolve().then(check), late])
  } catch {
    // Hides the text of the error, which could name a host.
    return { ok: false, detail: 'failed' }
  } finally {
    cancel()
  }
}
