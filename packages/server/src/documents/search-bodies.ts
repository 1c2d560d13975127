import { readStoredBody } from '@docrelay/model/body-parse'
import { type Hit, hitsOf, type SearchArgs, type WantedHits } from '@docrelay/model/search/hits'

/** Stored bodies, one after the other in `bytes`, and what to find in each; plain data. */
export interface BodiesSearch extends Pick<SearchArgs, 'query' | 'naming'> {
  readonly bytes: Uint8Array
  readonly bodies: readonly { readonly length: number; readonly wanted: readonly WantedHits[] }[]
}

/** The hits by body, and within a body by wanted slice, in the order of the search. */
export type BodiesHits = readonly (readonly (readonly Hit[])[])[]

/** Finds the wanted hits in each body. [AG-62] */
export function searchBodies({ bytes, bodies, query, naming }: BodiesSearch): BodiesHits {
  let start = 0
  return bodies.map(({ length, wanted }) => {
    const body = readStoredBody(bytes.subarray(start, start + length))
    start += length
    return hitsOf(body, { query, wanted, naming })
  })
}
