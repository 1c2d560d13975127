import { type Json, type JsonObject, memberOf } from '../json.ts'

/** The form of a shape on its page: a box has a place and a size, a line goes from point to point, a group is the frame around its members. */
type ShapeForm = 'box' | 'line' | 'group'

/** The members that store the size of a box. */
interface SizeMembers {
  readonly width: string
  readonly height: string
  /** The members store half of the size, as the radii of an ellipse do. */
  readonly areHalves: boolean
  /** The size of a box without these members, in units of the page. */
  readonly default: { readonly width: number; readonly height: number }
  /** Whether reading back leaves out the size of a shape that stores neither member. */
  readonly isOptional: boolean
}

/**
 * The members that may hold the label of a kind. The label is the first text in `read` that is not empty. A new label is written to the member of the old
 * label if that member is in `write`, else to the first of `write`.
 */
interface LabelMembers {
  readonly read: readonly string[]
  /** The members of `read` that tools write to. */
  readonly write: readonly [string, ...string[]]
  /** The member that a picture shows instead of a missing label. */
  readonly instead: string | null
  /** The text that a picture shows when the label and the member `instead` are both missing. */
  readonly otherwise: string
}

/** How a picture draws a kind of shape, and which values it uses for members that a shape lacks. */
export interface Look {
  readonly as: 'box' | 'text' | 'line' | 'nothing'
  readonly outline: 'rectangle' | 'ellipse'
  readonly fill: string
  readonly stroke: string
  readonly labelColour: string
  /** The font size of the label, in pixels. */
  readonly labelSize: number
  /** The member whose text is shown as a badge; `null` for kinds that show their icon. */
  readonly badge: string | null
}

/** A member that only one kind has and that reading back shows. */
interface ShownMember {
  /** The name under which the member is stored. */
  readonly stored: string
  /** The name under which tools show the member. */
  readonly shown: string
  readonly type: 'string' | 'number' | 'blob'
}

/** Everything that tools, pictures and the layout know of one kind of stored shape. [CANVAS-15] */
export interface ShapeKind {
  /** The member `type`; `unknown` stands for every type without a row of its own. */
  readonly type: KindName
  readonly form: ShapeForm
  /** The members of a new shape besides its place; `null` for kinds that tools do not create from a DSL object. [CANVAS-1] */
  readonly defaults: JsonObject | null
  /** How a shape of this kind stores its size; `null` for kinds that store no size. */
  readonly size: SizeMembers | null
  readonly label: LabelMembers
  readonly look: Look
  /** The stored member for each member of `style`. A shape of the kind cannot show a style that is missing here. */
  readonly style: { readonly [name in StyleName]?: string }
  /** The DSL members that a patch may have. [CANVAS-18] */
  readonly settable: readonly DslName[]
  /** The arrows at the ends of a line that stores no arrows. */
  readonly arrows: { readonly start: ArrowStyle; readonly end: ArrowStyle }
  readonly shown: readonly ShownMember[]
}

export const arrowStyles = ['none', 'triangle', 'open', 'diamond'] as const
export type ArrowStyle = (typeof arrowStyles)[number]

type KindName = 'rectangle' | 'ellipse' | 'text' | 'connector' | 'file' | 'line' | 'group' | 'unknown'

export const styleNames = ['fill', 'stroke', 'strokeWidth', 'labelColor'] as const
export type StyleName = (typeof styleNames)[number]

/** The members of a DSL object besides `id`, `kind` and `type`. [CANVAS-4 to CANVAS-13] */
export const dslNames = [
  ...(['x', 'y', 'w', 'h', 'text', 'style', 'iconId', 'iconDisplayMode', 'iconSize', 'x2', 'y2'] as const),
  ...(['startShapeId', 'endShapeId', 'startAnchor', 'endAnchor', 'startArrowStyle', 'endArrowStyle'] as const),
  ...(['routingMode', 'waypoints', 'labelPosition'] as const),
] as const
export type DslName = (typeof dslNames)[number]

const place = ['x', 'y'] as const
const box = [...place, 'w', 'h', 'text', 'style'] as const
const icon = ['iconId', 'iconDisplayMode', 'iconSize'] as const
const line = [...place, 'x2', 'y2', 'text', 'style', 'startArrowStyle', 'endArrowStyle', 'labelPosition'] as const

/** The members that every new shape begins with. [CANVAS-15] */
export const baseDefaults: JsonObject = { rotation: 0, opacity: 1, locked: false, visible: true }

const plainSize: Omit<SizeMembers, 'default'> = { width: 'width', height: 'height', areHalves: false, isOptional: false }
const plainLabel: LabelMembers = { read: ['label'], write: ['label'], instead: null, otherwise: '' }
const plainStyle = { fill: 'fill', stroke: 'stroke', strokeWidth: 'strokeWidth', labelColor: 'labelColor' } as const
const noArrows = { start: 'none', end: 'none' } as const
const boxPaint = { fill: '#4a90d9', stroke: '#2c5282', strokeWidth: 2 }
const boxLook: Look = {
  as: 'box',
  outline: 'rectangle',
  fill: boxPaint.fill,
  stroke: boxPaint.stroke,
  labelColour: 'auto',
  labelSize: 14,
  badge: null,
}
/** The look of files and of shapes that only editors create. The relay does not know how an editor draws such shapes. */
const plainLook: Look = { ...boxLook, fill: '#f8fafc', stroke: '#cbd5e1' }
const lineLook: Look = { ...boxLook, as: 'line', fill: 'none', stroke: 'auto', labelSize: 12 }

