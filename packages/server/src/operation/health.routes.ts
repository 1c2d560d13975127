import { NO_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import type { Readiness } from './health.ts'
import { OPERATION_EXCHANGES } from './operation.exchanges.ts'

const OPEN = { method: 'GET', credential: 'none', body: NO_BODY, needs: 'none', whileDraining: true } as const

/** Declarations of the routes for health, readiness and version. [OPS-1, OPS-2, REST-30] */
export const HEALTH_ROUTES = {
  health: { ...OPEN, path: '/health', summary: 'Plain `ok` whenever the process answers.', exchange: OPERATION_EXCHANGES.health },
  live: { ...OPEN, path: '/livez', summary: 'The process is alive.', exchange: OPERATION_EXCHANGES.live },
  ready: {
    ...OPEN,
    path: '/readyz',
    summary: 'Whether every part that requests need is working.',
    exchange: OPERATION_EXCHANGES.ready,
  },
  version: {
    ...OPEN,
    path: '/version',
    summary: 'Version of the server and of the WebSocket protocol.',
    exchange: OPERATION_EXCHANGES.version,
  },
} as const satisfies Record<string, RouteDeclaration>

export interface VersionInfo {
  readonly server: string
  readonly version: string
  readonly commit: string
  readonly built: string
  readonly protocolVersion: number
  readonly protocolMinor: number
}

export function healthRoutes(deps: {
  readonly readiness: () => Promise<Readiness>
  readonly version: VersionInfo
}): readonly Route[] {
  return [
    { ...HEALTH_ROUTES.health, handle: async () => ({ kind: 'text', text: 'ok' }) },
    { ...HEALTH_ROUTES.live, handle: async () => ({ kind: 'json', value: { status: 'ok' } }) },
    {
      ...HEALTH_ROUTES.ready,
      async handle() {
        const readiness = await deps.readiness()
        return readiness.status === 'ok'
          ? { kind: 'json', value: readiness }
          : { kind: 'status-json', like: 'UNAVAILABLE', value: readiness }
      },
    },
    { ...HEALTH_ROUTES.version, handle: async () => ({ kind: 'json', value: deps.version }) },
  ]
}
