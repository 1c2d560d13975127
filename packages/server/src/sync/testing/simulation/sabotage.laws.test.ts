import { expect, it } from 'vitest'
import { type Fault, OWNER } from './fault-plan.ts'
import type { Sabotage } from './sabotage.ts'
import { simulate } from './simulation.ts'

const PATIENCE_MS = 900_000
/** At most this many seeds are tried. The first of them is a little before the first seed that is known to notice the sabotage. */
const SEEDS = 250

/** Returns a pause of the owner. It is about as long as other nodes wait before they take its documents over. */
function pausedOwner(seed: number): readonly Fault[] {
  return [{ atMs: 2_000 + ((seed * 370) % 4_000), kind: 'pause', node: OWNER, forMs: 3_200 + ((seed * 53) % 1_000) }]
}

/**
 * Returns the message of the first violation in the seeds, or `null` when there is none. Without `faultsOf`, each seed picks its own faults.
 */
async function firstViolation(
  sabotage: Sabotage,
  from: number,
  faultsOf?: (seed: number) => readonly Fault[],
): Promise<string | null> {
  for (let seed = from; seed < from + SEEDS; seed++) {
    const { violation } = await simulate({ seed, sabotage, ...(faultsOf && { faults: faultsOf(seed) }) })
    if (violation !== null) return violation.message
  }
  return null
}

it.each([
  ['appends that do not compare the epoch', 'no-epoch', 1, pausedOwner, /^I[25]/],
  ['an edge that asks for the updates after the newest update that it saw', 'since-seen', 90, undefined, /^I6/],
  ['a feed that is read by rising ids', 'feed-by-id', 20, undefined, /^I8/],
  ['a node that does not look at the row of a document', 'no-row-check', 1, pausedOwner, /^I[46]/],
] as const)(
  '[LIFE-25] [LIFE-26] the simulation notices %s',
  { timeout: PATIENCE_MS },
  async (_, sabotage, from, faultsOf, violation) => {
    expect(await firstViolation(sabotage, from, faultsOf)).toMatch(violation)
  },
)
