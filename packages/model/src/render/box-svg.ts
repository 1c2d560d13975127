import { type Bounds, boundsAround, boundsOfTurned, type Point, unite } from '../canvas/geometry/bounds.ts'
import { boundsOfBox } from '../canvas/geometry/shape-box.ts'
import { labelPadding } from '../canvas/label-fit.ts'
import { measureText } from '../canvas/text/measure-text.ts'
import { wrapLabel } from '../canvas/text/wrap-label.ts'
import { BACKGROUND } from './colours.ts'
import type { BoxDrawable, ConnectorDrawable, Drawable, TextDrawable } from './drawable.ts'
import { type IconPaths, iconSvg } from './icon-svg.ts'
import { element, formatNumber, type SvgNode } from './svg-node.ts'
import { lineHeight, textSvg } from './text-svg.ts'

/** A drawn element, and the bounds of the room that it takes. */
export interface Drawn {
  readonly node: SvgNode
  readonly bounds: Bounds
}

/** A rectangle, ellipse, file or any other box with its label and icon. [CANVAS-25] */
export function boxSvg(box: BoxDrawable, paths: IconPaths): Drawn {
  const { centre, width, height, icon, labelSize } = box
  const symbol = icon === null ? null : iconSvg(icon, box, paths)
  const lines = labelLines(box, symbol?.above ?? 0)
  const labelHeight = lines.length * lineHeight(labelSize)
  const top = centre.y + ((symbol?.above ?? 0) - labelHeight) / 2
  const label = textSvg({
    lines,
    x: centre.x,
    top,
    anchor: 'middle',
    size: labelSize,
    colour: box.labelColour,
    family: 'sans-serif',
  })
  const shape = icon?.mode === 'icon-only' ? [] : [outline(box)]
  const placed = symbol?.at(labelHeight) ?? null
  const own = boundsAround(centre, width, height)
  return {
    node: group(box, [...shape, ...label, ...(placed?.nodes ?? [])]),
    bounds: boundsOfTurned(unite(own, placed?.bounds ?? null) ?? own, centre, box.rotation),
  }
}

/** @param above the height of the icon and the gap above the label */
function labelLines({ label, labelSize, width, height }: BoxDrawable, above: number): readonly string[] {
  if (label === '') return []
  const maxLines = Math.max(1, Math.floor((height - above) / lineHeight(labelSize)))
  return wrapLabel(label, { fontSizePx: labelSize, maxWidth: Math.max(width - 2 * labelPadding, labelSize), maxLines })
}

/** Draws a text shape in its own font, alignment and colour. Lines beyond the height of the shape are drawn too. */
export function textShapeSvg(shape: TextDrawable): Drawn {
  const { centre, width, height, fontSize, align, vertical } = shape
  const lines = wrapLabel(shape.text, {
    fontSizePx: fontSize,
    maxWidth: Math.max(width, fontSize),
    maxLines: 500,
    family: shape.family,
  })
  const used = lines.length * lineHeight(fontSize)
  const top =
    vertical === 'top' ? centre.y - height / 2 : vertical === 'bottom' ? centre.y + height / 2 - used : centre.y - used / 2
  const x = align === 'left' ? centre.x - width / 2 : align === 'right' ? centre.x + width / 2 : centre.x
  const anchor = align === 'left' ? 'start' : align === 'right' ? 'end' : 'middle'
  const block = { left: centre.x - width / 2, top, right: centre.x + width / 2, bottom: top + used }
  return {
    node: group(shape, textSvg({ lines, x, top, anchor, size: fontSize, colour: shape.colour, family: shape.family })),
    bounds: unite(boundsOfBox(shape), boundsOfTurned(block, centre, shape.rotation)) as Bounds,
  }
}

/** Draws the label of a line on a background of its own, so that people can read the label on the line. */
export function lineLabelSvg(connector: ConnectorDrawable, { x, y }: Point): Drawn {
  const { label, labelColour: colour } = connector
  const size = 12
  const lines = wrapLabel(label, { fontSizePx: size, maxWidth: 200, maxLines: 4 })
  const width = Math.max(...lines.map((line) => measureText(line, size))) + 6
  const height = lines.length * lineHeight(size)
  const ground = element('rect', { x: x - width / 2, y: y - height / 2, width, height, fill: BACKGROUND })
  return {
    node: group(connector, [
      ground,
      ...textSvg({ lines, x, top: y - height / 2, anchor: 'middle', size, colour, family: 'sans-serif' }),
    ]),
    bounds: { left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 },
  }
}

function outline(box: BoxDrawable): SvgNode {
  const { centre, width, height, fill, stroke, strokeWidth } = box
  const paint = { fill, stroke, 'stroke-width': strokeWidth }
  if (box.outline === 'ellipse')
    return element('ellipse', { cx: centre.x, cy: centre.y, rx: width / 2, ry: height / 2, ...paint })
  const radius = Math.min(box.cornerRadius, width / 2, height / 2)
  return element('rect', { x: centre.x - width / 2, y: centre.y - height / 2, width, height, rx: radius || undefined, ...paint })
}

/** Groups the drawn elements of a shape in a `<g>` that names the shape. */
export function group(shape: Drawable, children: readonly SvgNode[]): SvgNode {
  const { id, opacity } = shape
  return element('g', { 'data-shape': id, transform: turnOf(shape), opacity: opacity === 1 ? undefined : opacity }, children)
}

function turnOf(shape: Drawable): string | undefined {
  if (shape.kind === 'connector' || shape.rotation === 0) return undefined
  const { rotation, centre } = shape
  return `rotate(${formatNumber(rotation)} ${formatNumber(centre.x)} ${formatNumber(centre.y)})`
}
