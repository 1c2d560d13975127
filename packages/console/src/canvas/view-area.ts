import type { Bounds, Point } from '@docrelay/model/canvas/geometry/bounds'

/** Which part of a page is shown: its left upper corner, and how many pixels a unit of the page takes. */
export interface View {
  readonly left: number
  readonly top: number
  readonly scale: number
}

/** The size of the canvas on the screen, in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

const LEAST_SCALE = 0.05
const MOST_SCALE = 4
const MARGIN = 40

/** Converts a point of the screen to a point of the page. */
export function toPage({ left, top, scale }: View, { x, y }: Point): Point {
  return { x: left + x / scale, y: top + y / scale }
}

/** Converts a point of the page to a point of the screen. */
export function toScreen({ left, top, scale }: View, { x, y }: Point): Point {
  return { x: (x - left) * scale, y: (y - top) * scale }
}

/** The view moved by pixels of the screen. */
export function panned(view: View, dx: number, dy: number): View {
  return { ...view, left: view.left + dx / view.scale, top: view.top + dy / view.scale }
}

/** Returns the view scaled by a factor, with the same point of the page under `at` on the screen. */
export function zoomed(view: View, factor: number, at: Point): View {
  const scale = Math.min(Math.max(view.scale * factor, LEAST_SCALE), MOST_SCALE)
  const held = toPage(view, at)
  return { scale, left: held.x - at.x / scale, top: held.y - at.y / scale }
}

/** The view that shows the whole page in the middle, at a scale of at most 1. */
export function fitted(content: Bounds | null, { width, height }: Size): View {
  const { left, top, right, bottom } = content ?? { left: 0, top: 0, right: 400, bottom: 300 }
  const [across, down] = [right - left, bottom - top]
  const room = Math.min((width - 2 * MARGIN) / (across || 1), (height - 2 * MARGIN) / (down || 1), 1)
  const scale = Math.max(room, LEAST_SCALE)
  return { scale, left: left + (across - width / scale) / 2, top: top + (down - height / scale) / 2 }
}

/** Moves the view as little as needed to show `bounds`. For bounds larger than the view, it shows their left upper corner. */
export function showing(view: View, bounds: Bounds, { width, height }: Size): View {
  const margin = MARGIN / 2 / view.scale
  const shift = (from: number, length: number, least: number, most: number) =>
    least - margin < from || most - least + 2 * margin > length
      ? least - margin - from
      : most + margin > from + length
        ? most + margin - from - length
        : 0
  const isInside =
    bounds.left >= view.left &&
    bounds.top >= view.top &&
    bounds.right <= view.left + width / view.scale &&
    bounds.bottom <= view.top + height / view.scale
  if (isInside) return view
  return {
    scale: view.scale,
    left: view.left + shift(view.left, width / view.scale, bounds.left, bounds.right),
    top: view.top + shift(view.top, height / view.scale, bounds.top, bounds.bottom),
  }
}
