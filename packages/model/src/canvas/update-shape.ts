import { type Edit, type Fix, isRefusal, refused, type Refusal, type Warning } from '../edit.ts'
import { equalJson, isJsonObject, type JsonObject, memberOf, omitMembers } from '../json.ts'
import { NameHints } from '../nearest.ts'
import { quote } from '../quote.ts'
import { attachable, iconWarnings, looseIconFixes } from './add-shapes.ts'
import { hasIcon, withInput } from './apply-input.ts'
import { findCanvasPage } from './find-page.ts'
import { labelOverflows } from './label-fit.ts'
import { courseOf, pageGeometry, type PageGeometry, type ShapeValues, shapeValues } from './page-geometry.ts'
import type { Printed } from '../prose/block-names.ts'
import { findShape, type NamedShapes, withPlainEnds } from './named-shapes.ts'
import { readBack } from './read-back.ts'
import type { Router } from './route.ts'
import { descendantsOf, isRoutedByItself, settleConnectors } from './settle-connectors.ts'
import { shifted, shiftedLine } from './shift-shape.ts'
import { dslNames, kindOf, type ShapeKind, styleNames } from './shape-kinds.ts'
import { readShapeInput, type ShapeInput, type UnknownIcons } from './shape-input.ts'
import { finite, stringOf } from './stored-shape.ts'
import { withShapes, withValues, writtenTo } from './write-page.ts'

export interface UpdateShape extends Printed {
  readonly pageId: string
  readonly id: string
  readonly patch: JsonObject
  readonly unknownIcons?: UnknownIcons | undefined
}

export interface UpdatedShape {
  readonly id: string
  /** DSL paths such as `x` and `style.fill` whose stored value changed. [CANVAS-19] */
  readonly changedPaths: readonly string[]
  /** Other connectors that were routed again, since a shape at one of their ends or their group moved. [CANVAS-21] */
  readonly rerouted?: readonly string[]
}

/** Changes one shape and, when it is a group, moves its members. Connectors at moved shapes follow. [TOOL-update_shape, CANVAS-18 to CANVAS-21] */
export function updateShape(route: Router): Edit<UpdateShape, UpdatedShape> {
  return (body, { pageId, patch, naming, unknownIcons = {}, ...args }, environment) => {
    const page = findCanvasPage(body, pageId)
    if (isRefusal(page)) return page
    const before = pageGeometry(shapeValues(page))
    const on: NamedShapes = { body, page, shapes: before.shapes, naming, seen: environment.seen }
    const shape = findShape(on, args.id)
    if (isRefusal(shape)) return shape
    const { id } = shape
    const patched = patchShape({ id, value: shape.value, patch, before, on, icons: unknownIcons })
    if (isRefusal(patched)) return patched
    const { input, fixes, values } = patched
    const after = new Map(before.shapes)
    for (const [other, value] of values) after.set(other, value)
    const isRedirected = wayMembers.some(
      (name) => !equalJson(memberOf(shape.value, name), memberOf(after.get(id) as JsonObject, name)),
    )
    const isRouted = isRoutedByItself(after.get(id) as JsonObject) && input.waypoints === undefined
    const written = new Map(kindOf(shape.value).form === 'line' && isRedirected ? [[id, { isRouted }]] : [])
    const settled = settleConnectors({ before, after, written, carried: carriedLines(id, values, before) }, route)
    const changedPaths = pathsBetween(id, before, settled.shapes)
    const { rerouted } = settled
    const isSame = [...settled.shapes].every(([other, value]) => value === before.shapes.get(other))
    const now = settled.shapes.get(id) as JsonObject
    return writtenTo({
      page,
      body: withShapes(body, page, isSame ? page.shapes : withValues(page.shapes, settled.shapes, environment.nowMs)),
      result: { id, changedPaths, ...(rerouted.length === 0 ? {} : { rerouted }) },
      fixes,
      warnings: [...warningsOf(id, now, input, unknownIcons, isSame), ...settled.warnings],
      selection: [id],
    })
  }
}

