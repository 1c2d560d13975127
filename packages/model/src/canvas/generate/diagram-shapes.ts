import { equalJson, type Json, type JsonObject } from '../../json.ts'
import type { Shape } from '../../body.ts'
import { withInput } from '../apply-input.ts'
import type { DiagramLayout, RoutedEdge, Side } from '../diagram/diagram.ts'
import { nodeSize, type Size } from '../diagram/node-size.ts'
import { anchorDirection, anchorPoint, commonAnchors } from '../geometry/anchors.ts'
import type { Point } from '../geometry/bounds.ts'
import type { ShapeBox } from '../geometry/shape-box.ts'
import { baseDefaults, creatableKind } from '../shape-kinds.ts'
import type { ShapeInput } from '../shape-input.ts'
import type { Diagram } from './diagram-input.ts'

/** The shapes of a diagram as they are stored, but without `provenance`. */
export interface DiagramShapes {
  /** By node, the id of its shape, whether the shape is new or was on the page before. */
  readonly nodes: readonly string[]
  /** By edge, the id of its connector. */
  readonly edges: readonly string[]
  /** The shapes that the call adds: first its nodes in the order of the call, then the connectors. [DIAG-3] */
  readonly shapes: readonly Shape[]
}

/** How many ids `diagramShapes` needs. */
export function newShapeCount({ nodes, edges }: Diagram): number {
  return nodes.filter(({ shapeId }) => shapeId === null).length + edges.length
}

/** Returns for each node the size that shows its label. Measuring texts takes long, so call this function once. */
export function sizesOf({ nodes }: Diagram): readonly Size[] {
  return nodes.map(({ label, kind }) => nodeSize(label, kind))
}

/**
 * Makes the shapes of a diagram.
 *
 * @param newIds `newShapeCount` ids: first for the new nodes, then for the edges
 */
export function diagramShapes(
  diagram: Diagram,
  layout: DiagramLayout,
  sizes: readonly Size[],
  fixed: readonly (ShapeBox | null)[],
  newIds: readonly string[],
): DiagramShapes {
  let used = 0
  const shapes: Shape[] = []
  const blanks = { rectangle: blankOf('rectangle'), ellipse: blankOf('ellipse'), connector: blankOf('connector') } as const
  const newShape = (id: string, type: keyof typeof blanks, input: ShapeInput) => withInput({ ...blanks[type], id }, input)
  const nodes = diagram.nodes.map(({ shapeId, label, kind }, place) => {
    if (shapeId !== null) return shapeId
    const id = newIds[used++] as string
    const { width, height } = sizes[place] as Size
    shapes.push({ id, value: newShape(id, kind, { ...(layout.centres[place] as Point), w: width, h: height, text: label }) })
    return id
  })
  const edges = diagram.edges.map(({ from, to, label }, place) => {
    const id = newIds[used++] as string
    const way = wayOf(layout.edges[place] as RoutedEdge, fixed[from] ?? null, fixed[to] ?? null)
    const ends = { startShapeId: nodes[from] as string, endShapeId: nodes[to] as string }
    shapes.push({ id, value: newShape(id, 'connector', { ...(label === null ? {} : { text: label }), ...ends, ...way }) })
    return id
  })
  return { nodes, edges, shapes }
}

/** A shape of a kind that tools make, with nothing but the defaults that add_shape stores. [CANVAS-15] */
function blankOf(type: 'rectangle' | 'ellipse' | 'connector'): JsonObject {
  const bare: JsonObject = { id: '', type, x: 0, y: 0, ...baseDefaults, ...creatableKind(type)?.defaults }
  return type === 'connector' ? { ...bare, x2: 0, y2: 0 } : bare
}

/** The members of a connector that store its route. [DIAG-11, DIAG-12, DIAG-14, DIAG-16] */
function wayOf(edge: RoutedEdge, from: ShapeBox | null, to: ShapeBox | null): ShapeInput {
  const { waypoints, labelPosition } = edge
  const start = attached(edge.startAnchor, edge.start, from)
  const end = attached(edge.endAnchor, edge.end, to)
  return {
    ...start.point,
    x2: end.point.x,
    y2: end.point.y,
    startAnchor: start.anchor,
    endAnchor: end.anchor,
    ...(waypoints === null ? {} : { routingMode: 'orthogonal', waypoints: [...start.corner, ...waypoints, ...end.corner] }),
    ...(labelPosition === null ? {} : { labelPosition }),
  }
}

interface AttachedEnd {
  readonly anchor: string
  readonly point: Point
  /** The point at which the route reaches the upright box around a turned shape; empty when that point is the anchor itself. */
  readonly corner: readonly Point[]
}

/** The end of a route at a shape. On a turned shape, the anchor on that side has another name and may lie inside of the upright box. */
function attached(side: Side, point: Point, box: ShapeBox | null): AttachedEnd {
  if (box === null || box.rotation % 360 === 0) return { anchor: side, point, corner: [] }
  const outward = anchorDirection({ ...box, rotation: 0 }, side)
  const anchor = commonAnchors.find((name) =>
    equalJson(anchorDirection(box, name) as unknown as Json, outward as unknown as Json),
  )
  const own = anchorPoint(box, anchor ?? side)
  const isThere = Math.abs(own.x - point.x) < 0.5 && Math.abs(own.y - point.y) < 0.5
  return { anchor: anchor ?? side, ...(isThere ? { point, corner: [] } : { point: own, corner: [point] }) }
}
