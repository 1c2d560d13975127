import type { SearchQuery, Term } from '@docrelay/model/search/query'
import { type HitGroup, PLACE_CLASSES, rankGroups } from '@docrelay/model/search/ranking'
import type { FindRequest, Found, IndexedState } from '../../../search/search-index.port.ts'

/** Counts the rows that match, by document and class; rows of documents that the caller may not read do not count. */
export class RowCounts {
  readonly #positions: ReadonlyMap<number, number>
  readonly #counts: Uint32Array
  #lastKey = -1
  #lastPosition: number | undefined

  constructor(positions: ReadonlyMap<number, number>) {
    this.#positions = positions
    this.#counts = new Uint32Array(positions.size * PLACE_CLASSES.length)
  }

  /** `name` is `key * 4 + class`. */
  add(name: number, count: number): void {
    const key = Math.floor(name / PLACE_CLASSES.length)
    if (key !== this.#lastKey) {
      this.#lastKey = key
      this.#lastPosition = this.#positions.get(key)
    }
    if (this.#lastPosition === undefined) return
    const at = this.#lastPosition * PLACE_CLASSES.length + (name % PLACE_CLASSES.length)
    this.#counts[at] = (this.#counts[at] ?? 0) + count
  }

  /** The groups of these rows less those of `others`. */
  groups(matched: number, exact: boolean, others?: RowCounts): HitGroup[] {
    const groups: HitGroup[] = []
    // Most of ten thousand documents have none, so the loop passes them without an iterator.
    for (let at = 0; at < this.#counts.length; at++) {
      const all = this.#counts[at] ?? 0
      if (all === 0) continue
      const count = all - (others === undefined ? 0 : (others.#counts[at] ?? 0))
      const placeClass = PLACE_CLASSES[at % PLACE_CLASSES.length]
      if (count > 0 && placeClass !== undefined)
        groups.push({ document: Math.floor(at / PLACE_CLASSES.length), placeClass, matched, exact, count })
    }
    return groups
  }
}

export function positionsOf(documents: readonly IndexedState[]): ReadonlyMap<number, number> {
  const positions = new Map<number, number>()
  for (const [position, { key }] of documents.entries()) positions.set(key, position)
  return positions
}

/** Keys of the documents that an index does not hold in their present state. */
export function staleOf(
  documents: readonly IndexedState[],
  held: (key: number) => Omit<IndexedState, 'key'> | undefined,
): readonly number[] {
  return documents
    .filter(({ key, version, updatedAtMs, coveredSeq }) => {
      const state = held(key)
      return state?.version !== version || state.updatedAtMs !== updatedAtMs || state.coveredSeq !== coveredSeq
    })
    .map(({ key }) => key)
}

/** Whether every text that holds the query's only term says exactly this. */
export function isAlwaysExact({ terms }: SearchQuery): boolean {
  const [only, ...others] = terms
  return others.length === 0 && only !== undefined && isExact(only)
}

function isExact(term: Term): boolean {
  return term.kind === 'phrase' || !term.alsoLonger
}

export function foundOf(
  { query, most }: FindRequest,
  groups: readonly HitGroup[],
  stale: readonly number[],
  cutOff: boolean,
): Found {
  return { ...rankGroups(groups, query, most), stale, cutOff }
}
