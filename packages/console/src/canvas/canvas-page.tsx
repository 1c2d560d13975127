import type { PageViewProps } from '../app/views.ts'
import './canvas.css'

/** A canvas page of an open document, to be drawn on together. */
export function CanvasPage({ pageId }: PageViewProps) {
  return <section class="canvas-page" data-page={pageId} />
}
