import type { Position } from './paging.ts'

/**
 * Names an item of a list so that it is found again after others changed the document: by the page it is on, and by its id or, without one,
 * by its place and content.
 */
export interface ItemName {
  readonly page: string
  readonly name: string
}

/** An item that a listing has now. */
export interface NamedItem extends ItemName {
  readonly at: Position
}

/** Where a listing goes on: for the version it was given out for a position, and for others the names around it. [AG-82] */
export interface Cursor {
  readonly version: number
  readonly at: Position
  /** Distinguishes listings. */
  readonly key: string
  /** Hashes of the page, of the next item and of the last one shown of that page; `''`: none was. */
  readonly page: string
  readonly next: string
  readonly last: string
  /** How many items of the page stand before the next one. */
  readonly count: number
}

const FORM = /^(\d{1,16})\.(\d{1,9})\.(\d{1,9})\.([0-9a-z]{1,8})\.([0-9a-z]{1,8})\.([0-9a-z]{1,8})\.([0-9a-z]{0,8})\.(\d{1,9})$/

export function writeCursor({ version, at, key, page, next, last, count }: Cursor): string {
  return [version, at.part, at.index, key, page, next, last, count].join('.')
}

export function readCursor(text: string): Cursor | null {
  const match = FORM.exec(text)
  if (match === null) return null
  const [, version, part, index, key = '', page = '', next = '', last = '', count] = match
  return {
    version: Number(version),
    at: { part: Number(part), index: Number(index) },
    key,
    page,
    next,
    last,
    count: Number(count),
  }
}

/** Distinguishes names; not secret. */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(36)
}

/** Where a listing goes on in another version; `isGuess`: neither neighbour is there any more, so the number of items before decides. */
export type Relocated = { readonly at: Position; readonly isGuess: boolean }

/**
 * Finds the place of a cursor among the items that there are now; `null`: its page is gone. When the next item and the last shown one do not
 * stand together any more, the one that is nearer to its former place decides: the other was moved. [AG-82]
 */
export function relocate(cursor: Cursor, items: Iterable<NamedItem>): Relocated | null {
  const places: Position[] = []
  let [next, behind]: (number | undefined)[] = []
  for (const { page, name, at } of items) {
    if (fingerprint(page) !== cursor.page) continue
    const hash = fingerprint(name)
    if (hash === cursor.next && isNearer(places.length, next, cursor.count)) next = places.length
    if (hash === cursor.last && isNearer(places.length + 1, behind, cursor.count)) behind = places.length + 1
    places.push(at)
  }
  const [first] = places
  if (first === undefined) return null
  const found = cursor.last === '' ? 0 : nearer(next, behind, cursor.count)
  const index = Math.min(found ?? cursor.count, places.length)
  return { at: places[index] ?? { part: first.part + 1, index: 0 }, isGuess: found === undefined }
}

function isNearer(place: number, than: number | undefined, wanted: number): boolean {
  return than === undefined || Math.abs(place - wanted) < Math.abs(than - wanted)
}

function nearer(next: number | undefined, behind: number | undefined, wanted: number): number | undefined {
  if (next === undefined || behind === undefined) return next ?? behind
  return isNearer(behind, next, wanted) ? behind : next
}
