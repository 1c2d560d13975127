import { callerOf } from '../http/caller.ts'
import { NO_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { readUsage, type UsageDeps } from './usage.ts'
import { USAGE_EXCHANGES } from './usage.exchanges.ts'

/** The usage route as data, without its handler. [interface, Endpoints] */
export const USAGE_ROUTES = {
  get: {
    method: 'GET',
    path: '/api/v1/usage',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'any role',
    summary: 'What the workspace uses now, and its limits.',
    exchange: USAGE_EXCHANGES.get,
    headers: () => ({ 'Cache-Control': 'no-store' }),
  },
} as const satisfies Record<string, RouteDeclaration>

export function usageRoutes(deps: UsageDeps): readonly Route[] {
  return [
    {
      ...USAGE_ROUTES.get,
      handle: async (request) => ({ kind: 'json', value: await readUsage(callerOf(request).access, deps) }),
    },
  ]
}
