import type { SearchQuery, Term } from '@docrelay/model/search/query'
import { type HitGroup, PLACE_CLASSES, rankGroups } from '@docrelay/model/search/ranking'
import type { FindRequest, Found, IndexedState } from '../../../search/search-index.port.ts'

/** Counts the rows that match, by document and class. Rows of documents that the caller may not read are not counted. */
export class RowCounts {
  readonly #positions: ReadonlyMap<number, number>
  readonly #counts: Uint32Array
  /** The indexes in `#counts` at which the count is not 0. */
  readonly #counted: number[] = []
  #lastKey = -1
  #lastPosition: number | undefined

  constructor(positions: ReadonlyMap<number, number>) {
    this.#positions = positions
    this.#counts = new Uint32Array(positions.size * PLACE_CLASSES.length)
  }

  /** Adds `count` matching rows of a document and class; `name` is `key * 4 + class`. */
  add(name: number, count: number): void {
    const key = Math.floor(name / PLACE_CLASSES.length)
    if (key !== this.#lastKey) {
      this.#lastKey = key
      this.#lastPosition = this.#positions.get(key)
    }
    if (this.#lastPosition === undefined) return
    const at = this.#lastPosition * PLACE_CLASSES.length + (name % PLACE_CLASSES.length)
    const before = this.#counts[at] ?? 0
    if (before === 0) this.#counted.push(at)
    this.#counts[at] = before + count
  }

  /** Returns the groups of the counted rows, without the rows that `others` has counted. */
  groups(matched: number, exact: boolean, others?: RowCounts): HitGroup[] {
    const groups: HitGroup[] = []
    for (const at of this.#counted) {
      const count = (this.#counts[at] ?? 0) - (others === undefined ? 0 : (others.#counts[at] ?? 0))
      const placeClass = PLACE_CLASSES[at % PLACE_CLASSES.length]
      if (count > 0 && placeClass !== undefined)
        groups.push({ document: Math.floor(at / PLACE_CLASSES.length), placeClass, matched, exact, count })
    }
    return groups
  }
}

/** Remembers for each list of documents the position of each key, because most searches use the same list. */
export class ListPositions {
  readonly #known = new WeakMap<readonly IndexedState[], ReadonlyMap<number, number>>()

  of(documents: readonly IndexedState[]): ReadonlyMap<number, number> {
    const known = this.#known.get(documents)
    if (known !== undefined) return known
    const positions = new Map(documents.map(({ key }, position) => [key, position]))
    this.#known.set(documents, positions)
    return positions
  }
}

/**
 * Whether a text that contains the query's only term always matches exactly. A query that repeats a word does not, because it asks for more than its
 * only term.
 */
export function isAlwaysExact({ terms, sequence }: SearchQuery): boolean {
  const [only, ...others] = terms
  return others.length === 0 && only !== undefined && isExact(only, sequence.length)
}

function isExact(term: Term, words: number): boolean {
  return term.kind === 'phrase' ? term.words.length === words : !term.alsoLonger && words === 1
}

/** Returns the answer for an index that does not exist: no groups, and all documents stale. */
export function nothingFound(request: FindRequest, cutOff: boolean): Found {
  return foundOf(
    request,
    [],
    request.documents.map(({ key }) => key),
    cutOff,
  )
}

export function foundOf(
  { query, most }: FindRequest,
  groups: readonly HitGroup[],
  stale: readonly number[],
  cutOff: boolean,
): Found {
  return { ...rankGroups(groups, query, most), stale, cutOff }
}
