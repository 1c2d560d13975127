import { describe, expect, it } from 'vitest'
import { authRoutes } from '../auth/auth.routes.ts'
import { blobRoutes } from '../blobs/blobs.routes.ts'
import { ingestRoutes } from '../blobs/ingest.routes.ts'
import { callRoutes } from '../calls/calls.routes.ts'
import { collectionRoutes } from '../collections/collections.routes.ts'
import { consoleRoutes } from '../console/console.routes.ts'
import { DOCUMENT_ROUTES, documentRoutes } from '../documents/documents.routes.ts'
import { purgeMemberRoutes } from '../documents/purge-member.routes.ts'
import { openApiRoutes } from '../http/openapi/openapi.routes.ts'
import type { Route, RouteDeclaration } from '../http/route.ts'
import { servedPaths } from '../http/routing.ts'
import { mcpRoutes } from '../mcp/mcp.routes.ts'
import { frontPageRoutes } from '../operation/front-page.routes.ts'
import { healthRoutes } from '../operation/health.routes.ts'
import { metricsRoutes } from '../operation/metrics.routes.ts'
import { previewRoutes } from '../previews/previews.routes.ts'
import { recoveryRoutes } from '../recovery/recovery.routes.ts'
import { searchRoutes } from '../search/search.routes.ts'
import { shareLinkRoutes } from '../share-links/share-links.routes.ts'
import { styleProfileRoutes } from '../style-profiles/style-profiles.routes.ts'
import { usageRoutes } from '../usage/usage.routes.ts'
import { routeTable } from './route-table.ts'

describe('the route table', () => {
  it('[REST-4] [REST-30] [X15] the relay has exactly these routes, each with its credential', () => {
    const shown = routeTable().map((route) => `${route.method} ${route.path} ${route.credential} ${route.body.kind}`)
    expect(shown).toEqual([
      'GET /api/docs bearer none',
      'GET /api/docs/:id bearer none',
      'PUT /api/docs/:id bearer document',
      'DELETE /api/docs/:id bearer none',
      'POST /api/docs/:id/transfer bearer json',
      'PUT /api/docs/:id/collection bearer json',
      'GET /api/v1/docs/:id/metadata bearer none',
      'GET /api/docs/:id/ydoc bearer none',
      'GET /api/blobs/:hash bearer none',
      'POST /api/blobs/:hash bearer stream',
      'POST /api/v1/blobs/:hash/upload-url bearer json',
      'POST /api/v1/blobs/:hash/finalize bearer json',
      'POST /api/v1/blobs/:hash/download-url bearer none',
      'POST /api/v1/blobs/ingest-from-url bearer json',
      'GET /api/docs/:id/recovery bearer none',
      'POST /api/docs/:id/recovery/capture bearer none',
      'GET /api/docs/:id/recovery/:pointId bearer none',
      'POST /api/docs/:id/recovery/:pointId/restore bearer none',
      'GET /api/v1/docs/:id/calls bearer none',
      'POST /api/v1/docs/:id/calls/:callId/undo bearer json',
      'GET /api/v1/docs/:id/preview.svg bearer none',
      'GET /api/v1/docs/:id/preview.png bearer none',
      'GET /api/collections bearer none',
      'PUT /api/collections bearer json',
      'GET /api/collections/:id/documents bearer none',
      'GET /api/v1/style-profiles bearer none',
      'PUT /api/v1/style-profiles bearer json',
      'GET /api/v1/search bearer none',
      'GET /api/v1/usage bearer none',
      'GET /api/v1/docs/:id/share-links bearer none',
      'POST /api/v1/docs/:id/share-links bearer json',
      'DELETE /api/v1/docs/:id/share-links/:linkId bearer none',
      'POST /api/v1/share-links/redeem bearer json',
      'POST /api/docs/:id/share bearer json',
      'GET /share none none',
      'POST /api/v1/internal/workspace/:ws/purge-member revocation-bearer json',
      'GET / none none',
      'GET /console none none',
      'GET /console/ none none',
      'GET /console/config.json none none',
      'GET /console/:file none none',
      'GET /console/assets/:file none none',
      'GET /health none none',
      'GET /livez none none',
      'GET /readyz none none',
      'GET /version none none',
      'GET /metrics none none',
      'GET /api/v1/openapi.json none none',
      'GET /.well-known/oauth-protected-resource none none',
      'GET /.well-known/oauth-protected-resource/mcp none none',
      'POST /api/v1/internal/revoke revocation-bearer json',
    ])
  })

  it('[X15] every declared route is served, and every served route is declared', () => {
    const unused = { registries: {} } as never
    const run = [
      ...documentRoutes(unused),
      ...blobRoutes(unused),
      ...ingestRoutes(unused),
      ...recoveryRoutes(unused),
      ...callRoutes(unused),
      ...previewRoutes(unused),
      ...collectionRoutes(unused),
      ...styleProfileRoutes(unused),
      ...searchRoutes(unused),
      ...usageRoutes(unused),
      ...shareLinkRoutes(unused),
      ...purgeMemberRoutes(unused),
      ...frontPageRoutes(unused),
      ...consoleRoutes(unused),
      ...healthRoutes(unused),
      ...metricsRoutes(unused),
      ...openApiRoutes(unused),
      ...mcpRoutes(unused),
      ...authRoutes(unused),
    ]
    // The configuration sets some limits of bodies.
    const declared = (routes: readonly (Route | RouteDeclaration)[]) =>
      routes.map((route) => ({ ...route, handle: undefined, headers: route.headers !== undefined, body: route.body.kind }))
    expect(declared(run)).toEqual(declared(routeTable()))
  })

  it('[REST-4] a short path under /api/ also has its /api/v1/ path, and no other path has one', () => {
    expect(servedPaths(DOCUMENT_ROUTES.get)).toEqual(['/api/docs/:id', '/api/v1/docs/:id'])
    expect(servedPaths({ path: '/api/v1/usage' })).toEqual(['/api/v1/usage'])
    expect(servedPaths({ path: '/health' })).toEqual(['/health'])
  })
})
