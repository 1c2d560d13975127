/** The median of a sample, and an interval that holds the median of what was sampled. */
export interface MedianInterval {
  readonly median: number
  readonly low: number
  readonly high: number
  /** How likely the interval holds the true median, whatever the distribution is; 0 to 1. */
  readonly confidence: number
}

/** An interval is made narrower only as long as it keeps this confidence. */
const LEAST_CONFIDENCE = 0.9

/** `NaN` when there are no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (!Number.isInteger(middle)) return sorted[Math.floor(middle)] as number
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/**
 * Returns the interval between the k-th smallest and the k-th largest value, with the largest k that keeps the
 * confidence; below five values k is 1 and the confidence lower. Each value is below the true median as likely as above
 * it, so the confidence follows from the binomial distribution alone: 94 % for the whole range of five values.
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

/** Confidence of the interval that leaves out the `cut` smallest and the `cut` largest of `count` values. */
function confidenceOf(count: number, cut: number): number {
  let ways = 1
  let outside = 0
  for (let below = 0; below <= cut; below++) {
    outside += ways
    ways = (ways * (count - below)) / (below + 1)
  }
  return 1 - (2 * outside) / 2 ** count
}
