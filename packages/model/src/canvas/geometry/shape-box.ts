import { type Bounds, boundsAround, boundsOfTurned, centreOfBounds, type Point } from './bounds.ts'

/** Where a shape that has a size lies on its page. */
export interface ShapeBox {
  readonly centre: Point
  readonly width: number
  readonly height: number
  /** Degrees around the centre, clockwise. */
  readonly rotation: number
  /** The form of the edge of the shape. */
  readonly outline: 'rectangle' | 'ellipse'
}

/** An upright box with straight sides, such as the one around a group. */
export function uprightBox(bounds: Bounds): ShapeBox {
  return {
    centre: centreOfBounds(bounds),
    // The difference of the largest numbers would be Infinity.
    width: Math.min(bounds.right - bounds.left, Number.MAX_VALUE),
    height: Math.min(bounds.bottom - bounds.top, Number.MAX_VALUE),
    rotation: 0,
    outline: 'rectangle',
  }
}

/** The upright rectangle around a box as it lies on the page. */
export function boundsOfBox({ centre, width, height, rotation }: ShapeBox): Bounds {
  return boundsOfTurned(boundsAround(centre, width, height), centre, rotation)
}
