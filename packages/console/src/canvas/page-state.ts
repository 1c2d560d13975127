import { isJsonObject, type Json, type JsonObject, memberOf } from '@docrelay/model/json'
import { stackShapes } from '@docrelay/model/body-order'
import type { ShapeBox } from '@docrelay/model/canvas/geometry/shape-box'
import { pageGeometry } from '@docrelay/model/canvas/page-geometry'
import { kindOf } from '@docrelay/model/canvas/shape-kinds'
import { longestRising } from '@docrelay/model/longest-rising'
import * as Y from 'yjs'
import type { PageChanges, PageNow } from './page-edits.ts'

/** The shapes of one page in a Y.Doc, read again only where something changed. [YDOC-2, YDOC-4] */
export class PageState {
  readonly #ydoc: Y.Doc
  readonly #map: Y.Map<unknown>
  readonly #array: Y.Array<unknown>
  readonly #listeners = new Set<(ids: ReadonlySet<string>) => void>()
  readonly #shapes = new Map<string, JsonObject>()
  #now: PageNow

  constructor(ydoc: Y.Doc, pageId: string) {
    this.#ydoc = ydoc
    this.#map = ydoc.getMap(`shapes:${pageId}`)
    this.#array = ydoc.getArray(`shapeOrder:${pageId}`)
    for (const [id, stored] of this.#map) this.#read(id, stored)
    this.#now = this.#look()
    this.#map.observeDeep(this.#shapesChanged)
    this.#array.observe(this.#orderChanged)
  }

  get now(): PageNow {
    return this.#now
  }

  /**
   * Adds a listener, which gets the ids of the shapes to draw again: shapes that changed or are gone, and connectors at a shape whose place or size
   * changed. The returned function removes the listener.
   */
  on(listener: (ids: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Writes the changes as one transaction of this person, which is one step of undo. */
  write({ values, order }: PageChanges): void {
    this.#ydoc.transact(() => {
      for (const [id, value] of values) {
        if (value === null) this.#map.delete(id)
        else this.#map.set(id, value)
      }
      if (order !== undefined) writeOrder(this.#array, order)
    })
  }

  destroy(): void {
    this.#map.unobserveDeep(this.#shapesChanged)
    this.#array.unobserve(this.#orderChanged)
    this.#listeners.clear()
  }

  readonly #shapesChanged = (events: readonly Y.YEvent<Y.Map<unknown>>[]): void => {
    const keysChanged = new Set(events.flatMap(changedKeys))
    const before = this.#now
    const came = [...keysChanged].some((id) => this.#shapes.has(id) !== this.#map.has(id))
    const isGroup = (id: string) => kindOf(this.#shapes.get(id) ?? {}).form === 'group'
    const wasRegrouped = [...keysChanged].some(isGroup)
    for (const id of keysChanged) this.#read(id, this.#map.get(id))
    const isRestacked = came || wasRegrouped || [...keysChanged].some(isGroup)
    this.#now = isRestacked ? this.#look() : { ...pageGeometry(this.#shapes), order: before.order }
    const ids = new Set(keysChanged)
    const moved = new Set<string>()
    for (const id of [...keysChanged, ...this.#now.groups.keys(), ...before.groups.keys()])
      if (!isSameBox(before.boxes.get(id), this.#now.boxes.get(id))) moved.add(id)
    if (moved.size > 0)
      for (const [id, value] of this.#shapes)
        if (['startShapeId', 'endShapeId'].some((end) => moved.has(memberOf(value, end) as string))) ids.add(id)
    this.#tell(ids)
  }

  readonly #orderChanged = (): void => {
    this.#now = { ...this.#now, order: stackShapes(this.#array.toArray(), this.#shapes) }
    this.#tell(new Set())
  }

  #read(id: string, stored: unknown): void {
    const value = stored instanceof Y.AbstractType ? (stored.toJSON() as unknown) : stored
    if (isJsonObject(value as Json)) this.#shapes.set(id, value as JsonObject)
    else this.#shapes.delete(id)
  }

  #look(): PageNow {
    return { ...pageGeometry(this.#shapes), order: stackShapes(this.#array.toArray(), this.#shapes) }
  }

  #tell(ids: ReadonlySet<string>): void {
    for (const listener of this.#listeners) listener(ids)
  }
}

/** The keys of the shapes that an event is about. Below the map, inside a shape that is stored as a Y.Map, the path begins with the key. [YDOC-2] */
function changedKeys(event: Y.YEvent<Y.Map<unknown>>): string[] {
  const [key] = event.path
  return key === undefined ? [...(event as Y.YMapEvent<unknown>).keysChanged] : [String(key)]
}

/** Changes an order to `wanted`. Moves as few ids as possible, so that others who move ids at once lose nothing. Removes repeated ids. [YDOC-3, YDOC-4] */
export function writeOrder(array: Y.Array<unknown>, wanted: readonly string[]): void {
  const listed = array.toArray()
  const place = new Map<unknown, number>()
  for (const [index, id] of listed.entries()) if (!place.has(id)) place.set(id, index)
  const common = wanted.flatMap((id, written) => (place.has(id) ? [{ written, stored: place.get(id) as number }] : []))
  const steady = new Set(longestRising(common, ({ stored }) => stored).map(({ stored }) => stored))
  for (let index = listed.length - 1; index >= 0; index--) if (!steady.has(index)) array.delete(index)
  const kept = new Set([...steady].map((index) => listed[index]))
  for (const [index, id] of wanted.entries()) if (!kept.has(id)) array.insert(index, [id])
}

function isSameBox(a: ShapeBox | undefined, b: ShapeBox | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return (
    a.centre.x === b.centre.x &&
    a.centre.y === b.centre.y &&
    a.width === b.width &&
    a.height === b.height &&
    a.rotation === b.rotation &&
    a.outline === b.outline
  )
}
