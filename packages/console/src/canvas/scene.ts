import type { JsonObject } from '@docrelay/model/json'
import { type Bounds, holds, overlaps, type Point, unite } from '@docrelay/model/canvas/geometry/bounds'
import type { BoxLookup } from '@docrelay/model/canvas/geometry/connector-line'
import { type DrawnShape, drawShape, roomOf, stacked } from '@docrelay/model/render/draw-shape'
import { isEnclosed, isHit } from '@docrelay/model/render/hit-shape'
import type { SvgNode } from '@docrelay/model/render/svg-node'

const SVG = 'http://www.w3.org/2000/svg'
/** The most bodies and labels on one sheet. */
const ON_SHEET = 100

/** The values of shapes to draw, by id, and where they lie. */
export interface Drawing {
  readonly valueOf: (id: string) => JsonObject | undefined
  readonly boxes: BoxLookup
}

/**
 * The drawing of a page in the DOM. Only `draw` makes new elements, and only for the shapes that it is given. The elements lie on sheets above
 * each other, because a browser that paints one shape again goes through all shapes in the same SVG element.
 */
export class Scene {
  readonly #root: Element
  readonly #drawn = new Map<string, DrawnShape>()
  readonly #bodies = new Map<string, Element>()
  readonly #labels = new Map<string, Element>()
  #order: readonly string[] = []
  /** How many times a shape has been drawn. */
  drawings = 0

  /** @param root an element that belongs to the scene alone */
  constructor(root: Element) {
    this.#root = root
  }

  /** Draws these shapes again, each in its old place, and removes deleted ones. A new shape is shown after `restack`. */
  draw(ids: Iterable<string>, { valueOf, boxes }: Drawing): void {
    for (const id of ids) {
      const value = valueOf(id)
      const drawn = value === undefined ? null : drawShape({ id, value }, { boxes })
      this.drawings++
      if (drawn === null) this.#drawn.delete(id)
      else this.#drawn.set(id, drawn)
      exchange(this.#bodies, id, drawn?.node ?? null)
      exchange(this.#labels, id, drawn?.label?.node ?? null)
    }
  }

  /** Puts the shapes above each other in this order, bottom first. */
  restack(order: readonly string[]): void {
    this.#order = order
    const parts = stacked(order.flatMap((id) => this.#drawn.get(id) ?? []))
    const elements = parts.flatMap(({ id, isLabel }) => (isLabel ? this.#labels : this.#bodies).get(id) ?? [])
    for (const [at, sheet] of sheetsOf(this.#root, Math.ceil(elements.length / ON_SHEET)).entries())
      fill(sheet, elements.slice(at * ON_SHEET, (at + 1) * ON_SHEET))
  }

  /** Returns the present drawing of a shape; `undefined` for a group and for an invisible shape. */
  drawnOf(id: string): DrawnShape | undefined {
    return this.#drawn.get(id)
  }

  /** Returns the topmost shape at a point, or else the topmost one nearer than `reach`, in units of the page; `null` when there is none. */
  at(point: Point, reach: number, isWanted: (id: string) => boolean = () => true): string | null {
    return this.#within(point, 0, isWanted) ?? this.#within(point, reach, isWanted)
  }

  #within(point: Point, reach: number, isWanted: (id: string) => boolean): string | null {
    for (let i = this.#order.length - 1; i >= 0; i--) {
      const id = this.#order[i] as string
      const drawn = this.#drawn.get(id)
      if (drawn !== undefined && isHit(drawn, point, reach) && isWanted(id)) return id
    }
    return null
  }

  /** The ids of the shapes that lie wholly in an area, bottom first. */
  inside(area: Bounds): readonly string[] {
    return this.#order.filter((id) => {
      const drawn = this.#drawn.get(id)
      return drawn !== undefined && isEnclosed(drawn, area)
    })
  }

  /** The rectangle around everything that is drawn; `null` when nothing is. */
  bounds(): Bounds | null {
    let bounds: Bounds | null = null
    for (const drawn of this.#drawn.values()) bounds = unite(bounds, roomOf(drawn))
    return bounds
  }

  /** Whether no shape lies in an area. New shapes look for such an area. */
  isFree(area: Bounds): boolean {
    for (const drawn of this.#drawn.values())
      if (overlaps(drawn.bounds, area) || holds(area, { x: drawn.bounds.left, y: drawn.bounds.top })) return false
    return true
  }
}

/** Puts these elements onto a sheet in this order. */
function fill(sheet: Element, elements: readonly Element[]): void {
  let next = sheet.firstChild
  for (const element of elements) {
    // `next` belongs further up. Without this line, all elements between the two places would be moved before it.
    if (next !== null && next !== element && next.nextSibling === element) next = element
    if (next === element) next = element.nextSibling
    else sheet.insertBefore(element, next)
  }
}

/** Makes as many sheets as are wanted, above each other. */
function sheetsOf(root: Element, count: number): readonly Element[] {
  while (root.childElementCount < count) root.append(document.createElementNS(SVG, 'svg'))
  while (root.childElementCount > count) root.lastElementChild?.remove()
  return [...root.children]
}

/** Puts a new element where the old one of this shape was. */
function exchange(elements: Map<string, Element>, id: string, node: SvgNode | null): void {
  const old = elements.get(id)
  if (node === null) {
    old?.remove()
    elements.delete(id)
    return
  }
  const made = elementOf(node)
  old?.replaceWith(made)
  elements.set(id, made)
}

/** Makes the element of a drawn node without parsing text, so that text of a document cannot become an element. [CANVAS-26] */
function elementOf({ name, attributes, children }: SvgNode): Element {
  const made = document.createElementNS(SVG, name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  for (const child of children) made.append(typeof child === 'string' ? child : elementOf(child))
  return made
}
