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

/** What a shape is drawn with besides its own value. */
export interface DrawnAmong {
  /** The shapes with a size, as connectors end at them. */
  readonly boxes: BoxLookup
  /** Icons without a path are shown by their names; absent: all are. */
  readonly icons?: IconPaths
}

/** One shape as it is drawn: its `<g data-shape="id">`, and where that lies. */
export interface DrawnShape extends Drawn {
  readonly id: string
  readonly strokeWidth: number
  /** The label of a connector, which lies on other lines too; a second `<g data-shape="id">`. */
  readonly label: Drawn | null
  /** Of a shape with a size; `null` for a connector or line. */
  readonly box: ShapeBox | null
  /** Whether a box hides what is behind its inside. */
  readonly isFilled: boolean
  /** The way of a connector or line as a polyline; `null` for a box. */
  readonly way: readonly Point[] | null
}

/** Draws one shape of a page; `null` for what is not drawn: groups, and shapes that are not visible. Pure. [CANVAS-25, CANVAS-26] */
export function drawShape(shape: Shape, { boxes, icons = noIcons }: DrawnAmong): DrawnShape | null {
  const drawable = readDrawable(shape.id, shape.value)
  if (drawable === null) return null
  const { id, strokeWidth } = drawable
  if (drawable.kind === 'connector') return { id, strokeWidth, isFilled: false, box: null, ...connectorSvg(drawable, boxes) }
  const drawn = drawable.kind === 'box' ? boxSvg(drawable, icons) : textShapeSvg(drawable)
  const isFilled = drawable.kind === 'text' || drawable.fill !== 'none' || drawable.label !== ''
  return { id, strokeWidth, isFilled, box: drawable, ...drawn, label: null, way: null }
}

/** All the room that a shape takes, its label included. */
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
 * The parts of a page as they lie above each other, bottom first. The labels of connectors wait until all lines are drawn, so that no line crosses one.
 * Only a shape that covers a label, as one in front of its connector does, has it drawn before. [CANVAS-25]
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
