/** The candidate with the fewest single-character changes from `name` (insertion, deletion, substitution, swap of neighbours). */
export function nearest(
  name: string,
  candidates: readonly string[],
): { readonly name: string; readonly distance: number } | null {
  let best: { name: string; distance: number } | null = null
  // Names in hostile files may be megabytes long; no key is.
  const wanted = name.slice(0, 64)
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate)
    if (best === null || distance < best.distance) best = { name: candidate, distance }
  }
  return best
}

export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, at(beforeLast, j - 2) + 1)
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
