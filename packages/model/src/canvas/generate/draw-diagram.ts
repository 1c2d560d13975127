import type { DocumentBody } from '../../body.ts'
import { isRefusal, type Refusal } from '../../edit.ts'
import type { DiagramLayout } from '../diagram/diagram.ts'
import { layoutDiagram } from '../diagram/layout.ts'
import { findCanvasPage } from '../find-page.ts'
import { pageGeometry, shapeValues } from '../page-geometry.ts'
import { type Diagram, type GenerateDiagram, readDiagram } from './diagram-input.ts'
import { type DiagramScene, diagramScene, isFree, requestOf, type SeenOfPage, seenOfPage } from './diagram-scene.ts'

/** A diagram that is laid out, and what of its page that depends on; plain data. */
export interface DrawnDiagram {
  readonly layout: DiagramLayout
  readonly seen: SeenOfPage
}

/** Whether the layout of a diagram depends on what is on its page. [AG-106, AG-107] */
export function dependsOnPage(args: GenerateDiagram): boolean {
  const diagram = readDiagram(args)
  return !isRefusal(diagram) && !isFree(diagram)
}

/**
 * Lays out what a call asks for, so that the edit need not. `body` may be `null` where the page does not matter. `shouldStop` is asked now and then; when
 * it says so, this ends with `LayoutStopped`. [DIAG-17]
 */
export function drawDiagram(
  body: DocumentBody | null,
  args: GenerateDiagram,
  shouldStop?: () => boolean,
): DrawnDiagram | Refusal {
  const diagram = readDiagram(args)
  if (isRefusal(diagram)) return diagram
  const scene = body === null ? emptyScene(diagram) : sceneIn(body, args.pageId, diagram)
  return isRefusal(scene) ? scene : drawn(diagram, scene, shouldStop)
}

export function drawn(diagram: Diagram, scene: DiagramScene, shouldStop?: () => boolean): DrawnDiagram {
  const layout = layoutDiagram(requestOf(diagram, scene), shouldStop)
  return { layout, seen: seenOfPage(scene, layout.bounds) }
}

function emptyScene({ nodes }: Diagram): DiagramScene {
  return { fixed: nodes.map(() => null), obstacles: [], taken: [], near: null }
}

function sceneIn(body: DocumentBody, pageId: string, diagram: Diagram): DiagramScene | Refusal {
  const page = findCanvasPage(body, pageId)
  return isRefusal(page) ? page : diagramScene(body, page, pageGeometry(shapeValues(page)), diagram)
}
