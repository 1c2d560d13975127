import { PROTOCOL_MINOR, PROTOCOL_VERSION } from '@docrelay/protocol/version'
import { resolveLimits } from '../access/limits.ts'
import { authRoutes } from '../auth/auth.routes.ts'
import { createInternalBearer } from '../auth/internal-bearer.ts'
import type { Config } from '../config/config.ts'
import type { McpPlace } from '../console/console-page.ts'
import { consoleRoutes } from '../console/console.routes.ts'
import { createApp } from '../http/app.ts'
import { createArrivals } from '../http/arrivals.ts'
import { createBodyBudget } from '../http/body-budget.ts'
import { openApiDocument } from '../http/openapi/openapi.ts'
import { openApiRoutes } from '../http/openapi/openapi.routes.ts'
import { documentBodyLimit } from '../http/request-body.ts'
import type { Route } from '../http/route.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import { systemTimers } from '../kernel/timers.ts'
import { loopbackRoot } from '../mcp/mcp.routes.ts'
import { healthRoutes } from '../operation/health.routes.ts'
import type { Readiness } from '../operation/health.ts'
import { frontPageRoutes } from '../operation/front-page.routes.ts'
import { metricsRoutes } from '../operation/metrics.routes.ts'
import type { Base } from './base.ts'
import { connectionCap, warnOfFewDescriptors } from './connection-caps.ts'
import type { Console } from './console.ts'
import type { Features } from './features.ts'
import type { Live } from './live.ts'
import type { Mcp } from './mcp.ts'
import { routeTable } from './route-table.ts'
import type { Tokens } from './tokens.ts'

export interface Servers {
  readonly main: HttpServer
  /** The loopback listener of local metrics. */
  readonly metrics: HttpServer | null
  /** The loopback listener of a local MCP endpoint. */
  readonly mcp: HttpServer | null
}

/** Opens the budget and the arrivals of request bodies, which all listeners of the process share. */
export function openRequestBodies({ tenancy }: Config): Pick<Base, 'budget' | 'arrivals'> {
  const { maxDocBytes, maxConfigBytes } = tenancy.limits
  const largestBytes = Math.max(documentBodyLimit(maxDocBytes), maxConfigBytes)
  return { budget: createBodyBudget(largestBytes), arrivals: createArrivals() }
}

/** Opens the listeners of the REST surface, with the WebSocket upgrade. */
export function openServers(
  base: Base,
  tokens: Tokens,
  live: Live,
  { features, mcp, console }: { readonly features: Features; readonly mcp: Mcp | null; readonly console: Console | null },
  readiness: () => Promise<Readiness>,
  opened: AsyncDisposableStack,
): Servers {
  const { config, clock, log, random, metrics, tenancy } = base
  const { limits } = config.tenancy
  const app = (routes: readonly Route[], corsOrigins = config.server.corsOrigins) =>
    createApp({
      routes,
      verify: tokens.verify,
      recheck: tokens.recheck,
      tenancy,
      limitsOf: (claims) => resolveLimits(claims, limits),
      internalBearer: createInternalBearer(config.auth.revocationPushBearer),
      corsOrigins,
      maxDocBytes: limits.maxDocBytes,
      isDraining: () => base.draining.now,
      parseJson: (bytes, maxBytes, workspaceId) => features.bodies.for(workspaceId).parse(bytes, maxBytes),
      budget: base.budget,
      arrivals: base.arrivals,
      clock,
      timers: systemTimers,
      random,
      log,
      metrics,
    })
  const metricRoutes = metricsRoutes(metrics)
  const routes = [
    ...features.routes,
    ...authRoutes({ revocations: tokens.revocations, log }),
    ...frontPageRoutes({
      version: base.release.version,
      docsUrl: config.server.docsUrl,
      servesMcp: mcp?.isPublic === true,
      consolePath: console?.path ?? null,
    }),
    ...(console === null ? [] : consoleRoutes({ ...console, mcp: () => mcpPlace(mcp, base) })),
    ...healthRoutes({
      readiness,
      version: { ...base.release, server: 'docrelay', protocolVersion: PROTOCOL_VERSION, protocolMinor: PROTOCOL_MINOR },
    }),
    ...(config.metrics.expose === 'public' ? metricRoutes : []),
    ...(mcp?.routes ?? []),
    ...openApiRoutes(openApiDocument(routeTable(), base.release.version)),
  ]
  const { corsOrigins } = config.server
  warnOfFewDescriptors(base)
  const loopbackMcp = ({ endpoint, routes }: Mcp) =>
    createHttpServer({
      app: app([loopbackRoot(base.release.version), ...routes], []),
      beside: endpoint.loopback,
      cap: connectionCap(base, 'mcp'),
      corsOrigins: [],
      random,
    })
  const onUpgrade = live.gateway.handleUpgrade.bind(live.gateway)
  return {
    main: opened.use(
      createHttpServer({
        app: app(routes),
        onUpgrade,
        ...(mcp?.isPublic && { beside: mcp.endpoint.folded }),
        cap: connectionCap(base, 'main'),
        corsOrigins,
        random,
      }),
    ),
    metrics:
      config.metrics.expose === 'local'
        ? opened.use(
            createHttpServer({ app: app(metricRoutes, []), cap: connectionCap(base, 'metrics'), corsOrigins: [], random }),
          )
        : null,
    mcp: mcp && !mcp.isPublic ? opened.use(loopbackMcp(mcp)) : null,
  }
}

function mcpPlace(mcp: Mcp | null, { mcpPort }: Base): McpPlace {
  if (mcp?.isPublic === true) return { kind: 'public' }
  return mcpPort.now === null ? null : { kind: 'local', port: mcpPort.now }
}
