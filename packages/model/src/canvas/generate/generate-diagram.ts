import type { Shape } from '../../body.ts'
import { type Edit, type EditRow, isRefusal, outdated, type Warning } from '../../edit.ts'
import { equalJson, type Json, type JsonObject } from '../../json.ts'
import { quote } from '../../quote.ts'
import { withInput } from '../apply-input.ts'
import { type Certificate, certificateOf } from '../diagram/certificate.ts'
import type { DiagramLayout, RoutedEdge, Side } from '../diagram/diagram.ts'
import { refitted } from '../diagram/layout.ts'
import { nodeSize } from '../diagram/node-size.ts'
import { cornerBelow } from '../diagram/place.ts'
import { findCanvasPage } from '../find-page.ts'
import { anchorDirection, anchorPoint, commonAnchors } from '../geometry/anchors.ts'
import { overlaps, type Point } from '../geometry/bounds.ts'
import { boundsOfBox, type ShapeBox } from '../geometry/shape-box.ts'
import { boundsOfPage, type PageGeometry, pageGeometry, type ShapeValues, shapeValues } from '../page-geometry.ts'
import { pageDrawing } from '../page-lint.ts'
import { baseDefaults, creatableKind, kindOf } from '../shape-kinds.ts'
import type { ShapeInput } from '../shape-input.ts'
import { mintShapeId, signed, withShapes, writtenTo } from '../write-page.ts'
import { type Diagram, diagramFlaw, type GenerateDiagram, readDiagram } from './diagram-input.ts'
import { diagramScene, isFree, requestOf, seenOfPage } from './diagram-scene.ts'
import { drawn } from './draw-diagram.ts'

export interface GeneratedDiagram {
  /** By the caller's id of each node the id of its shape. */
  readonly nodes: { readonly [id: string]: string }
  /** The ids of the connectors in the order of the edges. */
  readonly edges: readonly string[]
  /** What the page is like now, and which layout was chosen. [AG-108] */
  readonly layout: Certificate & { readonly name: 'layered' | 'grid' }
  readonly direction: 'TB' | 'LR'
  readonly routing: 'orthogonal' | 'straight'
  /** Of the nodes and edges of the call; x and y are the left upper corner. */
  readonly bounds: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}

/**
 * Draws a diagram on a page: nodes in the order of the call, then connectors, on top of what is there, which stays as it is.
 * [TOOL-generate_diagram, DIAG-3, DIAG-10]
 */
const generateDiagram: Edit<GenerateDiagram, GeneratedDiagram> = (body, args, environment) => {
  const diagram = readDiagram(args)
  if (isRefusal(diagram)) return diagram
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const present = shapeValues(page)
  const before = pageGeometry(present)
  const scene = diagramScene(body, page, before, diagram)
  if (isRefusal(scene)) return scene
  const { layout, seen } = args.drawn ?? drawn(diagram, scene)
  const isOld = !equalJson(seen as unknown as Json, seenOfPage(scene, layout.bounds) as unknown as Json)
  if (isOld && args.fit !== true)
    return outdated('A shape moved into the drawing, or one that the drawing keeps to changed its place, while it was made.')
  const fitted = isOld ? refitted(requestOf(diagram, scene), layout) : layout
  const placed = isFree(diagram) ? below(fitted, before) : fitted
  const made = madeShapes(diagram, placed, scene.fixed, (taken) => mintShapeId(body, taken, environment), present)
  const shapes = [...made.nodes, ...made.edges].map(({ id, value }): Shape => ({ id, value: signed(value, environment.nowMs) }))
  const after = pageGeometry(new Map([...present, ...shapes.map(({ id, value }) => [id, value] as const)]))
  const { boxes, lines } = pageDrawing({ ...page, shapes: [...page.shapes, ...shapes] })
  const { left, top, right, bottom } = placed.bounds
  return writtenTo<GeneratedDiagram>({
    page,
    body: withShapes(body, page, [...page.shapes, ...shapes]),
    result: {
      nodes: Object.fromEntries(diagram.nodes.map(({ id }, place) => [id, made.ids[place] as string])),
      edges: made.edges.map(({ id }) => id),
      layout: { name: diagram.layout, ...certificateOf(boxes, lines) },
      direction: diagram.direction,
      routing: diagram.routing,
      bounds: { x: left, y: top, w: right - left, h: bottom - top },
    },
    fixes: diagram.fixes,
    warnings: [...(isOld ? [FITTED] : []), ...nearWarnings(diagram, placed), ...coverWarnings(diagram, made.ids, after)],
    selection: shapes.map(({ id }) => id),
  })
}

export const diagramEdits = {
  generate_diagram: { edit: generateDiagram, flaw: diagramFlaw, routes: true },
} as const satisfies Record<string, EditRow>

const FITTED: Warning = {
  reason: 'shapes moved while the diagram was laid out; it was fitted to where they are now, and looks better when drawn again',
}

