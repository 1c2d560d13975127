import { type Bounds, boundsOf, type Point } from '@docrelay/model/canvas/geometry/bounds'
import type { Side } from '@docrelay/model/canvas/geometry/anchors'
import { type Signal, signal } from '@preact/signals'
import type { CanvasEditor, Tool } from './canvas-editor.ts'
import { isConnectable, movedPlaces, type NewShape, type Place, placesOf } from './page-edits.ts'
import { type Handle, resized } from './resize.ts'
import { panned, toPage, zoomed } from './view-area.ts'

/** The gesture of a pointer that is down. Points are those of the page, except `screen`, which is in pixels of the canvas. */
type Gesture =
  | { readonly kind: 'pan'; readonly screen: Point }
  | { readonly kind: 'press'; readonly id: string; readonly from: Point; readonly screen: Point; readonly isOnlyLater: boolean }
  | { readonly kind: 'move'; readonly from: Point; readonly places: ReadonlyMap<string, Place> }
  | { readonly kind: 'resize'; readonly id: string; readonly from: Point; readonly handle: Handle }
  | { readonly kind: 'area'; readonly from: Point; readonly kept: ReadonlySet<string>; readonly tool: Tool }
  | { readonly kind: 'connect'; readonly id: string; readonly side: Side }
  | { readonly kind: 'pinch'; readonly screen: Point; readonly apart: number }

/** A connector that a person is drawing from a shape to the pointer. */
export interface Reaching {
  readonly from: string
  readonly side: Side
  readonly to: Point
  /** The shape below the pointer, at which the connector would end; `null`: none. */
  readonly target: string | null
}

/** The members of a pointer event that gestures read; `x` and `y` in pixels of the canvas. */
export interface Pointer extends Point {
  readonly pointerId: number
  readonly pointerType: string
  readonly button: number
  readonly shiftKey: boolean
  /** The handle or the connector dot of the selected shape that the pointer is on; `null`: neither. */
  readonly grip: { readonly handle: Handle } | { readonly side: Side } | null
}

const THRESHOLD = 3
const REACH_MOUSE = 4
const REACH_TOUCH = 14
const LEAST_DRAWN = 8

/** Turns pointer events on the canvas into actions of the editor. */
export class PointerGestures {
  readonly #editor: CanvasEditor
  /** The rectangle that a person draws to select shapes or to add one. */
  readonly area: Signal<Bounds | null> = signal(null)
  readonly reaching: Signal<Reaching | null> = signal(null)
  /** While the space bar is down, dragging moves the page. */
  isSpaceDown = false
  /** Whether the page was moved since the space bar went down. */
  hasPanned = false
  #gesture: Gesture | null = null
  readonly #down = new Map<number, Point>()

  constructor(editor: CanvasEditor) {
    this.#editor = editor
  }

