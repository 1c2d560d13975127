import type { Json, JsonObject } from './json.ts'

/**
 * One open JSON document, normalised from both written forms (list and keyed, in any mix) and able to give each back. [BODY-1, BODY-2]
 *
 * Values are immutable; an edit keeps the identity (`===`) of every part it did not change, and `reconcile` relies on that.
 * Members that this model does not name are carried at every depth. [BODY-7]
 */
export interface DocumentBody {
  /** Names of the top-level members in the order they are written back, the four containers included where present. */
  readonly memberOrder: readonly string[]
  /** Top-level members other than `pages`, `pageOrder` (keyed form), `richTextPages`, `references`, `fields` and the server's own (BODY-10). */
  readonly members: ReadonlyMap<string, Json>
  readonly canvas: CanvasContainer
  readonly prose: ProseContainer
  /** Absent when the body has none; an `Opaque` has no `items` object inside and reads as empty. [BODY-3] */
  readonly references: References | Opaque | undefined
  readonly fields: Fields | Opaque | undefined
}

/**
 * Names of an object's members in the order they are written back, the ones this model takes out included. Says nothing about which
 * exist; a name it lacks is written at the end.
 */
export type MemberOrder = readonly string[]

/** How a container is written. `absent`: it was not in the input and is given back empty in the form of BODY-3. */
export type ContainerForm = 'list' | 'keyed' | 'absent'

export interface CanvasContainer {
  readonly form: ContainerForm
  /** In page order. */
  readonly pages: readonly CanvasPage[]
}

export interface CanvasPage {
  readonly id: string
  /** Every member but `shapes` and, with keyed shapes, `shapeOrder`; `id` included. In input order. */
  readonly members: JsonObject
  readonly memberOrder?: MemberOrder
  readonly shapesForm: ContainerForm
  /** Bottom first. */
  readonly shapes: readonly Shape[]
}

/** The whole stored shape as one value; the relay checks none of its semantics. [BODY-6] */
export interface Shape {
  readonly id: string
  readonly value: JsonObject
}

export interface ProseContainer {
  readonly form: ContainerForm
  readonly memberOrder?: MemberOrder
  /** Members of the keyed container other than `pages` and `pageOrder` (`activePageId` and extras). Empty in list form. */
  readonly members: JsonObject
  /** In page order. */
  readonly pages: readonly ProsePage[]
}

export interface ProsePage {
  readonly id: string
  /** Every member but `content`, in input order. */
  readonly members: JsonObject
  readonly memberOrder?: MemberOrder
  /** HTML exactly as it was PUT until the page is edited live or by a tool, then canonical HTML. [BODY-9] */
  readonly content: string
}

export interface References {
  readonly kind: 'references'
  readonly memberOrder?: MemberOrder
  readonly items: ReadonlyMap<string, JsonObject>
  /** Ids in display order, healed as YDOC-4. */
  readonly order: readonly string[]
  /** The name the order had in the input: `order` is kept where `itemOrder` was absent. */
  readonly orderName: 'itemOrder' | 'order'
  /** Every other member, `style` included. */
  readonly members: JsonObject
}

export interface Fields {
  readonly kind: 'fields'
  readonly memberOrder?: MemberOrder
  readonly items: ReadonlyMap<string, JsonObject>
  readonly order: readonly string[]
  readonly members: JsonObject
}

/** A `references` or `fields` value that is carried verbatim. */
export interface Opaque {
  readonly kind: 'opaque'
  readonly value: Json
}
