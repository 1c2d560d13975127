/** Longer names are compared by their start. */
const maxLength = 64
const maxCandidates = 2000

/** The candidates that need the fewest single-character changes to become `name`, best first; ties in the order given. */
export function nearestNames(name: string, candidates: Iterable<string>, count = 3): readonly string[] {
  const wanted = name.slice(0, maxLength).toLowerCase()
  const found: { readonly candidate: string; readonly distance: number }[] = []
  let seen = 0
  for (const candidate of candidates) {
    if (++seen > maxCandidates) break
    found.push({ candidate, distance: editDistance(wanted, candidate.slice(0, maxLength).toLowerCase()) })
  }
  return found
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate)
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
