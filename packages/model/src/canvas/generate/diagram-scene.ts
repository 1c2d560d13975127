import type { CanvasPage, DocumentBody } from '../../body.ts'
import { isRefusal, type Refusal } from '../../edit.ts'
import type { JsonObject } from '../../json.ts'
import type { DiagramRequest } from '../diagram/diagram.ts'
import { labelSize, nodeSize } from '../diagram/node-size.ts'
import { type Bounds, boundsAround, centreOfBounds, encloses, grown, overlaps } from '../geometry/bounds.ts'
import { connectorLine } from '../geometry/connector-line.ts'
import { boundsOfBox, type ShapeBox } from '../geometry/shape-box.ts'
import { boundsOfShape, courseOf, type PageGeometry } from '../page-geometry.ts'
import { type NamedShapes, plainShapeId } from '../named-shapes.ts'
import { shapeNotFound } from '../read-back.ts'
import type { TakenRoute } from '../router/care.ts'
import { descendantsOf } from '../settle-connectors.ts'
import { kindOf } from '../shape-kinds.ts'
import { connectorEndFlaw } from '../write-page.ts'
import { type Diagram, nodeRefused } from './diagram-input.ts'

/** The part of a page on which a diagram depends. A diagram that is placed below everything else depends on nothing but its own nodes. */
export interface DiagramScene {
  /** By node, the box of the shape that the node stands for; `null` for a node without such a shape. */
  readonly fixed: readonly (ShapeBox | null)[]
  readonly obstacles: readonly Bounds[]
  readonly taken: readonly TakenRoute[]
  readonly near: Bounds | null
}

/** Whether a diagram is placed below everything else, so that its layout depends on nothing on the page. [DIAG-10] */
export function isFree({ nodes, near }: Diagram): boolean {
  return near === null && nodes.every(({ at, shapeId }) => at === null && shapeId === null)
}

/** Replaces the names of shapes in a diagram by plain ids without stamps. Refuses a malformed or outdated stamp. [AG-6] */
export function withPlainShapes(on: NamedShapes, diagram: Diagram): Diagram | Refusal {
  const nodes: Diagram['nodes'][number][] = []
  const places = new Map<string, number>()
  for (const [place, node] of diagram.nodes.entries()) {
    const found = node.shapeId === null ? null : plainShapeId(on, node.shapeId, `nodes[${place}].shapeId`)
    if (found !== null && isRefusal(found)) return found
    if (found !== null) {
      // Two different names may mean one shape: one with a stamp and one without.
      const other = places.get(found.id)
      if (other !== undefined) return nodeRefused(place, node.id, `stands for the same shape as nodes[${other}]`)
      places.set(found.id, place)
    }
    nodes.push(found === null ? node : { ...node, shapeId: found.id })
  }
  const near = diagram.near === null ? null : plainShapeId(on, diagram.near, 'near')
  if (near !== null && isRefusal(near)) return near
  return { ...diagram, nodes, near: near?.id ?? null }
}

/** Looks up the shapes that a diagram names and the shapes around it. [AG-106, AG-107] */
export function diagramScene(
  body: DocumentBody,
  page: CanvasPage,
  geometry: PageGeometry,
  diagram: Diagram,
): DiagramScene | Refusal {
  const { shapes, boxes } = geometry
  const fixed: (ShapeBox | null)[] = []
  for (const [place, { shapeId }] of diagram.nodes.entries()) {
    const flaw = shapeId === null ? null : shapeFlaw(body, page, geometry, `nodes[${place}].shapeId`, shapeId)
    if (flaw !== null) return flaw
    fixed.push(shapeId === null ? null : (boxes.get(shapeId) ?? null))
  }
  const near = diagram.near === null ? null : nearBounds(body, page, geometry, diagram.near)
  if (near !== null && isRefusal(near)) return near
  if (isFree(diagram)) return { fixed, obstacles: [], taken: [], near: null }
  const own = ownShapes(diagram, shapes)
  const kept = keptBoxes(diagram, fixed)
  const obstacles: Bounds[] = []
  const taken: TakenRoute[] = []
  for (const [id, value] of shapes) {
    const { form } = kindOf(value)
    const box = boxes.get(id)
    if (form === 'box' && box !== undefined && !own.has(id)) {
      const bounds = withinReach(boundsOfBox(box))
      // A box around a kept node is its frame. It is no obstacle, because edges of that node must cross it.
      if (!kept.some((inner) => encloses(bounds, inner))) obstacles.push(bounds)
    }
    if (form === 'line') taken.push(takenBy(id, value, geometry))
  }
  return { fixed, obstacles, taken, near: near && withinReach(near.bounds) }
}

