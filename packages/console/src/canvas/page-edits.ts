import { equalJson, type JsonObject, memberOf, setMember } from '@docrelay/model/json'
import { groupMembers, stackShapes } from '@docrelay/model/body-order'
import { withInput } from '@docrelay/model/canvas/apply-input'
import { withoutShapes } from '@docrelay/model/canvas/without-shapes'
import { facingSides, type Side, sideTowards } from '@docrelay/model/canvas/geometry/anchors'
import type { Point } from '@docrelay/model/canvas/geometry/bounds'
import type { PageGeometry, ShapeValues } from '@docrelay/model/canvas/page-geometry'
import type { Router } from '@docrelay/model/canvas/route'
import { settleConnectors } from '@docrelay/model/canvas/settle-connectors'
import { baseDefaults, creatableKind, kindOf } from '@docrelay/model/canvas/shape-kinds'
import { shifted } from '@docrelay/model/canvas/shift-shape'
import { centreOf, childrenOf, finite, labelOf } from '@docrelay/model/canvas/stored-shape'

/** The shapes of a page as they are now. */
export interface PageNow extends PageGeometry {
  /** The ids of all shapes, bottom first; members of a group follow the group. */
  readonly order: readonly string[]
}

/** The changes of one edit. Everything else stays, including edits that others make at the same time. */
export interface PageChanges {
  /** New values by id; `null`: deleted. */
  readonly values: ReadonlyMap<string, JsonObject | null>
  /** The shapes that are in no group, bottom first; absent: as they were. */
  readonly order?: readonly string[]
}

/** The new place of a shape: the centre of a box, or the start of a line. `w` and `h` are given only when they change too. */
export interface Place extends Point {
  readonly w?: number
  readonly h?: number
}

const nothing: PageChanges = { values: new Map() }

/** Whether a person may move a shape: editors can lock it, or only its place. [CANVAS-15] */
export function isMovable(value: JsonObject): boolean {
  return memberOf(value, 'locked') !== true && memberOf(value, 'lockedPosition') !== true
}

/** Whether the size of a shape may be changed here: that of a box whose kind is known. [CANVAS-15] */
export function isResizable(value: JsonObject): boolean {
  const { type, size } = kindOf(value)
  return size !== null && type !== 'unknown' && memberOf(value, 'locked') !== true && memberOf(value, 'lockedSize') !== true
}

/** Whether the text of a shape may be changed here. [CANVAS-15] */
export function isLabelled(value: JsonObject): boolean {
  return kindOf(value).type !== 'unknown' && memberOf(value, 'locked') !== true
}

/** Whether a connector may end at a shape. [CANVAS-9] */
export function isConnectable(value: JsonObject): boolean {
  return kindOf(value).form !== 'line'
}

/**
 * Returns the places, by id, of the shapes that move when a person moves `ids`. The members of a group move with it. A locked shape stays, and so does a
 * connector with both ends attached to shapes that stay.
 */
export function placesOf(ids: Iterable<string>, { shapes, boxes }: PageGeometry): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  const open = [...ids]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const value = shapes.get(id)
    if (value === undefined || places.has(id) || !isMovable(value)) continue
    places.set(id, centreOf(value))
    open.push(...childrenOf(value))
  }
  const stays = (end: unknown) => typeof end === 'string' && boxes.has(end) && !places.has(end)
  for (const id of places.keys()) {
    const value = shapes.get(id) as JsonObject
    if (kindOf(value).form !== 'line') continue
    if (stays(memberOf(value, 'startShapeId')) && stays(memberOf(value, 'endShapeId'))) places.delete(id)
  }
  return places
}

/** The places moved by (`dx`, `dy`). */
export function movedPlaces(places: ReadonlyMap<string, Place>, dx: number, dy: number): ReadonlyMap<string, Place> {
  return new Map([...places].map(([id, place]) => [id, { ...place, x: finite(place.x + dx), y: finite(place.y + dy) }]))
}

