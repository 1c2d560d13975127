/** How often a write is tried before its caller hears that other writers were faster each time. */
export const CAS_ATTEMPTS = 5

/**
 * Runs a compare-and-set, and runs it again each time it loses a race, at most `CAS_ATTEMPTS` times.
 *
 * `decide` reads what is stored, decides and writes; it answers `again` when somebody else wrote in between. Its errors are thrown without
 * another attempt. When every attempt loses, `contended` gives the answer or throws.
 *
 * @param decide gets the number of the attempt, from 0
 */
export async function retryCas<T>(
  decide: (attempt: number) => Promise<T | 'again'>,
  contended: () => T | Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < CAS_ATTEMPTS; attempt++) {
    const outcome = await decide(attempt)
    if (outcome !== 'again') return outcome
  }
  return contended()
}
