import type { Hit, WantedHits } from '@docrelay/model/search/hits'
import type { Naming } from '@docrelay/model/prose/block-names'
import { jsonBytes } from '@docrelay/model/paging'
import type { SearchQuery } from '@docrelay/model/search/query'
import { type HitGroup, sliceGroups, type Slice } from '@docrelay/model/search/ranking'
import type { Access, AccessPolicy } from '../access/access.ts'
import type { Bodies } from '../documents/bodies.ts'
import type { DocumentHead, DocumentRecord, DocumentStore } from '../documents/document-store.port.ts'
import type { Documents } from '../documents/documents.ts'
import { readerOf } from '../documents/reader.ts'
import type { Residents } from '../documents/residents.port.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Timers } from '../kernel/timers.ts'
import { type ReadableList, ReadableLists } from './readable-lists.ts'
import type { Found, SearchIndex } from './search-index.port.ts'

export interface SearchRequest {
  readonly query: SearchQuery
  /** `null`: all documents that the caller may read. */
  readonly docId: string | null
  readonly limit: number
  /** How many hits earlier answers passed. */
  readonly from: number
  readonly naming: Naming
}

/** A hit with its document. [AG-62] */
export type DocumentHit = Hit & { readonly docId: string; readonly name: string }

export interface SearchAnswer {
  readonly hits: readonly DocumentHit[]
  /** `from` of the next answer; `null` after the last one. */
  readonly next: number | null
  readonly partial: boolean
  /** Something that the caller may read was not looked at. */
  readonly incomplete: boolean
  /** How many documents have edits that were not looked at. */
  readonly behind: number
}

export interface SearchDeps {
  readonly documents: Pick<Documents, 'head' | 'get' | 'require'>
  readonly store: Pick<DocumentStore, 'list'>
  readonly residents: Pick<Residents, 'settleAll'>
  readonly bodies: Pick<Bodies, 'for'>
  readonly index: Pick<SearchIndex, 'find' | 'refresh'>
  readonly accessPolicy: AccessPolicy
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
}

/** Searches for one caller; rights and cuts are decided here, the index counts words. [AG-59, AG-61] */
export interface Search {
  /** Rejects when `docId` cannot be read, as `Documents.get` does, and with the reason of `left`. */
  search(access: Access, request: SearchRequest, left?: AbortSignal): Promise<SearchAnswer>
}

/** A search in one document waits at most this long for the edits of the document to be stored before it begins. [AG-63] */
const SETTLE_ONE_MS = 3000
/** A search ends after this time with what it found. [AG-63] */
const MOST_MS = 2000
/** How long a search waits for the index to take in documents that just changed. */
const REFRESH_MS = 1000
const MOST_REFRESHED = 64
/** Live documents with newer edits that a search settles. [AG-63] */
const MOST_SETTLED = 16
const MOST_HITS = 200
const MOST_ANSWER_BYTES = 8000
/** Room for the members beside the hits. */
const RESERVED_BYTES = 300
const MOST_NAME = 120
/** Bytes of bodies that a search reads at once. */
const BATCH_BYTES = 1_048_576