/** Moves and resizes shapes. Only their place and size change, and connectors follow as in edits of tools. [CANVAS-14, CANVAS-21] */
export function placed(page: PageGeometry, places: ReadonlyMap<string, Place>, route: Router): PageChanges {
  const after = new Map(page.shapes)
  const written = new Map<string, { readonly isRouted: boolean }>()
  for (const [id, { x, y, ...size }] of places) {
    const value = page.shapes.get(id)
    if (value === undefined) continue
    const from = centreOf(value)
    const moved = x === from.x && y === from.y ? value : shifted(value, x - from.x, y - from.y)
    after.set(id, withInput(moved, size))
    if (kindOf(value).form === 'line') written.set(id, { isRouted: memberOf(value, 'routingMode') === 'orthogonal' })
  }
  return settled(page, after, written, route)
}

/** Sets the text of a shape. An equal text changes nothing. [CANVAS-19] */
export function labelled({ shapes }: PageGeometry, id: string, text: string): PageChanges {
  const value = shapes.get(id)
  if (value === undefined || !isLabelled(value) || (labelOf(value) ?? '') === text) return nothing
  return { values: new Map([[id, withInput(value, { text })]]) }
}

export interface NewShape {
  readonly id: string
  readonly kind: 'rectangle' | 'ellipse' | 'text'
  readonly place: Place
  readonly text?: string
}

/** Adds a shape on top of the others. [CANVAS-15, CANVAS-23] */
export function added({ shapes, order }: PageNow, { id, kind, place, text = '' }: NewShape): PageChanges {
  const row = creatableKind(kind)
  if (row === null || shapes.has(id)) return nothing
  const bare: JsonObject = { id, type: kind, x: 0, y: 0, ...baseDefaults, ...row.defaults }
  return withTop(shapes, order, new Map([[id, withInput(bare, { ...place, text })]]))
}

export interface NewConnector {
  readonly id: string
  readonly from: string
  readonly to: string
  /** The side of the shape, named as if the shape was not turned. Absent: the side that faces the other shape. */
  readonly fromSide?: Side
}

/** Connects two shapes, or one with itself, as the tool `connect` does. [CANVAS-22] */
export function connected(page: PageNow, { id, from, to, fromSide }: NewConnector, route: Router): PageChanges {
  const [start, end] = [page.shapes.get(from), page.shapes.get(to)]
  const row = creatableKind('connector')
  if (row === null || start === undefined || end === undefined || page.shapes.has(id)) return nothing
  if (!isConnectable(start) || !isConnectable(end)) return nothing
  const centre = (end: string, value: JsonObject) => page.boxes.get(end)?.centre ?? centreOf(value)
  const facing = from === to ? ({ start: 'right', end: 'bottom' } as const) : facingSides(centre(from, start), centre(to, end))
  const sideOf = (end: string, side: Side): Side => {
    const box = page.boxes.get(end)
    return box === undefined ? side : sideTowards(box, side)
  }
  const bare: JsonObject = { id, type: 'connector', x: 0, y: 0, x2: 0, y2: 0, ...baseDefaults, ...row.defaults }
  const value = withInput(bare, {
    startShapeId: from,
    endShapeId: to,
    startAnchor: fromSide ?? sideOf(from, facing.start),
    endAnchor: sideOf(to, facing.end),
    routingMode: 'orthogonal',
  })
  const after = new Map(page.shapes).set(id, value)
  const { values } = settled(page, after, new Map([[id, { isRouted: true }]]), route)
  return withTop(page.shapes, page.order, values as ShapeValues)
}

/**
 * Deletes shapes with the connectors that end at them and the groups that they leave empty. Connectors at a group that stays follow its new
 * bounds. [CANVAS-21, CANVAS-24]
 */
export function deleted(page: PageNow, ids: readonly string[], route: Router): PageChanges {
  const { shapes, order } = page
  const known = ids.filter((id) => isDeletable(shapes.get(id)))
  if (known.length === 0) return nothing
  const { gone, kept } = withoutShapes(known, shapes)
  const left = new Map([...shapes, ...kept].filter(([id]) => !gone.has(id)))
  const values = new Map(settled(page, left, new Map(), route).values)
  for (const id of gone) values.set(id, null)
  return { values, order: outside(after(shapes, values), order) }
}

function isDeletable(value: JsonObject | undefined): boolean {
  return value !== undefined && memberOf(value, 'locked') !== true
}

export type Layer = 'front' | 'forward' | 'backward' | 'back'

