import { NO_BODY, type Route, type RouteDeclaration } from '../route.ts'

/** The route of the OpenAPI description. [REST-36] */
export const OPENAPI_ROUTES = {
  openapi: {
    method: 'GET',
    path: '/api/v1/openapi.json',
    credential: 'none',
    body: NO_BODY,
    needs: 'none',
    summary: 'This description of every route.',
    exchange: {
      responses: {
        200: {
          description: 'OpenAPI 3.1.',
          content: {
            'application/json': {
              type: 'object',
              properties: { openapi: { type: 'string' } },
              required: ['openapi', 'info', 'paths', 'components'],
              additionalProperties: true,
            },
          },
        },
      },
      errors: [],
    },
  },
} as const satisfies Record<string, RouteDeclaration>

/** Makes the route. `document` is the description made at the start of the relay; every caller gets the same one. */
export function openApiRoutes(document: Readonly<Record<string, unknown>>): readonly Route[] {
  const bytes = new TextEncoder().encode(JSON.stringify(document))
  return [{ ...OPENAPI_ROUTES.openapi, handle: async () => ({ kind: 'json-bytes', parts: [bytes] }) }]
}
