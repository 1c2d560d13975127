import type { CanvasPage, DocumentBody } from '../body.ts'
import type { Refusal } from '../edit.ts'
import { pageNotFound } from '../pages.ts'

export function findCanvasPage(body: DocumentBody, pageId: string): CanvasPage | Refusal {
  return body.canvas.pages.find((page) => page.id === pageId) ?? pageNotFound(body, pageId, 'canvas')
}

/** The body with this page in the place of the one with its id; `body` itself when it is the same one. */
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
