import { authRoutes } from '../auth/auth.routes.ts'
import { DOCUMENT_ROUTES } from '../documents/documents.routes.ts'
import { HEALTH_ROUTES } from '../operation/health.routes.ts'
import { METRICS_ROUTES } from '../operation/metrics.routes.ts'
import { PREVIEW_ROUTES } from '../previews/previews.routes.ts'
import type { RouteDeclaration } from './route.ts'

/** Every route of the relay as data, in the order of the reference; nothing is opened or run. */
export function routeTable(): readonly RouteDeclaration[] {
  const declared = [DOCUMENT_ROUTES, PREVIEW_ROUTES, HEALTH_ROUTES, METRICS_ROUTES].flatMap((routes) =>
    Object.values<RouteDeclaration>(routes),
  )
  // Made without what they would run on: only what they declare is read.
  const internal = authRoutes({ revocations: undefined as never, pushConfigured: false, log: undefined as never })
  return [...declared, ...internal]
}
