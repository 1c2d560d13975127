import { callerOf } from '../http/caller.ts'
import { namesEtag } from '../http/etag.ts'
import { JSON_BODY, NO_BODY, type Route, type RouteDeclaration, type RouteReply, type RouteRequest } from '../http/route.ts'
import { DOCUMENT_EXCHANGES } from './documents.exchanges.ts'
import { checkDocumentId } from './document-id.ts'
import { readListQuery, readPreconditions, readRemoval, readTransfer, readCollectionChange } from './document-requests.ts'
import type { Documents } from './documents.ts'
import { listParts } from './list-answer.ts'
import { encodeCursor, type ListedPage } from './listing.ts'
import { documentMetadata } from './metadata.ts'
import { bodyEtag, presentBody } from './present.ts'
import { ydocBytes } from './ydoc.ts'

const CONTENT_HEADERS = { 'Cache-Control': 'private, no-cache' }
/**
 * Browsers must not cache a body. The ETag is only the version, and a document with the same id in another workspace may have the same one.
 * Despite `Vary` a browser sends an ETag of another workspace or person, and on 304 it would show that body. [REST-20]
 */
const BODY_HEADERS = { 'Cache-Control': 'no-store' }
const checkParams = (params: Readonly<Record<string, string>>): void => checkDocumentId(params.id ?? '')

/** The document routes without their handlers. [interface, Endpoints] */
export const DOCUMENT_ROUTES = {
  list: {
    method: 'GET',
    path: '/api/docs',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'view, per document',
    summary: 'Documents the caller may read, newest change first.',
    largeAnswer: true,
    exchange: DOCUMENT_EXCHANGES.list,
  },
  get: {
    method: 'GET',
    path: '/api/docs/:id',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'view',
    summary: 'The document body.',
    largeAnswer: true,
    exchange: DOCUMENT_EXCHANGES.get,
    documentParam: 'id',
    checkParams,
  },
  put: {
    method: 'PUT',
    path: '/api/docs/:id',
    credential: 'bearer',
    body: { kind: 'document' },
    needs: 'edit; to create: role owner or member',
    summary: 'Creates or replaces a document.',
    exchange: DOCUMENT_EXCHANGES.put,
    documentParam: 'id',
    checkParams,
  },
  remove: {
    method: 'DELETE',
    path: '/api/docs/:id',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'owner',
    summary: 'Deletes a document; its id stays taken by a tombstone.',
    exchange: DOCUMENT_EXCHANGES.remove,
    documentParam: 'id',
    checkParams,
  },
  transfer: {
    method: 'POST',
    path: '/api/docs/:id/transfer',
    credential: 'bearer',
    body: JSON_BODY,
    needs: 'owner',
    summary: 'Gives a document another owner.',
    exchange: DOCUMENT_EXCHANGES.transfer,
    documentParam: 'id',
    checkParams,
  },
  collection: {
    method: 'PUT',
    path: '/api/docs/:id/collection',
    credential: 'bearer',
    body: JSON_BODY,
    needs: 'edit',
    summary: 'Puts a document into a collection, or into none.',
    exchange: DOCUMENT_EXCHANGES.collection,
    documentParam: 'id',
    checkParams,
  },
  metadata: {
    method: 'GET',
    path: '/api/v1/docs/:id/metadata',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'view',
    summary: 'What a list shows of one document, without its body.',
    exchange: DOCUMENT_EXCHANGES.metadata,
    documentParam: 'id',
    checkParams,
  },
  ydoc: {
    method: 'GET',
    path: '/api/docs/:id/ydoc',
    credential: 'bearer',
    body: NO_BODY,
    largeAnswer: true,
    needs: 'view',
    summary: 'The live form of a document, for programs that do not connect.',
    exchange: DOCUMENT_EXCHANGES.ydoc,
    documentParam: 'id',
    checkParams,
  },
} as const satisfies Record<string, RouteDeclaration>

