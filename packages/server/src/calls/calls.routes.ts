import { checkDocumentId } from '../documents/document-id.ts'
import { callerOf } from '../http/caller.ts'
import { JSON_BODY, NO_BODY, type Route, type RouteDeclaration, type RouteRequest } from '../http/route.ts'
import { badRequest, readMembers } from '../kernel/bad-request.ts'
import { CALL_EXCHANGES, MAX_CALLS } from './calls.exchanges.ts'
import type { Calls, ListedCall } from './calls.ts'

const HEADERS = { 'Cache-Control': 'private, no-cache' }
const checkParams = (params: Readonly<Record<string, string>>): void => checkDocumentId(params.id ?? '')

/** The routes of calls as data, without their handlers. [AG-73] */
export const CALL_ROUTES = {
  list: {
    method: 'GET',
    path: '/api/v1/docs/:id/calls',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'view',
    summary: 'The calls of tools that wrote a document, newest first, without content.',
    exchange: CALL_EXCHANGES.list,
    documentParam: 'id',
    checkParams,
  },
  undo: {
    method: 'POST',
    path: '/api/v1/docs/:id/calls/:callId/undo',
    credential: 'bearer',
    body: JSON_BODY,
    needs: 'edit',
    summary: 'Takes back what a call changed, but for what somebody changed since.',
    exchange: CALL_EXCHANGES.undo,
    documentParam: 'id',
    checkParams,
  },
} as const satisfies Record<string, RouteDeclaration>

export function callRoutes({ calls }: { readonly calls: Calls }): readonly Route[] {
  return [
    {
      ...CALL_ROUTES.list,
      async handle(request) {
        const { limit, cursor } = { limit: readLimit(request.query), cursor: readCursor(request.query) }
        const page = await calls.list(callerOf(request).access, idOf(request), { before: cursor, limit })
        const nextCursor = page.next === null ? {} : { nextCursor: String(page.next) }
        return { kind: 'json', value: { calls: page.calls.map(presentCall), ...nextCursor }, headers: HEADERS }
      },
    },
    {
      ...CALL_ROUTES.undo,
      async handle(request) {
        const expectedVersion = readExpectedVersion(request.json)
        const callId = request.params.callId ?? ''
        const undone = await calls.undo(callerOf(request).access, { id: idOf(request), callId, expectedVersion })
        const { version, kept = [], ...told } = undone
        return { kind: 'json', value: { ...told, kept, serverVersion: version }, headers: HEADERS }
      },
    },
  ]
}

function presentCall({ callId, tool, sub, atMs, version, changed, removed, isUndoable, undoneBy }: ListedCall) {
  const told = { callId, tool, by: sub, at: atMs, serverVersion: version, changed, removed, undoable: isUndoable }
  return { ...told, ...(undoneBy !== null && { undoneBy }) }
}

function readLimit(query: URLSearchParams): number {
  const limit = query.get('limit')
  if (limit === null) return MAX_CALLS
  if (/^\d{1,9}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_CALLS) return Number(limit)
  throw badRequest('limit', `The query member limit is a decimal integer from 1 to ${MAX_CALLS}.`, { limit: MAX_CALLS })
}

/** Reads a cursor: the version of the last call on a page. Each version is made by one write, so it names one call. */
function readCursor(query: URLSearchParams): number | null {
  const cursor = query.get('cursor')
  if (cursor === null) return null
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor)
  throw badRequest('cursor', 'The query member cursor is not the nextCursor of a list of calls.')
}

function readExpectedVersion(json: unknown): number | null {
  const { expectedVersion } = readMembers(json)
  if (expectedVersion === undefined) return null
  if (Number.isSafeInteger(expectedVersion) && Number(expectedVersion) >= 1) return Number(expectedVersion)
  throw badRequest('expectedVersion', 'The member expectedVersion is an integer from 1 to 2^53 - 1.')
}

function idOf(request: RouteRequest): string {
  return request.params.id ?? ''
}
