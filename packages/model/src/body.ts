import type { Json, JsonObject } from './json.ts'

/**
 * One open JSON document, normalised from both written forms (list and keyed, in any mix). `writeBody` writes each
 * container in its own form. [BODY-1, BODY-2]
 *
 * Values are immutable. An edit keeps the identity (`===`) of every part that it did not change, and `reconcile` relies
 * on that. Members that this model does not name are kept at every depth. [BODY-7]
 */
export interface DocumentBody {
  /**
   * Names of the top-level members in the order in which they are written, including the four containers where present.
   */
  readonly memberOrder: readonly string[]
  /** Top-level members other than `pages`, `pageOrder` (keyed form), `richTextPages`, `references`, `fields` and the server's own (BODY-10). */
  readonly members: ReadonlyMap<string, Json>
  readonly canvas: CanvasContainer
  readonly prose: ProseContainer
  /** The reference library; absent when the body has none. An `Opaque` has no object `items` and is read as empty. [BODY-3] */
  readonly references: References | Opaque | undefined
  readonly fields: Fields | Opaque | undefined
}

/**
 * Names of an object's members in the order in which they are written, including members that this model keeps elsewhere.
 * The order may name members that do not exist. Members that the order does not name are written at the end.
 */
export type MemberOrder = readonly string[]

/** How a container is written. `absent`: the input had no such container, so an empty one is written in the form that BODY-3 says. */
export type ContainerForm = 'list' | 'keyed' | 'absent'

export interface CanvasContainer {
  readonly form: ContainerForm
  /** In page order. */
  readonly pages: readonly CanvasPage[]
}

export interface CanvasPage {
  readonly id: string
  /** Every member except `shapes` and, with keyed shapes, `shapeOrder`, in input order; includes `id`. */
  readonly members: JsonObject
  readonly memberOrder?: MemberOrder
  readonly shapesForm: ContainerForm
  /** The shapes of the page, bottom first. */
  readonly shapes: readonly Shape[]
}

/** The whole stored shape as one value; the relay checks none of its meaning. [BODY-6] */
export interface Shape {
  readonly id: string
  readonly value: JsonObject
}

export interface ProseContainer {
  readonly form: ContainerForm
  readonly memberOrder?: MemberOrder
  /** Members of the keyed container except `pages` and `pageOrder` (`activePageId` and others). Empty in list form. */
  readonly members: JsonObject
  /** In page order. */
  readonly pages: readonly ProsePage[]
}

export interface ProsePage {
  readonly id: string
  /** Every member but `content`, in input order. */
  readonly members: JsonObject
  readonly memberOrder?: MemberOrder
  /** HTML exactly as it was PUT, until the page is edited live or by a tool; then canonical HTML. [BODY-9] */
  readonly content: string
}

export interface References {
  readonly kind: 'references'
  readonly memberOrder?: MemberOrder
  readonly items: ReadonlyMap<string, JsonObject>
  /** The ids of the items in display order, healed as YDOC-4 says. */
  readonly order: readonly string[]
  /** The name of the order in the input: `order` is kept when `itemOrder` was absent. */
  readonly orderName: 'itemOrder' | 'order'
  /** Every member except the items and their order; includes `style`. */
  readonly members: JsonObject
}

export interface Fields {
  readonly kind: 'fields'
  readonly memberOrder?: MemberOrder
  readonly items: ReadonlyMap<string, JsonObject>
  readonly order: readonly string[]
  readonly members: JsonObject
}

/** A `references` or `fields` value that is written back unchanged. */
export interface Opaque {
  readonly kind: 'opaque'
  readonly value: Json
}
