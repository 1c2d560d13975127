import type { RouteExchange } from '../kernel/exchange.ts'
import { DOCUMENT_ID, IF_NONE_MATCH, PRIVATE_CONTENT } from '../documents/documents.exchanges.ts'

const HEADERS = {
  ...PRIVATE_CONTENT,
  ETag: 'Of version, page, scale, renderer and life of the document.',
  'Content-Security-Policy': 'Nothing in it may run or load.',
}

/** Request and answers of previews of one media type. [REST-36, REST-34] */
export function previewExchange(mediaType: string): RouteExchange {
  return {
    path: { id: DOCUMENT_ID },
    query: {
      page: { description: 'A page id; the active page, else the first, when absent.', schema: { type: 'string', minLength: 1 } },
      scale: {
        description: 'Of pixels, or of width and height.',
        schema: { type: 'number', minimum: 0.1, maximum: 4, default: 1 },
      },
    },
    requestHeaders: { 'If-None-Match': IF_NONE_MATCH },
    responses: {
      200: { description: 'The page.', content: { [mediaType]: {} }, headers: HEADERS },
      304: { description: 'The caller holds it.', headers: HEADERS },
    },
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN'],
  }
}
