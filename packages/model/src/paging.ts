import { isRefusal, refused, type Refusal } from './edit.ts'
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
}

/** The members of a result. */
export type Members = { readonly [member: string]: unknown }

/** A result whose items may not fit into one answer. [TOOL-23] */
export interface Listing<T> {
  readonly kind: 'listing'
  readonly maxLimit: number
  /** Yields the items from a position on, each made when it is needed. */
  from(at: Position): Iterable<ListedItem<T>>
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
  show(items: readonly T[]): Members
}): Listing<T> {
  const { maxLimit, items } = list
  return {
    kind: 'listing',
    maxLimit,
    *from({ part, index: first }) {
      for (let index = part === 0 ? first : items.length; index < items.length; index++) {
        const item = list.read(items[index] as S)
        yield { item, bytes: jsonBytes(item) + 1, at: { part: 0, index } }
      }
    },
    show: (shown) => list.show(shown),
  }
}

/**
 * Returns why a cursor does not belong to the listing `of`; `null` when it may, or when there is no cursor. Needs no
 * document. [MCP-3, TOOL-24]
 */
export function cursorFlaw({ cursor }: PageArgs, of: string): Refusal | null {
  if (cursor === undefined || cursorForm.exec(cursor)?.[4] === fingerprint(of)) return null
  return badCursor(cursor)
}

/**
 * Returns one answer's part of a listing: everything, or as much as `limit` and the byte limit allow, at least one
 * item, and the cursor of the next part. `of` names the listing: a cursor of another one is refused. A position is
 * valid for one version of the document only. [TOOL-23, TOOL-24, TOOL-25]
 */
export function pageOf<T>(listing: Listing<T>, of: string, args: PageArgs, serverVersion: number): Members | Refusal {
  const flaw = cursorFlaw(args, of)
  if (flaw !== null) return flaw
  const key = fingerprint(of)
  const start = args.cursor === undefined ? FIRST : readCursor(args.cursor, serverVersion)
  if (isRefusal(start)) return start
  const limit = Math.min(args.limit ?? Number.POSITIVE_INFINITY, listing.maxLimit)
  let room = MAX_RESULT_BYTES - RESERVED_BYTES - jsonBytes(listing.show([]))
  const items: T[] = []
  for (const { item, bytes, at } of listing.from(start)) {
    // Without `limit` in the call only the bytes decide. [TOOL-23]
    const isFull = items.length > 0 && (bytes > room || (args.limit !== undefined && items.length >= limit))
    if (isFull) return { ...listing.show(items), nextCursor: writeCursor(at, key, serverVersion) }
    items.push(item)
    room -= bytes
  }
  if (items.length === 0 && args.cursor !== undefined) return badCursor(args.cursor)
  return listing.show(items)
}

const FIRST: Position = { part: 0, index: 0 }

function writeCursor(at: Position, key: string, version: number): string {
  return [version, at.part, at.index, key].join('.')
}

const cursorForm = /^(\d{1,16})\.(\d{1,9})\.(\d{1,9})\.([0-9a-z]{1,8})$/

function readCursor(cursor: string, serverVersion: number): Position | Refusal {
  const [, version, part, index] = cursorForm.exec(cursor) ?? []
  if (Number(version) === serverVersion) return { part: Number(part), index: Number(index) }
  return refused(
    'ERR_CURSOR_EXPIRED',
    `The document changed since this cursor was given out; it is at version ${serverVersion}. Read again from the start.`,
    { serverVersion },
  )
}

function badCursor(cursor: string): Refusal {
  const expected = 'the nextCursor of the answer before, with the other arguments unchanged'
  const got = quote(cursor)
  return refused('ERR_BAD_ARGUMENT', `cursor must be ${expected}; "${got}" is not.`, { argument: 'cursor', expected, got })
}

/** UTF-8 bytes of a value as compact JSON. */
export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}

/** Distinguishes listings; not secret. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(36)
}
