import type { Point } from '../canvas/geometry/bounds.ts'
import type { ConnectorCourse, ConnectorEnd } from '../canvas/geometry/connector-line.ts'
import type { ShapeBox } from '../canvas/geometry/shape-box.ts'
import { boxOfShape, courseOf } from '../canvas/page-geometry.ts'
import { type ArrowStyle, kindOf, type Look, type ShapeKind } from '../canvas/shape-kinds.ts'
import { arrowOf, labelOf, numberOf, stringOf } from '../canvas/stored-shape.ts'
import type { FontFamily } from '../canvas/text/measure-text.ts'
import { type JsonObject, memberOf } from '../json.ts'
import { AUTO_COLOUR, readColour, readPaint } from './colours.ts'

/** Coordinates are limited to this number, since a document may store any number and nobody could look at a larger picture. */
const MAX_COORDINATE = 10_000_000
const MAX_SIZE = 1_000_000
const MAX_WAYPOINTS = 500

/** The members that every drawn shape has. */
interface Common {
  readonly id: string
  readonly opacity: number
  readonly stroke: string
  readonly strokeWidth: number
}

export interface BoxDrawable extends Common, ShapeBox {
  readonly kind: 'box'
  readonly cornerRadius: number
  readonly fill: string
  readonly label: string
  readonly labelColour: string
  readonly labelSize: number
  readonly icon: {
    readonly name: string
    /** The name of the icon in the catalogue; `null` for an uploaded image and for the badge of a file. */
    readonly slug: string | null
    readonly mode: 'inside' | 'badge' | 'icon-only'
    readonly size: number
  } | null
}

export interface TextDrawable extends Common, ShapeBox {
  readonly kind: 'text'
  readonly text: string
  readonly colour: string
  readonly fontSize: number
  readonly family: FontFamily
  readonly align: 'left' | 'center' | 'right'
  readonly vertical: 'top' | 'middle' | 'bottom'
}

export interface ConnectorDrawable extends Common, ConnectorCourse {
  readonly kind: 'connector'
  readonly start: DrawnEnd
  readonly end: DrawnEnd
  readonly label: string
  readonly labelColour: string
  readonly labelPosition: number
}

export interface DrawnEnd extends ConnectorEnd {
  readonly arrow: ArrowStyle
}

export type Drawable = BoxDrawable | TextDrawable | ConnectorDrawable

/** Reads how a stored shape is drawn; `null` when it is not. Tolerates any value, as editors may store any. [BODY-6, CANVAS-15, CANVAS-25] */
export function readDrawable(id: string, shape: JsonObject): Drawable | null {
  const kind = kindOf(shape)
  if (memberOf(shape, 'visible') === false || kind.look.as === 'nothing') return null
  const common: Common = {
    id,
    opacity: number(shape, 'opacity', 1, 0, 1),
    stroke: readPaint(memberOf(shape, 'stroke'), readColour(kind.look.stroke, 'none')),
    strokeWidth: number(shape, 'strokeWidth', 2, 0, 100),
  }
  if (kind.look.as === 'line') return readConnector(shape, common)
  const box = drawnBox(boxOfShape(shape) ?? { centre: { x: 0, y: 0 }, width: 0, height: 0, rotation: 0, outline: 'rectangle' })
  return kind.look.as === 'text' ? readText(shape, kind.look, common, box) : readBox(shape, kind, common, box)
}

/** Limits the place and size of a box to numbers that a picture can show. */
export function drawnBox({ centre, width, height, rotation, outline }: ShapeBox): ShapeBox {
  return {
    centre: drawnPoint(centre),
    width: clamped(width, 0, MAX_SIZE),
    height: clamped(height, 0, MAX_SIZE),
    rotation: clamped(rotation, -MAX_SIZE, MAX_SIZE) % 360,
    outline,
  }
}

/** Limits a point to coordinates that a picture can show. */
export function drawnPoint({ x, y }: Point): Point {
  return { x: clamped(x, -MAX_COORDINATE, MAX_COORDINATE), y: clamped(y, -MAX_COORDINATE, MAX_COORDINATE) }
}

function clamped(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}

function readBox(shape: JsonObject, { type, look, label }: ShapeKind, common: Common, box: ShapeBox): BoxDrawable {
  return {
    ...common,
    ...box,
    kind: 'box',
    cornerRadius: number(shape, 'cornerRadius', 0, 0, MAX_SIZE),
    fill: readPaint(memberOf(shape, 'fill'), look.fill),
    label: labelOf(shape) || text(shape, label.instead ?? '') || label.otherwise,
    labelColour: readColour(memberOf(shape, 'labelColor'), readColour(look.labelColour, AUTO_COLOUR)),
    labelSize: number(shape, 'labelFontSize', look.labelSize, 1, 512),
    icon: look.badge === null ? readIcon(shape) : { name: text(shape, look.badge) || type, slug: null, mode: 'badge', size: 24 },
  }
}

function readIcon(shape: JsonObject): BoxDrawable['icon'] {
  const id = text(shape, 'iconId')
  if (id === '') return null
  const mode = text(shape, 'iconDisplayMode')
  const slug = id.startsWith('builtin:') ? id.slice('builtin:'.length) : null
  return {
    // The bytes of an uploaded image are never drawn, so the image is shown by the word `image`. [CANVAS-26]
    name: slug ?? 'image',
    slug,
    mode: mode === 'badge' || mode === 'icon-only' ? mode : 'inside',
    size: number(shape, 'iconSize', 24, 8, 512),
  }
}

function readText(shape: JsonObject, { labelSize }: Look, common: Common, box: ShapeBox): TextDrawable {
  const family = text(shape, 'fontFamily').toLowerCase()
  const align = text(shape, 'textAlign')
  const vertical = text(shape, 'verticalAlign')
  return {
    ...common,
    ...box,
    kind: 'text',
    text: labelOf(shape) ?? '',
    colour: readColour(memberOf(shape, 'fill'), AUTO_COLOUR),
    fontSize: number(shape, 'fontSize', labelSize, 1, 512),
    family: /mono|courier|consol/.test(family)
      ? 'monospace'
      : /(^|[^-])serif|times|georgia/.test(family) && !family.includes('sans')
        ? 'serif'
        : 'sans-serif',
    align: align === 'center' || align === 'right' ? align : 'left',
    vertical: vertical === 'middle' || vertical === 'bottom' ? vertical : 'top',
  }
}

function readConnector(shape: JsonObject, common: Common): ConnectorDrawable {
  const course = courseOf(shape)
  const drawnEnd = (end: ConnectorEnd, side: 'start' | 'end'): DrawnEnd => ({
    ...end,
    stored: drawnPoint(end.stored),
    arrow: arrowOf(shape, side),
  })
  return {
    ...common,
    kind: 'connector',
    start: drawnEnd(course.start, 'start'),
    end: drawnEnd(course.end, 'end'),
    routing: course.routing,
    waypoints: course.waypoints.slice(0, MAX_WAYPOINTS).map(drawnPoint),
    label: labelOf(shape) ?? '',
    labelColour: readColour(memberOf(shape, 'labelColor'), AUTO_COLOUR),
    labelPosition: number(shape, 'labelPosition', 0.5, 0, 1),
  }
}

function number(shape: JsonObject, member: string, fallback: number, least: number, most: number): number {
  return clamped(numberOf(shape, member) ?? fallback, least, most)
}

function text(shape: JsonObject, member: string): string {
  return stringOf(shape, member) ?? ''
}
