import type { Fault } from './fault-plan.ts'
import { simulate, type SimulationOptions, type SimulationRun } from './simulation.ts'

const LAST_STEPS = 40

/**
 * Leaves faults out of a run for as long as something is violated without them. What is left is rarely more than two faults.
 */
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

/** What somebody needs who looks for the cause: seed, faults and the last steps. */
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

/** Plays the seeds from `from` to `through`; throws what is told of the first one in which something is violated. */
export async function playSeeds(from: number, through: number): Promise<SimulationRun['counts'][]> {
  const counts: SimulationRun['counts'][] = []
  for (let seed = from; seed <= through; seed++) {
    const run = await simulate({ seed })
    if (run.violation !== null) throw new Error(told(await shrunk(run, { seed })))
    counts.push(run.counts)
  }
  return counts
}
