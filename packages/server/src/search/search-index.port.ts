import type { SearchQuery } from '@docrelay/model/search/query'
import type { HitGroup } from '@docrelay/model/search/ranking'

/** A stored document as an index has to know it. Equal members mean an equal stored body. */
export interface IndexedState {
  readonly key: number
  readonly version: number
  readonly updatedAtMs: number
  readonly coveredSeq: number
}

export interface FindRequest {
  readonly workspaceId: string
  /**
   * The documents that the caller may read, in rank order. Nothing else of the workspace has an effect on the answer. An array that was given
   * before must not have been changed since. [AG-61]
   */
  readonly documents: readonly IndexedState[]
  readonly query: SearchQuery
  /** The most hits that are wanted. */
  readonly most: number
  /** After so long the search ends with what it found. */
  readonly withinMs: number
}

export interface Found {
  /** In rank order; `document` is an index of the request's documents. */
  readonly groups: readonly HitGroup[]
  readonly partial: boolean
  /** Keys of those documents that the index does not hold, or holds in another state. What it holds of them counts all the same. */
  readonly stale: readonly number[]
  /** The search ended before it had seen everything. */
  readonly cutOff: boolean
}

/** Where a document stands, or stood, for an index to look at it again. */
export interface IndexedRef {
  readonly workspaceId: string
  readonly key: number
}

/**
 * An index over the words of stored bodies. It is derived: it reads the bodies from the store by itself, beside the work of the relay, and a
 * missing, damaged or older one is built again. No verb rejects because of the index: it then knows less. [AG-64]
 */
export interface SearchIndex extends AsyncDisposable {
  find(request: FindRequest): Promise<Found>
  /**
   * Looks at documents again, before all others that wait. Resolves when the index holds the state that each was stored in at the time of
   * the call, or a later one, or when it cannot.
   */
  refresh(refs: readonly IndexedRef[]): Promise<void>
  /** Forgets everything, and begins to build it again. */
  rebuild(): Promise<void>
}
