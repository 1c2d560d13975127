import { isCarried, nextStep, SIZES } from './capacity-search.ts'
import type { Measured } from './generator.ts'
import { measure, type Timing } from './sync-run.ts'
import type { Target } from './sync-scenarios.ts'

const FIRST_SIZE = SIZES.indexOf(100)
export const CAPACITY_TARGETS = ['relay', 'hocuspocus', 'hocuspocus storing each change'] as const satisfies readonly Target[]
const CLIENTS_PER_DOCUMENT = 5
/**
 * As shipped, the peer stores a document at the latest 10 s after its first edit, so a window of this length contains a store of
 * each document.
 */
const STORE_PERIOD_SECONDS = 11

/** A size that was tried, with its result. */
export interface Trial {
  readonly documents: number
  readonly isCarried: boolean
  /** `null` when the generator gave up. */
  readonly measured: Measured | null
}

/** The result of a search. */
export interface Capacity {
  /** The largest size that was carried; `null` when not even the smallest was. */
  readonly best: Trial | null
  /** The next larger size, which was not carried; `null` when the largest size was carried. */
  readonly next: Trial | null
}

/** Finds the largest size that the server carries. `near` is the size that an earlier round found; the search starts there. */
export async function findCapacity(
  target: Target,
  {
    rate,
    near,
    timing,
    tried,
  }: {
    readonly rate: number
    readonly near: number | null
    readonly timing: Timing
    /** Called after each trial. */
    readonly tried: (trial: Trial) => void
  },
): Promise<Capacity> {
  const trials = new Map<number, Trial>()
  const first = near === null ? { start: FIRST_SIZE, hop: 4 } : { start: SIZES.indexOf(near), hop: 1 }
  for (;;) {
    const carried = new Map([...trials].map(([index, trial]) => [index, trial.isCarried]))
    const step = nextStep(carried, first)
    if (step.kind === 'found') {
      const at = (index: number): Trial | null => trials.get(index) ?? null
      return { best: step.index === null ? null : at(step.index), next: at((step.index ?? -1) + 1) }
    }
    const documents = SIZES[step.index] as number
    const scenario = { docs: documents, clientsPerDoc: CLIENTS_PER_DOCUMENT, rate, window: 0, limits: 'raised' } as const
    const window = { ...timing, measureSec: Math.max(timing.measureSec, STORE_PERIOD_SECONDS) }
    const measured = await measure(target, scenario, window)
    const trial = { documents, measured, isCarried: measured !== null && isCarried(measured, scenario) }
    trials.set(step.index, trial)
    tried(trial)
  }
}
