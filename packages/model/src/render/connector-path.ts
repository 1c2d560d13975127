import type { Point } from '../canvas/geometry/bounds.ts'
import { type BoxLookup, connectorLine } from '../canvas/geometry/connector-line.ts'
import { distance } from '../canvas/geometry/segment.ts'
import type { ArrowStyle } from '../canvas/shape-kinds.ts'
import type { ConnectorDrawable } from './drawable.ts'
import { element, formatNumber, type SvgNode } from './svg-node.ts'

/** A connector as it is drawn. */
export interface ConnectorPath {
  /** The attribute `d` of the SVG path. */
  readonly d: string
  /** The path as a polyline, for bounds and the place of the label. */
  readonly outline: readonly Point[]
  /** The arrow heads at the ends of the connector. */
  readonly arrows: readonly SvgNode[]
}

/** Lays out a connector between its shapes. A free end, and an end at a missing shape, lies at its stored point. [CANVAS-25] */
export function connectorPath(connector: ConnectorDrawable, shapes: BoxLookup): ConnectorPath {
  const { points, controls, outline } = connectorLine(connector, shapes)
  const pieces = points.map((point, i) => {
    if (i === 0) return `M${at(point)}`
    const piece = controls?.[i - 1]
    return piece === undefined ? `L${at(point)}` : `C${at(piece[0])} ${at(piece[1])} ${at(point)}`
  })
  return {
    d: pieces.join(' '),
    outline,
    arrows: [
      ...arrow(connector, connector.start.arrow, outline[0] as Point, directionFrom(outline)),
      ...arrow(connector, connector.end.arrow, outline.at(-1) as Point, directionFrom(outline.toReversed())),
    ],
  }
}

/** The unit vector from the first point of a way to the next different point; `null` for a way without length. */
function directionFrom(points: readonly Point[]): Point | null {
  const [first] = points
  const next = points.find((point) => first !== undefined && distance(first, point) > 1e-6)
  if (first === undefined || next === undefined) return null
  const length = distance(first, next)
  return { x: (next.x - first.x) / length, y: (next.y - first.y) / length }
}

/** An arrow head whose tip is at `tip`; `inward` leads from the tip back along the line. */
function arrow(
  { stroke, strokeWidth }: ConnectorDrawable,
  style: ArrowStyle,
  tip: Point,
  inward: Point | null,
): readonly SvgNode[] {
  if (style === 'none' || inward === null) return []
  const length = 8 + strokeWidth * 2
  const half = length * 0.45
  const base = { x: tip.x + inward.x * length, y: tip.y + inward.y * length }
  const left = { x: base.x - inward.y * half, y: base.y + inward.x * half }
  const right = { x: base.x + inward.y * half, y: base.y - inward.x * half }
  if (style === 'open') {
    return [element('path', { d: `M${at(left)} L${at(tip)} L${at(right)}`, fill: 'none', stroke, 'stroke-width': strokeWidth })]
  }
  if (style === 'triangle') return [element('path', { d: `M${at(tip)} L${at(left)} L${at(right)} Z`, fill: stroke })]
  const far = { x: tip.x + inward.x * length * 2, y: tip.y + inward.y * length * 2 }
  return [element('path', { d: `M${at(tip)} L${at(left)} L${at(far)} L${at(right)} Z`, fill: stroke })]
}

function at({ x, y }: Point): string {
  return `${formatNumber(x)} ${formatNumber(y)}`
}
