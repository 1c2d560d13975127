import type { Route, RouteDeclaration, RouteRequest } from '../http/route.ts'
import { MCP_EXCHANGES } from './mcp.exchanges.ts'
import { LEGACY_VERSIONS } from './legacy.ts'
import { MODERN_VERSION } from './modern.ts'
import { publicOrigin } from '../http/host-header.ts'

const DISCOVERY = {
  method: 'GET',
  credential: 'none',
  body: { kind: 'none' },
  needs: 'none',
  summary: 'Where a client of the MCP endpoint gets its token.',
  exchange: MCP_EXCHANGES.discovery,
} as const

/** Routes on the main listener, and on the loopback listener when it serves the endpoint. [MCP-23] */
export const MCP_ROUTES = {
  discovery: { ...DISCOVERY, path: '/.well-known/oauth-protected-resource' },
  discoveryOfPath: { ...DISCOVERY, path: '/.well-known/oauth-protected-resource/mcp' },
} as const satisfies Record<string, RouteDeclaration>

export function mcpRoutes({ issuer }: { readonly issuer: string }): readonly Route[] {
  const handle = async (request: RouteRequest) => {
    const origin = publicOrigin(request.header('host'), request.header('x-forwarded-proto'))
    const value = { resource: `${origin}/mcp`, authorization_servers: [issuer], bearer_methods_supported: ['header'] }
    return { kind: 'json', value } as const
  }
  return Object.values(MCP_ROUTES).map((route) => ({ ...route, handle }))
}

/** Returns the answer of `GET /` on the loopback listener; the main listener has no such answer. [MCP-17] */
export function loopbackRoot(version: string): Route {
  return {
    method: 'GET',
    path: '/',
    credential: 'none',
    body: { kind: 'none' },
    needs: 'none',
    summary: 'Which endpoint this is.',
    handle: async () => ({
      kind: 'json',
      value: {
        server: 'docrelay',
        version,
        endpoint: '/mcp',
        transport: 'streamable-http',
        protocolVersions: [...LEGACY_VERSIONS, MODERN_VERSION],
      },
    }),
  }
}
