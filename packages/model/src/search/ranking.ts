import { fewestTerms, type Match, type SearchQuery } from './query.ts'

/** The classes of texts in a document, best first: name of the document, name of a page, heading, any other text. [AG-61] */
export const PLACE_CLASSES = ['document', 'page', 'heading', 'rest'] as const
export type PlaceClass = (typeof PLACE_CLASSES)[number]

/** Texts of one document that rank equally, in the order of the document. */
export interface HitGroup extends Match {
  /** The position of the document among the documents that the caller may read, the last changed document first. */
  readonly document: number
  readonly placeClass: PlaceClass
  readonly count: number
}

/** Sorts groups: more words first, then the better place, then the exact phrase, then the document that changed later. [AG-61] */
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
  /** No text contains every term of the query; the hits contain at least half of the terms. */
  readonly partial: boolean
}

/** Ranks the groups of a query. Keeps only groups with every term; when there is no such group, those with at least half of the terms. [AG-61] */
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

/** Returns the `count` hits from position `from` on, as slices of their groups. */
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
