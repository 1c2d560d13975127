import type { Json, JsonObject } from '../json.ts'

/** The record of what one write changed, with the former value of each part, so that the write can be undone. Plain data, stored as JSON. [AG-66] */
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

/** A member whose value changed. `before` is absent when the write added the member, `after` when the write removed it. */
export interface MemberChange {
  readonly name: string
  readonly before?: Json
  readonly after?: Json
}

/** Names a neighbour in a list: an id, or `#hash@index` for a block without a unique id. */
export type Name = string

/** Where an entry stood in its list before the call. */
export interface Place {
  /** The entry stood directly behind the previous entry of the record, which left its place too. */
  readonly joined?: true
  /** Neighbours that kept their order: up to 3 behind which the entry stood, and up to 3 ahead of which it stood, nearest first. */
  readonly behind?: readonly Name[]
  readonly ahead?: readonly Name[]
}

/** The neighbours of an entry after the call: the one before it and the one after it. The name is empty at an end of the list. */
export type Beside = readonly [Name, Name]

/**
 * A change of one entry of a list. A created entry has only `after`; a removed one has `before` and `from`; a changed one has `before` and
 * `after`; a moved one has `after` and `from`, and `before` when it was changed too.
 */
interface ListChange<B> {
  readonly before?: B
  /** Hash of the content after the call. A moved page has 0, since an undo compares only its neighbours. */
  readonly after?: number
  readonly from?: Place
  readonly now?: Beside
}

/** `came`: ids of text blocks in a created or changed part that stood in another container or on another page before the call. */
interface Receiving {
  readonly came?: readonly string[]
  /**
   * The blocks of `came` that had no id before the call, each with the hash of its former content. An undo recognises such a block only by
   * this hash, also when somebody wrote in it since. Records of older releases have no `said`.
   */
  readonly said?: readonly (readonly [id: string, hash: number])[]
}

/** A page that was created, removed or moved. A page that kept its place has no entry. */
export interface PageEntry extends ListChange<JsonObject>, Receiving {
  readonly id: string
  /** The ids of up to 3 text blocks of a new page. */
  readonly ids?: readonly string[]
}

interface PagesChange<C> {
  /** Pages that were created, removed or moved; `before` is the whole page. */
  readonly list?: readonly PageEntry[]
  /** Before the call, the document had no page of this kind. */
  readonly wasEmpty?: true
  /** Changes of pages that existed before and after the call. */
  readonly pages?: readonly C[]
}

export interface ProsePageChange {
  readonly id: string
  readonly members?: readonly MemberChange[]
  readonly blocks?: readonly BlockChange[]
  /** Blocks that got a new id: the new id, then the former one, which is `''` or an id that several blocks shared. */
  readonly minted?: readonly (readonly [string, string])[]
  /** Hash of the page's HTML after the call. */
  readonly after: number
}

/** A change of a text block, which is found by its id wherever it stands, or of a top-level block. `before` is its canonical HTML. */
export interface BlockChange extends ListChange<string>, Receiving {
  /** The id of a text block. */
  readonly id?: string
  /** The ids of up to 3 text blocks inside the container. */
  readonly ids?: readonly string[]
  /** The index on the page, after the call, of a top-level block without any id. */
  readonly at?: number
}

export interface CanvasPageChange {
  readonly id: string
  readonly members?: readonly MemberChange[]
  readonly shapes?: readonly ShapeChange[]
}

/** A removed shape has its value in `before`; a changed shape has `members` instead. */
export interface ShapeChange extends ListChange<JsonObject> {
  readonly id: string
  /** The members that the call changed. */
  readonly members?: readonly MemberChange[]
  /** For a connector: the hash of where the shapes at its ends were before the call. Records of older releases have no `ends`. */
  readonly ends?: number
  /** Before the call, the shape was a connector at a missing shape, or a group without members. Records of older releases lack `isLoose`. */
  readonly isLoose?: true
}

export interface LibraryChange {
  readonly items: readonly ItemChange[]
  /** The value that stood in the place of the library before the call; `null` for no value. Absent when the place held a library. */
  readonly was?: Json
  /** For a library that the call removed as a whole: everything but its items and their order. */
  readonly frame?: JsonObject
}

/** A reference or a field. */
export interface ItemChange extends ListChange<JsonObject> {
  readonly id: string
}
