import type { DocumentBody, Shape } from '../body.ts'
import { type Edit, type EditEnvironment, type Fix, isRefusal, refused, type Refusal, type Warning } from '../edit.ts'
import { type Json, type JsonObject, memberOf } from '../json.ts'
import { NameHints } from '../nearest.ts'
import { pushAll } from '../prose/marks.ts'
import { quote } from '../quote.ts'
import { hasIcon, withInput } from './apply-input.ts'
import { findCanvasPage } from './find-page.ts'
import { type Bounds, overlaps, unite } from './geometry/bounds.ts'
import { BoxIndex } from './geometry/box-index.ts'
import { labelOverflows } from './label-fit.ts'
import type { Printed } from '../prose/block-names.ts'
import { withPlainEnds } from './named-shapes.ts'
import { boundsOfShape, pageGeometry, shapeValues, type ShapeValues } from './page-geometry.ts'
import type { Router } from './route.ts'
import { settleConnectors } from './settle-connectors.ts'
import { baseDefaults, creatableKind, creatableNames, kindOf, type ShapeKind } from './shape-kinds.ts'
import { readShapeInput, type ShapeInput, type UnknownIcons } from './shape-input.ts'
import { connectorEndFlaw, hasAnchor, mintShapeIds, signed, withShapes, writtenTo } from './write-page.ts'

export interface AddShapes extends Printed {
  readonly pageId: string
  /** DSL objects, 1 to 500. */
  readonly shapes: readonly JsonObject[]
  readonly unknownIcons?: UnknownIcons | undefined
}

export interface AddShape extends Printed {
  readonly pageId: string
  readonly shape: JsonObject
  readonly unknownIcons?: UnknownIcons | undefined
}

/** Adds shapes on top of a page, all or none, in the order given. [TOOL-add_shapes, CANVAS-23] */
export function addShapes(route: Router): Edit<AddShapes, { readonly ids: readonly string[] }> {
  return (body, args, environment) => {
    const added = add(body, args, environment, route, true)
    return isRefusal(added) ? added : { ...added, result: { ids: added.result } }
  }
}

/** Adds one shape. [TOOL-add_shape] */
export function addShape(route: Router): Edit<AddShape, { readonly id: string }> {
  return (body, { shape, ...args }, environment) => {
    const added = add(body, { ...args, shapes: [shape] }, environment, route, false)
    return isRefusal(added) ? added : { ...added, result: { id: added.result[0] as string } }
  }
}

/** Refuses a DSL object whose kind tools do not create; returns `null` for every other DSL object. Needs no document. [CANVAS-1, MCP-3] */
export function addShapeFlaw({ shape }: AddShape): Refusal | null {
  const kind = creatableKindOf(shape)
  return isRefusal(kind) ? kind : null
}

/** Checks each shape of a call as `addShapeFlaw` does. The refusal has the index of the first wrong shape. [MCP-3] */
export function addShapesFlaw({ shapes }: AddShapes): Refusal | null {
  for (const [index, shape] of shapes.entries()) {
    const kind = creatableKindOf(shape)
    if (isRefusal(kind)) return ofShape(kind, index)
  }
  return null
}

/** A checked shape of a call. `value` is the form to store. For a connector, `input` is written into `value` once the ends of the connector are checked. */
interface NewShape {
  readonly id: string
  readonly input: ShapeInput
  readonly value: JsonObject
}

