import { fewestTerms, type Match, type SearchQuery } from './query.ts'

/** What a text of a document is to it, best first: its name, the name of a page, a heading, or any other text. [AG-61] */
export const PLACE_CLASSES = ['document', 'page', 'heading', 'rest'] as const
export type PlaceClass = (typeof PLACE_CLASSES)[number]

/** Texts of one document that rank equally; among them the place in the document decides. */
export interface HitGroup extends Match {
  /** Position of the document among those that the caller may read, last change first. */
  readonly document: number
  readonly placeClass: PlaceClass
  readonly count: number
}

/** More words first, then the better place, the exact phrase, the document that changed later. [AG-61] */
export function compareGroups(a: HitGroup, b: HitGroup): number {
  return (
    b.matched - a.matched ||
    PLACE_CLASSES.indexOf(a.placeClass) - PLACE_CLASSES.indexOf(b.placeClass) ||
    Number(b.exact) - Number(a.exact) ||
    a.document - b.document
  )
}

/** The hits of a query in rank order, at most `most`. */
export interface RankedHits {
  readonly groups: readonly HitGroup[]
  /** Nothing holds every term; these hold at least half of them. */
  readonly partial: boolean
}

/** Ranks groups of one query; those with too few terms are left out, and all but the full ones when there are full ones. [AG-61] */
export function rankGroups(found: readonly HitGroup[], query: SearchQuery, most: number): RankedHits {
  const full = found.filter(({ matched }) => matched === query.terms.length)
  const partial = full.length === 0
  const taken = partial ? found.filter(({ matched }) => matched >= fewestTerms(query)) : full
  const groups: HitGroup[] = []
  let left = most
  for (const group of taken.toSorted(compareGroups)) {
    if (left <= 0) break
    groups.push(group.count <= left ? group : { ...group, count: left })
    left -= group.count
  }
  return { groups, partial: partial && groups.length > 0 }
}

/** Consecutive texts of one group. */
export interface Slice {
  readonly group: HitGroup
  readonly from: number
  readonly count: number
}

/** The `count` hits from position `from` on, as slices of their groups. */
export function sliceGroups(groups: readonly HitGroup[], from: number, count: number): readonly Slice[] {
  const slices: Slice[] = []
  let start = 0
  for (const group of groups) {
    const end = start + group.count
    const [first, last] = [Math.max(start, from), Math.min(end, from + count)]
    if (first < last) slices.push({ group, from: first - start, count: last - first })
    start = end
  }
  return slices
}
