import type { Fault } from './fault-plan.ts'
import { simulate, type SimulationOptions, type SimulationRun } from './simulation.ts'

const LAST_STEPS = 40

/** Removes every fault that a violation does not need. Usually at most two faults are left. */
export async function shrunk(run: SimulationRun, options: SimulationOptions): Promise<SimulationRun> {
  let shortest = run
  for (let at = 0; at < shortest.faults.length; ) {
    const faults: readonly Fault[] = shortest.faults.toSpliced(at, 1)
    const shorter = await simulate({ ...options, faults })
    if (shorter.violation === null) at++
    else shortest = shorter
  }
  return shortest
}

/** Returns a description of a run for the search of the cause of a violation: the seed, the faults and the last steps. */
export function told({ seed, faults, violation, history }: SimulationRun): string {
  const planned = faults.map((fault) => `  ${JSON.stringify(fault)}`)
  return [
    `seed ${seed}: ${violation?.message ?? 'nothing is violated'}`,
    'with these faults, times in ms after the start:',
    ...planned,
    'last steps:',
    ...history.slice(-LAST_STEPS).map((step) => `  ${step}`),
  ].join('\n')
}

/**
 * Plays the seeds from `from` to `through`. Throws at the first seed that violates an invariant, with the description of its shortened run.
 */
export async function playSeeds(from: number, through: number): Promise<SimulationRun['counts'][]> {
  const counts: SimulationRun['counts'][] = []
  for (let seed = from; seed <= through; seed++) {
    const run = await simulate({ seed })
    if (run.violation !== null) throw new Error(told(await shrunk(run, { seed })))
    counts.push(run.counts)
  }
  return counts
}
