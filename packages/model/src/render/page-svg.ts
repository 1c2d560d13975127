import type { CanvasPage } from '../body.ts'
import { type Bounds, boundsAround, grown, overlaps, unite } from '../canvas/geometry/bounds.ts'
import { boundsOfShape, pageGeometry, shapeValues } from '../canvas/page-geometry.ts'
import { centreOf } from '../canvas/stored-shape.ts'
import { BACKGROUND } from './colours.ts'
import { type DrawnShape, drawShape, roomOf, stacked } from './draw-shape.ts'
import { drawnPoint } from './drawable.ts'
import { type IconPaths, noIcons } from './icon-svg.ts'
import { element, formatNumber, svgText } from './svg-node.ts'

/** The version of the renderer, part of the ETag of previews. Raise it with every change of how a page looks. [REST-35] */
export const RENDERER_VERSION = 5

const MARGIN = 40
const EMPTY: Bounds = { left: 0, top: 0, right: 400, bottom: 300 }

export interface PageSvg {
  readonly svg: string
  /** The width of the drawing in units of the page, before scaling. */
  readonly width: number
  readonly height: number
}

/** How far around a shape its picture goes, in units of the page. [AG-109] */
const AROUND_SHAPE = 200

/** The part of a page that a picture of one shape shows; `null` when the page has no such shape. [AG-109] */
export function regionAround(page: CanvasPage, shapeId: string): Bounds | null {
  const geometry = pageGeometry(shapeValues(page))
  const value = geometry.shapes.get(shapeId)
  if (value === undefined) return null
  // A group without placed members has no bounds, but it stores a place.
  const { left, top, right, bottom } = boundsOfShape(shapeId, geometry) ?? boundsAround(centreOf(value), 0, 0)
  const [least, most] = [drawnPoint({ x: left, y: top }), drawnPoint({ x: right, y: bottom })]
  return grown({ left: least.x, top: least.y, right: most.x, bottom: most.y }, AROUND_SHAPE)
}

/**
 * Draws a canvas page as SVG, bottom shape first. Pure: equal pages give equal text. The SVG has no script, no reference and no embedded bytes, whatever the
 * page stores. `scale` multiplies width and height and does not change the drawing. An icon without a path in `icons` is shown by its name. With a `region`
 * only this part of the page is shown. [CANVAS-25, CANVAS-26, REST-34, AG-109]
 */
export function renderPage(page: CanvasPage, scale: number, icons: IconPaths = noIcons, region: Bounds | null = null): PageSvg {
  const { boxes } = pageGeometry(shapeValues(page))
  let content: Bounds | null = null
  const shown = page.shapes.flatMap((shape) => {
    const drawn = drawShape(shape, { boxes, icons })
    if (drawn === null || !isShown(drawn, region)) return []
    content = unite(content, roomOf(drawn))
    return [drawn]
  })
  const { left, top, right, bottom } = region ?? (content === null ? EMPTY : grown(content, MARGIN))
  const [width, height] = [right - left, bottom - top]
  const ground = element('rect', { x: left, y: top, width, height, fill: BACKGROUND })
  const box = [left, top, width, height].map(formatNumber).join(' ')
  const root = { xmlns: 'http://www.w3.org/2000/svg', width: width * scale, height: height * scale, viewBox: box }
  return { svg: svgText(element('svg', root, [ground, ...stacked(shown).map(({ node }) => node)])), width, height }
}

function isShown(drawn: DrawnShape, region: Bounds | null): boolean {
  return region === null || overlaps(grown(roomOf(drawn), drawn.strokeWidth + 1), region)
}
