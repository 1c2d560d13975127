import { fingerprint, type ItemName, type NamedItem, readCursor, relocate, writeCursor } from './cursors.ts'
import { refused, type Refusal } from './edit.ts'
import { quote } from './quote.ts'

/** Bytes of one serialized result, about 20,000 tokens. [TOOL-23] */
export const MAX_RESULT_BYTES = 80_000
/** Room for `nextCursor`, `serverVersion` and `source`. */
const RESERVED_BYTES = 160

/** The place of an item in a listing: a part of the listing, and an index in that part. */
export interface Position {
  readonly part: number
  readonly index: number
}

export interface ListedItem<T> {
  readonly item: T
  /** Bytes that the item adds to the serialized result. */
  readonly bytes: number
  readonly at: Position
  /** How a cursor names the item. [AG-82] */
  named(): ItemName
}

/** The members of a result. */
export type Members = { readonly [member: string]: unknown }

/** A result whose items may not fit into one answer. [TOOL-23] */
export interface Listing<T> {
  readonly kind: 'listing'
  readonly maxLimit: number
  /** Yields the items from a position on. Each item is made when it is needed. */
  from(at: Position): Iterable<ListedItem<T>>
  /** Yields the names and places of all items, without their content. A page without items yields one item named `''`. [AG-82] */
  named(): Iterable<NamedItem>
  /** Returns the members of a result with these items. */
  show(items: readonly T[]): Members
}

export interface PageArgs {
  /** An integer from 1. [TOOL-24] */
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Makes a listing of one list; each entry is made when the answer reaches it. */
export function listingOf<S, T>(list: {
  readonly maxLimit: number
  readonly items: readonly S[]
  read(item: S): T
  /** Returns the name by which a cursor finds the item again after the document changed. */
  nameOf(item: S): string
  show(items: readonly T[]): Members
}): Listing<T> {
  const { maxLimit, items } = list
  return {
    kind: 'listing',
    maxLimit,
    *from({ part, index: first }) {
      for (let index = part === 0 ? first : items.length; index < items.length; index++) {
        const item = list.read(items[index] as S)
        const name = list.nameOf(items[index] as S)
        yield { item, bytes: jsonBytes(item) + 1, at: { part: 0, index }, named: () => ({ page: '', name }) }
      }
    },
    *named() {
      for (const [index, item] of items.entries()) yield { page: '', name: list.nameOf(item), at: { part: 0, index } }
      if (items.length === 0) yield { page: '', name: '', at: FIRST }
    },
    show: (shown) => list.show(shown),
  }
}

/**
 * Returns why a cursor does not belong to the listing `of`; `null` when it does, or when the call has no cursor. Needs no
 * document. [MCP-3, TOOL-24]
 */
export function cursorFlaw({ cursor }: PageArgs, of: string): Refusal | null {
  if (cursor === undefined || readCursor(cursor)?.key === fingerprint(of)) return null
  return badCursor(cursor)
}

/**
 * Returns the part of a listing that fits into one answer: at least one item, and as many as `limit` and the byte limit allow. When items are left, the
 * answer has the cursor of the next part. `of` names the listing; a cursor of another listing is refused. In another version of the document a cursor
 * finds its place by the names of the items around that place. [TOOL-23, TOOL-24, AG-82]
 */
export function pageOf<T>(listing: Listing<T>, of: string, args: PageArgs, serverVersion: number): Members | Refusal {
  const flaw = cursorFlaw(args, of)
  if (flaw !== null) return flaw
  const cursor = args.cursor === undefined ? null : readCursor(args.cursor)
  const isSame = cursor === null || cursor.version === serverVersion
  const found = isSame ? { at: cursor?.at ?? FIRST, isGuess: false } : relocate(cursor, listing.named())
  if (found === null) return expired(serverVersion)
  const limit = Math.min(args.limit ?? Number.POSITIVE_INFINITY, listing.maxLimit)
  const warnings = found.isGuess ? GUESSED : {}
  let room = MAX_RESULT_BYTES - RESERVED_BYTES - jsonBytes({ ...listing.show([]), ...warnings })
  const items: T[] = []
  let [last, count]: [ItemName | null, number | null] = [null, isSame ? (cursor?.count ?? 0) : null]
  for (const { item, bytes, at, named } of listing.from(found.at)) {
    const name = named()
    if (last !== null && last.page !== name.page) count = 0
    // Without `limit` in the call only the bytes decide. [TOOL-23]
    const isFull = items.length > 0 && (bytes > room || (args.limit !== undefined && items.length >= limit))
    if (isFull) {
      const shown = last?.page === name.page ? fingerprint(last.name) : ''
      const before = count ?? countBefore(listing, at, name.page)
      const [key, page, next] = [fingerprint(of), fingerprint(name.page), fingerprint(name.name)]
      const nextCursor = writeCursor({ version: serverVersion, at, key, page, next, last: shown, count: before })
      return { ...listing.show(items), nextCursor, ...warnings }
    }
    items.push(item)
    last = name
    if (count !== null) count++
    room -= bytes
  }
  if (items.length === 0 && isSame && args.cursor !== undefined) return badCursor(args.cursor)
  return { ...listing.show(items), ...warnings }
}

/** Counts the items of a page before the item at a position. */
function countBefore<T>(listing: Listing<T>, { part, index }: Position, page: string): number {
  let count = 0
  for (const { at, page: of } of listing.named()) {
    if (at.part === part && at.index === index) break
    if (of === page) count++
  }
  return count
}

const GUESSED = {
  warnings: [
    {
      reason:
        'the blocks around the place where this list went on are gone; it goes on at the same number, so some may be missing or shown twice',
    },
  ],
}

function expired(serverVersion: number): Refusal {
  return refused(
    'ERR_CURSOR_EXPIRED',
    `The page that this cursor stands on is gone; the document is at version ${serverVersion}. Read again from the start.`,
    { serverVersion },
  )
}

const FIRST: Position = { part: 0, index: 0 }

function badCursor(cursor: string): Refusal {
  const expected = 'the nextCursor of the answer before, with the other arguments unchanged'
  const got = quote(cursor)
  return refused('ERR_BAD_ARGUMENT', `cursor must be ${expected}; "${got}" is not.`, { argument: 'cursor', expected, got })
}

/** UTF-8 bytes of a value as compact JSON. */
export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}
