/** Names are compared by their first 64 UTF-16 units. */
const maxLength = 64
const maxCandidates = 2000
/** Of the candidates that share most character pairs with the name, this many are compared by edit distance. */
const compared = 50

/** Returns the candidates with the smallest edit distance to `name`, nearest first; equally near ones in the order given. */
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

/** The pairs of neighbouring characters at the start of a text, ignoring case, as one number each. */
export function pairsOf(text: string, length: number): readonly number[] {
  const start = text.slice(0, length).toLowerCase()
  const pairs: number[] = []
  for (let i = 0; i + 1 < start.length; i++) pairs.push(start.charCodeAt(i) * 0x10000 + start.charCodeAt(i + 1))
  return pairs
}

/** How similar two texts are by their pairs, from 0 to 1. */
export function likeness(wanted: ReadonlySet<number>, pairs: readonly number[]): number {
  let common = 0
  for (const pair of pairs) if (wanted.has(pair)) common++
  return common === 0 ? 0 : (2 * Math.min(common, wanted.size)) / (wanted.size + pairs.length)
}

/** Single-character changes between two texts: insertions, deletions, substitutions and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let cost = Math.min(changed, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (beforeLast[j - 2] ?? i + j) + 1)
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}

/** A name shorter than this may be a part of other names by chance. */
const leastPart = 3

/**
 * Returns the candidate that `name` probably stands for: at most a third of the characters (but always one) may differ, or
 * one of the two contains the other, which is at least a third as long. Returns `null` when there is no such candidate, so
 * that nobody is pointed to a name that is near only by chance.
 */
export function likelyMeant(name: string, candidates: Iterable<string>): string | null {
  const wanted = name.slice(0, maxLength).toLowerCase()
  for (const candidate of nearestNames(name, candidates)) {
    const known = candidate.slice(0, maxLength).toLowerCase()
    const [shorter, longer] = wanted.length < known.length ? [wanted, known] : [known, wanted]
    if (editDistance(wanted, known) <= Math.max(1, Math.floor(longer.length / 3)) && shorter.length > 1) return candidate
    if (shorter.length >= leastPart && shorter.length * 3 >= longer.length && longer.includes(shorter)) return candidate
  }
  return null
}

/** The most names of a call that get a hint. An answer shows at most 50 fixes, so nobody would see a hint in a later fix. [TOOL-18] */
const mostHints = 50

/**
 * Runs `likelyMeant` for the names of one call: once for each name and each kind of thing with that name, and only for the first 50 such pairs. A call may
 * have a million names, and comparing names takes much longer than reading them. [TOOL-17, CONC-13]
 */
export class NameHints {
  readonly #known = new Map<string, string | null>()

  /** @param kind the kind of thing that has the name. All names of one kind are compared with the same candidates. */
  likelyMeant(name: string, kind: string, candidates: Iterable<string>): string | null {
    // Only the start of a name is compared, so only the start is in the key.
    const key = `${kind}\n${name.slice(0, maxLength)}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#known.size === mostHints) return null
    const found = likelyMeant(name, candidates)
    this.#known.set(key, found)
    return found
  }
}
