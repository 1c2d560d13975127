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

/** A hit with its document. [AG-62] */
export type DocumentHit = Hit & { readonly docId: string; readonly name: string }

export interface ReadHits {
  readonly hits: readonly DocumentHit[]
  /** How many hits the answers up to this one have passed; `null` after the last one. */
  readonly next: number | null
  /** Hits were passed over, or not come to, because their documents could not be read now. */
  readonly isCut: boolean
}

/** The ranked groups of a search, whose hits are to be read. */
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
/** Room for the members beside the hits. */
const RESERVED_BYTES = 300
const MOST_NAME = 120
/** Bytes of bodies that a search reads at once. */
const BATCH_BYTES = 1_048_576

/** The hits of slices; `null` where the document could not be read. Slices that were not come to in time are missing. */
type SliceHits = ReadonlyMap<Slice, readonly DocumentHit[] | null>

/**
 * Reads hits of ranked groups from the stored bodies, until the answer is full or the time is over. The first batch gets `firstMs` however
 * late it is, so that every answer goes on behind the one before. [AG-62, AG-63]
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

  /** Each document is read once, in small batches. `isFirst`: the answer has nothing yet. */
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
      // Of two searches that go on at the same place the second one must not end there again, so the first document is passed over.
      const come = read !== null ? batch : mustRead ? batch.slice(0, 1) : []
      for (const document of come) for (const slice of byDocument.get(document) ?? []) found.set(slice, read?.get(slice) ?? null)
      if (read === null) break
      mustRead = false
    }
    return found
  }

  /** A body that cannot be searched, since it is damaged or too much for a thread, costs its batch and not the search. [LIFE-8] */
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
   * Reads a document as it is stored: what is newer in its live copy was settled before the search, or counts as behind. `null` when it is
   * gone, or when the caller may no longer read it. A store that cannot be read is no empty answer. [AG-59, REST-13]
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