/** @param isMany whether each fix, warning and refusal has the index of its shape in the call */
function add(
  body: DocumentBody,
  { pageId, shapes, naming, unknownIcons = {} }: AddShapes,
  environment: EditEnvironment,
  route: Router,
  isMany: boolean,
) {
  const page = findCanvasPage(body, pageId)
  if (isRefusal(page)) return page
  const present = shapeValues(page)
  const all = new Map(present)
  const fixes: Fix[] = []
  const warnings: Warning[] = []
  const made: NewShape[] = []
  const reading = { taken: all, free: freeIds(body, shapes, environment), icons: unknownIcons, hints: new NameHints() }
  for (const [index, given] of shapes.entries()) {
    const place = isMany ? { shape: index } : {}
    const read = readNewShape(given, reading)
    if (isRefusal(read)) return isMany ? ofShape(read, index) : read
    pushAll(
      fixes,
      read.fixes.map((fix) => ({ ...fix, ...place })),
    )
    warnings.push(...iconWarnings(read.value, unknownIcons).map((warning) => ({ ...warning, ...place })))
    all.set(read.id, read.value)
    made.push(read)
  }
  // A connector may end at a shape that comes later in the call, so the ends of connectors are checked after all shapes are read.
  for (const [index, { id, input, value }] of made.entries()) {
    if (kindOf(value).form !== 'line') continue
    const plain = withPlainEnds({ body, page, shapes: all, naming, seen: environment.seen }, input)
    const attached = isRefusal(plain) ? plain : attachable(plain, value, all)
    if (isRefusal(attached)) return isMany ? ofShape(attached, index) : attached
    fixes.push(...attached.fixes.map((fix) => (isMany ? { ...fix, shape: index } : fix)))
    all.set(id, withInput(value, attached.input))
  }
  const connectors = made.filter(({ value }) => kindOf(value).form === 'line')
  const written = new Map(
    connectors.map(({ id, input }) => [id, { isRouted: input.routingMode === 'orthogonal' && input.waypoints === undefined }]),
  )
  const settled = settleConnectors({ before: pageGeometry(present), after: all, written }, route)
  const ids = made.map(({ id }) => id)
  const added = ids.map((id): Shape => ({ id, value: signed(settled.shapes.get(id) as JsonObject, environment.nowMs) }))
  const shown = coverWarnings(ids, settled.shapes).map(({ at, ...warning }) => (isMany ? { ...warning, shape: at } : warning))
  return writtenTo({
    page,
    body: withShapes(body, page, [...page.shapes, ...added]),
    result: ids,
    fixes,
    warnings: [...warnings, ...settled.warnings, ...shown],
    selection: ids,
  })
}

function ofShape(refusal: Refusal, index: number): Refusal {
  return refused(refusal.code, `shape[${index}]: ${refusal.message}`, { ...refusal.facts, shape: index })
}

const idPattern = /^[A-Za-z0-9_.:-]{1,128}$/

/** Whether a call may give this id to a new shape. */
function isUsableId(wanted: Json | undefined): wanted is string {
  return typeof wanted === 'string' && idPattern.test(wanted)
}

/** Mints one id for each shape of a call that brings no usable id. No minted id equals one that the call brings. [TOOL-12] */
function freeIds(body: DocumentBody, shapes: readonly JsonObject[], environment: EditEnvironment): Iterator<string> {
  const wanted = shapes.map((shape) => memberOf(shape, 'id')).filter(isUsableId)
  const missing = shapes.length - wanted.length
  return (missing === 0 ? [] : mintShapeIds(body, missing, environment, wanted)).values()
}

interface Reading {
  readonly taken: ShapeValues
  readonly free: Iterator<string>
  readonly icons: UnknownIcons
  readonly hints: NameHints
}

