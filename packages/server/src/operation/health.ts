import type { Clock } from '../kernel/clock.ts'
import type { Timers } from '../kernel/timers.ts'

/** One part of the relay in /readyz; `detail` holds no host, URL or secret. [OPS-2] */
export interface CheckOutcome {
  readonly ok: boolean
  readonly detail?: string
}

export const CHECKS = ['storage', 'log', 'bus', 'blobs', 'keys', 'draining'] as const
export type CheckName = (typeof CHECKS)[number]
export type Check = () => CheckOutcome | Promise<CheckOutcome>

export interface Readiness {
  readonly status: 'ok' | 'unavailable'
  readonly checks: Readonly<Record<CheckName, CheckOutcome>>
}

/** Checks that turn no node red: all nodes share the bus, and without it they go on. [LIFE-27] */
const INFORMING: ReadonlySet<CheckName> = new Set(['bus'])

const SHARED_MS = 1_000
const LIMIT_MS = 2_000

/**
 * Runs the checks at most once a second, however often /readyz is requested. A check that takes longer than two seconds
 * counts as failed. [OPS-2]
 */
export function createReadiness(
  checks: Readonly<Record<CheckName, Check>>,
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

async function runChecks(checks: Readonly<Record<CheckName, Check>>, timers: Timers): Promise<Readiness> {
  const outcomes = await Promise.all(CHECKS.map(async (name) => [name, await withLimit(checks[name], timers)] as const))
  const status = outcomes.every(([name, outcome]) => outcome.ok || INFORMING.has(name)) ? 'ok' : 'unavailable'
  return { status, checks: Object.fromEntries(outcomes) as Record<CheckName, CheckOutcome> }
}

async function withLimit(check: Check, timers: Timers): Promise<CheckOutcome> {
  let cancel = (): void => undefined
  const late = new Promise<CheckOutcome>((resolve) => {
    cancel = timers.after(LIMIT_MS, () => resolve({ ok: false, detail: 'no answer in time' }))
  })
  try {
    return await Promise.race([Promise.resolve().then(check), late])
  } catch {
    // The text of the error could name a host.
    return { ok: false, detail: 'failed' }
  } finally {
    cancel()
  }
}
