import type { Clock } from '../kernel/clock.ts'

/** One part of the relay as /readyz shows it; `detail` holds no host, URL or secret. [OPS-2] */
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

const SHARED_MS = 1_000
const LIMIT_MS = 2_000

/** Runs the checks, at most once a second however often it is asked; a check that takes longer than two seconds is not ok. [OPS-2] */
export function createReadiness(checks: Readonly<Record<CheckName, Check>>, clock: Clock): () => Promise<Readiness> {
  let startedMs = Number.NEGATIVE_INFINITY
  let current: Promise<Readiness> | null = null
  return () => {
    const nowMs = clock.monotonicMs()
    if (current !== null && nowMs - startedMs < SHARED_MS) return current
    startedMs = nowMs
    current = runChecks(checks)
    return current
  }
}

async function runChecks(checks: Readonly<Record<CheckName, Check>>): Promise<Readiness> {
  const outcomes = await Promise.all(CHECKS.map(async (name) => [name, await withLimit(checks[name])] as const))
  const status = outcomes.every(([, outcome]) => outcome.ok) ? 'ok' : 'unavailable'
  return { status, checks: Object.fromEntries(outcomes) as Record<CheckName, CheckOutcome> }
}

async function withLimit(check: Check): Promise<CheckOutcome> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CheckOutcome>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, detail: 'no answer in time' }), LIMIT_MS)
  })
  try {
    return await Promise.race([Promise.resolve().then(check), late])
  } catch {
    // The error's own text could name a host.
    return { ok: false, detail: 'failed' }
  } finally {
    clearTimeout(timer)
  }
}
