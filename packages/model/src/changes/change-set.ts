import type { Json, JsonObject } from '../json.ts'

/**
 * What one write changed, with what each part was before: enough to take it back. Compact plain data, since it is stored as JSON. [AG-66]
 */
export interface ChangeSet {
  readonly prose?: PagesChange<ProsePageChange>
  readonly canvas?: PagesChange<CanvasPageChange>
  readonly references?: LibraryChange
  readonly fields?: LibraryChange
  /** Members of the body itself, such as the title. */
  readonly members?: readonly MemberChange[]
  /** Members of the keyed container of prose pages. */
  readonly proseMembers?: readonly MemberChange[]
}

/** A member whose value is another one; absent `before` or `after`: there was none. */
export interface MemberChange {
  readonly name: string
  readonly before?: Json
  readonly after?: Json
}

/** Names a neighbour in a list: an id, or `#hash@index` of a block without one. */
export type Name = string

/** Where something stood in its list before the call. */
export interface Place {
  /** Directly behind the entry before it, which left this place too. */
  readonly joined?: true
  /** The nearest ones that stayed in their order, nearest first. */
  readonly behind?: readonly Name[]
  readonly ahead?: readonly Name[]
}

/** What an entry of a list had beside it after the call; empty at an end of the list. */
export type Beside = readonly [Name, Name]

/**
 * An entry of a list with an id. Created: only `after`. Removed: `before` and `from`. Changed: `before` and `after`. Moved: `after` and
 * `from`, with `before` when it was changed too.
 */
interface ListChange<B> {
  readonly before?: B
  /** Hash of what it said after the call. */
  readonly after?: number
  readonly from?: Place
  readonly now?: Beside
}

/** Text blocks in what the call made or changed that stood in another container, or on another page, before it. */
interface Receiving {
  readonly came?: readonly string[]
  /**
   * Those of `came` that had no id before the call, each with the hash of what it said: only by that its former place knows it, also when
   * somebody wrote in it since. Records of older releases have none.
   */
  readonly said?: readonly (readonly [id: string, hash: number])[]
}

/** A page in the list of its kind. A page that stayed has no entry here. */
export interface PageEntry extends ListChange<JsonObject>, Receiving {
  readonly id: string
  /** Some text blocks of a new page. */
  readonly ids?: readonly string[]
}

interface PagesChange<C> {
  /** Pages that were created, removed or moved; `before` is the whole page. */
  readonly list?: readonly PageEntry[]
  /** There was no page of this kind. */
  readonly wasEmpty?: true
  /** Pages that were there before and after. */
  readonly pages?: readonly C[]
}

export interface ProsePageChange {
  readonly id: string
  readonly members?: readonly MemberChange[]
  readonly blocks?: readonly BlockChange[]
  /** Blocks that got a new id, with the one they had before: `''`, or one that several blocks had. */
  readonly minted?: readonly (readonly [string, string])[]
  /** Hash of the page's HTML after the call. */
  readonly after: number
}

/** A text block by its id, wherever it stands, or a top-level block. `before` is its canonical HTML. */
export interface BlockChange extends ListChange<string>, Receiving {
  /** Of a text block. */
  readonly id?: string
  /** Some text blocks inside a container. */
  readonly ids?: readonly string[]
  /** The place of a top-level block without id on the page after the call. */
  readonly at?: number
}

export interface CanvasPageChange {
  readonly id: string
  readonly members?: readonly MemberChange[]
  readonly shapes?: readonly ShapeChange[]
}

/** `before` of a removed shape is its value. */
export interface ShapeChange extends ListChange<JsonObject> {
  readonly id: string
  /** The members that the call changed. */
  readonly members?: readonly MemberChange[]
  /** Of a connector: hash of where the shapes at its ends were before the call. Records of older releases have none. */
  readonly ends?: number
  /** It was a connector at a shape that the page did not have, or a group of none. Records of older releases do not say so. */
  readonly isLoose?: true
}

export interface LibraryChange {
  readonly items: readonly ItemChange[]
  /** What stood in the place of the library; `null`: nothing. Absent: a library. */
  readonly was?: Json
  /** Of a library that went as a whole: everything but its items and their order. */
  readonly frame?: JsonObject
}

/** A reference or a field. */
export interface ItemChange extends ListChange<JsonObject> {
  readonly id: string
}