/** Coordinates that tools write end here. [CANVAS-4] */
const farthest = 1_000_000

/** A drawing at its place below everything that is on the page now. [DIAG-10] */
function below(layout: DiagramLayout, page: PageGeometry): DiagramLayout {
  const bounds = boundsOfPage(page)
  const corner = cornerBelow(bounds === null ? [] : [bounds])
  const within = (value: number) => Math.min(Math.max(value, -farthest), farthest)
  const [dx, dy] = [within(corner.x) - layout.bounds.left, within(corner.y) - layout.bounds.top]
  const move = ({ x, y }: Point): Point => ({ x: x + dx, y: y + dy })
  const { left, top, right, bottom } = layout.bounds
  return {
    centres: layout.centres.map(move),
    edges: layout.edges.map((edge) => ({
      ...edge,
      start: move(edge.start),
      end: move(edge.end),
      waypoints: edge.waypoints?.map(move) ?? null,
    })),
    bounds: { left: left + dx, top: top + dy, right: right + dx, bottom: bottom + dy },
    isNear: layout.isNear,
  }
}

interface Made {
  /** By node the id of its shape, also of those that were there. */
  readonly ids: readonly string[]
  readonly nodes: readonly Shape[]
  readonly edges: readonly Shape[]
}

function madeShapes(
  diagram: Diagram,
  layout: DiagramLayout,
  fixed: readonly (ShapeBox | null)[],
  mint: (taken: { has(id: string): boolean }) => string,
  present: ShapeValues,
): Made {
  const minted = new Set<string>()
  const newId = () => {
    const id = mint({ has: (known) => present.has(known) || minted.has(known) })
    minted.add(id)
    return id
  }
  const nodes: Shape[] = []
  const ids = diagram.nodes.map(({ shapeId, label, kind }, place) => {
    if (shapeId !== null) return shapeId
    const id = newId()
    const { width, height } = nodeSize(label, kind)
    nodes.push({ id, value: newShape(id, kind, { ...(layout.centres[place] as Point), w: width, h: height, text: label }) })
    return id
  })
  const edges = diagram.edges.map(({ from, to, label }, place) => {
    const id = newId()
    const way = wayOf(layout.edges[place] as RoutedEdge, fixed[from] ?? null, fixed[to] ?? null)
    const ends = { startShapeId: ids[from] as string, endShapeId: ids[to] as string }
    return { id, value: newShape(id, 'connector', { ...(label === null ? {} : { text: label }), ...ends, ...way }) }
  })
  return { ids, nodes, edges }
}

/** A shape of one of the kinds that tools make, as add_shape stores it. [CANVAS-15] */
function newShape(id: string, type: 'rectangle' | 'ellipse' | 'connector', input: ShapeInput): JsonObject {
  const bare: JsonObject = { id, type, x: 0, y: 0, ...baseDefaults, ...creatableKind(type)?.defaults }
  return withInput(type === 'connector' ? { ...bare, x2: 0, y2: 0 } : bare, input)
}

/** How a connector is stored that takes a route. [DIAG-11, DIAG-12, DIAG-14, DIAG-16] */
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
  /** Where the route reaches the upright box around a shape that is turned. */
  readonly corner: readonly Point[]
}

/** The end of a route at a shape. A turned shape has another anchor on that side, and one that may lie further in. */
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

/** What is told when the drawing is not where it was to be. [AG-107] */
function nearWarnings({ near }: Diagram, { isNear, bounds }: DiagramLayout): readonly Warning[] {
  if (near === null || isNear) return []
  const [x, y] = [Math.round(bounds.left), Math.round(bounds.top)]
  const reason = `there is no room within 200 of "${quote(near)}", so the diagram stands elsewhere, from x ${x}, y ${y} on as bounds tells`
  return [{ reason, field: 'near' }]
}

/** What is told of nodes whose place the caller chose, where something else is. [AG-106] */
function coverWarnings({ nodes }: Diagram, ids: readonly string[], { shapes, boxes }: PageGeometry): readonly Warning[] {
  return nodes.flatMap(({ at }, node): readonly Warning[] => {
    const own = boxes.get(ids[node] as string)
    if (at === null || own === undefined) return []
    const bounds = boundsOfBox(own)
    const covered = [...boxes].filter(([id, box]) => {
      const value = shapes.get(id)
      const isBox = value !== undefined && kindOf(value).form === 'box'
      return isBox && id !== ids[node] && overlaps(boundsOfBox(box), bounds)
    })
    if (covered.length === 0) return []
    const names = covered.slice(0, 3).map(([id]) => `"${quote(id)}"`)
    const more = covered.length > names.length ? ` and ${covered.length - names.length} others` : ''
    return [{ reason: `at this place the node and ${names.join(', ')}${more} cover each other`, field: 'at', node }]
  })
}
