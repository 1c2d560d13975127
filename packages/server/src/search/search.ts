import type { Naming } from '@docrelay/model/prose/block-names'
import type { SearchQuery } from '@docrelay/model/search/query'
import type { Access, AccessPolicy } from '../access/access.ts'
import type { Bodies } from '../documents/bodies.ts'
import type { DocumentHead, DocumentStore } from '../documents/document-store.port.ts'
import type { Documents } from '../documents/documents.ts'
import { readerOf } from '../documents/reader.ts'
import type { Residents } from '../documents/residents.port.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Timers } from '../kernel/timers.ts'
import { createHitReader, type DocumentHit } from './hit-reader.ts'
import { inTime } from './in-time.ts'
import { type ReadableList, ReadableLists } from './readable-lists.ts'
import type { Found, SearchIndex } from './search-index.port.ts'

export interface SearchRequest {
  readonly query: SearchQuery
  /** The document to search; `null` for all documents that the caller may read. */
  readonly docId: string | null
  readonly limit: number
  /** The number of hits that earlier answers have passed. */
  readonly from: number
  readonly naming: Naming
}

export interface SearchAnswer {
  readonly hits: readonly DocumentHit[]
  /** `from` for the next answer; `null` after the last hit. */
  readonly next: number | null
  readonly partial: boolean
  /** True when some text that the caller may read was not searched. */
  readonly incomplete: boolean
  /** Number of documents with edits that were not searched. */
  readonly behind: number
}

export interface SearchDeps {
  readonly documents: Pick<Documents, 'head' | 'require'>
  readonly store: Pick<DocumentStore, 'list' | 'read'>
  readonly residents: Pick<Residents, 'settleAll'>
  readonly bodies: Pick<Bodies, 'for'>
  readonly index: Pick<SearchIndex, 'find' | 'refresh'>
  readonly accessPolicy: AccessPolicy
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
}

/** Searches for one caller. This service decides rights and limits answers; the index counts words. [AG-59, AG-61] */
export interface Search {
  /**
   * Rejects when `docId` cannot be read, as `Documents.get` does, when the store cannot be read [REST-13], and with the reason of `left` when that is
   * aborted.
   */
  search(access: Access, request: SearchRequest, left?: AbortSignal): Promise<SearchAnswer>
}

/** A search in one document waits at most this long for the edits of the document to be stored before it begins. [AG-63] */
const SETTLE_ONE_MS = 3000
/** A search ends after this time with what it found. [AG-63] */
const MOST_MS = 2000
/** The part of `MOST_MS` that is reserved for reading hits from their documents, because a hit that is found but not read cannot be returned. */
const READ_MS = 500
/** How long a search waits for the index to take in documents that have just changed. */
const REFRESH_MS = 1000
const MOST_REFRESHED = 64
/** A search settles at most this many live documents with newer edits. [AG-63] */
const MOST_SETTLED = 16
const MOST_HITS = 200

const NOTHING_SEEN: Found = { groups: [], partial: false, stale: [], cutOff: true }

export function createSearch(deps: SearchDeps): Search {
  const { index, clock, timers } = deps
  const lists = new ReadableLists()
  const readHits = createHitReader(deps, READ_MS)

  async function search(access: Access, request: SearchRequest, left?: AbortSignal): Promise<SearchAnswer> {
    let endsMs = clock.monotonicMs() + MOST_MS
    const leftMs = (): number => Math.max(1, endsMs - clock.monotonicMs())
    const leftToFindMs = (): number => Math.max(1, endsMs - READ_MS - clock.monotonicMs())
    const { docId } = request
    const { heads, behind } = docId === null ? await readable(access, leftMs) : await one(access, docId)
    if (docId !== null) endsMs = clock.monotonicMs() + MOST_MS
    left?.throwIfAborted()
    const find = async (): Promise<Found> => {
      const asked = { workspaceId: access.workspaceId, documents: heads, query: request.query, most: MOST_HITS }
      // An index that does not keep to `withinMs` must not delay the search.
      return (await inTime(timers, leftMs(), () => index.find({ ...asked, withinMs: leftToFindMs() }))) ?? NOTHING_SEEN
    }
    let found = await find()
    if (await refreshed(access, found.stale, docId === null ? Math.min(REFRESH_MS, leftToFindMs()) : leftToFindMs())) {
      const again = await find()
      // A second look that ran out of time may have found less than the first one, which lacked only the documents that have just changed.
      if (!again.cutOff || (found.cutOff && again.groups.length >= found.groups.length)) found = again
    }
    left?.throwIfAborted()
    const shown = await readHits({ access, request, heads, groups: found.groups, leftMs, ...(left !== undefined && { left }) })
    return {
      hits: shown.hits,
      next: shown.next,
      partial: found.partial,
      incomplete: found.cutOff || found.stale.length > 0 || shown.isCut,
      behind,
    }
  }

  /** Returns the documents to search, last change first, as GET lists them. [PERM-8, LIFE-11] */
  async function readable(
    access: Access,
    leftMs: () => number,
  ): Promise<{ readonly heads: readonly DocumentHead[]; readonly behind: number }> {
    const list = async (): Promise<ReadableList> =>
      lists.of(access, await deps.store.list(access.workspaceId), (head) => readerOf(access, head, deps) !== null)
    const { heads, edited } = await list()
    if (edited.length === 0) return { heads, behind: 0 }
    const settled = await deps.residents.settleAll(edited.slice(0, MOST_SETTLED), leftMs() / 2)
    return { heads: (await list()).heads, behind: edited.length - settled }
  }

  /** Returns the document to search: with every edit that was applied before the search, or as stored when settling takes too long. [LIFE-11] */
  async function one(
    access: Access,
    docId: string,
  ): Promise<{ readonly heads: readonly DocumentHead[]; readonly behind: number }> {
    const settled = await inTime(timers, SETTLE_ONE_MS, () => deps.documents.head(access, docId))
    if (settled !== null) return { heads: [settled.head], behind: 0 }
    return { heads: [await deps.documents.require(access, docId, 'view')], behind: 1 }
  }

  /** Makes the index take in its stale documents. Returns whether it took in all of them in time, so that a second look finds more. */
  async function refreshed(access: Access, stale: readonly number[], forMs: number): Promise<boolean> {
    if (stale.length === 0) return false
    const refs = stale.slice(0, MOST_REFRESHED).map((key) => ({ workspaceId: access.workspaceId, key }))
    // An index that is being built takes longer than a search may wait. The search is then answered as incomplete.
    const refreshing = index.refresh(refs).then(() => true)
    return stale.length <= MOST_REFRESHED && (await inTime(timers, forMs, () => refreshing)) !== null
  }

  return { search }
}
