import { computed, type Signal, signal } from '@preact/signals'
import type { LiveDocument } from '@docrelay/client'
import type { JsonObject } from '@docrelay/model/json'
import type { Point } from '@docrelay/model/canvas/geometry/bounds'
import type { Side } from '@docrelay/model/canvas/geometry/anchors'
import { boundsOfShape } from '@docrelay/model/canvas/page-geometry'
import { routerWithin } from '@docrelay/model/canvas/page-router'
import { childrenOf } from '@docrelay/model/canvas/stored-shape'
import type { UndoManager } from 'yjs'
import { canvasTexts as texts } from './canvas.en.ts'
import { describe, nameOf } from './describe.ts'
import {
  added,
  connected,
  copyOf,
  cutOf,
  deleted,
  isLabelled,
  labelled,
  type Layer,
  type NewShape,
  type PageChanges,
  type PageNow,
  pasted,
  type Place,
  placed,
  restacked,
} from './page-edits.ts'
import { PageDrawing } from './page-drawing.ts'
import { PageState } from './page-state.ts'
import { OwnPresence, type Peer, peersOn } from './peers.ts'
import { readingOrder } from './reading-order.ts'
import { undoHistoryOf } from './undo-histories.ts'
import { fitted, showing, type Size, toPage, type View, zoomed } from './view-area.ts'

export type Tool = 'select' | 'hand' | NewShape['kind']

/** The part of an open document that a canvas needs. */
export type CanvasDocument = Pick<LiveDocument, 'ydoc' | 'awareness' | 'level' | 'gone' | 'on' | 'undoManager'>

export interface CanvasEnvironment {
  readonly announce: (text: string) => void
  /** Makes an id that no shape has. */
  readonly newId: () => string
  /** Calls back when the browser is about to draw. */
  readonly onFrame: (draw: () => void) => void
}

/** About 50 ms of search, as much as tools have on a live document. Connectors without a way by then are drawn directly. [CONC-13] */
const ROUTE_STEPS = 500_000
const NO_PLACES: ReadonlyMap<string, Place> = new Map()
const COPY_OFFSET = 20

