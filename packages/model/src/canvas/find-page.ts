import type { CanvasPage, DocumentBody } from '../body.ts'
import type { Refusal } from '../edit.ts'
import { pageNotFound } from '../pages.ts'

export function findCanvasPage(body: DocumentBody, pageId: string): CanvasPage | Refusal {
  return body.canvas.pages.find((page) => page.id === pageId) ?? pageNotFound(body, pageId, 'canvas')
}

/** Replaces the canvas page of a body that has the id of `page`. Returns `body` itself when the body already has this very page (`===`). */
export function withCanvasPage(body: DocumentBody, page: CanvasPage): DocumentBody {
  if (body.canvas.pages.includes(page)) return body
  return withCanvasPages(
    body,
    body.canvas.pages.map((other) => (other.id === page.id ? page : other)),
  )
}

export function withCanvasPages(body: DocumentBody, pages: readonly CanvasPage[]): DocumentBody {
  return { ...body, canvas: { ...body.canvas, pages } }
}
