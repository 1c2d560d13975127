import { readStoredBody } from '@docrelay/model/body-parse'
import type { CanvasPage, DocumentBody } from '@docrelay/model/body'
import type { IconPaths } from '@docrelay/model/render/icon-svg'
import { regionAround, renderPage } from '@docrelay/model/render/page-svg'
import { MAX_SIDE_PIXELS, pixelSize, rasterise, rasteriseWithin } from './rasterise.ts'

export type PreviewFormat = 'svg' | 'png'

/** A drawing of one canvas page of a stored body in a task thread. Input and output are plain data. */
export type PreviewTask = { readonly body: Uint8Array } & (
  | {
      readonly format: PreviewFormat
      /** `null`: the active page, else the first one. */
      readonly pageId: string | null
      readonly scale: number
    }
  /** A PNG for agents: of a page, or of one shape and what is around it. [AG-109] */
  | { readonly format: 'picture'; readonly pageId: string; readonly shapeId: string | null }
)

export type PreviewResult =
  | { readonly kind: 'drawn'; readonly bytes: Uint8Array; readonly pixels: number }
  | { readonly kind: 'no-page' }

/**
 * Runs a task. Deterministic. A document without canvas pages is drawn as an empty page, unless a page id was requested. [REST-34]
 */
export function runPreviewTask(task: PreviewTask, icons: IconPaths): PreviewResult {
  const page = pageOf(readStoredBody(task.body), task.pageId)
  if (page === null) return { kind: 'no-page' }
  if (task.format === 'picture') return drawPicture(page, task.shapeId, icons)
  const { scale, format } = task
  const drawn = renderPage(page, scale, icons)
  if (format === 'svg') return { kind: 'drawn', bytes: new TextEncoder().encode(drawn.svg), pixels: 0 }
  const { width, height } = pixelSize(drawn, scale)
  return { kind: 'drawn', bytes: rasterise(drawn, scale), pixels: width * height }
}

/** Draws a page, or a shape with its surroundings, as a PNG within the limits for agents. [AG-109] */
function drawPicture(page: CanvasPage, shapeId: string | null, icons: IconPaths): PreviewResult {
  const region = shapeId === null ? null : regionAround(page, shapeId)
  if (shapeId !== null && region === null) return { kind: 'no-page' }
  const bytes = rasteriseWithin(renderPage(page, 1, icons, region))
  return { kind: 'drawn', bytes, pixels: MAX_SIDE_PIXELS ** 2 }
}

function pageOf(body: DocumentBody, pageId: string | null): CanvasPage | null {
  const { pages } = body.canvas
  if (pageId !== null) return pages.find((page) => page.id === pageId) ?? null
  const active = body.members.get('activePageId')
  return pages.find((page) => page.id === active) ?? pages[0] ?? EMPTY_PAGE
}

const EMPTY_PAGE: CanvasPage = { id: '', members: {}, shapesForm: 'list', shapes: [] }
