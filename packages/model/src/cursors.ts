import type { Position } from './paging.ts'

/**
 * Names an item of a list, so that the item is found again after others changed the document: by its page, and by its id. An item without id is named by
 * its place and content.
 */
export interface ItemName {
  readonly page: string
  readonly name: string
}

/** An item of the present listing, with its place. */
export interface NamedItem extends ItemName {
  readonly at: Position
}

/** Where a listing goes on. `at` is the position in the version `version`; in other versions, the names around the place count. [AG-82] */
export interface Cursor {
  readonly version: number
  readonly at: Position
  /** The fingerprint of the listing to which the cursor belongs. */
  readonly key: string
  /** Hashes of the page (`page`), the next item (`next`) and the last shown item of that page (`last`; `''` when none was shown). */
  readonly page: string
  readonly next: string
  readonly last: string
  /** How many items of the page stand before the next item. */
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

/** A short hash (32-bit FNV-1a) that tells names apart; not secret. */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(36)
}

/** Where a listing goes on in another version. `isGuess`: both neighbours of the place are gone, so the number of items before it decides. */
export type Relocated = { readonly at: Position; readonly isGuess: boolean }

/**
 * Finds the place of a cursor among the present items; `null` when its page is gone. When the next item and the last shown item no longer stand together,
 * the item that is nearer to its former place decides, since the other item was moved. [AG-82]
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