  down(pointer: Pointer): void {
    this.#down.set(pointer.pointerId, { x: pointer.x, y: pointer.y })
    if (this.#down.size === 2) return this.#pinch()
    if (this.#down.size > 2) return
    this.#gesture = this.#begin(pointer)
  }

  move(pointer: Pointer): void {
    const { view, presence, peers } = this.#editor
    const screen = { x: pointer.x, y: pointer.y }
    const at = toPage(view.value, screen)
    if (peers.value.length > 0) presence.show({ pointer: { x: Math.round(at.x), y: Math.round(at.y) } })
    if (this.#down.has(pointer.pointerId)) this.#down.set(pointer.pointerId, screen)
    const gesture = this.#gesture
    if (gesture === null) return
    switch (gesture.kind) {
      case 'pan':
        view.value = panned(view.value, gesture.screen.x - screen.x, gesture.screen.y - screen.y)
        this.#gesture = { kind: 'pan', screen }
        this.hasPanned = true
        return
      case 'press':
        if (Math.hypot(screen.x - gesture.screen.x, screen.y - gesture.screen.y) < THRESHOLD) return
        this.#gesture = this.#lift(gesture)
        return this.move(pointer)
      case 'move':
        return this.#editor.drag(
          movedPlaces(gesture.places, Math.round(at.x - gesture.from.x), Math.round(at.y - gesture.from.y)),
        )
      case 'resize':
        return this.#resize(gesture, at, pointer.shiftKey)
      case 'area':
        this.area.value = boundsOf([gesture.from, at])
        if (gesture.tool === 'select') this.#selectInside(gesture.kept)
        return
      case 'connect':
        this.reaching.value = { from: gesture.id, side: gesture.side, to: at, target: this.#targetAt(at, gesture.id) }
        return
      case 'pinch':
        return this.#pinched(gesture)
    }
  }

  up(pointer: Pointer): void {
    this.#down.delete(pointer.pointerId)
    const gesture = this.#gesture
    this.#gesture = null
    if (gesture === null) return
    switch (gesture.kind) {
      case 'press':
        if (gesture.isOnlyLater) this.#editor.select([gesture.id], gesture.id)
        return
      case 'resize':
        // Resizes the shape as it is now, because others may have changed it since the pointer moved.
        if (this.#editor.drawing.places.size > 0)
          this.#resize(gesture, toPage(this.#editor.view.value, pointer), pointer.shiftKey)
        return this.#editor.drop()
      case 'move':
        return this.#editor.drop()
      case 'area':
        return this.#endArea(gesture)
      case 'connect':
        return this.#endConnect(gesture)
      case 'pan':
      case 'pinch':
        return
    }
  }

  /** Ends the gesture without writing, because the pointer was lost or the person cancels it. */
  cancel(): void {
    this.#down.clear()
    this.#gesture = null
    this.area.value = null
    this.reaching.value = null
    this.#editor.cancelDrag()
  }

  get isBusy(): boolean {
    return this.#gesture !== null
  }

  leave(): void {
    this.#editor.presence.show({ pointer: null })
  }

  wheel(at: Point, dx: number, dy: number, isZoom: boolean): void {
    const { view } = this.#editor
    view.value = isZoom ? zoomed(view.value, Math.exp(-dy / 300), at) : panned(view.value, dx, dy)
  }

  /** Returns the topmost shape at or near a point of the screen; `null` when there is none. */
  shapeAt(screen: Point, pointerType = 'mouse'): string | null {
    const { view, drawing } = this.#editor
    const reach = (pointerType === 'touch' ? REACH_TOUCH : REACH_MOUSE) / view.value.scale
    return drawing.scene?.at(toPage(view.value, screen), reach) ?? null
  }

  #begin(pointer: Pointer): Gesture | null {
    const editor = this.#editor
    const screen = { x: pointer.x, y: pointer.y }
    const from = toPage(editor.view.value, screen)
    const tool = editor.tool.value
    if (pointer.button === 1 || this.isSpaceDown || tool === 'hand') return { kind: 'pan', screen }
    if (pointer.button !== 0) return null
    const [selected] = editor.selection.value
    if (pointer.grip !== null && selected !== undefined) return this.#grip(pointer.grip, selected, from)
    if (tool !== 'select') return { kind: 'area', from, kept: new Set(), tool }
    const hit = this.shapeAt(screen, pointer.pointerType)
    if (hit === null) {
      if (pointer.pointerType === 'touch') return { kind: 'pan', screen }
      const kept = pointer.shiftKey ? editor.selection.value : new Set<string>()
      editor.select(kept)
      return { kind: 'area', from, kept, tool }
    }
    const { selection } = editor
    const id = selection.value.has(hit) ? hit : editor.outermost(hit)
    if (pointer.shiftKey) {
      const next = new Set(selection.value)
      if (!next.delete(id)) next.add(id)
      editor.select(next, id)
      return null
    }
    const isSelected = selection.value.has(id)
    if (!isSelected) editor.select([id], id)
    return { kind: 'press', id, from, screen, isOnlyLater: isSelected && selection.value.size > 1 }
  }

  #grip(grip: NonNullable<Pointer['grip']>, id: string, from: Point): Gesture | null {
    if ('side' in grip) return { kind: 'connect', id, side: grip.side }
    return { kind: 'resize', id, from, handle: grip.handle }
  }

  #resize({ id, from, handle }: Extract<Gesture, { readonly kind: 'resize' }>, at: Point, keepsRatio: boolean): void {
    const box = this.#editor.page.boxes.get(id)
    if (box === undefined) return
    const by = { x: at.x - from.x, y: at.y - from.y }
    this.#editor.drag(new Map([[id, resized(box, handle, by, keepsRatio)]]))
  }

  #lift({ from }: { readonly from: Point }): Gesture | null {
    const { readOnly, selection, page } = this.#editor
    if (readOnly.value) return null
    const places = placesOf(selection.value, page)
    return places.size === 0 ? null : { kind: 'move', from, places }
  }

