import type { CanvasPage } from '../body.ts'
import { type Bounds, boundsAround, boundsOf, grown, overlaps, unite } from '../canvas/geometry/bounds.ts'
import type { ShapeBoxes } from '../canvas/geometry/connector-line.ts'
import { alongPolyline } from '../canvas/geometry/polyline.ts'
import { boundsOfShape, pageGeometry, shapeValues } from '../canvas/page-geometry.ts'
import { centreOf } from '../canvas/stored-shape.ts'
import { boxSvg, type Drawn, lineLabelSvg, textShapeSvg } from './box-svg.ts'
import { BACKGROUND } from './colours.ts'
import { connectorPath } from './connector-path.ts'
import { type ConnectorDrawable, type Drawable, drawnBox, drawnPoint, readDrawable } from './drawable.ts'
import type { IconPaths } from './icon-svg.ts'
import { element, formatNumber } from './svg-text.ts'

/** Raised by every change of what a page looks like; part of the ETag of previews. [REST-35] */
export const RENDERER_VERSION = 4

const MARGIN = 40
const noIcons: IconPaths = () => null
const UNNAMED: Drawn = { svg: '', bounds: null }
const EMPTY: Bounds = { left: 0, top: 0, right: 400, bottom: 300 }

export interface PageSvg {
  readonly svg: string
  /** In units of the page, before scaling. */
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
  // A group of nothing has no bounds, but it has a place.
  const { left, top, right, bottom } = boundsOfShape(shapeId, geometry) ?? boundsAround(centreOf(value), 0, 0)
  const [least, most] = [drawnPoint({ x: left, y: top }), drawnPoint({ x: right, y: bottom })]
  return grown({ left: least.x, top: least.y, right: most.x, bottom: most.y }, AROUND_SHAPE)
}

/**
 * A canvas page as SVG, bottom shape first. Pure: equal pages give equal text, whatever they hold; no script, no reference, no embedded bytes.
 * `scale` multiplies width and height and leaves the drawing; icons that `icons` has no path for are shown by their names.
 * With a `region` only this part of the page is shown. [CANVAS-25, CANVAS-26, REST-34, AG-109]
 */
export function renderPage(page: CanvasPage, scale: number, icons: IconPaths = noIcons, region: Bounds | null = null): PageSvg {
  const drawables = page.shapes.flatMap((shape) => readDrawable(shape.id, shape.value) ?? [])
  const attachable = new Map([...pageGeometry(shapeValues(page)).boxes].map(([id, box]) => [id, drawnBox(box)]))
  let content: Bounds | null = null
  const isShown = (bounds: Bounds | null, { strokeWidth }: Drawable) =>
    region === null || bounds === null || overlaps(grown(bounds, strokeWidth + 1), region)
  const parts: string[] = []
  const labels = new WaitingLabels()
  for (const drawable of drawables) {
    const { svg, bounds, label = UNNAMED } = draw(drawable, attachable, icons)
    const whole = unite(bounds, label.bounds)
    if (!isShown(whole, drawable)) continue
    content = unite(content, whole)
    if (drawable.kind !== 'connector' && bounds !== null) parts.push(labels.below(bounds))
    parts.push(svg)
    if (label.bounds !== null) labels.add(label.svg, label.bounds)
  }
  parts.push(labels.all())
  const { left, top, right, bottom } = region ?? (content === null ? EMPTY : grown(content, MARGIN))
  const [width, height] = [right - left, bottom - top]
  const ground = element('rect', { x: left, y: top, width, height, fill: BACKGROUND })
  const box = [left, top, width, height].map(formatNumber).join(' ')
  const root = { xmlns: 'http://www.w3.org/2000/svg', width: width * scale, height: height * scale, viewBox: box }
  return { svg: element('svg', root, ground + parts.join('')), width, height }
}

/**
 * The labels of connectors wait until all lines are drawn, so that no line crosses one. Only a shape that covers a label, as one in front of its connector
 * does, has it drawn before. [CANVAS-25]
 */
class WaitingLabels {
  #waiting: { readonly svg: string; readonly bounds: Bounds }[] = []
  /** Around all of them. */
  #around: Bounds | null = null

  add(svg: string, bounds: Bounds): void {
    this.#waiting.push({ svg, bounds })
    this.#around = unite(this.#around, bounds)
  }

  /** Those that a shape covers. */
  below(shape: Bounds): string {
    if (this.#around === null || !overlaps(this.#around, shape)) return ''
    const covered = this.#waiting.filter(({ bounds }) => overlaps(bounds, shape))
    if (covered.length > 0) this.#waiting = this.#waiting.filter(({ bounds }) => !overlaps(bounds, shape))
    return covered.map(({ svg }) => svg).join('')
  }

  all(): string {
    return this.#waiting.map(({ svg }) => svg).join('')
  }
}

interface DrawnShape extends Drawn {
  /** The label of a connector, which lies on other lines too. */
  readonly label?: Drawn
}

function draw(drawable: Drawable, shapes: ShapeBoxes, icons: IconPaths): DrawnShape {
  switch (drawable.kind) {
    case 'box':
      return boxSvg(drawable, icons)
    case 'text':
      return textShapeSvg(drawable)
    case 'connector':
      return connectorSvg(drawable, shapes)
  }
}

function connectorSvg(connector: ConnectorDrawable, shapes: ShapeBoxes): DrawnShape {
  const { d, outline, startArrow, endArrow } = connectorPath(connector, shapes)
  const { stroke, strokeWidth, opacity, label } = connector
  const line = element('path', { d, fill: 'none', stroke, 'stroke-width': strokeWidth })
  const place = alongPolyline(outline, connector.labelPosition)
  const named = label === '' ? UNNAMED : lineLabelSvg(label, place.x, place.y, connector.labelColour)
  const seen = (svg: string) => (opacity === 1 || svg === '' ? svg : element('g', { opacity }, svg))
  return {
    svg: seen(line + startArrow + endArrow),
    bounds: boundsOf(outline),
    label: { svg: seen(named.svg), bounds: named.bounds },
  }
}
