import type { Json, JsonObject } from '../json.ts'
import { isJsonObject, memberOf } from '../json.ts'
import { AUTO_COLOUR, readColour, readPaint } from './colours.ts'
import { type Bounds, boundsOfTurned, type Point } from './geometry.ts'

/** Beyond it nothing can be looked at; stored numbers may be any. */
const MAX_COORDINATE = 10_000_000
const MAX_SIZE = 1_000_000

/** What every drawn thing has. */
interface Common {
  readonly id: string
  readonly opacity: number
  readonly stroke: string
  readonly strokeWidth: number
}

export interface BoxDrawable extends Common {
  readonly kind: 'box'
  readonly outline: 'rectangle' | 'ellipse'
  readonly centre: Point
  readonly width: number
  readonly height: number
  readonly rotation: number
  readonly cornerRadius: number
  readonly fill: string
  readonly label: string
  readonly labelColour: string
  readonly labelSize: number
  readonly icon: { readonly name: string; readonly mode: 'inside' | 'badge' | 'icon-only'; readonly size: number } | null
}

export interface TextDrawable extends Common {
  readonly kind: 'text'
  readonly centre: Point
  readonly width: number
  readonly height: number
  readonly rotation: number
  readonly text: string
  readonly colour: string
  readonly fontSize: number
  readonly family: 'sans-serif' | 'serif' | 'monospace'
  readonly align: 'left' | 'center' | 'right'
  readonly vertical: 'top' | 'middle' | 'bottom'
}

export type ArrowStyle = 'none' | 'triangle' | 'open' | 'diamond'

export interface ConnectorDrawable extends Common {
  readonly kind: 'connector'
  readonly start: ConnectorEnd
  readonly end: ConnectorEnd
  readonly routing: 'straight' | 'orthogonal' | 'curved'
  readonly waypoints: readonly Point[]
  readonly label: string
  readonly labelColour: string
  readonly labelPosition: number
}

export interface ConnectorEnd {
  readonly stored: Point
  readonly shapeId: string | null
  readonly anchor: string
  readonly arrow: ArrowStyle
}

export type Drawable = BoxDrawable | TextDrawable | ConnectorDrawable

/** How a stored shape is drawn, read tolerantly: the relay checks no shape semantics. `null`: not drawn. [BODY-6, CANVAS-15, CANVAS-25] */
export function readDrawable(id: string, shape: JsonObject): Drawable | null {
  const type = text(shape, 'type')
  if (memberOf(shape, 'visible') === false || type === 'group') return null
  const common = {
    id,
    opacity: number(shape, 'opacity', 1, 0, 1),
    strokeWidth: number(shape, 'strokeWidth', 2, 0, 100),
  }
  switch (type) {
    case 'connector':
    case 'line':
      return readConnector(shape, { ...common, stroke: readPaint(memberOf(shape, 'stroke'), AUTO_COLOUR) }, type === 'connector')
    case 'text':
      return readText(shape, { ...common, stroke: 'none' })
    default:
      return readBox(shape, type, { ...common, stroke: readPaint(memberOf(shape, 'stroke'), '#2c5282') })
  }
}

/** The corners of a box or text as it lies on the page. */
export function extentOf({ centre, width, height, rotation }: BoxDrawable | TextDrawable): Bounds {
  const { x, y } = centre
  const upright = { left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 }
  return boundsOfTurned(upright, centre, rotation)
}

function readBox(shape: JsonObject, type: string, common: Common): BoxDrawable {
  const isEllipse = type === 'ellipse'
  const known = isEllipse || type === 'rectangle'
  const isFile = type === 'file'
  const label = text(shape, 'label') || (isFile ? text(shape, 'fileName') : '') || text(shape, 'text') || text(shape, 'name')
  return {
    ...common,
    kind: 'box',
    outline: isEllipse ? 'ellipse' : 'rectangle',
    ...place(shape, isEllipse ? 2 * number(shape, 'radiusX', 50, 0, MAX_SIZE) : number(shape, 'width', 100, 0, MAX_SIZE)),
    height: isEllipse ? 2 * number(shape, 'radiusY', 40, 0, MAX_SIZE) : number(shape, 'height', 80, 0, MAX_SIZE),
    cornerRadius: number(shape, 'cornerRadius', 0, 0, MAX_SIZE),
    fill: readPaint(memberOf(shape, 'fill'), known ? '#4a90d9' : '#f8fafc'),
    stroke: known ? common.stroke : readPaint(memberOf(shape, 'stroke'), '#cbd5e1'),
    label: label || (known ? '' : type || 'shape'),
    labelColour: readColour(memberOf(shape, 'labelColor'), isFile ? '#475569' : AUTO_COLOUR),
    labelSize: number(shape, 'labelFontSize', isFile ? 12 : 14, 1, 512),
    icon: isFile ? { name: text(shape, 'fileCategory') || 'file', mode: 'badge', size: 24 } : readIcon(shape),
  }
}

