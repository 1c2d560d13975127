/** Longer names are compared by their start. */
const maxLength = 64
const maxCandidates = 2000
/** So many of the candidates that share most with the name are compared change by change. */
const compared = 50

/** The candidates that need the fewest single-character changes to become `name`, best first; ties in the order given. */
export function nearestNames(name: string, candidates: Iterable<string>, count = 3): readonly string[] {
  const wanted = name.slice(0, maxLength).toLowerCase()
  const pairs = new Set(pairsOf(wanted, maxLength))
  const alike: { readonly candidate: string; readonly likeness: number }[] = []
  for (const candidate of candidates) {
    if (alike.length === maxCandidates) break
    alike.push({ candidate, likeness: likeness(pairs, pairsOf(candidate, maxLength)) })
  }
  return alike
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, compared)
    .map(({ candidate }) => ({ candidate, distance: editDistance(wanted, candidate.slice(0, maxLength).toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate)
}

/** Neighbouring characters of the start of a text, case aside, as one number each. */
export function pairsOf(text: string, length: number): readonly number[] {
  const start = text.slice(0, length).toLowerCase()
  const pairs: number[] = []
  for (let i = 0; i + 1 < start.length; i++) pairs.push(start.charCodeAt(i) * 0x10000 + start.charCodeAt(i + 1))
  return pairs
}

/** How much two texts share, 0 to 1, by their pairs. */
export function likeness(wanted: ReadonlySet<number>, pairs: readonly number[]): number {
  let common = 0
  for (const pair of pairs) if (wanted.has(pair)) common++
  return common === 0 ? 0 : (2 * Math.min(common, wanted.size)) / (wanted.size + pairs.length)
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
