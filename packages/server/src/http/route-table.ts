import { DOCUMENT_ROUTES } from '../documents/documents.routes.ts'
import { HEALTH_ROUTES } from '../operation/health.routes.ts'
import { METRICS_ROUTES } from '../operation/metrics.routes.ts'
import type { RouteDeclaration } from './route.ts'

/** Every route of the relay as data, in the order of the reference; nothing is opened or run. */
export function routeTable(): readonly RouteDeclaration[] {
  return [DOCUMENT_ROUTES, HEALTH_ROUTES, METRICS_ROUTES].flatMap((routes) => Object.values<RouteDeclaration>(routes))
}
