/** Most attempts of a write; afterwards its caller learns that other writers were faster each time. */
export const CAS_ATTEMPTS = 5

/**
 * Runs a compare-and-set, and repeats it after each lost race, with at most `CAS_ATTEMPTS` attempts.
 *
 * `decide` reads the stored state, decides and writes; it returns `again` when somebody else wrote in between. Its errors are
 * thrown without another attempt. When every attempt loses, `contended` returns the result or throws.
 *
 * @param decide gets the number of the attempt; the first is 0
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
