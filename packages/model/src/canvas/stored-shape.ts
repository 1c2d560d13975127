import { isBlobHash } from '../blob-references.ts'
import { isJsonObject, type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import type { Point } from './geometry/bounds.ts'
import { type ArrowStyle, arrowStyles, kindOf } from './shape-kinds.ts'

/** Returns a string member; `undefined` for any other value, since the relay does not check what editors store. */
export function stringOf(value: JsonObject, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}

export function numberOf(value: JsonObject, name: string): number | undefined {
  const member = memberOf(value, name)
  return typeof member === 'number' ? member : undefined
}

/** Returns the centre of a box, or the start of a line. */
export function centreOf(value: JsonObject): Point {
  return { x: numberOf(value, 'x') ?? 0, y: numberOf(value, 'y') ?? 0 }
}

/** Returns the end point of a line. A coordinate that the line does not store is that of the start. */
export function endOf(value: JsonObject): Point {
  const { x, y } = centreOf(value)
  return { x: numberOf(value, 'x2') ?? x, y: numberOf(value, 'y2') ?? y }
}

/** Returns the points of a line between its ends. Entries that are no points are left out. */
export function waypointsOf(value: JsonObject): readonly Point[] {
  const points = memberOf(value, 'waypoints')
  if (!Array.isArray(points)) return []
  return (points as readonly Json[]).flatMap((point) => {
    if (!isJsonObject(point)) return []
    const [x, y] = [memberOf(point, 'x'), memberOf(point, 'y')]
    return typeof x === 'number' && typeof y === 'number' ? [{ x, y }] : []
  })
}

/** Returns the arrow at one end of a line. Older shapes store only whether the end has an arrow. [CANVAS-11] */
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

/** Returns the size of a stored box, with defaults for missing members; `null` for a line or a group. [CANVAS-5, CANVAS-15] */
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

/** Returns the size that reading back shows; `null` also for a box of an unknown type that stores no size. [CANVAS-16] */
export function shownSize(value: JsonObject): Size | null {
  const { size } = kindOf(value)
  const isSilent = size?.isOptional === true && [size.width, size.height].every((name) => numberOf(value, name) === undefined)
  return isSilent ? null : sizeOf(value)
}

/** Returns the text that a shape shows; `undefined` when the shape stores none. An empty text is used only when all texts are empty. [CANVAS-7, CANVAS-16] */
export function labelOf(value: JsonObject): string | undefined {
  const name = labelMember(value)
  return name === undefined ? undefined : stringOf(value, name)
}

/** Returns the shape with another text, in the member that `labelPlace` names. [CANVAS-19] */
export function withLabel(value: JsonObject, text: string): JsonObject {
  return setMember(value, labelPlace(value), text)
}

/** Returns the member to write a label to: the member of the present label if tools write that member, else the first member that tools write. */
export function labelPlace(value: JsonObject): string {
  const { write } = kindOf(value).label
  const name = labelMember(value)
  return name !== undefined && write.includes(name) ? name : write[0]
}

function labelMember(value: JsonObject): string | undefined {
  const present = kindOf(value).label.read.filter((name) => stringOf(value, name) !== undefined)
  return present.find((name) => stringOf(value, name) !== '') ?? present[0]
}

/** Returns the ids that a group lists as its members; an empty list for any other shape. */
export function childrenOf(value: JsonObject | undefined): readonly string[] {
  if (value === undefined || kindOf(value).form !== 'group') return none
  const listed = memberOf(value, 'childIds')
  return Array.isArray(listed) ? (listed as readonly Json[]).filter((id): id is string => typeof id === 'string') : none
}

const none: readonly string[] = []

/** Returns the hash of a stored reference, written bare or as `blob://<hash>`; `null` for anything else. [FILE-2] */
export function bareHash(reference: unknown): string | null {
  if (typeof reference !== 'string') return null
  const hash = reference.startsWith('blob://') ? reference.slice('blob://'.length) : reference
  return isBlobHash(hash) ? hash : null
}

/** Limits the sum or the double of stored numbers to numbers that JSON can store: Infinity becomes the largest number. */
export function finite(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
}