/** Makes the request for the layout of a diagram. */
export function requestOf(diagram: Diagram, { fixed, obstacles, taken, near }: DiagramScene): DiagramRequest {
  const { layout, direction, routing } = diagram
  const edges = diagram.edges.map(({ from, to, label }) => ({ from, to, label: label ? labelSize(label) : null }))
  const nodes = diagram.nodes.map(({ label, kind, at, shapeId }, place) => {
    const box = fixed[place] ?? null
    // A shape on the page is named by its id. The name of another node begins with a blank, which no id of a shape does here.
    if (box === null) return { name: shapeId ?? ` node ${place}`, ...nodeSize(label, kind), at }
    const bounds = withinReach(boundsOfBox(box))
    return {
      name: shapeId ?? '',
      width: bounds.right - bounds.left,
      height: bounds.bottom - bounds.top,
      at: centreOfBounds(bounds),
    }
  })
  return { nodes, edges, layout, direction, routing, obstacles, taken, near }
}

/** The facts of a page on which a drawing depended, as plain data. While these facts are the same, the drawing fits the page. */
export interface SeenOfPage {
  readonly fixed: readonly (ShapeBox | null)[]
  readonly near: Bounds | null
  /** The obstacles that reach into the drawing or its clearance, in the order of the page. */
  readonly within: readonly Bounds[]
}

const clearance = 15

/** The bounds of a drawing with its clearance. A shape outside these bounds is not in the way of the drawing. [DIAG-14] */
export function aroundDrawing(drawing: Bounds): Bounds {
  return grown(drawing, clearance)
}

export function seenOfPage({ fixed, near, obstacles }: DiagramScene, drawing: Bounds): SeenOfPage {
  const wanted = aroundDrawing(drawing)
  return { fixed, near, within: obstacles.filter((bounds) => overlaps(bounds, wanted)) }
}

function shapeFlaw(
  body: DocumentBody,
  page: CanvasPage,
  { shapes, boxes }: PageGeometry,
  argument: string,
  shapeId: string,
): Refusal | null {
  if (!shapes.has(shapeId)) return shapeNotFound(body, page, shapeId)
  return connectorEndFlaw(argument, shapeId, shapes) ?? (boxes.has(shapeId) ? null : shapeNotFound(body, page, shapeId))
}

function nearBounds(
  body: DocumentBody,
  page: CanvasPage,
  geometry: PageGeometry,
  near: string,
): { readonly bounds: Bounds } | Refusal {
  const bounds = boundsOfShape(near, geometry)
  return bounds === null ? shapeNotFound(body, page, near) : { bounds }
}

/** The ids of the shapes that nodes stand for, and of the members of such a shape that is a group. */
function ownShapes({ nodes }: Diagram, shapes: ReadonlyMap<string, JsonObject>): ReadonlySet<string> {
  const ids = nodes.flatMap(({ shapeId }) => shapeId ?? [])
  return new Set(ids.flatMap((id) => [id, ...descendantsOf(id, shapes)]))
}

/** The boxes of nodes that the layout does not place: shapes on the page, and nodes with `at`. */
function keptBoxes({ nodes }: Diagram, fixed: DiagramScene['fixed']): readonly Bounds[] {
  return nodes.flatMap(({ at, label, kind }, place) => {
    const box = fixed[place] ?? null
    if (box !== null) return [withinReach(boundsOfBox(box))]
    const { width, height } = nodeSize(label, kind)
    return at === null ? [] : [boundsAround(at, width, height)]
  })
}

function takenBy(id: string, value: JsonObject, { boxes }: PageGeometry): TakenRoute {
  const course = courseOf(value)
  const name = ({ shapeId, anchor }: (typeof course)['start'], free: string) => (shapeId === null ? free : `${shapeId} ${anchor}`)
  return {
    points: connectorLine(course, boxes).outline.map(({ x, y }) => ({ x: reachable(x), y: reachable(y) })),
    startAnchor: name(course.start, ` ${id} start`),
    endAnchor: name(course.end, ` ${id} end`),
  }
}

/** Coordinates are cut to this limit. Nothing is drawn further out, and numbers there are too coarse for the distances of a layout. */
const reach = 10_000_000

function reachable(value: number): number {
  return Math.min(Math.max(value, -reach), reach)
}

function withinReach({ left, top, right, bottom }: Bounds): Bounds {
  return { left: reachable(left), top: reachable(top), right: reachable(right), bottom: reachable(bottom) }
}
