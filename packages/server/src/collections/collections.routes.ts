import { listParts } from '../documents/list-answer.ts'
import type { Documents } from '../documents/documents.ts'
import { callerOf } from '../http/caller.ts'
import { JSON_BODY, jsonBodyAround, NO_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { healDefinitions } from './definitions.ts'
import { readRegistry, type RegistryDeclaration, type RegistryDeps, replaceRegistry } from './registry.ts'
import { COLLECTION_EXCHANGES } from './collections.exchanges.ts'

const HEADERS = { 'Cache-Control': 'private, no-cache' }
const COLLECTIONS: RegistryDeclaration = { kind: 'collections', member: 'collections', heal: healDefinitions }

/** The collection routes without their handlers. [interface, Endpoints] */
export const COLLECTION_ROUTES = {
  get: {
    method: 'GET',
    path: '/api/collections',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'any role',
    summary: 'The collections of the workspace and their version.',
    exchange: COLLECTION_EXCHANGES.get,
  },
  put: {
    method: 'PUT',
    path: '/api/collections',
    credential: 'bearer',
    body: JSON_BODY,
    writersOnly: true,
    needs: 'role owner or member',
    summary: 'Replaces the collections of the workspace.',
    exchange: COLLECTION_EXCHANGES.put,
  },
  documents: {
    method: 'GET',
    path: '/api/collections/:id/documents',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'view, per document',
    summary: 'Documents of a collection that the caller may read, newest change first; none when it is unknown.',
    largeAnswer: true,
    exchange: COLLECTION_EXCHANGES.documents,
  },
} as const satisfies Record<string, RouteDeclaration>

export interface CollectionRoutesDeps {
  readonly registries: RegistryDeps
  readonly documents: Pick<Documents, 'list'>
}

export function collectionRoutes({ registries, documents }: CollectionRoutesDeps): readonly Route[] {
  return [
    {
      ...COLLECTION_ROUTES.get,
      async handle(request) {
        const { access } = callerOf(request)
        return { kind: 'json-bytes', parts: [await readRegistry(registries, access, COLLECTIONS)], headers: HEADERS }
      },
    },
    {
      ...COLLECTION_ROUTES.put,
      body: jsonBodyAround(registries.maxBytes),
      async handle(request) {
        const { access } = callerOf(request)
        return { kind: 'json', value: await replaceRegistry(registries, access, COLLECTIONS, request.json), headers: HEADERS }
      },
    },
    {
      ...COLLECTION_ROUTES.documents,
      async handle(request) {
        // A document names its collection in its body, and the collection need not be registered: an unknown id is a
        // collection without documents. [REST-24]
        const query = { limit: null, after: null, titlePart: null, collectionId: request.params.id ?? '' }
        const { items } = await documents.list(callerOf(request).access, query)
        return { kind: 'json-bytes', parts: await listParts(items, true), headers: HEADERS }
      },
    },
  ]
}
