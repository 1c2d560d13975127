import type { CanvasPage, DocumentBody, Shape } from '../body.ts'
import { stackShapes } from '../body-order.ts'
import { isRefusal, refused, type Refusal } from '../edit.ts'
import { type Json, type JsonObject, memberOf } from '../json.ts'
import { nearestNames } from '../nearest.ts'
import { pageName } from '../pages.ts'
import { quote } from '../quote.ts'
import { findCanvasPage } from './find-page.ts'
import { childrenOf, groupBoxes, type ShapeValues } from './shape-bounds.ts'
import { bareHash, centreOf, finite, isConnecting, sizeOf, stringOf } from './stored-shape.ts'

/** A stored shape as tools show it: what `add_shape` takes, and for other types what can be known of them. [CANVAS-16] */
export type ShapeDsl = JsonObject

/** The shapes of a page, bottom first, members of a group after it. [CANVAS-17] */
export function shapesInOrder(page: CanvasPage): readonly Shape[] {
  const values = shapeValues(page)
  return stackShapes([...values.keys()], values).map((id) => ({ id, value: values.get(id) as JsonObject }))
}

/** A page as its shapes are read back from it: where the members of a group are, and how far it reaches. */
export interface ReadablePage {
  readonly shapes: ShapeValues
  readonly boxes: ReturnType<typeof groupBoxes>
}

export function readablePage(page: CanvasPage): ReadablePage {
  const shapes = shapeValues(page)
  return { shapes, boxes: groupBoxes(shapes) }
}

/** One shape read back. */
export function readBack(shape: Shape, page: ReadablePage): ShapeDsl {
  const { id, value } = shape
  const type = stringOf(value, 'type') ?? 'unknown'
  const base = { id, kind: type, type }
  if (type === 'group')
    return { ...base, ...groupBox(shape, page), ...labelOf(value, type), ...styleOf(value, type), ...membersOf(value, page) }
  if (isConnecting(type))
    return { ...base, ...centreOf(value), ...endsOf(value, type), ...labelOf(value, type), ...styleOf(value, type) }
  const { x, y } = centreOf(value)
  const size = sizeOf(value, type)
  return {
    ...base,
    x,
    y,
    ...(size === null ? {} : { w: size.width, h: size.height }),
    ...labelOf(value, type),
    ...styleOf(value, type),
    ...iconOf(value),
    ...(type === 'file' ? fileOf(value) : {}),
  }
}

function shapeValues(page: CanvasPage): ShapeValues {
  return new Map(page.shapes.map((shape) => [shape.id, shape.value]))
}

/** One shape of a page. [TOOL-get_shape] */
export function getShape(body: DocumentBody, pageId: string, id: string): { readonly shape: ShapeDsl } | Refusal {
  const page = findCanvasPage(body, pageId)
  if (isRefusal(page)) return page
  const shape = page.shapes.find((other) => other.id === id)
  return shape === undefined ? shapeNotFound(body, page, id) : { shape: readBack(shape, readablePage(page)) }
}

/** No shape of the page has the id; the facts name the page that has one. [ERR_SHAPE_NOT_FOUND, TOOL-26] */
export function shapeNotFound(body: DocumentBody, page: CanvasPage, shapeId: string): Refusal {
  const other = body.canvas.pages.find(
    (candidate) => candidate !== page && candidate.shapes.some((shape) => shape.id === shapeId),
  )
  const [shown, pageId] = [quote(shapeId), page.id]
  if (other !== undefined)
    return refused('ERR_SHAPE_NOT_FOUND', `The shape "${shown}" is on the page ${other.id} ("${quote(pageName(other))}").`, {
      shapeId: shown,
      pageId,
      otherPage: other.id,
    })
  const nearest = nearestNames(
    shapeId,
    page.shapes.map((shape) => shape.id),
  ).map(quote)
  const hint = nearest.length === 0 ? 'the page has no shapes' : `nearest: ${nearest.join(', ')}`
  return refused('ERR_SHAPE_NOT_FOUND', `The page ${quote(pageId)} has no shape "${shown}"; ${hint}.`, { shapeId: shown, pageId })
}

