import { rotated } from '@docrelay/model/canvas/geometry/bounds'
import type { CanvasEditor } from './canvas-editor.ts'
import { isConnectable, isResizable, movedPlaces, type Place, placesOf } from './page-edits.ts'
import type { PointerGestures } from './pointer-gestures.ts'
import { canvasTexts as texts } from './canvas.en.ts'

const STEP = 10
const FINE_STEP = 1
const LEAST_SIZE = 8
/** A moved shape is written this long after the last arrow key, also while Control or Alt is still down. */
const PAUSE_MS = 600

const ARROWS: Readonly<Record<string, readonly [dx: number, dy: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

const MODIFIERS: ReadonlySet<string> = new Set(['Alt', 'Control', 'Meta', 'Shift'])

/** The members of a key event that the canvas reads. */
export type Key = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'altKey' | 'ctrlKey' | 'metaKey'>

/** The key bindings of a canvas that has the focus. */
export class CanvasKeys {
  readonly #editor: CanvasEditor
  readonly #gestures: PointerGestures
  #places: ReadonlyMap<string, Place> | null = null
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(editor: CanvasEditor, gestures: PointerGestures) {
    this.#editor = editor
    this.#gestures = gestures
  }

  /** Runs the action of a key. Returns false when the key has no action here. */
  down(event: Key): boolean {
    const arrow = ARROWS[event.key]
    const isMod = event.ctrlKey || event.metaKey
    if (arrow !== undefined && (isMod || event.altKey)) this.#nudge(arrow, event.shiftKey, event.altKey ? FINE_STEP : STEP)
    else if (MODIFIERS.has(event.key)) return false
    else {
      this.settle()
      if (arrow === undefined) return isMod ? this.#withMod(event) : this.#plain(event)
      this.#go(arrow[0] + arrow[1], event.shiftKey)
    }
    return true
  }

  up({ key }: Pick<KeyboardEvent, 'key'>): void {
    if (key === 'Alt' || key === 'Control' || key === 'Meta') this.settle()
    if (key !== ' ') return
    this.#gestures.isSpaceDown = false
    if (!this.#gestures.hasPanned) this.#toggle()
  }

  /** Writes the places to which keys have moved shapes, if there are any. */
  settle(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#places === null) return
    this.#places = null
    this.#editor.drop()
  }

  #withMod({ key, shiftKey }: Key): boolean {
    const editor = this.#editor
    return doOneOf(key.toLowerCase(), {
      z: () => (shiftKey ? editor.redo() : editor.undo()),
      y: () => editor.redo(),
      a: () => this.#selectAll(),
      d: () => editor.duplicate(),
      ']': () => editor.restack(shiftKey ? 'front' : 'forward'),
      '[': () => editor.restack(shiftKey ? 'back' : 'backward'),
    })
  }

  #plain({ key, shiftKey }: Key): boolean {
    const editor = this.#editor
    return doOneOf(key, {
      Enter: () => this.#edit(),
      Delete: () => editor.remove(),
      Backspace: () => editor.remove(),
      c: () => this.openConnect(),
      C: () => this.openConnect(),
      Escape: () => this.#escape(),
      Home: () => this.#arrive(editor.order.value.at(0), shiftKey),
      End: () => this.#arrive(editor.order.value.at(-1), shiftKey),
      '+': () => editor.zoom(1.25),
      '=': () => editor.zoom(1.25),
      '-': () => editor.zoom(0.8),
      '0': () => editor.fit(),
      ' ': () => this.#holdSpace(),
    })
  }

  #edit(): void {
    const { value: active } = this.#editor.active
    if (active !== null) this.#editor.edit(active)
  }

  #holdSpace(): void {
    if (!this.#gestures.isSpaceDown) this.#gestures.hasPanned = false
    this.#gestures.isSpaceDown = true
  }

  /** Asks to which shape the active one is connected. */
  openConnect(): void {
    const { active, selection, page, readOnly, connecting } = this.#editor
    const id = active.value ?? [...selection.value][0]
    const value = id === undefined ? undefined : page.shapes.get(id)
    if (id === undefined || value === undefined || !isConnectable(value) || readOnly.value) return
    connecting.value = id
  }

  #escape(): void {
    const editor = this.#editor
    this.#gestures.cancel()
    if (editor.tool.value !== 'select') editor.tool.value = 'select'
    else editor.select([])
  }

  #nudge([dx, dy]: readonly [number, number], isResize: boolean, step: number): void {
    const editor = this.#editor
    if (editor.readOnly.value || editor.chosen.size === 0) return
    if (editor.selection.value.size === 0) editor.select(editor.chosen)
    const places = this.#places ?? placesOf(editor.chosen, editor.page)
    this.#places = isResize ? this.#larger(places, dx * step, dy * step) : movedPlaces(places, dx * step, dy * step)
    editor.drag(this.#places)
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.settle(), PAUSE_MS)
  }

  /** Moves the right and lower sides, as of the upright box, of shapes that may be resized. The other two sides stay where they are. */
  #larger(places: ReadonlyMap<string, Place>, dw: number, dh: number): ReadonlyMap<string, Place> {
    const { page } = this.#editor
    return new Map(
      [...places].map(([id, place]) => {
        const [box, value] = [page.boxes.get(id), page.shapes.get(id)]
        if (box === undefined || value === undefined || !isResizable(value)) return [id, place]
        const [w, h] = [place.w ?? box.width, place.h ?? box.height]
        const [wide, high] = [dw === 0 ? w : Math.max(LEAST_SIZE, w + dw), dh === 0 ? h : Math.max(LEAST_SIZE, h + dh)]
        // Gives only the size that this key changes, so that the other size keeps its value, also when others change it.
        const size = dw === 0 ? { h: high } : { w: wide }
        const by = rotated({ x: (wide - w) / 2, y: (high - h) / 2 }, { x: 0, y: 0 }, box.rotation)
        return [id, { ...place, x: place.x + by.x, y: place.y + by.y, ...size }]
      }),
    )
  }

  #go(by: number, isExtending: boolean): void {
    const { order, active } = this.#editor
    const ids = order.value
    const at = active.value === null ? -1 : ids.indexOf(active.value)
    const next = ids[at === -1 ? (by > 0 ? 0 : ids.length - 1) : Math.min(Math.max(at + by, 0), ids.length - 1)]
    this.#arrive(next, isExtending)
  }

  #arrive(id: string | undefined, isExtending: boolean): void {
    if (id === undefined) return
    const editor = this.#editor
    editor.activate(id)
    editor.select(isExtending ? [...editor.selection.value, id] : [id])
  }

  #toggle(): void {
    const editor = this.#editor
    const { value: active } = editor.active
    if (active === null) return
    const next = new Set(editor.selection.value)
    if (!next.delete(active)) next.add(active)
    editor.select(next)
    editor.announce(texts.selected(next.size))
  }

  #selectAll(): void {
    const editor = this.#editor
    editor.select(new Set(editor.order.value.map((id) => editor.outermost(id))))
    editor.announce(texts.selected(editor.selection.value.size))
  }
}

/** Runs the action of a key. Returns false when the key has none. */
function doOneOf(key: string, actions: Readonly<Record<string, () => void>>): boolean {
  const action = Object.hasOwn(actions, key) ? actions[key] : undefined
  action?.()
  return action !== undefined
}