/** Returns the connectors and lines in a group that moved with it. */
function carriedLines(id: string, values: ShapeValues, { shapes }: PageGeometry): ReadonlySet<string> {
  return new Set(
    [...values].flatMap(([other, value]) =>
      other !== id && kindOf(value).form === 'line' && value !== shapes.get(other) ? [other] : [],
    ),
  )
}

interface Patching {
  readonly id: string
  readonly value: JsonObject
  readonly patch: JsonObject
  readonly before: PageGeometry
  readonly on: NamedShapes
  readonly icons: UnknownIcons
}

interface Patched {
  readonly input: ShapeInput
  readonly fixes: readonly Fix[]
  /** The shapes that the patch itself changes: its shape, and the members of a group that moves. */
  readonly values: ShapeValues
}

function patchShape({ id, value, patch, before, on, icons }: Patching): Patched | Refusal {
  const kind = kindOf(value)
  const read = readShapeInput(patch, {
    kind,
    ignored: ['stamp'],
    ofOtherKinds: () => 'dropped_invalid',
    icons,
    hints: new NameHints(),
  })
  const plain = withPlainEnds(on, read.input)
  if (isRefusal(plain)) return plain
  const ends = withoutAttachedPoints(value, plain, before)
  const icon = withoutLooseIcons(value, ends.input)
  const attached = kind.form === 'line' ? attachable(icon.input, value, before.shapes) : { input: icon.input, fixes: [] }
  if (isRefusal(attached)) return attached
  const [input, fixes] = [attached.input, [...read.fixes, ...ends.fixes, ...icon.fixes, ...attached.fixes]]
  if (!isUsable(input)) return emptyPatch(kind, fixes)
  if (kind.form === 'group') return { input, fixes, values: movedGroup(id, value, input, before) }
  return { input, fixes, values: new Map([[id, withoutOldWay(value, withInput(value, input), input)]]) }
}

function isUsable({ style, ...input }: ShapeInput): boolean {
  return Object.keys(input).length > 0 || (style !== undefined && Object.keys(style).length > 0)
}

const maxFixes = 50

function emptyPatch({ type, settable }: ShapeKind, fixes: readonly Fix[]): Refusal {
  const told =
    fixes.length === 0
      ? ''
      : ` Left out: ${fixes
          .slice(0, 5)
          .map(({ field, reason }) => `${field} (${reason})`)
          .join('; ')}.`
  const message = `The patch has nothing that can be changed; a shape of the type ${type} takes ${settable.join(', ')}.${told}`
  return refused('ERR_EMPTY_PATCH', message, fixes.length === 0 ? {} : { fixes: fixes.slice(0, maxFixes) })
}

/** Drops coordinates that a patch gives for an attached end, with a fix, since such an end lies at its anchor. [CANVAS-14] */
function withoutAttachedPoints(value: JsonObject, input: ShapeInput, { boxes }: PageGeometry) {
  if (kindOf(value).form !== 'line') return { input, fixes: [] }
  const fixes: Fix[] = []
  const { x, y, x2, y2, ...rest } = input
  const points = { start: { x, y }, end: { x2, y2 } }
  const kept = (['start', 'end'] as const).map((side) => {
    const member = `${side}ShapeId` as const
    const shapeId = input[member] === undefined ? stringOf(value, member) : input[member]
    if (typeof shapeId !== 'string' || !boxes.has(shapeId)) return points[side]
    for (const [field, given] of Object.entries(points[side]))
      if (given !== undefined)
        fixes.push({
          action: 'dropped_invalid',
          field,
          reason: `the ${side} is attached to ${quote(shapeId)} and follows it; ${member} null makes it free`,
        })
    return {}
  })
  const free = Object.fromEntries(kept.flatMap((side) => Object.entries(side)).filter(([, given]) => given !== undefined))
  return { input: { ...rest, ...free }, fixes }
}

/** Drops the display mode and size of an icon, with a fix for each, when the patched shape has no icon. [ICON-5] */
function withoutLooseIcons(value: JsonObject, input: ShapeInput): { readonly input: ShapeInput; readonly fixes: readonly Fix[] } {
  const { iconDisplayMode, iconSize, ...rest } = input
  const isThere = input.iconId === undefined ? hasIcon(value) : input.iconId !== ''
  return isThere ? { input, fixes: [] } : { input: rest, fixes: looseIconFixes({ iconDisplayMode, iconSize }) }
}

