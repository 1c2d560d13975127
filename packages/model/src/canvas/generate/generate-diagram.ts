import type { CanvasPage, DocumentBody, Shape } from '../../body.ts'
import {
  type Edit,
  type Edited,
  type EditEnvironment,
  type EditRow,
  isRefusal,
  outdated,
  type PlannedEdit,
  type Refusal,
  type Warning,
} from '../../edit.ts'
import { equalJson, type Json } from '../../json.ts'
import { quote } from '../../quote.ts'
import { type Certificate, certified, type Counts, together } from '../diagram/certificate.ts'
import type { DiagramLayout } from '../diagram/diagram.ts'
import { refitted } from '../diagram/layout.ts'
import { cornerOutside } from '../diagram/place.ts'
import { findCanvasPage } from '../find-page.ts'
import { type Bounds, moved, overlaps, type Point } from '../geometry/bounds.ts'
import { boundsOfBox } from '../geometry/shape-box.ts'
import { boundsOfPage, type PageGeometry, pageGeometry, shapeValues } from '../page-geometry.ts'
import { countsOfPage } from '../page-lint.ts'
import { kindOf } from '../shape-kinds.ts'
import { areFree, mintShapeIds, signed, withShapes, writtenTo } from '../write-page.ts'
import { type Diagram, diagramFlaw, type GenerateDiagram, readDiagram } from './diagram-input.ts'
import {
  aroundDrawing,
  type DiagramScene,
  diagramScene,
  isFree,
  requestOf,
  type SeenOfPage,
  seenOfPage,
  withPlainShapes,
} from './diagram-scene.ts'
import { type DiagramShapes, diagramShapes, newShapeCount } from './diagram-shapes.ts'
import { type DrawnDiagram, drawn } from './draw-diagram.ts'

export interface GeneratedDiagram {
  /** The id of the shape of each node, by the caller's id of the node. */
  readonly nodes: { readonly [id: string]: string }
  /** The ids of the connectors in the order of the edges. */
  readonly edges: readonly string[]
  /** The counts of the page after the call, and the name of the chosen layout. [AG-108] */
  readonly layout: Certificate & { readonly name: 'layered' | 'grid' }
  readonly direction: 'TB' | 'LR'
  readonly routing: 'orthogonal' | 'straight'
  /** The box around the nodes and edges of the call; x and y are its left upper corner. */
  readonly bounds: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}

/** A diagram and the page that it is drawn on. */
interface Ground {
  readonly page: CanvasPage
  readonly geometry: PageGeometry
  readonly diagram: Diagram
  readonly scene: DiagramScene
}

function groundOf(body: DocumentBody, args: GenerateDiagram, { seen }: EditEnvironment): Ground | Refusal {
  const given = readDiagram(args)
  if (isRefusal(given)) return given
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const shapes = shapeValues(page)
  const diagram = withPlainShapes({ body, page, shapes, naming: args.naming, seen }, given)
  if (isRefusal(diagram)) return diagram
  const geometry = pageGeometry(shapes)
  const scene = diagramScene(body, page, geometry, diagram)
  return isRefusal(scene) ? scene : { page, geometry, diagram, scene }
}

/** The shapes that a call puts on top of a page, and how they were drawn. */
interface Drawing extends Pick<DiagramShapes, 'nodes' | 'edges' | 'shapes'> {
  readonly drawn: DrawnDiagram
  readonly place: Pick<DiagramLayout, 'bounds' | 'isNear'> & { readonly isBelow: boolean }
  readonly isFitted: boolean
  /** The indexes of the edges without a clear way. */
  readonly unclear: readonly number[]
}

/**
 * Draws a diagram on top of a page: nodes in the order of the call, then connectors. The shapes that are on the page already stay as they are.
 * [TOOL-generate_diagram, DIAG-3, DIAG-10]
 */
const generateDiagram: Edit<GenerateDiagram, GeneratedDiagram> = (body, args, environment) => {
  const ground = groundOf(body, args, environment)
  if (isRefusal(ground)) return ground
  const { diagram, geometry, scene } = ground
  if (args.drawn === undefined && args.isRefused === true)
    return outdated('The diagram was refused when its layout was to be made, and the page has changed since.')
  const drawing = args.drawn ?? drawn(diagram, scene)
  const { layout, seen, sizes } = drawing
  const isOld = !isSeen(seen, scene, layout)
  if (isOld && args.fit !== true)
    return outdated('A shape moved into the drawing, or one that the drawing keeps to changed its place, while it was made.')
  const fitted = isOld ? refitted(requestOf(diagram, scene), layout) : layout
  const place = isFree(diagram) ? outside(fitted, geometry) : { ...fitted, isBelow: true }
  const ids = mintShapeIds(body, newShapeCount(diagram), environment)
  const made = diagramShapes(diagram, place, sizes, scene.fixed, ids)
  const shapes = made.shapes.map(({ id, value }): Shape => ({ id, value: signed(value, environment.nowMs) }))
  return drawnOn(body, ground, { ...made, shapes, drawn: drawing, place, isFitted: isOld, unclear: unclearOf(fitted) })
}

/**
 * Puts a planned drawing on a newer page, at the place that was free on the older page. Returns `null` when the plan does not fit: a shape that the drawing
 * depends on has moved or is gone, the place is no longer free, or somebody took an id of the plan. [CONC-14]
 */
