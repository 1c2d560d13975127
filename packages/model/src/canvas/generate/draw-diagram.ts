import type { DocumentBody } from '../../body.ts'
import { isRefusal, type Refusal } from '../../edit.ts'
import { type Counts, countsOf } from '../diagram/certificate.ts'
import type { DiagramLayout } from '../diagram/diagram.ts'
import { layoutDiagram } from '../diagram/layout.ts'
import type { Size } from '../diagram/node-size.ts'
import { findCanvasPage } from '../find-page.ts'
import { pageGeometry, shapeValues } from '../page-geometry.ts'
import { pageDrawing } from '../page-lint.ts'
import { type Diagram, type GenerateDiagram, readDiagram } from './diagram-input.ts'
import {
  type DiagramScene,
  diagramScene,
  isFree,
  requestOf,
  type SeenOfPage,
  seenOfPage,
  withPlainShapes,
} from './diagram-scene.ts'
import { diagramShapes, newShapeCount, sizesOf } from './diagram-shapes.ts'

/** The layout of a diagram, and what the layout depends on in its page; plain data. */
export interface DrawnDiagram {
  readonly layout: DiagramLayout
  readonly seen: SeenOfPage
  /** By node, the size that its label needs. */
  readonly sizes: readonly Size[]
  /** The counts of the drawing alone, the same wherever the drawing is moved; `null` when the counts depend on the page or on rounding. [AG-108] */
  readonly counts: Counts | null
}

/** Whether the layout of a diagram depends on the content of its page. [AG-106, AG-107] */
export function dependsOnPage(args: GenerateDiagram): boolean {
  const diagram = readDiagram(args)
  return !isRefusal(diagram) && !isFree(diagram)
}

/**
 * Lays out the diagram of a call before the edit, so that the edit itself makes no layout. `body` may be `null` when the layout does not depend on the page.
 * Calls `shouldStop` now and then, and throws `LayoutStopped` when `shouldStop` returns true. [DIAG-17]
 */
export function drawDiagram(
  body: DocumentBody | null,
  args: GenerateDiagram,
  shouldStop?: () => boolean,
): DrawnDiagram | Refusal {
  const diagram = readDiagram(args)
  if (isRefusal(diagram)) return diagram
  if (body === null) return drawn(diagram, emptyScene(diagram), shouldStop)
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const shapes = shapeValues(page)
  const plain = withPlainShapes({ body, page, shapes, naming: args.naming }, diagram)
  if (isRefusal(plain)) return plain
  const scene = diagramScene(body, page, pageGeometry(shapes), plain)
  return isRefusal(scene) ? scene : drawn(plain, scene, shouldStop)
}

export function drawn(diagram: Diagram, scene: DiagramScene, shouldStop?: () => boolean): DrawnDiagram {
  const layout = layoutDiagram(requestOf(diagram, scene), shouldStop)
  const sizes = sizesOf(diagram)
  const counts = isFree(diagram) ? countsAlone(diagram, layout, sizes) : null
  return { layout, seen: seenOfPage(scene, layout.bounds), sizes, counts }
}

/** Sums and products of multiples of 1/16 up to 2^20 have no rounding error, so that moving a drawing changes no comparison. */
const finest = 1 / 16
const farthest = 2 ** 20

function countsAlone(diagram: Diagram, layout: DiagramLayout, sizes: readonly Size[]): Counts | null {
  const ids = Array.from({ length: newShapeCount(diagram) }, (_, i) => String(i))
  const { shapes } = diagramShapes(diagram, layout, sizes, [], ids)
  const { boxes, lines } = pageDrawing(pageGeometry(new Map(shapes.map(({ id, value }) => [id, value]))))
  const isExact = (value: number) => Number.isInteger(value / finest) && Math.abs(value) <= farthest
  const all = [
    ...boxes.flatMap(({ bounds }) => Object.values(bounds)),
    ...lines.flatMap(({ points }) => points.flatMap(({ x, y }) => [x, y])),
  ]
  return all.every(isExact) ? countsOf(boxes, lines) : null
}

function emptyScene({ nodes }: Diagram): DiagramScene {
  return { fixed: nodes.map(() => null), obstacles: [], taken: [], near: null }
}
