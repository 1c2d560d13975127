import { readRegistry, type RegistryDeclaration, type RegistryDeps, replaceRegistry } from '../collections/registry.ts'
import { callerOf } from '../http/caller.ts'
import { JSON_BODY, jsonBodyAround, NO_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { healProfiles } from './profiles.ts'
import { STYLE_PROFILE_EXCHANGES } from './style-profiles.exchanges.ts'

const HEADERS = { 'Cache-Control': 'private, no-cache' }
const PROFILES: RegistryDeclaration = { kind: 'style-profiles', member: 'profiles', heal: healProfiles }

/** The style profile routes as data, without their handlers. [REST-30] */
export const STYLE_PROFILE_ROUTES = {
  get: {
    method: 'GET',
    path: '/api/v1/style-profiles',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'any role',
    summary: 'The style profiles of the workspace and their version.',
    exchange: STYLE_PROFILE_EXCHANGES.get,
  },
  put: {
    method: 'PUT',
    path: '/api/v1/style-profiles',
    credential: 'bearer',
    body: JSON_BODY,
    writersOnly: true,
    needs: 'role owner or member',
    summary: 'Replaces the style profiles of the workspace.',
    exchange: STYLE_PROFILE_EXCHANGES.put,
  },
} as const satisfies Record<string, RouteDeclaration>

export function styleProfileRoutes(registries: RegistryDeps): readonly Route[] {
  return [
    {
      ...STYLE_PROFILE_ROUTES.get,
      async handle(request) {
        const { access } = callerOf(request)
        return { kind: 'json-bytes', parts: [await readRegistry(registries, access, PROFILES)], headers: HEADERS }
      },
    },
    {
      ...STYLE_PROFILE_ROUTES.put,
      body: jsonBodyAround(registries.maxBytes),
      async handle(request) {
        const { access } = callerOf(request)
        return { kind: 'json', value: await replaceRegistry(registries, access, PROFILES, request.json), headers: HEADERS }
      },
    },
  ]
}