  #selectInside(kept: ReadonlySet<string>): void {
    const { scene } = this.#editor.drawing
    if (scene === null || this.area.value === null) return
    const inside = scene.inside(this.area.value).map((id) => this.#editor.outermost(id))
    this.#editor.select([...kept, ...inside])
  }

  #endArea({ tool, from }: Extract<Gesture, { readonly kind: 'area' }>): void {
    const area = this.area.value
    this.area.value = null
    if (tool === 'select' || tool === 'hand') return
    this.#editor.tool.value = 'select'
    this.#editor.add(tool, newPlace(tool, from, area))
  }

  #endConnect({ id, side }: Extract<Gesture, { readonly kind: 'connect' }>): void {
    const reaching = this.reaching.value
    this.reaching.value = null
    if (reaching === null || reaching.target === null || reaching.target === id) return
    this.#editor.connect(id, reaching.target, side)
  }

  #targetAt(at: Point, from: string): string | null {
    const { drawing, page, view } = this.#editor
    const isTarget = (id: string) => {
      const value = page.shapes.get(id)
      return id !== from && value !== undefined && isConnectable(value)
    }
    return drawing.scene?.at(at, REACH_TOUCH / view.value.scale, isTarget) ?? null
  }

  #pinch(): void {
    this.cancelGesture()
    this.#gesture = { kind: 'pinch', ...this.#fingers() }
  }

  cancelGesture(): void {
    const down = new Map(this.#down)
    this.cancel()
    for (const [id, at] of down) this.#down.set(id, at)
  }

  #pinched(before: { readonly screen: Point; readonly apart: number }): void {
    const now = this.#fingers()
    const { view } = this.#editor
    const moved = panned(view.value, before.screen.x - now.screen.x, before.screen.y - now.screen.y)
    view.value = zoomed(moved, now.apart / (before.apart || 1), now.screen)
    this.#gesture = { kind: 'pinch', ...now }
  }

  /** The middle between two fingers, and how far they are from each other. */
  #fingers(): { readonly screen: Point; readonly apart: number } {
    const [a = { x: 0, y: 0 }, b = a] = this.#down.values()
    return { screen: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, apart: Math.hypot(a.x - b.x, a.y - b.y) }
  }
}

/** Returns the place of a new shape: the rectangle that was drawn for it, or the clicked point with the size of its kind. */
function newPlace(kind: NewShape['kind'], at: Point, area: Bounds | null): Place {
  const [w, h] = area === null ? [0, 0] : [Math.round(area.right - area.left), Math.round(area.bottom - area.top)]
  if (area === null || w < LEAST_DRAWN || h < LEAST_DRAWN) {
    // The words of a new text shape begin where the person clicked.
    return kind === 'text'
      ? { x: Math.round(at.x + 100), y: Math.round(at.y + 12) }
      : { x: Math.round(at.x), y: Math.round(at.y) }
  }
  return { x: Math.round(area.left + w / 2), y: Math.round(area.top + h / 2), w, h }
}
