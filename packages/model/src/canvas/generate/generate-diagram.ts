import type { Shape } from '../../body.ts'
import { type Edit, type EditRow, isRefusal, outdated, type Warning } from '../../edit.ts'
import { equalJson, type Json } from '../../json.ts'
import { quote } from '../../quote.ts'
import { type Certificate, certified, type Counts, together } from '../diagram/certificate.ts'
import type { DiagramLayout } from '../diagram/diagram.ts'
import { refitted } from '../diagram/layout.ts'
import { cornerBelow } from '../diagram/place.ts'
import { findCanvasPage } from '../find-page.ts'
import { moved, overlaps, type Point } from '../geometry/bounds.ts'
import { boundsOfBox } from '../geometry/shape-box.ts'
import { boundsOfPage, type PageGeometry, pageGeometry, shapeValues } from '../page-geometry.ts'
import { countsOfPage } from '../page-lint.ts'
import { kindOf } from '../shape-kinds.ts'
import { mintShapeIds, signed, withShapes, writtenTo } from '../write-page.ts'
import { type Diagram, diagramFlaw, type GenerateDiagram, readDiagram } from './diagram-input.ts'
import { diagramScene, isFree, requestOf, seenOfPage, withPlainShapes } from './diagram-scene.ts'
import { diagramShapes, newShapeCount } from './diagram-shapes.ts'
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
  const given = readDiagram(args)
  if (isRefusal(given)) return given
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const present = shapeValues(page)
  const diagram = withPlainShapes({ body, page, shapes: present, naming: args.naming, seen: environment.seen }, given)
  if (isRefusal(diagram)) return diagram
  const before = pageGeometry(present)
  const scene = diagramScene(body, page, before, diagram)
  if (isRefusal(scene)) return scene
  const { layout, seen, sizes, counts } = args.drawn ?? drawn(diagram, scene)
  const isOld = !equalJson(seen as unknown as Json, seenOfPage(scene, layout.bounds) as unknown as Json)
  if (isOld && args.fit !== true)
    return outdated('A shape moved into the drawing, or one that the drawing keeps to changed its place, while it was made.')
  const fitted = isOld ? refitted(requestOf(diagram, scene), layout) : layout
  const placed = isFree(diagram) ? below(fitted, before) : fitted
  const ids = mintShapeIds(body, newShapeCount(diagram), environment)
  const made = diagramShapes(diagram, placed, sizes, scene.fixed, ids)
  const shapes = made.shapes.map(({ id, value }): Shape => ({ id, value: signed(value, environment.nowMs) }))
  const after = () => pageGeometry(new Map([...present, ...shapes.map(({ id, value }) => [id, value] as const)]))
  const apart = isFree(diagram) && counts !== null ? together(countsOfPage(before), movedCounts(counts, layout, placed)) : null
  const { left, top, right, bottom } = placed.bounds
  return writtenTo<GeneratedDiagram>({
    page,
    body: withShapes(body, page, [...page.shapes, ...shapes]),
    result: {
      nodes: Object.fromEntries(diagram.nodes.map(({ id }, place) => [id, made.nodes[place] as string])),
      edges: made.edges,
      layout: { name: diagram.layout, ...certified(apart ?? countsOfPage(after())) },
      direction: diagram.direction,
      routing: diagram.routing,
      bounds: { x: left, y: top, w: right - left, h: bottom - top },
    },
    fixes: diagram.fixes,
    warnings: [...(isOld ? [FITTED] : []), ...nearWarnings(diagram, placed), ...coverWarnings(diagram, made.nodes, after)],
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

/** The counts of a drawing that was moved as a whole. */
function movedCounts({ bounds, ...counts }: Counts, from: DiagramLayout, to: DiagramLayout): Counts {
  const [dx, dy] = [to.bounds.left - from.bounds.left, to.bounds.top - from.bounds.top]
  return { ...counts, bounds: bounds && moved(bounds, dx, dy) }
}

/** What is told when the drawing is not where it was to be. [AG-107] */
function nearWarnings({ near }: Diagram, { isNear, bounds }: DiagramLayout): readonly Warning[] {
  if (near === null || isNear) return []
  const [x, y] = [Math.round(bounds.left), Math.round(bounds.top)]
  const reason = `there is no room within 200 of "${quote(near)}", so the diagram stands elsewhere, from x ${x}, y ${y} on as bounds tells`
  return [{ reason, field: 'near' }]
}

/** What is told of nodes whose place the caller chose, where something else is. [AG-106] */
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
