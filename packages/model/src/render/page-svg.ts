import type { CanvasPage } from '../body.ts'
import { boxSvg, type Drawn, lineLabelSvg, textShapeSvg } from './box-svg.ts'
import { BACKGROUND } from './colours.ts'
import { connectorPath } from './connector-path.ts'
import { type BoxDrawable, type ConnectorDrawable, type Drawable, extentOf, readDrawable, type TextDrawable } from './drawable.ts'
import { alongPolyline, type Bounds, boundsOf, unite } from './geometry.ts'
import { element, formatNumber } from './svg-text.ts'

/** Raised by every change of what a page looks like; part of the ETag of previews. [REST-35] */
export const RENDERER_VERSION = 2

const MARGIN = 40
const UNNAMED: Drawn = { svg: '', bounds: null }
const EMPTY: Bounds = { left: 0, top: 0, right: 400, bottom: 300 }

export interface PageSvg {
  readonly svg: string
  /** In units of the page, before scaling. */
  readonly width: number
  readonly height: number
}

/**
 * A canvas page as SVG, bottom shape first. Pure: equal pages give equal text, whatever they hold; no script, no reference, no embedded bytes.
 * `scale` multiplies width and height and leaves the drawing. [CANVAS-25, CANVAS-26, REST-34]
 */
export function renderPage(page: CanvasPage, scale: number): PageSvg {
  const drawables = page.shapes.flatMap((shape) => readDrawable(shape.id, shape.value) ?? [])
  const attachable = new Map<string, BoxDrawable | TextDrawable>()
  for (const drawable of drawables) if (drawable.kind !== 'connector') attachable.set(drawable.id, drawable)
  let content: Bounds | null = null
  const parts = drawables.map((drawable) => {
    const { svg, bounds } = draw(drawable, attachable)
    content = unite(content, bounds)
    return svg
  })
  const { left, top, right, bottom } = content === null ? EMPTY : withMargin(content)
  const [width, height] = [right - left, bottom - top]
  const ground = element('rect', { x: left, y: top, width, height, fill: BACKGROUND })
  const box = [left, top, width, height].map(formatNumber).join(' ')
  const root = { xmlns: 'http://www.w3.org/2000/svg', width: width * scale, height: height * scale, viewBox: box }
  return { svg: element('svg', root, ground + parts.join('')), width, height }
}

function withMargin(bounds: Bounds): Bounds {
  return {
    left: bounds.left - MARGIN,
    top: bounds.top - MARGIN,
    right: bounds.right + MARGIN,
    bottom: bounds.bottom + MARGIN,
  }
}

function draw(drawable: Drawable, shapes: ReadonlyMap<string, BoxDrawable | TextDrawable>): Drawn {
  switch (drawable.kind) {
    case 'box':
      return { svg: boxSvg(drawable), bounds: extentOf(drawable) }
    case 'text':
      return textShapeSvg(drawable)
    case 'connector':
      return connectorSvg(drawable, shapes)
  }
}

function connectorSvg(connector: ConnectorDrawable, shapes: ReadonlyMap<string, BoxDrawable | TextDrawable>): Drawn {
  const { d, outline, startArrow, endArrow } = connectorPath(connector, shapes)
  const { stroke, strokeWidth, opacity, label } = connector
  const line = element('path', { d, fill: 'none', stroke, 'stroke-width': strokeWidth })
  const place = alongPolyline(outline, connector.labelPosition)
  const named = label === '' ? UNNAMED : lineLabelSvg(label, place.x, place.y, connector.labelColour)
  const content = line + startArrow + endArrow + named.svg
  const svg = opacity === 1 ? content : element('g', { opacity }, content)
  return { svg, bounds: unite(boundsOf(outline), named.bounds) }
}
