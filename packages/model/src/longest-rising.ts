/** Returns a largest part of the list, in its order, in which `valueOf` rises from each entry to the next. */
export function longestRising<Entry>(entries: readonly Entry[], valueOf: (entry: Entry) => number): readonly Entry[] {
  // ends[n] is the entry with the smallest value at which n + 1 rising entries can end.
  const ends: number[] = []
  const before: number[] = []
  entries.forEach((entry, index) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (valueOf(entries[ends[middle] as number] as Entry) < valueOf(entry)) low = middle + 1
      else high = middle
    }
    before[index] = low === 0 ? -1 : (ends[low - 1] as number)
    ends[low] = index
  })
  const run: Entry[] = []
  for (let at = ends.at(-1) ?? -1; at !== -1; at = before[at] as number) run.push(entries[at] as Entry)
  return run.reverse()
}
