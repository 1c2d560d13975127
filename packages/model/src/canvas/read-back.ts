import type { CanvasPage, DocumentBody, Shape } from '../body.ts'
import { stackShapes } from '../body-order.ts'
import { refused, type Refusal } from '../edit.ts'
import { type Json, type JsonObject, memberOf } from '../json.ts'
import { nearestNames } from '../nearest.ts'
import { pageName } from '../pages.ts'
import { quote } from '../quote.ts'
import { type PageGeometry, pageGeometry, shapeValues } from './page-geometry.ts'
import { kindOf, type ShapeKind, styleNames } from './shape-kinds.ts'
import { arrowOf, bareHash, centreOf, childrenOf, endOf, finite, labelOf, numberOf, shownSize, stringOf } from './stored-shape.ts'

/** A stored shape as tools show it: in the form that `add_shape` takes. Shapes of other types are shown as far as the relay knows them. [CANVAS-16] */
export type ShapeDsl = JsonObject

/** Returns the shapes of a page, bottom first. The members of a group come directly after it. [CANVAS-17] */
export function shapesInOrder(page: CanvasPage): readonly Shape[] {
  const values = shapeValues(page)
  const shapes = new Map(page.shapes.map((shape) => [shape.id, shape]))
  return stackShapes([...values.keys()], values).map((id) => shapes.get(id) as Shape)
}

/** Returns the geometry of a page, which `readBack` needs to show groups. */
export function readablePage(page: CanvasPage): PageGeometry {
  return pageGeometry(shapeValues(page))
}

/** Shows one stored shape as a DSL object. */
export function readBack(shape: Shape, page: PageGeometry): ShapeDsl {
  const { id, value } = shape
  const kind = kindOf(value)
  const type = stringOf(value, 'type') ?? 'unknown'
  const text = labelOf(value)
  return {
    id,
    kind: type,
    type,
    ...placeOf[kind.form](shape, page),
    ...(text === undefined ? {} : { text }),
    style: styleOf(value, kind),
    ...(kind.form === 'box' ? iconOf(value) : {}),
    ...shownOf(value, kind),
  }
}

/** Refuses an id that no shape of the page has. Names another page that has the id, else the nearest ids of this page. [ERR_SHAPE_NOT_FOUND, TOOL-26] */
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

/** Returns the members that depend on the form: the place and size of a box, the ends of a line, the members of a group. */
const placeOf: { readonly [F in ShapeKind['form']]: (shape: Shape, page: PageGeometry) => JsonObject } = {
  box: ({ value }): JsonObject => {
    const { x, y } = centreOf(value)
    const size = shownSize(value)
    return size === null ? { x, y } : { x, y, w: size.width, h: size.height }
  },
  line: ({ value }) => ({ ...centreOf(value), ...endsOf(value) }),
  group: ({ id, value }, { shapes, groups }) => ({
    ...groupPlace(value, groups.get(id) ?? null),
    childIds: [...new Set(childrenOf(value))].filter((child) => shapes.has(child)),
  }),
}

/** Returns the centre and size of the box around the members of a group. A group without placed members has its own x and y, and the size 0. */
function groupPlace(value: JsonObject, bounds: ReturnType<PageGeometry['groups']['get']>): JsonObject {
  if (bounds === undefined || bounds === null) return { ...centreOf(value), w: 0, h: 0 }
  const { left, top, right, bottom } = bounds
  return { x: left / 2 + right / 2, y: top / 2 + bottom / 2, w: finite(right - left), h: finite(bottom - top) }
}

function endsOf(value: JsonObject): JsonObject {
  const { x, y } = endOf(value)
  const waypoints = memberOf(value, 'waypoints')
  const routingMode = stringOf(value, 'routingMode')
  const labelPosition = numberOf(value, 'labelPosition')
  return {
    x2: x,
    y2: y,
    startShapeId: stringOf(value, 'startShapeId') || null,
    endShapeId: stringOf(value, 'endShapeId') || null,
    startAnchor: stringOf(value, 'startAnchor') || 'center',
    endAnchor: stringOf(value, 'endAnchor') || 'center',
    startArrowStyle: arrowOf(value, 'start'),
    endArrowStyle: arrowOf(value, 'end'),
    ...(routingMode === undefined ? {} : { routingMode }),
    ...(Array.isArray(waypoints) ? { waypoints } : {}),
    ...(labelPosition === undefined ? {} : { labelPosition }),
  }
}

/** Reads the style. Leaves out a colour that is stored as `null`, such as the fill of a connector, since `add_shape` takes only colours. [CANVAS-6] */
function styleOf(value: JsonObject, kind: ShapeKind): JsonObject {
  const entries = styleNames.flatMap((name): (readonly [string, Json])[] => {
    const member = memberOf(value, name)
    if (typeof member !== (name === 'strokeWidth' ? 'number' : 'string')) return []
    // A kind may store one style in the member of another style, and then only the other style is shown: a text stores labelColor in `fill` and shows fill.
    // The stroke width 0 is left out where 0 is the default of the kind, as for a text, which has no stroke.
    const isElsewhere = (kind.style[name] ?? name) !== name
    const isNoLine = name === 'strokeWidth' && member === 0 && kind.defaults?.[name] === 0
    return isElsewhere || isNoLine ? [] : [[name, member as Json]]
  })
  return Object.fromEntries(entries)
}

function iconOf(value: JsonObject): JsonObject {
  const iconId = stringOf(value, 'iconId')
  if (iconId === undefined || iconId === '') return {}
  const mode = stringOf(value, 'iconDisplayMode')
  const size = numberOf(value, 'iconSize')
  return { iconId, ...(mode === undefined ? {} : { iconDisplayMode: mode }), ...(size === undefined ? {} : { iconSize: size }) }
}

/** Returns the members that only the kind of this shape has. */
function shownOf(value: JsonObject, { shown }: ShapeKind): JsonObject {
  return Object.fromEntries(
    shown.flatMap(({ stored, shown: name, type }): (readonly [string, Json])[] => {
      const member = memberOf(value, stored)
      if (type === 'blob') return typeof member === 'string' ? [[name, bareHash(member) ?? member]] : []
      return typeof member === type ? [[name, member as Json]] : []
    }),
  )
}
