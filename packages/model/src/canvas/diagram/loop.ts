import type { Point } from '../geometry/bounds.ts'
import { simplified } from '../geometry/polyline.ts'
import type { DrawnRoute } from './drawn.ts'

const OUT = 20
const FURTHER = 12

/** How far `count` loops reach beyond the right and the bottom side of their node. [DIAG-13] */
export function reachOfLoops(count: number): number {
  return count === 0 ? 0 : OUT + (count - 1) * FURTHER
}

/** The route of a loop: out at the right, around the corner, and in at the bottom. `turn` counts the loops of a node from 0. [DIAG-13] */
export function loopRoute(
  centre: Point,
  { width, height }: { readonly width: number; readonly height: number },
  turn: number,
): DrawnRoute {
  const out = reachOfLoops(turn + 1)
  const { x, y } = centre
  const [right, bottom] = [x + width / 2, y + height / 2]
  return {
    startAnchor: 'right',
    endAnchor: 'bottom',
    points: simplified([
      { x: right, y },
      { x: right + out, y },
      { x: right + out, y: bottom + out },
      { x, y: bottom + out },
      { x, y: bottom },
    ]),
  }
}
