import type { Fix } from '../edit.ts'
import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts'
import type { NameHints } from '../nearest.ts'
import { cleanText } from '../prose/values.ts'
import { quote } from '../quote.ts'
import { commonAnchors, isAnchor } from './geometry/anchors.ts'
import type { Point } from './geometry/bounds.ts'
import { readShapeColour } from './shape-colours.ts'
import {
  type ArrowStyle,
  arrowStyles,
  type DslName,
  dslNames,
  type ShapeKind,
  type StyleName,
  styleNames,
} from './shape-kinds.ts'
import { bareHash } from './stored-shape.ts'

/** The members that a call gives for a shape, each one checked and within its limits. [CANVAS-4 to CANVAS-13] */
export interface ShapeInput {
  readonly x?: number
  readonly y?: number
  readonly w?: number
  readonly h?: number
  readonly text?: string
  readonly style?: StyleInput
  /** The id of the icon; `''` removes the icon. */
  readonly iconId?: string
  readonly iconDisplayMode?: string
  readonly iconSize?: number
  readonly x2?: number
  readonly y2?: number
  /** The id of the shape at the start of a connector; `null` makes the start a free end. */
  readonly startShapeId?: string | null
  readonly endShapeId?: string | null
  readonly startAnchor?: string
  readonly endAnchor?: string
  readonly startArrowStyle?: ArrowStyle
  readonly endArrowStyle?: ArrowStyle
  readonly routingMode?: string
  readonly waypoints?: readonly Point[]
  readonly labelPosition?: number
}

export interface StyleInput {
  readonly fill?: string
  readonly stroke?: string
  readonly strokeWidth?: number
  readonly labelColor?: string
}

/**
 * The icons of a call that the relay does not know: for each such `iconId` the nearest ids that it knows. The caller of an edit looks up these ids, since the
 * catalogue is not part of the model. [ICON-3, ICON-4]
 */
export type UnknownIcons = { readonly [iconId: string]: readonly string[] }

/** How to read a DSL object: for which kind of shape, and what to do with members that do not fit this kind. */
export interface InputRules {
  readonly kind: ShapeKind
  /** Members that `readShapeInput` skips, such as `id` and `stamp`: they are read elsewhere or not at all. */
  readonly ignored: readonly string[]
  /** Returns the action of the fix for a member that only other kinds have. */
  readonly ofOtherKinds: (name: DslName) => 'dropped_unknown' | 'dropped_invalid'
  readonly icons: UnknownIcons
  /** Suggests the meant name of an unknown member. All objects of a call share one `NameHints`, since it limits the work of the whole call. */
  readonly hints: NameHints
}

export interface ReadInput {
  readonly input: ShapeInput
  readonly fixes: readonly Fix[]
}

/** Reads the members of a DSL object or a patch. Leaves out each unusable member, with a fix. [CANVAS-14, CANVAS-18] */
export function readShapeInput(given: JsonObject, { kind, ignored, ofOtherKinds, icons, hints }: InputRules): ReadInput {
  const fixes: Fix[] = []
  const input: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(given)) {
    if (ignored.includes(name)) continue
    if (!isDslName(name)) fixes.push(unknownMember(name, kind, hints))
    else if (!kind.settable.includes(name)) {
      fixes.push({ action: ofOtherKinds(name), field: name, reason: `a shape of the type ${kind.type} has no ${name}` })
    } else {
      const note: Note = (action, reason, field) => fixes.push({ action, field: field ?? name, reason })
      const read = readers[name](member, note, icons)
      if (read !== undefined) input[name] = read
    }
  }
  const style = input['style'] as StyleInput | undefined
  if (style === undefined) return { input, fixes }
  const told = styleOfKind(style, kind)
  return { input: { ...input, style: told.style }, fixes: [...fixes, ...told.fixes] }
}

