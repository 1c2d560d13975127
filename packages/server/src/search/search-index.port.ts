import type { SearchQuery } from '@docrelay/model/search/query'
import type { HitGroup } from '@docrelay/model/search/ranking'

/** A stored document, as an index has to know it. Two states with equal members have the same stored body. */
export interface IndexedState {
  readonly key: number
  readonly version: number
  readonly updatedAtMs: number
  readonly coveredSeq: number
}

export interface FindRequest {
  readonly workspaceId: string
  /**
   * The documents that the caller may read, in rank order. Other documents of the workspace have no effect on the answer. An array that was passed
   * before must not have changed since. [AG-61]
   */
  readonly documents: readonly IndexedState[]
  readonly query: SearchQuery
  /** At most this many hits are counted. */
  readonly most: number
  /** The search ends after this many ms with the hits that it has found by then. */
  readonly withinMs: number
}

export interface Found {
  /** In rank order; `document` is an index of the request's documents. */
  readonly groups: readonly HitGroup[]
  readonly partial: boolean
  /** Keys of the documents that the index lacks, or has in another state. Hits in that other state count all the same. */
  readonly stale: readonly number[]
  /** True when the search ended before it had seen everything. */
  readonly cutOff: boolean
}

/** Names a document, stored or deleted, that an index has to look at again. */
export interface IndexedRef {
  readonly workspaceId: string
  readonly key: number
}

/**
 * An index over the words of stored bodies. The index is derived data: it reads the bodies from the store by itself, in the background, and a
 * missing, damaged or outdated index is built again. No method rejects because of a problem of the index; the index then knows less. [AG-64]
 */
export interface SearchIndex extends AsyncDisposable {
  find(request: FindRequest): Promise<Found>
  /**
   * Looks at documents again, before all others that wait. Resolves when the index has the state in which each document was stored at the time of the
   * call, or a later one, or when the index cannot take it in.
   */
  refresh(refs: readonly IndexedRef[]): Promise<void>
  /** Forgets everything and starts to build the index again. */
  rebuild(): Promise<void>
}
