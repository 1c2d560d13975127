import type { CapOptions } from '../http/connection-cap.ts'
import { descriptorLimit, tooFewDescriptors } from '../http/descriptors.ts'
import { createRefusalReport } from '../http/refusal-report.ts'
import { systemTimers } from '../kernel/timers.ts'
import { HEALTH_ROUTES } from '../operation/health.routes.ts'
import { METRICS_ROUTES } from '../operation/metrics.routes.ts'
import type { Base } from './base.ts'

/** Most connections of each loopback listener. Only programs on this host can reach one. */
const LOOPBACK_CONNECTIONS = 2_048
const HEALTH_PATHS = [HEALTH_ROUTES.health, HEALTH_ROUTES.live, HEALTH_ROUTES.ready].map(({ path }) => path)
const METRICS_PATHS = [METRICS_ROUTES.metrics.path]

/** Returns the cap of a listener. A full listener still answers health and metrics, if it serves them. [H11] */
export function connectionCap({ config, log, metrics }: Base, listener: 'main' | 'mcp' | 'metrics'): CapOptions {
  const most = listener === 'main' ? config.server.maxConnections : LOOPBACK_CONNECTIONS
  const alwaysAnswered = {
    main: [...HEALTH_PATHS, ...(config.metrics.expose === 'public' ? METRICS_PATHS : [])],
    mcp: [],
    metrics: METRICS_PATHS,
  }[listener]
  return { most, alwaysAnswered, onRefused: createRefusalReport({ listener, most }, { log, metrics, timers: systemTimers }) }
}

/** Warns the operator at the start when this process may open too few file descriptors for its connections. */
export function warnOfFewDescriptors({ config, log }: Base): void {
  const warning = tooFewDescriptors(config.server.maxConnections, descriptorLimit())
  if (warning !== null) log.warn('http.few_descriptors', warning)
}