function refitDiagram(
  { before, edited }: PlannedEdit<GeneratedDiagram>,
  now: DocumentBody,
  args: GenerateDiagram,
  environment: EditEnvironment,
): Edited<GeneratedDiagram> | null {
  const { drawn: drawing, pageId } = args
  const isFitted = edited.warnings.includes(FITTED)
  const [old, planned] = [findCanvasPage(before, pageId), findCanvasPage(edited.body, pageId)]
  if (drawing === undefined || isFitted || isRefusal(old) || isRefusal(planned)) return null
  const ground = groundOf(now, args, environment)
  if (isRefusal(ground)) return null
  const { diagram, geometry, scene } = ground
  const { nodes, edges, bounds: at } = edited.result
  const bounds = { left: at.x, top: at.y, right: at.x + at.w, bottom: at.y + at.h }
  const there = isFree(diagram) ? boundsOfPage(geometry) : null
  const isCovered = there !== null && overlaps(there, aroundDrawing(bounds))
  const shapes = planned.shapes.slice(old.shapes.length)
  if (isCovered || !isSeen(drawing.seen, scene, drawing.layout) || !areFree(now, shapes)) return null
  return drawnOn(now, ground, {
    ...{ nodes: diagram.nodes.map(({ id }) => nodes[id] as string), edges, shapes, drawn: drawing, isFitted },
    unclear: unclearOf(drawing.layout),
    place: { bounds, isNear: drawing.layout.isNear, isBelow: there === null || bounds.top >= there.bottom },
  })
}

function isSeen(seen: SeenOfPage, scene: DiagramScene, { bounds }: DiagramLayout): boolean {
  return equalJson(seen as unknown as Json, seenOfPage(scene, bounds) as unknown as Json)
}

function unclearOf({ edges }: DiagramLayout): readonly number[] {
  return edges.flatMap(({ isClear }, edge) => (isClear === false ? [edge] : []))
}

/** Puts a drawing on top of a page. The result has the counts of the page with the drawing. */
function drawnOn(body: DocumentBody, ground: Ground, drawing: Drawing): Edited<GeneratedDiagram> {
  const { page, geometry, diagram } = ground
  const { nodes, edges, shapes, place, isFitted, unclear } = drawing
  const { layout, counts } = drawing.drawn
  const after = () => pageGeometry(new Map([...geometry.shapes, ...shapes.map(({ id, value }) => [id, value] as const)]))
  const apart = isFree(diagram) && counts !== null ? together(countsOfPage(geometry), movedCounts(counts, layout, place)) : null
  const { left, top, right, bottom } = place.bounds
  return writtenTo<GeneratedDiagram>({
    page,
    body: withShapes(body, page, [...page.shapes, ...shapes]),
    result: {
      nodes: Object.fromEntries(diagram.nodes.map(({ id }, node) => [id, nodes[node] as string])),
      edges,
      layout: { name: diagram.layout, ...certified(apart ?? countsOfPage(after())) },
      direction: diagram.direction,
      routing: diagram.routing,
      bounds: { x: left, y: top, w: right - left, h: bottom - top },
    },
    fixes: diagram.fixes,
    warnings: [
      ...(isFitted ? [FITTED] : []),
      ...nearWarnings(diagram, place),
      ...belowWarnings(place),
      ...coverWarnings(diagram, nodes, after),
      ...unclear.map((edge) => ({ reason: 'no clear way was found for the edge; it takes the direct one', edge })),
    ],
    selection: shapes.map(({ id }) => id),
  })
}

export const diagramEdits = {
  generate_diagram: { edit: generateDiagram, flaw: diagramFlaw, routes: true, refit: refitDiagram },
} as const satisfies Record<string, EditRow>

const FITTED: Warning = {
  reason: 'shapes moved while the diagram was laid out; it was fitted to where they are now, and looks better when drawn again',
}

/** Moves a layout below everything that is on the page now, or beside or above it when there is no room below. [DIAG-10] */
function outside(layout: DiagramLayout, page: PageGeometry): DiagramLayout & { readonly isBelow: boolean } {
  const bounds = boundsOfPage(page)
  const { left, top, right, bottom } = layout.bounds
  const corner = cornerOutside(bounds === null ? [] : [bounds], { width: right - left, height: bottom - top })
  const [dx, dy] = [corner.x - left, corner.y - top]
  const move = ({ x, y }: Point): Point => ({ x: x + dx, y: y + dy })
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
    isBelow: corner.isBelow,
  }
}

/** The counts of a drawing that was moved as a whole. */
function movedCounts(
  { bounds, ...counts }: Counts,
  from: Pick<DiagramLayout, 'bounds'>,
  to: Pick<DiagramLayout, 'bounds'>,
): Counts {
  const [dx, dy] = [to.bounds.left - from.bounds.left, to.bounds.top - from.bounds.top]
  return { ...counts, bounds: bounds && moved(bounds, dx, dy) }
}

/** The warning when the drawing is not near the shape that `near` names. [AG-107] */
function nearWarnings({ near }: Diagram, { isNear, bounds }: Drawing['place']): readonly Warning[] {
  if (near === null || isNear) return []
  const reason = `there is no room within 200 of "${quote(near)}", so the diagram stands elsewhere, ${fromOn(bounds)}`
  return [{ reason, field: 'near' }]
}

/** The warning when the drawing is not below the content of the page. [DIAG-10] */
function belowWarnings({ isBelow, bounds }: Drawing['place']): readonly Warning[] {
  if (isBelow) return []
  return [{ reason: `there is no room below what is on the page, so the diagram stands elsewhere, ${fromOn(bounds)}` }]
}

function fromOn({ left, top }: Bounds): string {
  return `from x ${Math.round(left)}, y ${Math.round(top)} on as bounds tells`
}

/** The warnings for nodes whose place the caller chose, when such a node and another shape cover each other. [AG-106] */
function coverWarnings({ nodes }: Diagram, ids: readonly string[], page: () => PageGeometry): readonly Warning[] {
  if (nodes.every(({ at }) => at === null)) return []
  const { shapes, boxes } = page()
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
