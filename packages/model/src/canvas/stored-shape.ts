import { isBlobHash } from '../blob-references.ts'
import { isJsonObject, type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import type { Point } from './geometry/bounds.ts'
import { type ArrowStyle, arrowStyles, kindOf } from './shape-kinds.ts'

/** A string member; the relay does not check what editors store. */
export function stringOf(value: JsonObject, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}

export function numberOf(value: JsonObject, name: string): number | undefined {
  const member = memberOf(value, name)
  return typeof member === 'number' ? member : undefined
}

/** The centre of a box, the start of a line. */
export function centreOf(value: JsonObject): Point {
  return { x: numberOf(value, 'x') ?? 0, y: numberOf(value, 'y') ?? 0 }
}

/** Where a line ends: where it begins when it does not say. */
export function endOf(value: JsonObject): Point {
  const { x, y } = centreOf(value)
  return { x: numberOf(value, 'x2') ?? x, y: numberOf(value, 'y2') ?? y }
}

/** The points of a line between its ends; entries that are none are left out. */
export function waypointsOf(value: JsonObject): readonly Point[] {
  const points = memberOf(value, 'waypoints')
  if (!Array.isArray(points)) return []
  return (points as readonly Json[]).flatMap((point) => {
    if (!isJsonObject(point)) return []
    const [x, y] = [memberOf(point, 'x'), memberOf(point, 'y')]
    return typeof x === 'number' && typeof y === 'number' ? [{ x, y }] : []
  })
}

/** What a line is drawn with at one end. Older shapes say only whether there is an arrow. [CANVAS-11] */
export function arrowOf(value: JsonObject, end: 'start' | 'end'): ArrowStyle {
  const style = arrowStyles.find((known) => known === memberOf(value, `${end}ArrowStyle`))
  if (style !== undefined) return style
  const shown = memberOf(value, `${end}Arrow`)
  return typeof shown === 'boolean' ? (shown ? 'triangle' : 'none') : kindOf(value).arrows[end]
}

interface Size {
  readonly width: number
  readonly height: number
}

/** The size of a stored box, what it lacks filled in; `null` for a line or a group. [CANVAS-5, CANVAS-15] */
export function sizeOf(value: JsonObject): Size | null {
  const { size } = kindOf(value)
  if (size === null) return null
  const factor = size.areHalves ? 2 : 1
  const [width, height] = [numberOf(value, size.width), numberOf(value, size.height)]
  return {
    width: width === undefined ? size.default.width : finite(factor * width),
    height: height === undefined ? size.default.height : finite(factor * height),
  }
}

/** The size that reading back shows: none for a box of an editor that names none. [CANVAS-16] */
export function shownSize(value: JsonObject): Size | null {
  const { size } = kindOf(value)
  const isSilent = size?.isOptional === true && [size.width, size.height].every((name) => numberOf(value, name) === undefined)
  return isSilent ? null : sizeOf(value)
}

/** The text that a shape shows; `undefined` when no member says one. An empty text counts only where no other is. [CANVAS-7, CANVAS-16] */
export function labelOf(value: JsonObject): string | undefined {
  const name = labelMember(value)
  return name === undefined ? undefined : stringOf(value, name)
}

/** The shape with another text, in the member that its text was in. [CANVAS-19] */
export function withLabel(value: JsonObject, text: string): JsonObject {
  return setMember(value, labelPlace(value), text)
}

/** The member in which the label of a shape is written. */
export function labelPlace(value: JsonObject): string {
  const { write } = kindOf(value).label
  const name = labelMember(value)
  return name !== undefined && write.includes(name) ? name : write[0]
}

function labelMember(value: JsonObject): string | undefined {
  const present = kindOf(value).label.read.filter((name) => stringOf(value, name) !== undefined)
  return present.find((name) => stringOf(value, name) !== '') ?? present[0]
}

/** The members that a group names; none for any other shape. */
export function childrenOf(value: JsonObject | undefined): readonly string[] {
  if (value === undefined || kindOf(value).form !== 'group') return none
  const listed = memberOf(value, 'childIds')
  return Array.isArray(listed) ? (listed as readonly Json[]).filter((id): id is string => typeof id === 'string') : none
}

const none: readonly string[] = []

/** The hash of a stored reference, written bare or as `blob://<hash>`; `null` for anything else. [FILE-2] */
export function bareHash(reference: unknown): string | null {
  if (typeof reference !== 'string') return null
  const hash = reference.startsWith('blob://') ? reference.slice('blob://'.length) : reference
  return isBlobHash(hash) ? hash : null
}

/** What adding and doubling stored numbers gives, as a number that JSON has: the largest where it is beyond that. */
export function finite(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
}
