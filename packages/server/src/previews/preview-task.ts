import { readStoredBody } from '@docrelay/model/body-parse'
import type { CanvasPage, DocumentBody } from '@docrelay/model/body'
import { renderPage } from '@docrelay/model/render/page-svg'
import { rasterise } from './rasterise.ts'

export type PreviewFormat = 'svg' | 'png'

/** A drawing of one canvas page of a stored body. Plain data in, plain data out, for a task thread. */
export interface PreviewTask {
  readonly body: Uint8Array
  /** `null`: the active page, else the first. */
  readonly pageId: string | null
  readonly scale: number
  readonly format: PreviewFormat
}

export type PreviewResult = { readonly kind: 'drawn'; readonly bytes: Uint8Array } | { readonly kind: 'no-page' }

/** Deterministic. A document without any canvas page is drawn as an empty one, unless a page was asked for by its id. [REST-34] */
export function runPreviewTask({ body, pageId, scale, format }: PreviewTask): PreviewResult {
  const page = pageOf(readStoredBody(body), pageId)
  if (page === null) return { kind: 'no-page' }
  const drawn = renderPage(page, scale)
  const bytes = format === 'svg' ? new TextEncoder().encode(drawn.svg) : rasterise(drawn, scale)
  return { kind: 'drawn', bytes }
}

function pageOf(body: DocumentBody, pageId: string | null): CanvasPage | null {
  const { pages } = body.canvas
  if (pageId !== null) return pages.find((page) => page.id === pageId) ?? null
  const active = body.members.get('activePageId')
  return pages.find((page) => page.id === active) ?? pages[0] ?? EMPTY_PAGE
}

const EMPTY_PAGE: CanvasPage = { id: '', members: {}, shapesForm: 'list', shapes: [] }
