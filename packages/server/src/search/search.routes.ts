import { isRefusal } from '@docrelay/model/edit'
import { readQuery } from '@docrelay/model/search/query'
import { callerOf } from '../http/caller.ts'
import { NO_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { badRequest } from '../kernel/bad-request.ts'
import { RelayError } from '../kernel/errors.ts'
import { readSearchCursor } from './search-cursor.ts'
import { presentAnswer } from './search-answer.ts'
import type { Search, SearchRequest } from './search.ts'
import { SEARCH_EXCHANGES } from './search.exchanges.ts'

const HEADERS = { 'Cache-Control': 'private, no-cache' }

/** Declaration of the search route, without its handler. [AG-65] */
export const SEARCH_ROUTES = {
  get: {
    method: 'GET',
    path: '/api/v1/search',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'view, per document',
    summary: 'Texts of documents that the caller may read and that hold the words, best first.',
    exchange: SEARCH_EXCHANGES.get,
  },
} as const satisfies Record<string, RouteDeclaration>

/** Number of searches that a workspace may run at a time. [AG-65] */
const MOST_AT_ONCE = 4
const RETRY_MS = 1000
const MAX_LIMIT = 20
const DEFAULT_LIMIT = 10

export function searchRoutes({ search }: { readonly search: Search }): readonly Route[] {
  const running = new Map<string, number>()

  /** Runs at most `MOST_AT_ONCE` searches of a workspace at a time. A further search is refused and does not wait. */
  async function counted<T>(workspaceId: string, run: () => Promise<T>): Promise<T> {
    const now = running.get(workspaceId) ?? 0
    if (now >= MOST_AT_ONCE) {
      const message = `The workspace already runs ${MOST_AT_ONCE} searches.`
      throw new RelayError('RATE_LIMITED', message, { retryAfterMs: RETRY_MS })
    }
    running.set(workspaceId, now + 1)
    try {
      return await run()
    } finally {
      const left = (running.get(workspaceId) ?? 1) - 1
      if (left === 0) running.delete(workspaceId)
      else running.set(workspaceId, left)
    }
  }

  return [
    {
      ...SEARCH_ROUTES.get,
      async handle(request) {
        const { access } = callerOf(request)
        const asked = readSearchRequest(request.query)
        const answer = await counted(access.workspaceId, () => search.search(access, asked))
        return { kind: 'json', value: presentAnswer(answer, asked), headers: HEADERS }
      },
    },
  ]
}

function readSearchRequest(given: URLSearchParams): SearchRequest {
  const query = readQuery(given.get('q') ?? '')
  if (isRefusal(query)) throw badRequest('q', `The query member q: ${query.message}`, { limit: Number(query.facts['max']) })
  const docId = given.get('docId')
  const limit = given.get('limit')
  if (limit !== null && !(/^\d{1,9}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT))
    throw badRequest('limit', `The query member limit is a decimal integer from 1 to ${MAX_LIMIT}.`, { limit: MAX_LIMIT })
  const cursor = given.get('cursor')
  const from = cursor === null ? 0 : readSearchCursor(cursor, { query, docId })
  if (from === null) throw badRequest('cursor', 'The query member cursor is not the nextCursor of this search.')
  return { query, docId, limit: limit === null ? DEFAULT_LIMIT : Number(limit), from, naming: 'bare' }
}
