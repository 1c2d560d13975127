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

/** What a diagram has to keep to on its page. Of a diagram that goes below everything else this is nothing but its own nodes. */
export interface DiagramScene {
  /** By node its box on the page, of a node that stands for a shape. */
  readonly fixed: readonly (ShapeBox | null)[]
  readonly obstacles: readonly Bounds[]
  readonly taken: readonly TakenRoute[]
  readonly near: Bounds | null
}

/** Whether a diagram goes below everything else, wherever that is, so that its drawing needs nothing of the page. [DIAG-10] */
export function isFree({ nodes, near }: Diagram): boolean {
  return near === null && nodes.every(({ at, shapeId }) => at === null && shapeId === null)
}

/** The diagram with the plain ids of the shapes that it names; a stamp that does not fit refuses it. [AG-6] */
export function withPlainShapes(on: NamedShapes, diagram: Diagram): Diagram | Refusal {
  const nodes: Diagram['nodes'][number][] = []
  const places = new Map<string, number>()
  for (const [place, node] of diagram.nodes.entries()) {
    const found = node.shapeId === null ? null : plainShapeId(on, node.shapeId, `nodes[${place}].shapeId`)
    if (found !== null && isRefusal(found)) return found
    if (found !== null) {
      // One name of a shape may have a stamp and another one not.
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

/** Looks up what a diagram names and what lies around it. [AG-106, AG-107] */
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
      // A frame around a node is not in the way of what belongs to that node.
      if (!kept.some((inner) => encloses(bounds, inner))) obstacles.push(bounds)
    }
    if (form === 'line') taken.push(takenBy(id, value, geometry))
  }
  return { fixed, obstacles, taken, near: near && withinReach(near.bounds) }
}

/** What is to be laid out. */
export function requestOf(diagram: Diagram, { fixed, obstacles, taken, near }: DiagramScene): DiagramRequest {
  const { layout, direction, routing } = diagram
  const edges = diagram.edges.map(({ from, to, label }) => ({ from, to, label: label ? labelSize(label) : null }))
  const nodes = diagram.nodes.map(({ label, kind, at, shapeId }, place) => {
    const box = fixed[place] ?? null
    // The name of a shape on the page is its id, and no id of a shape begins with a blank here.
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

/** What of a page decided about a drawing; plain data. While it is the same the drawing fits. */
export interface SeenOfPage {
  readonly fixed: readonly (ShapeBox | null)[]
  readonly near: Bounds | null
  /** The boxes that reach into the drawing, in the order of the page. */
  readonly within: readonly Bounds[]
}

const clearance = 15

/** A drawing with the room around it in which a shape may be in its way. [DIAG-14] */
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

/** The shapes that nodes stand for, with the members of groups among them. */
function ownShapes({ nodes }: Diagram, shapes: ReadonlyMap<string, JsonObject>): ReadonlySet<string> {
  const ids = nodes.flatMap(({ shapeId }) => shapeId ?? [])
  return new Set(ids.flatMap((id) => [id, ...descendantsOf(id, shapes)]))
}

/** The boxes of nodes that are not placed. */
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

/** Farther out nothing is drawn, and numbers there have too few digits for what a layout adds to them. */
const reach = 10_000_000

function reachable(value: number): number {
  return Math.min(Math.max(value, -reach), reach)
}

function withinReach({ left, top, right, bottom }: Bounds): Bounds {
  return { left: reachable(left), top: reachable(top), right: reachable(right), bottom: reachable(bottom) }
}
