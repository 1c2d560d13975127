import { AUTH_ROUTES } from '../auth/auth.routes.ts'
import { BLOB_ROUTES } from '../blobs/blobs.routes.ts'
import { INGEST_ROUTES } from '../blobs/ingest.routes.ts'
import { CALL_ROUTES } from '../calls/calls.routes.ts'
import { COLLECTION_ROUTES } from '../collections/collections.routes.ts'
import { CONSOLE_ROUTES } from '../console/console.routes.ts'
import { DOCUMENT_ROUTES } from '../documents/documents.routes.ts'
import { PURGE_MEMBER_ROUTES } from '../documents/purge-member.routes.ts'
import { OPENAPI_ROUTES } from '../http/openapi/openapi.routes.ts'
import type { RouteDeclaration } from '../http/route.ts'
import { MCP_ROUTES } from '../mcp/mcp.routes.ts'
import { HEALTH_ROUTES } from '../operation/health.routes.ts'
import { FRONT_PAGE_ROUTES } from '../operation/front-page.routes.ts'
import { METRICS_ROUTES } from '../operation/metrics.routes.ts'
import { PREVIEW_ROUTES } from '../previews/previews.routes.ts'
import { RECOVERY_ROUTES } from '../recovery/recovery.routes.ts'
import { SEARCH_ROUTES } from '../search/search.routes.ts'
import { SHARE_LINK_ROUTES } from '../share-links/share-links.routes.ts'
import { STYLE_PROFILE_ROUTES } from '../style-profiles/style-profiles.routes.ts'
import { USAGE_ROUTES } from '../usage/usage.routes.ts'

/** Returns every route of the relay as data, in the order of the reference; opens and runs nothing. */
export function routeTable(): readonly RouteDeclaration[] {
  return [
    DOCUMENT_ROUTES,
    BLOB_ROUTES,
    INGEST_ROUTES,
    RECOVERY_ROUTES,
    CALL_ROUTES,
    PREVIEW_ROUTES,
    COLLECTION_ROUTES,
    STYLE_PROFILE_ROUTES,
    SEARCH_ROUTES,
    USAGE_ROUTES,
    SHARE_LINK_ROUTES,
    PURGE_MEMBER_ROUTES,
    FRONT_PAGE_ROUTES,
    CONSOLE_ROUTES,
    HEALTH_ROUTES,
    METRICS_ROUTES,
    OPENAPI_ROUTES,
    MCP_ROUTES,
    AUTH_ROUTES,
  ].flatMap((routes) => Object.values<RouteDeclaration>(routes))
}
