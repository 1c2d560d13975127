/** The place of something in two lists. */
interface Pair {
  readonly stored: number
  readonly written: number
}

/** The largest subset of the pairs, ordered by `written`, in which `stored` increases too. */
export function longestRising<P extends Pair>(pairs: readonly P[]): readonly P[] {
  // ends[n] is the pair with the smallest `stored` at which a sequence of n + 1 pairs can end.
  const ends: number[] = []
  const before: number[] = []
  pairs.forEach((pair, index) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] as number] as P).stored < pair.stored) low = middle + 1
      else high = middle
    }
    before[index] = low === 0 ? -1 : (ends[low - 1] as number)
    ends[low] = index
  })
  const run: P[] = []
  for (let at = ends.at(-1) ?? -1; at !== -1; at = before[at] as number) run.push(pairs[at] as P)
  return run.reverse()
}