export interface DocumentRoutesDeps {
  readonly documents: Documents
  /** Gives the answers that existing editor clients expect. [CFG-2] */
  readonly editorClient: boolean
}

/** The document routes with their handlers, which call the service. */
export function documentRoutes({ documents, editorClient }: DocumentRoutesDeps): readonly Route[] {
  return [
    {
      ...DOCUMENT_ROUTES.list,
      async handle(request) {
        const query = readListQuery(request.query)
        const page = await documents.list(callerOf(request).access, query)
        const headers = { ...CONTENT_HEADERS, ...nextLink(request.query, page) }
        return { kind: 'json-bytes', parts: await listParts(page.items, editorClient), headers }
      },
    },
    { ...DOCUMENT_ROUTES.get, handle: (request) => getDocument(request, documents, editorClient) },
    { ...DOCUMENT_ROUTES.put, handle: (request) => putDocument(request, documents) },
    {
      ...DOCUMENT_ROUTES.remove,
      async handle(request) {
        await documents.remove(callerOf(request).access, idOf(request), readRemoval(request.query, request.header))
        return { kind: 'empty' }
      },
    },
    {
      ...DOCUMENT_ROUTES.transfer,
      async handle(request) {
        await documents.transfer(callerOf(request).access, idOf(request), readTransfer(request.json))
        return { kind: 'empty' }
      },
    },
    {
      ...DOCUMENT_ROUTES.collection,
      async handle(request) {
        await documents.setCollection(callerOf(request).access, idOf(request), readCollectionChange(request.json))
        return { kind: 'empty' }
      },
    },
    {
      ...DOCUMENT_ROUTES.metadata,
      async handle(request) {
        const { head, reader } = await documents.head(callerOf(request).access, idOf(request))
        return { kind: 'json', value: documentMetadata(head, reader), headers: CONTENT_HEADERS }
      },
    },
    {
      ...DOCUMENT_ROUTES.ydoc,
      async handle(request) {
        const bytes = ydocBytes(await documents.encode(callerOf(request).access, idOf(request)))
        return { kind: 'bytes', bytes, headers: { ...CONTENT_HEADERS, 'Content-Type': 'application/octet-stream' } }
      },
    },
  ]
}

async function getDocument(request: RouteRequest, documents: Documents, editorClient: boolean): Promise<RouteReply> {
  const { access } = callerOf(request)
  const known = request.header('if-none-match')
  if (known !== undefined) {
    const { head, reader } = await documents.head(access, idOf(request))
    const etag = bodyEtag(head, reader)
    if (namesEtag(known, etag)) return { kind: 'not-modified', headers: { ...BODY_HEADERS, ETag: etag } }
  }
  const { record, reader } = await documents.get(access, idOf(request))
  const headers = { ...BODY_HEADERS, ETag: bodyEtag(record.head, reader) }
  return { kind: 'json-bytes', parts: presentBody(record, reader, { editorClient }), headers }
}

async function putDocument(request: RouteRequest, documents: Documents): Promise<RouteReply> {
  const { access } = callerOf(request)
  const preconditions = readPreconditions(request.query, (name) => request.header(name))
  const input = { id: idOf(request), bytes: request.bytes, ...preconditions }
  const { head, reader } = await documents.put(access, input)
  const saved = { ...documentMetadata(head, reader), success: true, newVersion: head.version }
  return { kind: 'json', value: saved, headers: { ...CONTENT_HEADERS, ETag: bodyEtag(head, reader) } }
}

/** Returns a `Link` to the rest of a list that the limit cut, with all other query members. [REST-21] */
function nextLink(query: URLSearchParams, page: ListedPage): Record<string, string> {
  if (page.next === null) return {}
  const next = new URLSearchParams(query)
  next.set('cursor', encodeCursor(page.next))
  return { Link: `</api/docs?${next.toString()}>; rel="next"` }
}

function idOf(request: RouteRequest): string {
  return request.params.id ?? ''
}
