/** The median of a sample, and an interval that contains the median of the sampled distribution. */
export interface MedianInterval {
  readonly median: number
  readonly low: number
  readonly high: number
  /** The probability, from 0 to 1, that the interval contains the true median, for any distribution. */
  readonly confidence: number
}

/** An interval is narrowed only while it keeps this confidence. */
const LEAST_CONFIDENCE = 0.9

/** Returns the median, or `NaN` when there are no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (!Number.isInteger(middle)) return sorted[Math.floor(middle)] as number
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/**
 * Returns the interval from the k-th smallest to the k-th largest value, with the largest k that keeps the confidence. Below five values k is 1 and
 * the confidence is lower. Each value is below the true median with probability one half, so the confidence follows from the binomial distribution
 * alone: 94 % for the whole range of five values.
 */
export function medianInterval(values: readonly number[]): MedianInterval {
  const sorted = values.toSorted((a, b) => a - b)
  let cut = 0
  while (2 * (cut + 2) <= sorted.length && confidenceOf(sorted.length, cut + 1) >= LEAST_CONFIDENCE) cut++
  return {
    median: median(sorted),
    low: sorted[cut] ?? Number.NaN,
    high: sorted[sorted.length - 1 - cut] ?? Number.NaN,
    confidence: Math.max(0, confidenceOf(sorted.length, cut)),
  }
}

/** Returns the confidence of the interval that omits the `cut` smallest and the `cut` largest of `count` values. */
function confidenceOf(count: number, cut: number): number {
  let ways = 1
  let outside = 0
  for (let below = 0; below <= cut; below++) {
    outside += ways
    ways = (ways * (count - below)) / (below + 1)
  }
  return 1 - (2 * outside) / 2 ** count
}
