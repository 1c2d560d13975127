import { checkDocumentId } from '../documents/document-id.ts'
import { callerOf } from '../http/caller.ts'
import { namesEtag } from '../http/etag.ts'
import { NO_BODY, type Route, type RouteDeclaration, type RouteReply, type RouteRequest } from '../http/route.ts'
import { RelayError } from '../kernel/errors.ts'
import { previewExchange } from './previews.exchanges.ts'
import type { PreviewFormat } from './preview-task.ts'
import type { PreviewRequest, Previews } from './previews.ts'

const MEDIA_TYPES: Readonly<Record<PreviewFormat, string>> = { svg: 'image/svg+xml', png: 'image/png' }
const MIN_SCALE = 0.1
const MAX_SCALE = 4
const MAX_PAGE_ID_BYTES = 256
/** Headers that allow a browser only to show a preview: it can run and load nothing. [REST-35] */
const HEADERS = {
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

/** The preview routes without their handlers. [REST-34] */
export const PREVIEW_ROUTES = { svg: declaration('svg'), png: declaration('png') }

export function previewRoutes({ previews }: { readonly previews: Previews }): readonly Route[] {
  return (['svg', 'png'] as const).map((format) => ({
    ...PREVIEW_ROUTES[format],
    handle: (request) => drawPreview(request, format, previews),
  }))
}

function declaration(format: PreviewFormat): RouteDeclaration {
  return {
    method: 'GET',
    path: `/api/v1/docs/:id/preview.${format}`,
    credential: 'bearer',
    body: NO_BODY,
    needs: 'view',
    summary: `A canvas page as ${format.toUpperCase()}.`,
    exchange: previewExchange(MEDIA_TYPES[format]),
    documentParam: 'id',
    checkParams: (params) => checkDocumentId(params.id ?? ''),
  }
}

async function drawPreview(request: RouteRequest, format: PreviewFormat, previews: Previews): Promise<RouteReply> {
  const asked = readPreviewRequest(request.params.id ?? '', request.query, format)
  const known = request.header('if-none-match')
  const isKnown = (etag: string): boolean => known !== undefined && namesEtag(known, etag)
  const preview = await previews.draw(callerOf(request).access, asked, isKnown, request.left)
  const headers = { ...HEADERS, ETag: preview.etag }
  if (preview.kind === 'unchanged') return { kind: 'not-modified', headers }
  return { kind: 'bytes', bytes: preview.bytes, headers: { ...headers, 'Content-Type': MEDIA_TYPES[format] } }
}

/** Throws BAD_REQUEST for an invalid page or scale; ignores unknown members. [REST-8, REST-34] */
export function readPreviewRequest(docId: string, query: URLSearchParams, format: PreviewFormat): PreviewRequest {
  const pageId = query.get('page')
  if (pageId !== null && (pageId === '' || Buffer.byteLength(pageId) > MAX_PAGE_ID_BYTES)) {
    throw new RelayError('BAD_REQUEST', `The query member page is a page id of 1 to ${MAX_PAGE_ID_BYTES} bytes.`, {
      field: 'page',
      limit: MAX_PAGE_ID_BYTES,
    })
  }
  const text = query.get('scale')
  const scale = text === null ? 1 : /^\d{1,4}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (scale >= MIN_SCALE && scale <= MAX_SCALE) return { docId, pageId, scale, format }
  throw new RelayError('BAD_REQUEST', `The query member scale is a number from ${MIN_SCALE} to ${MAX_SCALE}.`, {
    field: 'scale',
    value: text?.slice(0, 64),
  })
}