/** Drops a style that the kind stores in the same member as another given style, with a fix: a text stores labelColor in `fill`. [CANVAS-15] */
function styleOfKind(
  style: StyleInput,
  { type, style: places }: ShapeKind,
): { readonly style: StyleInput; readonly fixes: readonly Fix[] } {
  const isTaken = (name: StyleName) => {
    const place = places[name]
    return place !== undefined && place !== name && Object.hasOwn(style, place)
  }
  const doubled = styleNames.filter((name) => Object.hasOwn(style, name) && isTaken(name))
  return {
    style: Object.fromEntries(Object.entries(style).filter(([name]) => !(doubled as readonly string[]).includes(name))),
    fixes: doubled.map((name) => ({
      action: 'dropped_invalid',
      field: `style.${name}`,
      reason: `of a ${type} it is the same as ${places[name]}, which is given`,
    })),
  }
}

function isDslName(name: string): name is DslName {
  return (dslNames as readonly string[]).includes(name)
}

/** Names that other drawing programs use for members of a shape. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ...(['label', 'content', 'title', 'name'] as const).map((name) => [name, 'text'] as const),
  ['width', 'w'],
  ['height', 'h'],
  ['icon', 'iconId'],
  ['from', 'startShapeId'],
  ['to', 'endShapeId'],
  ['routing', 'routingMode'],
  ...([...styleNames, 'color', 'colour'] as const).map((name) => [name, 'style'] as const),
])

function unknownMember(name: string, { type, settable }: ShapeKind, hints: NameHints): Fix {
  const meant = otherNames.get(name) ?? hints.likelyMeant(name, type, settable)
  const hint = meant === null || !(settable as readonly string[]).includes(meant) ? '' : `; did you mean ${meant}?`
  return { action: 'dropped_unknown', field: quote(name), reason: `a shape of the type ${type} has no such member${hint}` }
}

type Note = (action: Fix['action'], reason: string, field?: string) => void
type Reader<T> = (given: Json, note: Note, icons: UnknownIcons) => T | undefined

const coordinate = numberWithin(-1_000_000, 1_000_000)
const extent = numberWithin(1, 100_000)
const shapeId: Reader<string | null> = (given, note) => {
  if (given === null || typeof given === 'string') return given
  note('dropped_invalid', 'takes the id of a shape, or null for a free end')
  return undefined
}
const anchor: Reader<string> = (given, note) => {
  if (typeof given === 'string' && isAnchor(given)) return given
  note('dropped_invalid', `takes ${commonAnchors.join(', ')}, or attr-<n>-<side> on a typed shape`)
  return undefined
}

/** For each DSL member, the function that reads it. */
const readers: { readonly [N in DslName]: Reader<NonNullable<ShapeInput[N]> | null> } = {
  x: coordinate,
  y: coordinate,
  x2: coordinate,
  y2: coordinate,
  w: extent,
  h: extent,
  text: readText,
  style: readStyle,
  iconId: readIconId,
  iconDisplayMode: oneOf('inside', 'badge', 'icon-only'),
  iconSize: numberWithin(8, 512),
  startShapeId: shapeId,
  endShapeId: shapeId,
  startAnchor: anchor,
  endAnchor: anchor,
  startArrowStyle: oneOf(...arrowStyles),
  endArrowStyle: oneOf(...arrowStyles),
  routingMode: oneOf('straight', 'orthogonal', 'curved'),
  waypoints: readWaypoints,
  labelPosition: numberWithin(0, 1),
}

function numberWithin(least: number, most: number): Reader<number> {
  return (given, note) => {
    if (typeof given !== 'number' || !Number.isFinite(given)) {
      note('dropped_invalid', `takes a number from ${least} to ${most}`)
      return undefined
    }
    const value = Math.min(Math.max(given, least), most)
    if (value !== given) note('clamped', `takes a number from ${least} to ${most}; ${value} was taken`)
    // Adding 0 turns -0 into 0, since JSON text does not keep -0.
    return value + 0
  }
}

