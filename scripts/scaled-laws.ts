// Stands in the place of fast-check outside the lane of laws: there a law runs a fifth as often as its test asks for. CI runs all of it.
import * as real from '../node_modules/fast-check/lib/fast-check.js'

/** What fast-check runs when a test asks for nothing. */
const USUAL_RUNS = 100
/** Fewer would no longer meet the cases that a law is about. */
const FEWEST_RUNS = 25
const PART = 0.2

/** How often a law runs that asks for `wanted` runs. */
export function scaledRuns(wanted: number, part: number): number {
  return Math.min(wanted, Math.max(FEWEST_RUNS, Math.ceil(wanted * part)))
}

/** A law that repeats one failure (`path`) runs as often as it says. */
export const assert = ((property: Parameters<typeof real.assert>[0], parameters: Parameters<typeof real.assert>[1]) => {
  const wanted = parameters?.numRuns ?? USUAL_RUNS
  return real.assert(property, { ...parameters, numRuns: parameters?.path === undefined ? scaledRuns(wanted, PART) : wanted })
}) as typeof real.assert

// A name that is exported here goes before the same name of the library.
export * from '../node_modules/fast-check/lib/fast-check.js'
export default { ...real, assert }
