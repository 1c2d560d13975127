import type { Hit, WantedHits } from '@docrelay/model/search/hits'
import { jsonBytes } from '@docrelay/model/paging'
import { type HitGroup, sliceGroups, type Slice } from '@docrelay/model/search/ranking'
import type { Access, AccessPolicy } from '../access/access.ts'
import type { Bodies } from '../documents/bodies.ts'
import type { DocumentHead, DocumentRecord, DocumentStore } from '../documents/document-store.port.ts'
import { readerOf } from '../documents/reader.ts'
import { damagedPartOf } from '../kernel/damage.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Timers } from '../kernel/timers.ts'
import { inTime } from './in-time.ts'
import type { SearchRequest } from './search.ts'

/** A hit with the id and name of its document. [AG-62] */
export type DocumentHit = Hit & { readonly docId: string; readonly name: string }

export interface ReadHits {
  readonly hits: readonly DocumentHit[]
  /** How many hits this answer and the earlier ones have passed; `null` after the last hit. */
  readonly next: number | null
  /** True when hits are missing because their documents could not be read, or not in time. */
  readonly isCut: boolean
}

/** A search with its ranked groups, whose hits are to be read. */
export interface HitsCall {
  readonly access: Access
  readonly request: SearchRequest
  readonly heads: readonly DocumentHead[]
  readonly groups: readonly HitGroup[]
  readonly leftMs: () => number
  readonly left?: AbortSignal
}

export interface HitReaderDeps {
  readonly store: Pick<DocumentStore, 'read'>
  readonly bodies: Pick<Bodies, 'for'>
  readonly accessPolicy: AccessPolicy
  readonly timers: Timers
}

const MOST_ANSWER_BYTES = 8000
/** Bytes reserved for the members of an answer besides the hits. */
const RESERVED_BYTES = 300
const MOST_NAME = 120
/** Bytes of bodies that a search reads at once. */
const BATCH_BYTES = 1_048_576

/** The hits of each slice; `null` when its document could not be read. Slices that were not read in time are missing. */
type SliceHits = ReadonlyMap<Slice, readonly DocumentHit[] | null>

/**
 * Makes a function that reads the hits of ranked groups from the stored bodies, until the answer is full or the time is over. The first batch always
 * gets `firstMs`, so that every answer makes progress. [AG-62, AG-63]
 */
export function createHitReader(deps: HitReaderDeps, firstMs: number): (call: HitsCall) => Promise<ReadHits> {
  const { store, timers } = deps

  async function readHits(call: HitsCall): Promise<ReadHits> {
    const { request, groups, leftMs } = call
    const total = groups.reduce((sum, { count }) => sum + count, 0)
    const hits: DocumentHit[] = []
    let room = MOST_ANSWER_BYTES - RESERVED_BYTES
    let position = request.from
    let isCut = false
    while (position < total && hits.length < request.limit) {
      if (position > request.from && leftMs() <= 1) return { hits, next: position, isCut: true }
      const slices = sliceGroups(groups, position, request.limit - hits.length)
      const read = await readSlices(call, slices, position === request.from)
      for (const slice of slices) {
        const found = read.get(slice)
        if (found === undefined) return { hits, next: position, isCut: true }
        if (found === null) isCut = true
        for (const [at, hit] of (found ?? []).entries()) {
          room -= jsonBytes(hit) + 1
          if (room < 0 && hits.length > 0) return { hits, next: position + at, isCut }
          hits.push(hit)
        }
        position += slice.count
      }
    }
    return { hits, next: position < total ? position : null, isCut }
  }

  /** Reads each document once, in small batches. `isFirst`: the answer has no hits yet, so the first batch is read although the time is over. */
  async function readSlices(call: HitsCall, slices: readonly Slice[], isFirst: boolean): Promise<SliceHits> {
    const { heads, leftMs, left } = call
    const found = new Map<Slice, readonly DocumentHit[] | null>()
    const byDocument = Map.groupBy(slices, ({ group }) => group.document)
    let mustRead = isFirst
    for (const batch of batchesOf([...byDocument.keys()], (document) => heads[document]?.sizeBytes ?? 0)) {
      left?.throwIfAborted()
      if (!mustRead && leftMs() <= 1) break
      const ms = mustRead ? Math.max(firstMs, leftMs()) : leftMs()
      const read = await inTime(timers, ms, (over) => readBatch(call, batch, byDocument, over))
      // When the first batch of an answer is late, its first document is passed over. Otherwise the next search, which continues here, would end here
      // again.
      const come = read !== null ? batch : mustRead ? batch.slice(0, 1) : []
      for (const document of come) for (const slice of byDocument.get(document) ?? []) found.set(slice, read?.get(slice) ?? null)
      if (read === null) break
      mustRead = false
    }
    return found
  }

  /** A body that fails in its thread, because it is damaged or takes too long, costs the hits of its batch and not the whole search. [LIFE-8] */
  async function readBatch(
    { access, request, heads }: HitsCall,
    batch: readonly number[],
    byDocument: ReadonlyMap<number, readonly Slice[]>,
    over: AbortSignal,
  ): Promise<SliceHits> {
    const found = new Map<Slice, readonly DocumentHit[] | null>()
    const records = await Promise.all(batch.map((document) => recordOf(access, heads[document])))
    const read = batch.flatMap((document, at) => {
      const [record, slices] = [records[at] ?? null, byDocument.get(document) ?? []]
      if (record !== null && record !== 'damaged') return [{ record, slices }]
      for (const slice of slices) found.set(slice, record === null ? [] : null)
      return []
    })
    const asked = {
      query: request.query,
      naming: request.naming,
      bytes: joined(read.map(({ record }) => record.body)),
      bodies: read.map(({ record, slices }) => ({ length: record.body.byteLength, wanted: slices.map(wantedOf) })),
    }
    const answers = await deps.bodies.for(access.workspaceId).search(asked, over).catch(relayErrorAsNull)
    for (const [at, { record, slices }] of read.entries()) {
      const document = { docId: record.head.id, name: shortName(record.head.facts.title) }
      for (const [nth, slice] of slices.entries()) {
        const hits = answers === null ? null : (answers[at]?.[nth] ?? [])
        found.set(slice, hits === null ? null : hits.map((hit) => ({ ...document, ...hit })))
      }
    }
    return found
  }

  /**
   * Reads a document as it is stored. Newer edits of its live copy were settled before the search, or count as behind. Returns `null` when the
   * document is deleted or the caller may no longer read it. Rejects when the store cannot be read. [AG-59, REST-13]
   */
  async function recordOf(access: Access, head: DocumentHead | undefined): Promise<DocumentRecord | 'damaged' | null> {
    if (head === undefined) return null
    try {
      const record = await store.read(head)
      return record === null || readerOf(access, record.head, deps) === null ? null : record
    } catch (error) {
      if (damagedPartOf(error) !== null) return 'damaged'
      throw error
    }
  }

  return readHits
}

function relayErrorAsNull(error: unknown): null {
  if (error instanceof RelayError) return null
  throw error
}

function wantedOf({ group, from, count }: Slice): WantedHits {
  const { matched, placeClass, exact } = group
  return { matched, placeClass, exact, from, count }
}

/** Joins the bodies in a new array, because that array is moved to another thread. */
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
