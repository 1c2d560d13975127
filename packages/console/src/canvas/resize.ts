import { type Point, rotated } from '@docrelay/model/canvas/geometry/bounds'
import type { ShapeBox } from '@docrelay/model/canvas/geometry/shape-box'
import type { Place } from './page-edits.ts'

/** A handle at the edge of a box: the sides that it moves, in the directions of the upright box. */
export interface Handle {
  readonly x: -1 | 0 | 1
  readonly y: -1 | 0 | 1
}

export const HANDLES: readonly Handle[] = [
  ...([-1, 0, 1] as const).map((x) => ({ x, y: -1 }) as const),
  { x: 1, y: 0 },
  ...([1, 0, -1] as const).map((x) => ({ x, y: 1 }) as const),
  { x: -1, y: 0 },
]

const LEAST = 8

/** Returns the position of a handle on its box. */
export function handlePoint({ centre, width, height, rotation }: ShapeBox, { x, y }: Handle): Point {
  return rotated({ x: centre.x + (x * width) / 2, y: centre.y + (y * height) / 2 }, centre, rotation)
}

/**
 * Returns the place of a box after its handle was dragged by `by`, in units of the page. `w` and `h` are given only when the handle changes
 * them; `keepsRatio` changes both. The sides opposite to the handle stay where they are, also when the box is turned.
 */
export function resized(box: ShapeBox, handle: Handle, by: Point, keepsRatio: boolean): Place {
  const { centre, rotation, width, height } = box
  const local = rotated(by, { x: 0, y: 0 }, -rotation)
  let w = handle.x === 0 ? width : Math.max(LEAST, Math.round(width + handle.x * local.x))
  let h = handle.y === 0 ? height : Math.max(LEAST, Math.round(height + handle.y * local.y))
  const isWhole = keepsRatio && width > 0 && height > 0
  if (isWhole) {
    const factor = handle.y === 0 ? w / width : handle.x === 0 ? h / height : Math.max(w / width, h / height)
    w = Math.max(LEAST, Math.round(width * factor))
    h = Math.max(LEAST, Math.round(height * factor))
  }
  const turned = rotated({ x: (handle.x * (w - width)) / 2, y: (handle.y * (h - height)) / 2 }, { x: 0, y: 0 }, rotation)
  const size = { ...((isWhole || handle.x !== 0) && { w }), ...((isWhole || handle.y !== 0) && { h }) }
  return { x: centre.x + turned.x, y: centre.y + turned.y, ...size }
}