export function createSearch(deps: SearchDeps): Search {
  const { index, clock } = deps
  const lists = new ReadableLists()

  async function search(access: Access, request: SearchRequest, left?: AbortSignal): Promise<SearchAnswer> {
    let endsMs = clock.monotonicMs() + MOST_MS
    const leftMs = (): number => Math.max(1, endsMs - clock.monotonicMs())
    const { docId } = request
    const { heads, behind } = docId === null ? await readable(access, leftMs) : await one(access, docId)
    if (docId !== null) endsMs = clock.monotonicMs() + MOST_MS
    left?.throwIfAborted()
    const find = (): Promise<Found> =>
      index.find({
        workspaceId: access.workspaceId,
        documents: heads,
        query: request.query,
        most: MOST_HITS,
        withinMs: leftMs(),
      })
    let found = await find()
    if (await refreshed(access, found.stale, docId === null ? Math.min(REFRESH_MS, leftMs()) : leftMs())) found = await find()
    left?.throwIfAborted()
    const shown = await hitsFrom(access, request, heads, found.groups, leftMs, left)
    return {
      hits: shown.hits,
      next: shown.next,
      partial: found.partial,
      incomplete: found.cutOff || found.stale.length > 0 || shown.isCut,
      behind,
    }
  }

  /** The documents to search, last change first, as GET lists them. [PERM-8, LIFE-11] */
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

  /**
   * Returns the document to search, with every edit applied before the search, or as it is stored when settling takes too long.
   * [LIFE-11]
   */
  async function one(
    access: Access,
    docId: string,
  ): Promise<{ readonly heads: readonly DocumentHead[]; readonly behind: number }> {
    const settled = deps.documents.head(access, docId)
    if (await within(settled, SETTLE_ONE_MS)) return { heads: [(await settled).head], behind: 0 }
    return { heads: [await deps.documents.require(access, docId, 'view')], behind: 1 }
  }

  /** Lets the index take in what it has not seen; true when it is worth to ask it again. */
  async function refreshed(access: Access, stale: readonly number[], forMs: number): Promise<boolean> {
    if (stale.length === 0) return false
    const refs = stale.slice(0, MOST_REFRESHED).map((key) => ({ workspaceId: access.workspaceId, key }))
    // An index that is being built takes longer than a search may wait; the answer says that it is incomplete.
    const refreshing = index.refresh(refs)
    return stale.length <= MOST_REFRESHED && (await within(refreshing, forMs))
  }

  async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
    let cancel: () => void = () => undefined
    const late = new Promise<false>((resolve) => (cancel = deps.timers.after(ms, () => resolve(false))))
    try {
      return await Promise.race([work.then(() => true), late])
    } finally {
      cancel()
    }
  }

  /** Reads hits of the ranked groups from the present bodies, until the answer is full. [AG-62] */
  async function hitsFrom(
    access: Access,
    request: SearchRequest,
    heads: readonly DocumentHead[],
    groups: readonly HitGroup[],
    leftMs: () => number,
    left?: AbortSignal,
  ): Promise<{ readonly hits: readonly DocumentHit[]; readonly next: number | null; readonly isCut: boolean }> {
    const total = groups.reduce((sum, { count }) => sum + count, 0)
    const hits: DocumentHit[] = []
    let room = MOST_ANSWER_BYTES - RESERVED_BYTES
    let position = request.from
    while (position < total && hits.length < request.limit) {
      left?.throwIfAborted()
      if (leftMs() <= 1) return { hits, next: hits.length === 0 ? null : position, isCut: true }
      const slices = sliceGroups(groups, position, request.limit - hits.length)
      for (const { slice, hits: found } of await readSlices(access, request, heads, slices)) {
        for (const [at, hit] of found.entries()) {
          room -= jsonBytes(hit) + 1
          if (room < 0 && hits.length > 0) return { hits, next: position + at, isCut: false }
          hits.push(hit)
        }
        position += slice.count
      }
    }
    return { hits, next: position < total ? position : null, isCut: false }
  }

  /** The hits of each slice, in the order of the slices; each document is read once, in small batches. */
  async function readSlices(
    access: Access,
    request: SearchRequest,
    heads: readonly DocumentHead[],
    slices: readonly Slice[],
  ): Promise<readonly { readonly slice: Slice; readonly hits: readonly DocumentHit[] }[]> {
    const found = new Map<Slice, readonly DocumentHit[]>()
    const byDocument = Map.groupBy(slices, ({ group }) => group.document)
    for (const batch of batchesOf([...byDocument.keys()], (document) => heads[document]?.sizeBytes ?? 0)) {
      const records = await Promise.all(batch.map((document) => recordOf(access, heads[document])))
      const read = batch.flatMap((document, at) => {
        const record = records[at]
        return record == null ? [] : [{ record, slices: byDocument.get(document) ?? [] }]
      })
      const answers = await deps.bodies.for(access.workspaceId).search({
        query: request.query,
        naming: request.naming,
        bytes: joined(read.map(({ record }) => record.body)),
        bodies: read.map(({ record, slices: own }) => ({ length: record.body.byteLength, wanted: own.map(wantedOf) })),
      })
      for (const [at, { record, slices: own }] of read.entries()) {
        const document = { docId: record.head.id, name: shortName(record.head.facts.title) }
        for (const [nth, slice] of own.entries())
          found.set(
            slice,
            (answers[at]?.[nth] ?? []).map((hit) => ({ ...document, ...hit })),
          )
      }
    }
    return slices.map((slice) => ({ slice, hits: found.get(slice) ?? [] }))
  }

  /** Reads a document as GET does; `null` when the caller can no longer read it. */
  async function recordOf(access: Access, head: DocumentHead | undefined): Promise<DocumentRecord | null> {
    if (head === undefined) return null
    try {
      return (await deps.documents.get(access, head.id)).record
    } catch (error) {
      if (error instanceof RelayError) return null
      throw error
    }
  }

  return { search }
}

function wantedOf({ group, from, count }: Slice): WantedHits {
  const { matched, placeClass, exact } = group
  return { matched, placeClass, exact, from, count }
}

/** A copy, since it is moved to another thread. */
function joined(bodies: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(bodies.reduce((sum, body) => sum + body.byteLength, 0))
  let start = 0
  for (const body of bodies) {
    bytes.set(body, start)
    start += body.byteLength
  }
  return bytes
}

function* batchesOf<T>(items: readonly T[], bytesOf: (item: T) => number): Generator<readonly T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const item of items) {
    if (batch.length > 0 && bytes + bytesOf(item) > BATCH_BYTES) {
      yield batch
      ;[batch, bytes] = [[], 0]
    }
    batch.push(item)
    bytes += bytesOf(item)
  }
  if (batch.length > 0) yield batch
}

function shortName(title: string): string {
  const characters = [...title.slice(0, 2 * MOST_NAME + 2)]
  return characters.length <= MOST_NAME ? title : `${characters.slice(0, MOST_NAME - 1).join('')}…`
}
