import { type Signal, signal } from '@preact/signals'
import type { JsonObject } from '@docrelay/model/json'
import type { Bounds } from '@docrelay/model/canvas/geometry/bounds'
import type { ShapeBox } from '@docrelay/model/canvas/geometry/shape-box'
import { boundsOfShape, type PageGeometry, pageGeometry } from '@docrelay/model/canvas/page-geometry'
import { directRouter } from '@docrelay/model/canvas/route'
import { type PageNow, type Place, placed } from './page-edits.ts'
import type { Peer } from './peers.ts'
import { Scene } from './scene.ts'
import { surroundings } from './surroundings.ts'

/** A page on the screen. Shapes that are being dragged are shown at their new places, all others as they are stored. */
export class PageDrawing {
  /** Raised when something was drawn. */
  readonly frame: Signal<number> = signal(0)
  readonly #pageNow: () => PageNow
  readonly #onFrame: (draw: () => void) => void
  #scene: Scene | null = null
  #own: ReadonlyMap<string, Place> = new Map()
  #elsewhere: ReadonlyMap<string, Place> = new Map()
  /** The part of the page around dragged shapes, with these at their new places; `null` when nothing is dragged. */
  #preview: PageGeometry | null = null
  #near: { readonly key: string; readonly page: PageGeometry } | null = null
  readonly #dirty = new Set<string>()
  #isStale = true
  #isAwaited = false

  constructor(pageNow: () => PageNow, onFrame: (draw: () => void) => void) {
    this.#pageNow = pageNow
    this.#onFrame = onFrame
  }

  /** `null` until there is a place to draw. */
  get scene(): Scene | null {
    return this.#scene
  }

  /** The places to which this person drags shapes. */
  get places(): ReadonlyMap<string, Place> {
    return this.#own
  }

  attach(root: Element): void {
    this.#scene = new Scene(root)
    this.changed(this.#pageNow().shapes.keys())
    this.#draw(this.#scene)
  }

  destroy(): void {
    this.#scene = null
  }

  /** Marks shapes that changed or were removed, so that the next frame updates their drawing. */
  changed(ids: Iterable<string>): void {
    for (const id of ids) this.#dirty.add(id)
    this.#isStale = true
    this.#near = null
    this.#await()
  }

  drag(places: ReadonlyMap<string, Place>): void {
    this.#own = places
    this.#await()
  }

  dragElsewhere(peers: readonly Peer[]): void {
    this.#elsewhere = new Map(peers.flatMap(({ moving }) => [...moving]))
    this.#await()
  }

  /** Returns the bounds of a shape as shown now; `null` for an empty group. */
  boundsOf(id: string): Bounds | null {
    const drawn = this.#scene?.drawnOf(id)
    if (drawn !== undefined) return drawn.bounds
    return boundsOfShape(id, this.#preview?.shapes.has(id) === true ? this.#preview : this.#pageNow())
  }

  /** Returns the box of a shape as shown now; `null` for a connector or line. */
  boxOf(id: string): ShapeBox | null {
    return this.#preview?.boxes.get(id) ?? this.#pageNow().boxes.get(id) ?? null
  }

  #await(): void {
    if (this.#isAwaited || this.#scene === null) return
    this.#isAwaited = true
    this.#onFrame(() => {
      this.#isAwaited = false
      if (this.#scene !== null) this.#draw(this.#scene)
    })
  }

  /** Draws the shapes that changed since the last frame, and shapes that are being dragged here or by others. */
  #draw(scene: Scene): void {
    performance.mark('canvas-draw-begins')
    const page = this.#pageNow()
    const before = scene.drawings
    for (const id of this.#shownElsewhere()) this.#dirty.add(id)
    const preview = this.#dragged()
    this.#preview = preview
    for (const id of this.#shownElsewhere()) this.#dirty.add(id)
    scene.draw(this.#dirty, {
      valueOf: (id) => (page.shapes.has(id) ? (preview?.shapes.get(id) ?? page.shapes.get(id)) : undefined),
      boxes: { get: (id) => preview?.boxes.get(id) ?? page.boxes.get(id) },
    })
    this.#dirty.clear()
    if (this.#isStale) scene.restack(page.order)
    this.#isStale = false
    this.frame.value++
    // Keeps only the last measure, because a page may be open for days.
    performance.clearMeasures('canvas-draw')
    performance.measure('canvas-draw', { start: 'canvas-draw-begins', detail: { shapes: scene.drawings - before } })
    performance.clearMarks('canvas-draw-begins')
  }

  /** The shapes that are shown with another value than the stored one. */
  #shownElsewhere(): readonly string[] {
    if (this.#preview === null) return []
    const { shapes } = this.#pageNow()
    return [...this.#preview.shapes].flatMap(([id, value]) => (value === shapes.get(id) ? [] : [id]))
  }

  #dragged(): PageGeometry | null {
    const { shapes } = this.#pageNow()
    const places = new Map([...this.#elsewhere, ...this.#own].filter(([id]) => shapes.has(id)))
    if (places.size === 0) return null
    const near = this.#surroundings([...places.keys()])
    const moved = new Map(near.shapes)
    for (const [id, value] of placed(near, places, directRouter).values) moved.set(id, value as JsonObject)
    return pageGeometry(moved)
  }

  #surroundings(ids: readonly string[]): PageGeometry {
    const key = ids.join(' ')
    if (this.#near === null || this.#near.key !== key) this.#near = { key, page: surroundings(ids, this.#pageNow()) }
    return this.#near.page
  }
}
