import type { DocumentHead } from './document-store.port.ts'
import type { Reader } from './metadata.ts'

/** Filters of a list; a `null` member does not filter. [REST-21] */
export interface ListQuery {
  readonly limit: number | null
  readonly after: ListPosition | null
  /** A part of the title, compared without case. */
  readonly titlePart: string | null
  /** `undefined`: any collection; `null`: documents in no collection. */
  readonly collectionId: string | null | undefined
}

/** A position in the order of lists. */
export interface ListPosition {
  readonly updatedAtMs: number
  readonly id: string
}

export interface ListedPage {
  readonly items: readonly { readonly head: DocumentHead; readonly reader: Reader }[]
  /** The position at which the next page begins; `null` when the list was not cut. */
  readonly next: ListPosition | null
}

/**
 * Returns one page of those `heads` that a reader may see. `heads` are in list order: last change first, then id. A
 * position names a document and not a count, so pages neither repeat nor skip a document that did not change. [REST-21,
 * PERM-8]
 */
export function pageOf(
  heads: readonly DocumentHead[],
  query: ListQuery,
  readerOf: (head: DocumentHead) => Reader | null,
): ListedPage {
  const titlePart = query.titlePart?.toLowerCase() ?? ''
  const items: { head: DocumentHead; reader: Reader }[] = []
  for (const head of heads) {
    if (query.after !== null && !comesAfter(head, query.after)) continue
    // A body may carry an empty collection id, which means no collection.
    if (query.collectionId !== undefined && (head.collectionId || null) !== query.collectionId) continue
    if (titlePart !== '' && !head.facts.title.toLowerCase().includes(titlePart)) continue
    const reader = readerOf(head)
    if (reader === null) continue
    if (query.limit !== null && items.length === query.limit) return { items, next: positionOf(items) }
    items.push({ head, reader })
  }
  return { items, next: null }
}

function comesAfter(head: DocumentHead, place: ListPosition): boolean {
  return (
    head.updatedAtMs < place.updatedAtMs ||
    (head.updatedAtMs === place.updatedAtMs && Buffer.compare(Buffer.from(head.id), Buffer.from(place.id)) > 0)
  )
}

function positionOf(items: readonly { readonly head: DocumentHead }[]): ListPosition | null {
  const last = items.at(-1)
  return last === undefined ? null : { updatedAtMs: last.head.updatedAtMs, id: last.head.id }
}

/** Makes a cursor, which is opaque to callers. */
export function encodeCursor({ updatedAtMs, id }: ListPosition): string {
  return Buffer.from(JSON.stringify([updatedAtMs, id])).toString('base64url')
}

/** Returns `null` when the text is not a cursor of this relay. */
export function decodeCursor(cursor: string): ListPosition | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(value)) return null
    const [updatedAtMs, id] = value as unknown[]
    return Number.isSafeInteger(updatedAtMs) && typeof id === 'string' ? { updatedAtMs: updatedAtMs as number, id } : null
  } catch {
    return null
  }
}