/** A canvas page that a person has open: its view, the selection, and the actions of the person. */
export class CanvasEditor {
  readonly pageId: string
  readonly view: Signal<View> = signal({ left: 0, top: 0, scale: 1 })
  readonly size: Signal<Size> = signal({ width: 0, height: 0 })
  readonly selection: Signal<ReadonlySet<string>> = signal(new Set<string>())
  /** The shape that keys act on. */
  readonly active: Signal<string | null> = signal(null)
  readonly tool: Signal<Tool> = signal('select')
  /** The shape whose text is edited. */
  readonly editing: Signal<string | null> = signal(null)
  /** The shape to connect, while the person looks for the shape at the other end. */
  readonly connecting: Signal<string | null> = signal(null)
  readonly peers: Signal<readonly Peer[]> = signal([])
  readonly readOnly: Signal<boolean> = signal(false)
  /** Raised when shapes change. */
  readonly version: Signal<number> = signal(0)
  readonly history: Signal<{ readonly canUndo: boolean; readonly canRedo: boolean }> = signal({ canUndo: false, canRedo: false })
  /** The ids of all shapes in the order in which a person would read the page. */
  readonly order = computed(() => (this.version.value, readingOrder(this.#state.now)))
  readonly presence: OwnPresence
  /** The group of each shape that is in one. */
  readonly #groupOf = computed(() => {
    void this.version.value
    const { shapes, groups } = this.#state.now
    return new Map([...groups.keys()].flatMap((group) => childrenOf(shapes.get(group)).map((child) => [child, group] as const)))
  })

  readonly #document: CanvasDocument
  readonly #environment: CanvasEnvironment
  readonly #state: PageState
  readonly #undo: UndoManager
  readonly #ends: (() => void)[] = []
  readonly drawing: PageDrawing
  /** The text typed into the open text field; `null` when nothing was typed. Kept here because the field is removed before its page closes. */
  #typed: string | null = null
  #pastes = 0
  #fitted: View | null = null

  constructor(document: CanvasDocument, pageId: string, environment: CanvasEnvironment) {
    this.pageId = pageId
    this.#document = document
    this.#environment = environment
    this.#state = new PageState(document.ydoc, pageId)
    this.drawing = new PageDrawing(() => this.page, environment.onFrame)
    this.#undo = undoHistoryOf(document, pageId)
    this.presence = new OwnPresence(document.awareness, pageId)
    this.readOnly.value = document.level === 'view' || document.gone !== null
    const awarenessChanged = (change: Readonly<Record<'added' | 'updated' | 'removed', readonly number[]>>) => {
      const others = [...change.added, ...change.updated, ...change.removed].filter((id) => id !== document.awareness.clientID)
      if (others.length > 0) this.#peersChanged()
    }
    const stackChanged = () =>
      (this.history.value = { canUndo: this.#undo.undoStack.length > 0, canRedo: this.#undo.redoStack.length > 0 })
    document.awareness.on('change', awarenessChanged)
    this.#undo.on('stack-item-added', stackChanged)
    this.#undo.on('stack-item-popped', stackChanged)
    this.#ends.push(
      this.#state.on((ids) => this.#pageChanged(ids)),
      document.on('level', (level) => (this.readOnly.value = level === 'view' || document.gone !== null)),
      document.on('gone', () => (this.readOnly.value = true)),
      () => document.awareness.off('change', awarenessChanged),
      () => this.#undo.off('stack-item-added', stackChanged),
      () => this.#undo.off('stack-item-popped', stackChanged),
    )
    stackChanged()
    this.#peersChanged()
  }

  get page(): PageNow {
    return this.#state.now
  }

  /** Begins to draw, into an SVG element that belongs to this editor alone. */
  attach(root: Element, size: Size): void {
    this.size.value = size
    this.drawing.attach(root)
    this.fit()
  }

  destroy(): void {
    this.endEditing()
    for (const end of this.#ends) end()
    this.#state.destroy()
    this.presence.destroy()
    this.drawing.destroy()
  }

  /** Shows the whole page. Shows it again each time the size of the canvas changes, until the person moves or zooms the view. */
  fit(): void {
    this.view.value = this.#fitted = fitted(this.drawing.scene?.bounds() ?? null, this.size.value)
  }

  /** Takes the new size of the canvas. A view that showed the whole page still does so. */
  resize(size: Size): void {
    this.size.value = size
    if (this.view.value === this.#fitted) this.fit()
  }

  zoom(factor: number, at?: Point): void {
    const { width, height } = this.size.value
    this.view.value = zoomed(this.view.value, factor, at ?? { x: width / 2, y: height / 2 })
  }

  select(ids: Iterable<string>, active?: string | null): void {
    this.selection.value = new Set(ids)
    if (active !== undefined) this.active.value = active
    this.presence.show({ selection: [...this.selection.value] })
  }

  /** Makes a shape the active one, on which keys act, and scrolls it into view. */
  activate(id: string): void {
    this.active.value = id
    const bounds = this.drawing.boundsOf(id)
    if (bounds !== null) this.view.value = showing(this.view.value, bounds, this.size.value)
  }

  /** The outermost group of a shape, which moves as a whole; the shape itself when it is in none. */
  outermost(id: string): string {
    const seen = new Set([id])
    for (let inner = id; ; ) {
      const outer = this.#groupOf.value.get(inner)
      if (outer === undefined || seen.has(outer)) return inner
      seen.add(outer)
      inner = outer
    }
  }

  /** Shows dragged shapes at their new places, here and to others. Writes nothing. */
  drag(places: ReadonlyMap<string, Place>): void {
    this.drawing.drag(places)
    this.presence.show({ moving: places.size === 0 || places.size > 50 ? null : Object.fromEntries(places) })
  }

  /** Writes the new places of dragged shapes. Keeps edits of others to these shapes since the drag began. */
  drop(): void {
    const { places } = this.drawing
    if (places.size === 0) return
    this.drawing.drag(NO_PLACES)
    const isWritten = this.#write(placed(this.page, places, this.#router()))
    this.presence.show({ moving: null })
    const [id] = this.selection.value
    const bounds = id === undefined ? null : boundsOfShape(id, this.page)
    if (isWritten && bounds !== null) this.#environment.announce(texts.moved(bounds.left, bounds.top))
  }

  /** Forgets where shapes were dragged to. */
  cancelDrag(): void {
    this.drawing.drag(NO_PLACES)
    this.presence.show({ moving: null })
  }

  add(kind: NewShape['kind'], place: Place): void {
    const id = this.#environment.newId()
    if (!this.#write(added(this.page, { id, kind, place }))) return
    this.select([id], id)
    this.#environment.announce(texts.added(texts.kind(kind)))
    this.editing.value = id
  }

  /** Adds a shape in the middle of the view, or beside the shapes that are there. */
  addInView(kind: NewShape['kind']): void {
    const { width, height } = this.size.value
    const middle = toPage(this.view.value, { x: width / 2, y: height / 2 })
    let [x, y] = [Math.round(middle.x), Math.round(middle.y)]
    for (
      let i = 0;
      i < 20 && this.drawing.scene?.isFree({ left: x - 50, top: y - 40, right: x + 50, bottom: y + 40 }) === false;
      i++
    ) {
      x += 40
      y += 40
    }
    this.add(kind, { x, y })
  }

  connect(from: string, to: string, fromSide?: Side): void {
    const id = this.#environment.newId()
    const changes = connected(this.page, { id, from, to, ...(fromSide && { fromSide }) }, this.#router())
    if (!this.#write(changes)) return
    this.select([id], id)
    this.#environment.announce(texts.connected(nameOf(from, this.page.shapes), nameOf(to, this.page.shapes)))
  }

  label(id: string, text: string): void {
    const { ydoc } = this.#document
    // A text written into the shapes of a deleted page would be on no page.
    if (!this.page.shapes.has(id) || !ydoc.getMap('canvasPages').has(this.pageId)) this.#environment.announce(texts.gone)
    else this.#write(labelled(this.page, id, text))
  }

  /** Stores the text typed so far. `null`: nothing was typed, so nothing is written over an edit of somebody else. */
  type(text: string | null): void {
    this.#typed = text
  }

  /** Closes the text that is edited, and writes what was typed. */
  endEditing(): void {
    const [id, text] = [this.editing.value, this.#typed]
    this.editing.value = this.#typed = null
    if (id !== null && text !== null) this.label(id, text)
  }

  /** Opens the text of a shape, if this person may change it. */
  edit(id: string): void {
    const value = this.page.shapes.get(id)
    if (value !== undefined && isLabelled(value) && !this.readOnly.value) this.editing.value = id
  }

  remove(ids: ReadonlySet<string> = this.#chosen()): void {
    const before = this.order.value
    const changes = deleted(this.page, [...ids], this.#router())
    const at = before.findIndex((id) => ids.has(id))
    if (!this.#write(changes)) return
    const gone = [...changes.values.values()].filter((value) => value === null).length
    const next = before.slice(at).find((id) => this.page.shapes.has(id)) ?? this.order.value.at(-1) ?? null
    this.select([], next)
    this.#environment.announce(texts.deleted(gone))
  }

  restack(layer: Layer): void {
    this.#write(restacked(this.page, new Set([...this.#chosen()].map((id) => this.outermost(id))), layer))
  }

  /** Returns copies of the selected shapes. */
  copy(): readonly JsonObject[] {
    this.#pastes = 0
    return copyOf(this.#chosen(), this.page)
  }

  /** Deletes the selected shapes that may be deleted, after `keep` has returned true for their copies. */
  cut(keep: (copies: readonly JsonObject[]) => boolean): void {
    this.#pastes = 0
    const copies = this.readOnly.value ? [] : cutOf(this.#chosen(), this.page)
    if (copies.length > 0 && keep(copies)) this.remove(new Set(copies.map(({ id }) => String(id))))
  }

  paste(copies: readonly JsonObject[]): void {
    this.#pastes++
    const by = COPY_OFFSET * this.#pastes
    const changes = pasted(this.page, copies, { dx: by, dy: by, newId: this.#environment.newId })
    if (!this.#write(changes)) return
    const ids = [...changes.values.keys()]
    const inner = new Set(ids.flatMap((id) => childrenOf(this.page.shapes.get(id))))
    this.select(
      ids.filter((id) => !inner.has(id)),
      ids[0] ?? null,
    )
    this.#environment.announce(texts.pasted(ids.length))
  }

  duplicate(): void {
    this.paste(this.copy())
  }

  undo(): void {
    this.cancelDrag()
    if (!this.readOnly.value && this.#undo.undo() !== null) this.#environment.announce(texts.undone)
  }

  redo(): void {
    this.cancelDrag()
    if (!this.readOnly.value && this.#undo.redo() !== null) this.#environment.announce(texts.redone)
  }

  describe(id: string): string {
    return describe(id, this.page.shapes)
  }

  announce(text: string): void {
    this.#environment.announce(text)
  }

  /** The shapes that an action changes: the selected ones, else the active one. */
  #chosen(): ReadonlySet<string> {
    const { value: active } = this.active
    if (this.selection.value.size > 0 || active === null) return this.selection.value
    return new Set([active])
  }

  get chosen(): ReadonlySet<string> {
    return this.#chosen()
  }

  #router() {
    return routerWithin({ steps: ROUTE_STEPS })
  }

  /** Returns false when there is nothing to write, or when the person may not write. */
  #write(changes: PageChanges): boolean {
    if (this.readOnly.value || (changes.values.size === 0 && changes.order === undefined)) return false
    this.#state.write(changes)
    return true
  }

  #pageChanged(ids: ReadonlySet<string>): void {
    this.drawing.changed(ids)
    const { shapes } = this.page
    const isHere = (id: string) => shapes.has(id)
    if (![...this.selection.value].every(isHere)) this.select([...this.selection.value].filter(isHere))
    if (this.active.value !== null && !isHere(this.active.value)) this.active.value = null
    if (this.editing.value !== null && !isHere(this.editing.value)) this.endEditing()
    this.version.value++
  }

  #peersChanged(): void {
    const { awareness } = this.#document
    this.peers.value = peersOn(this.pageId, awareness.getStates(), awareness.clientID)
    this.drawing.dragElsewhere(this.peers.value)
  }
}
