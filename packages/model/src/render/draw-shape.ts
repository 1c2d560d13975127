import type { Shape } from '../body.ts'
import { type Bounds, boundsOf, overlaps, type Point, unite } from '../canvas/geometry/bounds.ts'
import type { BoxLookup } from '../canvas/geometry/connector-line.ts'
import { alongPolyline } from '../canvas/geometry/polyline.ts'
import type { ShapeBox } from '../canvas/geometry/shape-box.ts'
import { boxSvg, type Drawn, group, lineLabelSvg, textShapeSvg } from './box-svg.ts'
import { connectorPath } from './connector-path.ts'
import { type ConnectorDrawable, drawnBox, readDrawable } from './drawable.ts'
import { type IconPaths, noIcons } from './icon-svg.ts'
import { element, type SvgNode } from './svg-node.ts'

/** The things that drawing a shape needs besides its own value. */
export interface DrawnAmong {
  /** The boxes of the shapes with a size, at which connectors end. */
  readonly boxes: BoxLookup
  /** The paths of icons. An icon without a path is shown by its name; so are all icons when `icons` is absent. */
  readonly icons?: IconPaths
}

/** One shape as it is drawn: its element `<g data-shape="id">`, and the bounds of this element. */
export interface DrawnShape extends Drawn {
  readonly id: string
  readonly strokeWidth: number
  /** The label of a connector, a second `<g data-shape="id">`, since a label lies above the lines of all connectors. */
  readonly label: Drawn | null
  /** The box of a shape with a size; `null` for a connector or line. */
  readonly box: ShapeBox | null
  /** Whether a point inside the box hits the box; false for a box without fill and label. */
  readonly isFilled: boolean
  /** The way of a connector or line as a polyline; `null` for a box. */
  readonly way: readonly Point[] | null
}

/** Draws one shape of a page. Returns `null` for a group and for an invisible shape. Pure. [CANVAS-25, CANVAS-26] */
export function drawShape(shape: Shape, { boxes, icons = noIcons }: DrawnAmong): DrawnShape | null {
  const drawable = readDrawable(shape.id, shape.value)
  if (drawable === null) return null
  const { id, strokeWidth } = drawable
  if (drawable.kind === 'connector') return { id, strokeWidth, isFilled: false, box: null, ...connectorSvg(drawable, boxes) }
  const drawn = drawable.kind === 'box' ? boxSvg(drawable, icons) : textShapeSvg(drawable)
  const isFilled = drawable.kind === 'text' || drawable.fill !== 'none' || drawable.label !== ''
  return { id, strokeWidth, isFilled, box: drawable, ...drawn, label: null, way: null }
}

/** Returns the bounds of a shape with its label. */
export function roomOf({ bounds, label }: DrawnShape): Bounds {
  return unite(bounds, label?.bounds ?? null) as Bounds
}

function connectorSvg(connector: ConnectorDrawable, boxes: BoxLookup) {
  const shapes: BoxLookup = {
    get: (id) => {
      const box = boxes.get(id)
      return box && drawnBox(box)
    },
  }
  const { d, outline, arrows } = connectorPath(connector, shapes)
  const { stroke, strokeWidth } = connector
  const line = element('path', { d, fill: 'none', stroke, 'stroke-width': strokeWidth })
  return {
    node: group(connector, [line, ...arrows]),
    bounds: boundsOf(outline) as Bounds,
    way: outline,
    label: connector.label === '' ? null : lineLabelSvg(connector, alongPolyline(outline, connector.labelPosition)),
  }
}

/** A part of a drawing. */
export interface Part {
  readonly id: string
  readonly isLabel: boolean
  readonly node: SvgNode
}

/**
 * Returns the parts of a page, bottom first. The labels of connectors come after all lines, so that no line crosses a label. But a box or text in front of
 * a connector that covers its label comes after the label. [CANVAS-25]
 */
export function stacked(shapes: readonly DrawnShape[]): readonly Part[] {
  const parts: Part[] = []
  let waiting: { readonly part: Part; readonly bounds: Bounds }[] = []
  let around: Bounds | null = null
  for (const { id, node, bounds, way, label } of shapes) {
    if (way === null && around !== null && overlaps(around, bounds)) {
      const rest: typeof waiting = []
      for (const entry of waiting) {
        if (overlaps(entry.bounds, bounds)) parts.push(entry.part)
        else rest.push(entry)
      }
      waiting = rest
    }
    parts.push({ id, node, isLabel: false })
    if (label !== null) {
      waiting.push({ part: { id, node: label.node, isLabel: true }, bounds: label.bounds })
      around = unite(around, label.bounds)
    }
  }
  return [...parts, ...waiting.map(({ part }) => part)]
}
