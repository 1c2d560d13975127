import { describe, expect, it } from 'vitest'
import { authRoutes } from '../auth/auth.routes.ts'
import { DOCUMENT_ROUTES, documentRoutes } from '../documents/documents.routes.ts'
import { healthRoutes } from '../operation/health.routes.ts'
import { metricsRoutes } from '../operation/metrics.routes.ts'
import type { RouteDeclaration } from './route.ts'
import { routeTable } from './route-table.ts'
import { servedPaths } from './routing.ts'

describe('route table', () => {
  it('[REST-4] [REST-30] [X15] is exactly these routes, each with its credential', () => {
    const shown = routeTable().map((route) => `${route.method} ${route.path} ${route.credential} ${route.body.kind}`)
    expect(shown).toEqual([
      'GET /api/docs bearer none',
      'GET /api/docs/:id bearer none',
      'PUT /api/docs/:id bearer document',
      'DELETE /api/docs/:id bearer none',
      'POST /api/docs/:id/transfer bearer json',
      'PUT /api/docs/:id/collection bearer json',
      'GET /health none none',
      'GET /livez none none',
      'GET /readyz none none',
      'GET /version none none',
      'GET /metrics none none',
      'POST /api/v1/internal/revoke revocation-bearer json',
    ])
  })

  it('[X15] every declared route is one that is run, and the reverse', () => {
    const unused = undefined as never
    const run = [
      ...documentRoutes({ documents: unused, editorClient: false }),
      ...healthRoutes({ readiness: unused, version: unused }),
      ...metricsRoutes(unused),
      ...authRoutes({ revocations: unused, pushConfigured: false, log: unused }),
    ]
    const declared = (routes: readonly RouteDeclaration[]) => routes.map((route) => ({ ...route, handle: undefined }))
    expect(declared(run)).toEqual(declared(routeTable()))
  })

  it('[REST-4] the short spelling of a route brings the long one, and only under /api/', () => {
    expect(servedPaths(DOCUMENT_ROUTES.get)).toEqual(['/api/docs/:id', '/api/v1/docs/:id'])
    expect(servedPaths({ path: '/api/v1/usage' })).toEqual(['/api/v1/usage'])
    expect(servedPaths({ path: '/health' })).toEqual(['/health'])
  })
})
