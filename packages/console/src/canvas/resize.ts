import { type Point, rotated } from '@docrelay/model/canvas/geometry/bounds'
import type { ShapeBox } from '@docrelay/model/canvas/geometry/shape-box'
import type { Place } from './page-edits.ts'

/** A handle at the edge of a box: which sides it moves, in the directions of the upright box. */
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

/** Where a handle lies on its box. */
export function handlePoint({ centre, width, height, rotation }: ShapeBox, { x, y }: Handle): Point {
  return rotated({ x: centre.x + (x * width) / 2, y: centre.y + (y * height) / 2 }, centre, rotation)
}

/** A box after its handle was dragged by (`dx`, `dy`) of the page. The sides opposite to the handle stay where they are, also of a turned box. */
export function resized(box: ShapeBox, handle: Handle, by: Point, keepsRatio: boolean): Required<Place> {
  const { centre, rotation } = box
  const local = rotated(by, { x: 0, y: 0 }, -rotation)
  let w = Math.max(LEAST, Math.round(box.width + handle.x * local.x))
  let h = Math.max(LEAST, Math.round(box.height + handle.y * local.y))
  if (keepsRatio && box.width > 0 && box.height > 0) {
    const factor = handle.y === 0 ? w / box.width : handle.x === 0 ? h / box.height : Math.max(w / box.width, h / box.height)
    w = Math.max(LEAST, Math.round(box.width * factor))
    h = Math.max(LEAST, Math.round(box.height * factor))
  }
  const shift = { x: (handle.x * (w - box.width)) / 2, y: (handle.y * (h - box.height)) / 2 }
  const turned = rotated(shift, { x: 0, y: 0 }, rotation)
  return { x: centre.x + turned.x, y: centre.y + turned.y, w, h }
}