/** Removes the waypoints of an orthogonal connector when a patch changes its routing mode, unless the patch gives waypoints. */
function withoutOldWay(before: JsonObject, after: JsonObject, input: ShapeInput): JsonObject {
  const isOther = memberOf(before, 'routingMode') !== memberOf(after, 'routingMode')
  return isOther && memberOf(before, 'routingMode') === 'orthogonal' && input.waypoints === undefined
    ? omitMembers(after, 'waypoints')
    : after
}

/** The members that decide the way of a connector. */
const wayMembers = ['x', 'y', 'x2', 'y2', 'startShapeId', 'endShapeId', 'startAnchor', 'endAnchor', 'routingMode'] as const

/** Moves a group and its members at any depth, by the distance between its present centre and the centre that the patch gives. [CANVAS-20] */
function movedGroup(id: string, value: JsonObject, input: ShapeInput, before: PageGeometry): ShapeValues {
  const named = withInput(value, input.text === undefined ? {} : { text: input.text })
  const bounds = before.groups.get(id) ?? null
  if (bounds === null) return new Map([[id, withInput(named, input)]])
  const [dx, dy] = [
    finite((input.x ?? bounds.left / 2 + bounds.right / 2) - (bounds.left / 2 + bounds.right / 2)),
    finite((input.y ?? bounds.top / 2 + bounds.bottom / 2) - (bounds.top / 2 + bounds.bottom / 2)),
  ]
  if (dx === 0 && dy === 0) return new Map([[id, named]])
  const moving = new Set([id, ...descendantsOf(id, before.shapes)])
  const values = new Map([[id, shifted(named, dx, dy)]])
  for (const member of moving)
    if (member !== id) values.set(member, carried(before.shapes.get(member) as JsonObject, dx, dy, moving, before))
  return values
}

/** Moves a member with its group. A connector between two shapes outside the group stays where it is. [CANVAS-14] */
function carried(value: JsonObject, dx: number, dy: number, moving: ReadonlySet<string>, { boxes }: PageGeometry): JsonObject {
  if (kindOf(value).form !== 'line') return shifted(value, dx, dy)
  const { start, end } = courseOf(value)
  const isHeld = ({ shapeId }: typeof start) => shapeId !== null && boxes.has(shapeId)
  const stays = (side: typeof start) => isHeld(side) && !moving.has(side.shapeId ?? '')
  return stays(start) && stays(end) ? value : shiftedLine(value, dx, dy, { start: isHeld(start), end: isHeld(end) })
}

/** The DSL paths of a shape that read differently after a write. [CANVAS-19] */
function pathsBetween(id: string, before: PageGeometry, after: ShapeValues): readonly string[] {
  const old = readBack({ id, value: before.shapes.get(id) as JsonObject }, before)
  const now = readBack({ id, value: after.get(id) as JsonObject }, pageGeometry(after))
  const styleOf = (shown: JsonObject) => (isJsonObject(shown['style']) ? shown['style'] : {})
  return dslNames.flatMap((name) => {
    if (name !== 'style') return equalJson(old[name], now[name]) ? [] : [name]
    return styleNames.filter((part) => !equalJson(styleOf(old)[part], styleOf(now)[part])).map((part) => `style.${part}`)
  })
}

function warningsOf(id: string, value: JsonObject, input: ShapeInput, icons: UnknownIcons, isSame: boolean): readonly Warning[] {
  const isLabelled = input.text !== undefined || input.w !== undefined || input.h !== undefined
  return [
    ...(input.iconId === undefined ? [] : iconWarnings(value, icons)),
    ...(isLabelled && labelOverflows(value)
      ? [{ field: 'text', reason: `the text is longer than ${quote(id)} has room for` }]
      : []),
    ...(isSame ? [{ reason: 'the shape already is as the patch says; nothing was changed' }] : []),
  ]
}
