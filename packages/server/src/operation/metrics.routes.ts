import type { Metrics } from '../kernel/metrics.ts'
import { NO_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { OPERATION_EXCHANGES } from './operation.exchanges.ts'

/** Declaration of the metrics route. Public metrics are served on the main listener, local ones on a loopback listener of their own. [OPS-3] */
export const METRICS_ROUTES = {
  metrics: {
    method: 'GET',
    path: '/metrics',
    credential: 'none',
    body: NO_BODY,
    needs: 'none',
    summary: 'Metrics in Prometheus text format.',
    exchange: OPERATION_EXCHANGES.metrics,
    whileDraining: true,
  },
} as const satisfies Record<string, RouteDeclaration>

export function metricsRoutes(metrics: Pick<Metrics, 'render'>): readonly Route[] {
  return [
    {
      ...METRICS_ROUTES.metrics,
      async handle() {
        const { contentType, text } = await metrics.render()
        return { kind: 'text', text, headers: { 'Content-Type': contentType } }
      },
    },
  ]
}
