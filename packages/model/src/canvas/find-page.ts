import type { CanvasPage, DocumentBody } from '../body.ts'
import type { Refusal } from '../edit.ts'
import { pageNotFound } from '../pages.ts'

export function findCanvasPage(body: DocumentBody, pageId: string): CanvasPage | Refusal {
  return body.canvas.pages.find((page) => page.id === pageId) ?? pageNotFound(body, pageId, 'canvas')
}
