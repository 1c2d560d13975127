// Replaces fast-check outside the lane of laws: a law then runs a fifth as often as its test requests. CI runs every law in full.
import * as real from '../node_modules/fast-check/lib/fast-check.js'

/** The number of runs of fast-check when a test requests none. */
const USUAL_RUNS = 100
/** With fewer runs, a law would no longer reach the cases it is about. */
const FEWEST_RUNS = 25
const PART = 0.2

/** Returns how many runs a law gets when its test requests `wanted`. */
export function scaledRuns(wanted: number, part: number): number {
  return Math.min(wanted, Math.max(FEWEST_RUNS, Math.ceil(wanted * part)))
}

/** A law that repeats one failure (`path`) runs as often as requested. */
export const assert = ((property: Parameters<typeof real.assert>[0], parameters: Parameters<typeof real.assert>[1]) => {
  const wanted = parameters?.numRuns ?? USUAL_RUNS
  return real.assert(property, { ...parameters, numRuns: parameters?.path === undefined ? scaledRuns(wanted, PART) : wanted })
}) as typeof real.assert

// Names exported by this module take precedence over those of the library.
export * from '../node_modules/fast-check/lib/fast-check.js'
export default { ...real, assert }