function oneOf<T extends string>(...allowed: readonly T[]): Reader<T> {
  return (given, note) => {
    const found = allowed.find((value) => value === given)
    if (found === undefined) note('dropped_invalid', `takes ${allowed.join(', ')}`)
    return found
  }
}

const maxText = 10_000

function readText(given: Json, note: Note): string | undefined {
  if (typeof given !== 'string') {
    note('dropped_invalid', 'takes a string')
    return undefined
  }
  const text = cleanText(given)
  if (text !== given) note('dropped_invalid', 'a text has no NUL and no lone surrogates, and its line breaks are LF')
  if (text.length <= maxText) return text
  // A character takes at most two UTF-16 units, so this start of a long text has more than 10,000 characters.
  const characters = Array.from(text.slice(0, 2 * maxText + 2))
  if (characters.length <= maxText) return text
  note('clamped', `a text has at most ${maxText} characters; the rest was cut`)
  return characters.slice(0, maxText).join('')
}

const strokeWidth = numberWithin(0, 100)

function readStyle(given: Json, note: Note, icons: UnknownIcons): StyleInput | undefined {
  if (!isJsonObject(given)) {
    note('dropped_invalid', `takes an object with ${styleNames.join(', ')}`)
    return undefined
  }
  const entries = Object.entries(given).flatMap(([name, member]): (readonly [string, string | number])[] => {
    const field = `style.${quote(name)}`
    const noteField: Note = (action, reason) => note(action, reason, field)
    if (!(styleNames as readonly string[]).includes(name)) {
      noteField('dropped_unknown', `style has ${styleNames.join(', ')}`)
      return []
    }
    const read = (name as StyleName) === 'strokeWidth' ? strokeWidth(member, noteField, icons) : readColour(member, noteField)
    return read === undefined ? [] : [[name, read]]
  })
  return Object.fromEntries(entries)
}

function readColour(given: Json, note: Note): string | undefined {
  const colour = typeof given === 'string' ? readShapeColour(given) : null
  if (colour !== null) return colour
  note('dropped_invalid', 'takes auto, transparent, a hex colour, the name of a CSS colour, rgb(), rgba(), hsl() or hsla()')
  return undefined
}

const builtIn = /^builtin:[a-z0-9-]{1,100}$/

function readIconId(given: Json, note: Note, icons: UnknownIcons): string | undefined {
  if (typeof given === 'string' && (given === '' || builtIn.test(given) || bareHash(given) !== null)) return given
  const nearest = typeof given === 'string' && Object.hasOwn(icons, given) ? (icons[given] ?? []) : []
  const hint = nearest.length === 0 ? '' : `; nearest: ${nearest.join(', ')}`
  note('dropped_invalid', `takes builtin: and a name of service_list_icons, or the hash of a blob${hint}`)
  return undefined
}

const maxWaypoints = 500

function readWaypoints(given: Json, note: Note, icons: UnknownIcons): readonly Point[] | undefined {
  if (!Array.isArray(given)) {
    note('dropped_invalid', 'takes a list of points {x, y}')
    return undefined
  }
  const list = given as readonly Json[]
  if (list.length > maxWaypoints) note('clamped', `takes at most ${maxWaypoints} points; the rest was left out`)
  return list.slice(0, maxWaypoints).flatMap((point, i): readonly Point[] => {
    const field = `waypoints[${i}]`
    const noteField: Note = (action, reason) => note(action, reason, field)
    const [x, y] = isJsonObject(point) ? [memberOf(point, 'x'), memberOf(point, 'y')] : []
    if (x === undefined || y === undefined) {
      noteField('dropped_invalid', 'takes a point {x, y}')
      return []
    }
    const [readX, readY] = [coordinate(x, noteField, icons), coordinate(y, noteField, icons)]
    return readX === undefined || readY === undefined ? [] : [{ x: readX, y: readY }]
  })
}