function readNewShape(
  given: JsonObject,
  { taken, free, icons, hints }: Reading,
): (NewShape & { readonly fixes: readonly Fix[] }) | Refusal {
  const kind = creatableKindOf(given)
  if (isRefusal(kind)) return kind
  const wanted = memberOf(given, 'id')
  const isUsable = isUsableId(wanted)
  if (isUsable && taken.has(wanted)) return idTaken(wanted)
  const ownFixes: Fix[] =
    wanted === undefined || isUsable
      ? []
      : [{ action: 'dropped_invalid', field: 'id', reason: 'takes 1 to 128 characters of A-Z, a-z, 0-9, _ . : -' }]
  const id = isUsable ? wanted : (free.next().value as string)
  const { input, fixes } = readShapeInput(given, {
    kind,
    ignored: ['id', 'kind', 'type', 'stamp'],
    // An icon member on a kind without icons is invalid; any other member of another kind counts as unknown. [CANVAS-8, CANVAS-14]
    ofOtherKinds: (name) => (name.startsWith('icon') ? 'dropped_invalid' : 'dropped_unknown'),
    icons,
    hints,
  })
  const bare: JsonObject = { id, type: kind.type, x: 0, y: 0, ...baseDefaults, ...kind.defaults }
  // A connector that names no end point ends where it begins. [CANVAS-13]
  const start = { x: input.x ?? 0, y: input.y ?? 0 }
  const placed = kind.form === 'line' ? { ...bare, ...start, x2: input.x2 ?? start.x, y2: input.y2 ?? start.y } : bare
  const { usable, iconFixes } = withoutLooseIcons(input)
  return {
    id,
    input: usable,
    value: kind.form === 'line' ? placed : withInput(placed, usable),
    fixes: [...ownFixes, ...fixes, ...iconFixes],
  }
}

/** Returns the kind that `kind` or `type` names. Refuses a missing kind, a kind that tools do not create, and a `kind` that differs from `type`. [CANVAS-1] */
function creatableKindOf(given: JsonObject): (ShapeKind & { readonly defaults: JsonObject }) | Refusal {
  const [kind, type] = [memberOf(given, 'kind'), memberOf(given, 'type')]
  const got = kind ?? type
  const allowed = creatableNames
  const list = allowed.join(', ')
  if (kind !== undefined && type !== undefined && kind !== type) {
    const both = `${shownKind(kind)} and ${shownKind(type)}`
    return refused('ERR_SHAPE_KIND', `kind and type name different kinds: ${both}; give one of ${list}, once.`, {
      got: both,
      allowed,
    })
  }
  if (got === undefined) return refused('ERR_SHAPE_KIND', `The shape has no kind; it takes ${list}.`, { got: null, allowed })
  const row = typeof got === 'string' ? creatableKind(got) : null
  if (row !== null) return row
  return refused('ERR_SHAPE_KIND', `Tools make no shape of the kind ${shownKind(got)}; kind takes ${list}.`, {
    got: shownKind(got),
    allowed,
  })
}

function shownKind(given: Json): string {
  return typeof given === 'string' ? quote(given) : quote(JSON.stringify(given))
}

function idTaken(id: string): Refusal {
  const message = `The id "${id}" is in use on the page or stands in the call twice; give another one, or leave it out.`
  return refused('ERR_SHAPE_ID_TAKEN', message, { id })
}

/** Drops the display mode and size of an icon, with a fix for each, when the shape has no icon. [ICON-5] */
function withoutLooseIcons(input: ShapeInput): { readonly usable: ShapeInput; readonly iconFixes: readonly Fix[] } {
  const { iconDisplayMode, iconSize, iconId, ...rest } = input
  if (hasIcon({ iconId: iconId ?? '' })) return { usable: input, iconFixes: [] }
  return { usable: rest, iconFixes: looseIconFixes({ iconDisplayMode, iconSize }) }
}

/** Returns one fix for each given member. The members say how to show an icon, and the shape of the call has no icon. [ICON-5] */
export function looseIconFixes(members: { readonly [name: string]: unknown }): readonly Fix[] {
  return Object.entries(members)
    .filter(([, given]) => given !== undefined)
    .map(([field]) => ({ action: 'dropped_invalid', field, reason: 'the shape has no icon' }))
}

/** Warns of an icon id that the relay does not know. The id is stored all the same, since editors may know it. [ICON-4] */
export function iconWarnings(value: JsonObject, icons: UnknownIcons): readonly Warning[] {
  const iconId = memberOf(value, 'iconId')
  if (typeof iconId !== 'string' || !Object.hasOwn(icons, iconId)) return []
  const reason = `this relay does not know the icon ${quote(iconId)}; it was kept, as editors may know it`
  return [{ reason, field: 'iconId', nearest: icons[iconId] ?? [] }]
}

