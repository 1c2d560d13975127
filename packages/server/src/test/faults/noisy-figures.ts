/** The operations of the honest workspace; each is measured from the request to its answer. */
export const KINDS = ['ack', 'get', 'put', 'mcp', 'join', 'preview'] as const
export type Kind = (typeof KINDS)[number]

/** Measurements of the honest workspace during one phase. */
export interface Experience {
  readonly samplesMs: Readonly<Record<Kind, readonly number[]>>
  /** All answers other than success, and all closed sockets. */
  readonly refusals: readonly string[]
}

export type Phase = 'before' | 'during' | 'after'
export type Phases = Readonly<Record<Phase, Experience>>

/** An answer may always take this long, however fast it was before. */
const GOAL_MS = 100
const GOAL_RATIO = 2

/** Returns the smallest sample that at most one sample in a hundred exceeds; 0 without samples. */
export function p99(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? 0
}

/** Returns the effects of an attack on the honest workspace that are not allowed; empty when the goal is met. */
export function faultsOf(phases: Phases): readonly string[] {
  const faults: string[] = []
  for (const kind of KINDS) {
    const [quiet, during] = [p99(phases.before.samplesMs[kind]), p99(phases.during.samplesMs[kind])]
    const goal = Math.max(GOAL_MS, GOAL_RATIO * quiet)
    if (phases.during.samplesMs[kind].length === 0) faults.push(`${kind}: nothing was answered`)
    else if (during > goal) faults.push(`${kind}: p99 ${during.toFixed(0)} ms is above ${goal.toFixed(0)} ms`)
  }
  for (const phase of ['before', 'during', 'after'] as const) {
    const { refusals } = phases[phase]
    if (refusals.length > 0) faults.push(`${refusals.length} refused ${phase}, the first: ${refusals[0]}`)
  }
  return faults
}

/** Formats p99 in ms before, during and after, for example `12 / 30 / 11`. */
export function figuresOf(phases: Phases, kind: Kind): string {
  return (['before', 'during', 'after'] as const).map((phase) => p99(phases[phase].samplesMs[kind]).toFixed(0)).join(' / ')
}
