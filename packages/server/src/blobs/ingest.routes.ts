import { callerOf } from '../http/caller.ts'
import { JSON_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { INGEST_EXCHANGES } from './ingest.exchanges.ts'
import { readIngestRequest } from './ingest-request.ts'
import type { Ingest } from './ingest.ts'

/** Declaration of the ingest route, without its handler. [interface, Endpoints] */
export const INGEST_ROUTES = {
  ingest: {
    method: 'POST',
    path: '/api/v1/blobs/ingest-from-url',
    credential: 'bearer',
    body: JSON_BODY,
    writersOnly: true,
    needs: 'role owner or member',
    summary: 'Fetches a URL into the blobs of the workspace.',
    exchange: INGEST_EXCHANGES.ingest,
  },
} as const satisfies Record<string, RouteDeclaration>

export function ingestRoutes(ingest: Ingest): readonly Route[] {
  return [
    {
      ...INGEST_ROUTES.ingest,
      async handle(request) {
        const {
          hash,
          sizeBytes: size,
          mimeType,
        } = await ingest.fetch(callerOf(request).access, () => readIngestRequest(request.json))
        return { kind: 'json', value: { hash, size, mimeType }, headers: { 'Cache-Control': 'no-store' } }
      },
    },
  ]
}