function readIcon(shape: JsonObject): BoxDrawable['icon'] {
  const id = text(shape, 'iconId')
  if (id === '') return null
  const mode = text(shape, 'iconDisplayMode')
  return {
    // Bytes are never drawn: an uploaded image is named as such. [CANVAS-26]
    name: id.startsWith('builtin:') ? id.slice('builtin:'.length) : 'image',
    mode: mode === 'badge' || mode === 'icon-only' ? mode : 'inside',
    size: number(shape, 'iconSize', 24, 8, 512),
  }
}

function readText(shape: JsonObject, common: Common): TextDrawable {
  const family = text(shape, 'fontFamily').toLowerCase()
  const align = text(shape, 'textAlign')
  const vertical = text(shape, 'verticalAlign')
  return {
    ...common,
    kind: 'text',
    ...place(shape, number(shape, 'width', 200, 0, MAX_SIZE)),
    height: number(shape, 'height', 50, 0, MAX_SIZE),
    text: text(shape, 'text') || text(shape, 'content') || text(shape, 'label'),
    colour: readColour(memberOf(shape, 'fill'), AUTO_COLOUR),
    fontSize: number(shape, 'fontSize', 16, 1, 512),
    family: /mono|courier|consol/.test(family)
      ? 'monospace'
      : /(^|[^-])serif|times|georgia/.test(family) && !family.includes('sans')
        ? 'serif'
        : 'sans-serif',
    align: align === 'center' || align === 'right' ? align : 'left',
    vertical: vertical === 'middle' || vertical === 'bottom' ? vertical : 'top',
  }
}

function readConnector(shape: JsonObject, common: Common, hasArrows: boolean): ConnectorDrawable {
  const start = { x: coordinate(memberOf(shape, 'x'), 0), y: coordinate(memberOf(shape, 'y'), 0) }
  const end = { x: coordinate(memberOf(shape, 'x2'), start.x), y: coordinate(memberOf(shape, 'y2'), start.y) }
  const routing = text(shape, 'routingMode')
  const points = memberOf(shape, 'waypoints')
  return {
    ...common,
    kind: 'connector',
    start: readEnd(shape, 'start', start, hasArrows ? 'none' : null),
    end: readEnd(shape, 'end', end, hasArrows ? 'triangle' : null),
    routing: routing === 'orthogonal' || routing === 'curved' ? routing : 'straight',
    waypoints: Array.isArray(points) ? points.slice(0, 500).flatMap((entry: Json) => waypoint(entry)) : [],
    label: text(shape, 'label'),
    labelColour: readColour(memberOf(shape, 'labelColor'), AUTO_COLOUR),
    labelPosition: number(shape, 'labelPosition', 0.5, 0, 1),
  }
}

/** Arrows are named by a style or, in older shapes, by a boolean; `fallback` is `null` where there are none by nature. */
function readEnd(shape: JsonObject, side: 'start' | 'end', stored: Point, fallback: ArrowStyle | null): ConnectorEnd {
  const style = text(shape, `${side}ArrowStyle`)
  const shown = memberOf(shape, `${side}Arrow`)
  const named = style === 'none' || style === 'triangle' || style === 'open' || style === 'diamond' ? style : null
  const older = typeof shown === 'boolean' ? (shown ? 'triangle' : 'none') : null
  return {
    stored,
    shapeId: text(shape, `${side}ShapeId`) || null,
    anchor: text(shape, `${side}Anchor`) || 'center',
    arrow: named ?? older ?? fallback ?? 'none',
  }
}

function waypoint(entry: Json): readonly Point[] {
  if (!isJsonObject(entry)) return []
  const [x, y] = [memberOf(entry, 'x'), memberOf(entry, 'y')]
  return typeof x === 'number' && typeof y === 'number' ? [{ x: coordinate(x, 0), y: coordinate(y, 0) }] : []
}

function place(shape: JsonObject, width: number): { centre: Point; width: number; rotation: number } {
  const centre = { x: coordinate(memberOf(shape, 'x'), 0), y: coordinate(memberOf(shape, 'y'), 0) }
  return { centre, width, rotation: number(shape, 'rotation', 0, -MAX_SIZE, MAX_SIZE) % 360 }
}

function coordinate(value: Json | undefined, fallback: number): number {
  return typeof value === 'number' ? Math.min(Math.max(value, -MAX_COORDINATE), MAX_COORDINATE) : fallback
}

function number(shape: JsonObject, member: string, fallback: number, least: number, most: number): number {
  const value = memberOf(shape, member)
  return typeof value === 'number' ? Math.min(Math.max(value, least), most) : fallback
}

function text(shape: JsonObject, member: string): string {
  const value = memberOf(shape, member)
  return typeof value === 'string' ? value : ''
}