/** Puts shapes above or below others; members of a group stay with it. [CANVAS-17] */
export function restacked({ shapes, order }: PageNow, ids: ReadonlySet<string>, layer: Layer): PageChanges {
  const all = outside(shapes, order)
  const chosen = (id: string) => ids.has(id)
  const rest = all.filter((id) => !chosen(id))
  const moving = all.filter(chosen)
  const wanted =
    layer === 'front'
      ? [...rest, ...moving]
      : layer === 'back'
        ? [...moving, ...rest]
        : layer === 'forward'
          ? steppedUp(all.toReversed(), chosen).toReversed()
          : steppedUp(all, chosen)
  return wanted.every((id, i) => id === all[i]) ? nothing : { values: new Map(), order: wanted }
}

/** Moves each chosen id one place towards the start of the list. Chosen ids that stand side by side move together. */
function steppedUp(list: readonly string[], chosen: (id: string) => boolean): string[] {
  const result = [...list]
  for (let i = 1; i < result.length; i++) {
    const [before, id] = [result[i - 1] as string, result[i] as string]
    if (chosen(id) && !chosen(before)) [result[i - 1], result[i]] = [id, before]
  }
  return result
}

/** Copies shapes, with the members of groups. Leaves out a shape, with its members, when `isTaken` returns false for it. */
export function copyOf(
  ids: Iterable<string>,
  { shapes, order }: PageNow,
  isTaken: (value: JsonObject) => boolean = () => true,
): readonly JsonObject[] {
  const taken = new Set<string>()
  const open = [...ids]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const value = shapes.get(id)
    if (value === undefined || taken.has(id) || !isTaken(value)) continue
    taken.add(id)
    open.push(...childrenOf(value))
  }
  return order.flatMap((id) => (taken.has(id) ? [{ ...(shapes.get(id) as JsonObject), id }] : []))
}

/** Copies the shapes that a cut takes from the page. A locked shape stays there, with all its members. [CON-35] */
export function cutOf(ids: Iterable<string>, page: PageNow): readonly JsonObject[] {
  return copyOf(ids, page, isDeletable)
}

/** Adds copies, moved by (`dx`, `dy`). Connectors between copied shapes connect the copies; other ends become free. */
export function pasted(
  { shapes, order }: PageNow,
  copies: readonly JsonObject[],
  options: { readonly dx: number; readonly dy: number; readonly newId: () => string },
): PageChanges {
  const ids = new Map(copies.map((copy) => [memberOf(copy, 'id'), options.newId()]))
  const values = new Map<string, JsonObject>()
  for (const copy of copies) {
    const id = ids.get(memberOf(copy, 'id')) as string
    let value = setMember(shifted(copy, options.dx, options.dy), 'id', id)
    for (const end of ['startShapeId', 'endShapeId']) {
      if (memberOf(value, end) !== undefined) value = setMember(value, end, ids.get(memberOf(value, end)) ?? null)
    }
    const children = childrenOf(value)
    if (children.length > 0)
      value = setMember(
        value,
        'childIds',
        children.flatMap((child) => ids.get(child) ?? []),
      )
    values.set(id, value)
  }
  return values.size === 0 ? nothing : withTop(shapes, order, values)
}

/** The shapes that are in no group, in their order. */
export function outside(shapes: ShapeValues, order: readonly string[]): readonly string[] {
  const members = groupMembers(shapes)
  return order.filter((id) => shapes.has(id) && !members.has(id))
}

function after(shapes: ShapeValues, values: PageChanges['values']): ShapeValues {
  const now = new Map(shapes)
  for (const [id, value] of values) {
    if (value === null) now.delete(id)
    else now.set(id, value)
  }
  return now
}

function withTop(shapes: ShapeValues, order: readonly string[], values: ShapeValues): PageChanges {
  const now = after(shapes, values)
  const fresh = [...values.keys()].filter((id) => !shapes.has(id))
  return { values, order: outside(now, stackShapes([...outside(shapes, order), ...fresh], now)) }
}

function settled(
  before: PageGeometry,
  after: ShapeValues,
  written: ReadonlyMap<string, { readonly isRouted: boolean }>,
  route: Router,
): PageChanges {
  const { shapes } = settleConnectors({ before, after, written }, route)
  const changed = [...shapes].filter(([id, value]) => value !== before.shapes.get(id) && !equalJson(value, before.shapes.get(id)))
  return { values: new Map(changed) }
}