const rectangle: ShapeKind = {
  type: 'rectangle',
  form: 'box',
  defaults: { ...boxPaint, width: 100, height: 80, cornerRadius: 0 },
  size: { ...plainSize, default: { width: 100, height: 80 } },
  label: plainLabel,
  look: boxLook,
  style: plainStyle,
  settable: [...box, ...icon],
  arrows: noArrows,
  shown: [],
}

const ellipse: ShapeKind = {
  ...rectangle,
  type: 'ellipse',
  defaults: { ...boxPaint, radiusX: 50, radiusY: 40 },
  size: { width: 'radiusX', height: 'radiusY', areHalves: true, isOptional: false, default: { width: 100, height: 80 } },
  look: { ...boxLook, outline: 'ellipse' },
}

const text: ShapeKind = {
  ...rectangle,
  type: 'text',
  defaults: {
    ...{ text: '', fill: 'auto', stroke: null, strokeWidth: 0, width: 200, height: 50 },
    ...{ fontSize: 16, fontFamily: 'sans-serif', textAlign: 'left', verticalAlign: 'top' },
  },
  size: { ...plainSize, default: { width: 200, height: 50 } },
  label: { ...plainLabel, read: ['text', 'content', 'label'], write: ['text'] },
  look: { ...boxLook, as: 'text', fill: 'auto', stroke: 'none', labelSize: 16 },
  style: { ...plainStyle, labelColor: 'fill' },
  settable: box,
}

const connector: ShapeKind = {
  type: 'connector',
  form: 'line',
  defaults: {
    ...{ fill: null, stroke: 'auto', strokeWidth: 2, startShapeId: null, endShapeId: null },
    ...{ startAnchor: 'center', endAnchor: 'center', startArrowStyle: 'none', endArrowStyle: 'triangle' },
    ...{ startArrow: false, endArrow: true },
  },
  size: null,
  label: plainLabel,
  look: lineLook,
  style: plainStyle,
  settable: [...line, 'startShapeId', 'endShapeId', 'startAnchor', 'endAnchor', 'routingMode', 'waypoints'],
  arrows: { start: 'none', end: 'triangle' },
  shown: [],
}

const file: ShapeKind = {
  ...rectangle,
  type: 'file',
  defaults: null,
  size: { ...plainSize, default: { width: 200, height: 160 } },
  label: { ...plainLabel, instead: 'fileName' },
  look: { ...plainLook, labelColour: '#475569', labelSize: 12, badge: 'fileCategory' },
  settable: box,
  shown: [
    { stored: 'fileName', shown: 'fileName', type: 'string' },
    { stored: 'mimeType', shown: 'mimeType', type: 'string' },
    { stored: 'fileCategory', shown: 'fileCategory', type: 'string' },
    { stored: 'fileSize', shown: 'size', type: 'number' },
    { stored: 'blobRef', shown: 'blobRef', type: 'blob' },
  ],
}

const lineKind: ShapeKind = {
  ...connector,
  type: 'line',
  defaults: null,
  settable: line,
  arrows: noArrows,
}

const group: ShapeKind = {
  type: 'group',
  form: 'group',
  defaults: null,
  size: null,
  label: { ...plainLabel, read: ['label', 'name'], write: ['label', 'name'] },
  look: { ...plainLook, as: 'nothing' },
  style: {},
  settable: [...place, 'text'],
  arrows: noArrows,
  shown: [],
}

const unknown: ShapeKind = {
  ...rectangle,
  type: 'unknown',
  defaults: null,
  size: { ...plainSize, default: { width: 100, height: 80 }, isOptional: true },
  label: { read: ['label', 'text', 'name'], write: ['label', 'text'], instead: 'type', otherwise: 'shape' },
  look: plainLook,
  settable: box,
}

/** THE table of stored kinds. A new kind is one more row here. */
export const shapeKinds: readonly ShapeKind[] = [rectangle, ellipse, text, connector, file, lineKind, group, unknown]

const kindsByType: ReadonlyMap<Json | undefined, ShapeKind> = new Map(
  shapeKinds.flatMap((kind) => (kind === unknown ? [] : [[kind.type, kind] as const])),
)

/** Returns the row of a stored shape; the row `unknown` for a type without a row of its own. */
export function kindOf(value: JsonObject): ShapeKind {
  return kindsByType.get(memberOf(value, 'type')) ?? unknown
}

/** Returns the row of a kind that tools create; `null` for every other kind. [CANVAS-1] */
export function creatableKind(type: string): (ShapeKind & { readonly defaults: JsonObject }) | null {
  const kind = kindsByType.get(type)
  return kind === undefined || kind.defaults === null ? null : { ...kind, defaults: kind.defaults }
}

/** The names of the kinds that tools create. */
export const creatableNames: readonly string[] = shapeKinds.flatMap(({ type, defaults }) => (defaults === null ? [] : [type]))
