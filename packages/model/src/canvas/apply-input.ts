import { equalJson, type Json, type JsonObject, memberOf, omitMembers } from '../json.ts'
import { kindOf, type ShapeKind, styleNames } from './shape-kinds.ts'
import type { ShapeInput } from './shape-input.ts'
import { arrowOf, centreOf, endOf, labelOf, labelPlace, sizeOf, stringOf } from './stored-shape.ts'

/**
 * Writes the DSL members of a call into a stored shape. Returns `value` itself when nothing changes. This is the only function that writes DSL members,
 * both of new shapes and of patches. [CANVAS-15, CANVAS-19]
 */
export function withInput(value: JsonObject, input: ShapeInput): JsonObject {
  const kind = kindOf(value)
  let written = value
  // All changes go into one copy. Plain assignment is safe, since no name here is a member of a prototype, such as `__proto__`.
  let copy: Record<string, Json> | null = null
  const set = (name: string, member: Json) => {
    if (equalJson(memberOf(written, name), member)) return
    if (copy === null || written !== copy) copy = { ...written }
    copy[name] = member
    written = copy
  }
  const start = centreOf(value)
  if (input.x !== undefined && input.x !== start.x) set('x', input.x)
  if (input.y !== undefined && input.y !== start.y) set('y', input.y)
  if (kind.form === 'line') {
    // The end is read after the start is set, since a line without a stored end point ends at its start.
    const end = endOf(written)
    if (input.x2 !== undefined && input.x2 !== end.x) set('x2', input.x2)
    if (input.y2 !== undefined && input.y2 !== end.y) set('y2', input.y2)
  }
  for (const [name, member] of sizeMembers(value, kind, input)) set(name, member)
  if (input.text !== undefined && input.text !== labelOf(written)) set(labelPlace(written), input.text)
  for (const [name, member] of styleMembers(kind, input)) set(name, member)
  if (input.iconId === '') written = omitMembers(written, ...iconMembers)
  else for (const name of iconMembers) if (input[name] !== undefined) set(name, input[name])
  for (const name of ['startShapeId', 'endShapeId', 'startAnchor', 'endAnchor', 'routingMode', 'labelPosition'] as const) {
    const given = input[name]
    if (given !== undefined) set(name, given)
  }
  if (input.waypoints !== undefined)
    set(
      'waypoints',
      input.waypoints.map(({ x, y }) => ({ x, y })),
    )
  for (const side of ['start', 'end'] as const) {
    const style = input[`${side}ArrowStyle`]
    if (style === undefined || style === arrowOf(written, side)) continue
    set(`${side}ArrowStyle`, style)
    // Older editors read only this boolean.
    set(`${side}Arrow`, style !== 'none')
  }
  return written
}

export const iconMembers = ['iconId', 'iconDisplayMode', 'iconSize'] as const

export function hasIcon(value: JsonObject): boolean {
  return (stringOf(value, 'iconId') ?? '') !== ''
}

/** The stored members for a given size that differs from the present one: an ellipse stores half of `w` in `radiusX`. */
function sizeMembers(value: JsonObject, { size }: ShapeKind, { w, h }: ShapeInput): readonly (readonly [string, number])[] {
  const present = sizeOf(value)
  if (size === null || present === null) return []
  const factor = size.areHalves ? 0.5 : 1
  return [
    ...(w === undefined || w === present.width ? [] : [[size.width, w * factor] as const]),
    ...(h === undefined || h === present.height ? [] : [[size.height, h * factor] as const]),
  ]
}

/** The stored members for a given style: a text stores `labelColor` in `fill`. */
function styleMembers({ style: places }: ShapeKind, { style = {} }: ShapeInput): readonly (readonly [string, Json])[] {
  return styleNames.flatMap((name) => {
    const [place, given] = [places[name], style[name]]
    return place === undefined || given === undefined ? [] : [[place, given] as const]
  })
}