/** A group is where its members are. */
function groupBox(group: Shape, { boxes }: ReadablePage): JsonObject {
  const bounds = boxes.get(group.id) ?? null
  if (bounds === null) return { ...centreOf(group.value), w: 0, h: 0 }
  const { left, top, right, bottom } = bounds
  return { x: left / 2 + right / 2, y: top / 2 + bottom / 2, w: finite(right - left), h: finite(bottom - top) }
}

function membersOf(group: JsonObject, { shapes }: ReadablePage): JsonObject {
  return { childIds: [...new Set(childrenOf(group))].filter((id) => shapes.has(id)) }
}

const arrowStyles: readonly string[] = ['none', 'triangle', 'open', 'diamond']

function endsOf(value: JsonObject, type: string): JsonObject {
  const { x, y } = centreOf(value)
  const waypoints = memberOf(value, 'waypoints')
  const routingMode = stringOf(value, 'routingMode')
  const labelPosition = numberOf(value, 'labelPosition')
  return {
    x2: numberOf(value, 'x2') ?? x,
    y2: numberOf(value, 'y2') ?? y,
    startShapeId: stringOf(value, 'startShapeId') || null,
    endShapeId: stringOf(value, 'endShapeId') || null,
    startAnchor: stringOf(value, 'startAnchor') || 'center',
    endAnchor: stringOf(value, 'endAnchor') || 'center',
    startArrowStyle: arrowOf(value, 'start', 'none'),
    endArrowStyle: arrowOf(value, 'end', type === 'line' ? 'none' : 'triangle'),
    ...(routingMode === undefined ? {} : { routingMode }),
    ...(Array.isArray(waypoints) ? { waypoints } : {}),
    ...(labelPosition === undefined ? {} : { labelPosition }),
  }
}

/** Older shapes say only whether there is an arrow. */
function arrowOf(value: JsonObject, end: 'start' | 'end', fallback: string): string {
  const style = stringOf(value, `${end}ArrowStyle`)
  if (style !== undefined && arrowStyles.includes(style)) return style
  const shown = memberOf(value, `${end}Arrow`)
  return typeof shown === 'boolean' ? (shown ? 'triangle' : 'none') : fallback
}

/** The text of a text shape, else the label. [CANVAS-7, CANVAS-16] */
function labelOf(value: JsonObject, type: string): JsonObject {
  const names = type === 'text' ? ['text', 'content'] : ['label', ...(isKnown(type) ? [] : ['text'])]
  for (const name of names) {
    const text = stringOf(value, name)
    if (text !== undefined) return { text }
  }
  return {}
}

function isKnown(type: string): boolean {
  return type === 'rectangle' || type === 'ellipse' || type === 'connector'
}

/** Colours that a shape has by nature, and so does not name, are left out: `add_shape` takes colours only. [CANVAS-6] */
function styleOf(value: JsonObject, type: string): JsonObject {
  const entries = ['fill', 'stroke', 'strokeWidth', 'labelColor'].flatMap((name): (readonly [string, Json])[] => {
    const member = memberOf(value, name)
    if (name === 'strokeWidth' ? typeof member !== 'number' : typeof member !== 'string') return []
    return type === 'text' && name === 'strokeWidth' && member === 0 ? [] : [[name, member as Json]]
  })
  return { style: Object.fromEntries(entries) }
}

function iconOf(value: JsonObject): JsonObject {
  const iconId = stringOf(value, 'iconId')
  if (iconId === undefined || iconId === '') return {}
  const mode = stringOf(value, 'iconDisplayMode')
  const size = numberOf(value, 'iconSize')
  return { iconId, ...(mode === undefined ? {} : { iconDisplayMode: mode }), ...(size === undefined ? {} : { iconSize: size }) }
}

function fileOf(value: JsonObject): JsonObject {
  const texts = ['fileName', 'mimeType', 'fileCategory'].flatMap((name) => {
    const text = stringOf(value, name)
    return text === undefined ? [] : [[name, text] as const]
  })
  const size = numberOf(value, 'fileSize')
  const blobRef = stringOf(value, 'blobRef')
  return {
    ...Object.fromEntries(texts),
    ...(size === undefined ? {} : { size }),
    ...(blobRef === undefined ? {} : { blobRef: bareHash(blobRef) ?? blobRef }),
  }
}

function numberOf(value: JsonObject, name: string): number | undefined {
  const member = memberOf(value, name)
  return typeof member === 'number' ? member : undefined
}