/**
 * Checks the ends that a call gives to a connector. Refuses an end at a missing shape or at a line. Drops an anchor that the shape at its end does not
 * have, with a fix. When an end goes to a shape that does not have the stored anchor, the anchor becomes `center`. [CANVAS-9, CANVAS-10]
 */
export function attachable(
  input: ShapeInput,
  value: JsonObject,
  shapes: ShapeValues,
): { readonly input: ShapeInput; readonly fixes: readonly Fix[] } | Refusal {
  let usable = input
  const fixes: Fix[] = []
  for (const side of ['start', 'end'] as const) {
    const [end, field] = [`${side}ShapeId`, `${side}Anchor`] as const
    const shapeId = input[end] === undefined ? memberOf(value, end) : input[end]
    const flaw = typeof input[end] === 'string' ? connectorEndFlaw(end, input[end], shapes) : null
    if (flaw !== null) return flaw
    const shape = typeof shapeId === 'string' ? shapes.get(shapeId) : undefined
    const stored = memberOf(value, field)
    if (usable[field] !== undefined && !hasAnchor(usable[field], shape)) {
      const { [field]: _, ...others } = usable
      usable = others
      fixes.push({ action: 'dropped_invalid', field, reason: 'only a typed shape has anchors on its rows' })
    }
    const isLost = input[end] !== undefined && typeof stored === 'string' && !hasAnchor(stored, shape)
    if (usable[field] === undefined && isLost) usable = { ...usable, [field]: 'center' }
  }
  return { input: usable, fixes }
}

const mostCoveredShown = 3

interface Placed {
  readonly id: string
  readonly bounds: Bounds
  /** The index of this box among the boxes of the page, back to front. */
  readonly order: number
}

/** Warns of new shapes whose label is too long for them, or that cover shapes behind them. `at` is the index of the shape in `ids`. [TOOL-19] */
export function coverWarnings(ids: readonly string[], shapes: ShapeValues): readonly (Warning & { readonly at: number })[] {
  const placed = placedBoxes(shapes)
  let around: Bounds | null = null
  for (const id of ids) around = unite(around, placed.get(id)?.bounds ?? null)
  // Only boxes near the new shapes are indexed, since a page may have many more shapes than a call adds.
  const near = new BoxIndex([...placed.values()].filter(({ bounds }) => around !== null && overlaps(bounds, around)))
  return ids.flatMap((id, at) => {
    const value = shapes.get(id)
    const own = placed.get(id)
    if (value === undefined || own === undefined) return []
    const covered: Placed[] = []
    // A box that lies wholly on a larger one does not cover it: the larger one is a frame, and `visitCut` passes over it.
    near.visitCut(own.bounds, (box) => {
      if (box.order < own.order) covered.push(box)
      return covered.length <= mostCoveredShown
    })
    const names = covered
      .sort((a, b) => a.order - b.order)
      .slice(0, mostCoveredShown)
      .map((box) => quote(box.id))
    const more = covered.length > mostCoveredShown ? ' and others' : ''
    return [
      ...(labelOverflows(value) ? [{ at, field: 'text', reason: `the text is longer than ${quote(id)} has room for` }] : []),
      ...(names.length === 0 ? [] : [{ at, reason: `${quote(id)} covers ${names.join(', ')}${more}` }]),
    ]
  })
}

function placedBoxes(shapes: ShapeValues): ReadonlyMap<string, Placed> {
  const geometry = pageGeometry(shapes)
  const placed = new Map<string, Placed>()
  for (const [id, value] of shapes) {
    const bounds = kindOf(value).form === 'box' ? boundsOfShape(id, geometry) : null
    if (bounds !== null) placed.set(id, { id, bounds, order: placed.size })
  }
  return placed
}
