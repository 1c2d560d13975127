import type { Side } from '@docrelay/model/canvas/geometry/anchors'
import type { Pointer } from './pointer-gestures.ts'
import type { Handle } from './resize.ts'

/** Converts a pointer event of the browser to the form that gestures read, in pixels from the corner of `place`. */
export function pointerOf(event: MouseEvent & Partial<Pick<PointerEvent, 'pointerId' | 'pointerType'>>, place: Element): Pointer {
  const { left, top } = place.getBoundingClientRect()
  const { pointerId = 0, pointerType = 'mouse', button, shiftKey } = event
  return { pointerId, pointerType, button, shiftKey, x: event.clientX - left, y: event.clientY - top, grip: gripOf(event.target) }
}

function gripOf(target: EventTarget | null): Pointer['grip'] {
  const element = target instanceof Element ? target.closest('[data-handle], [data-side]') : null
  const side = element?.getAttribute('data-side')
  if (side) return { side: side as Side }
  const [x, y] = (element?.getAttribute('data-handle') ?? '').split(',').map(Number)
  return element === null || x === undefined || y === undefined ? null : { handle: { x, y } as Handle }
}
