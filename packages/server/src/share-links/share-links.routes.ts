import { checkDocumentId } from '../documents/document-id.ts'
import type { Documents } from '../documents/documents.ts'
import { documentMetadata } from '../documents/metadata.ts'
import { callerOf } from '../http/caller.ts'
import { JSON_BODY, NO_BODY, type Route, type RouteDeclaration, type RouteRequest } from '../http/route.ts'
import { readMembers } from '../kernel/bad-request.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { readExpiry } from './expiry.ts'
import type { ShareLink } from './share-link-store.port.ts'
import type { ShareLinks } from './share-links.ts'
import { SHARE_PAGE } from './share-page.ts'
import { isLinkId, readShareRequest, readToken } from './share-requests.ts'
import { SHARE_LINK_EXCHANGES } from './share-links.exchanges.ts'

const headers = () => ({ 'Cache-Control': 'no-store' })
const checkParams = (params: Readonly<Record<string, string>>): void => checkDocumentId(params.id ?? '')

/** The headers that announce the end of the deprecated route. Without a `docsUrl` they point to this relay's own description. [REST-37] */
function deprecation(docsUrl: string | null): NonNullable<Route['headers']> {
  return ({ params, origin }) => ({
    'Cache-Control': 'no-store',
    Deprecation: '@1793491200',
    Sunset: 'Mon, 01 Nov 2027 00:00:00 GMT',
    Link: [
      `<${docsUrl ?? `${origin}/api/v1/openapi.json`}>; rel=sunset`,
      `</api/v1/docs/${encodeURIComponent(params.id ?? '')}/share-links>; rel="successor-version"`,
    ].join(', '),
  })
}

/** The share link routes as data, without their handlers. [REST-30] */
export const SHARE_LINK_ROUTES = {
  list: {
    method: 'GET',
    path: '/api/v1/docs/:id/share-links',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'owner',
    summary: 'The live share links of a document, newest first, without their tokens.',
    exchange: SHARE_LINK_EXCHANGES.list,
    documentParam: 'id',
    checkParams,
    headers,
  },
  issue: {
    method: 'POST',
    path: '/api/v1/docs/:id/share-links',
    credential: 'bearer',
    body: JSON_BODY,
    needs: 'owner',
    summary: 'Issues a share link; its token is shown this one time.',
    exchange: SHARE_LINK_EXCHANGES.issue,
    documentParam: 'id',
    checkParams,
    headers,
  },
  revoke: {
    method: 'DELETE',
    path: '/api/v1/docs/:id/share-links/:linkId',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'owner',
    summary: 'Revokes a share link; shares that it gave stay.',
    exchange: SHARE_LINK_EXCHANGES.revoke,
    documentParam: 'id',
    checkParams(params: Readonly<Record<string, string>>) {
      checkParams(params)
      if (!isLinkId(params.linkId ?? ''))
        throw new RelayError('BAD_ID', 'A share link id has 1 to 64 bytes and no control characters.', { field: 'linkId' })
    },
    headers,
  },
  redeem: {
    method: 'POST',
    path: '/api/v1/share-links/redeem',
    credential: 'bearer',
    body: JSON_BODY,
    needs: 'any role, and the token of a live link',
    summary: 'Lets the caller read the document of a share link.',
    exchange: SHARE_LINK_EXCHANGES.redeem,
    headers,
  },
  /** To be removed in 2.0.0. [SHARE-6, REST-37] */
  share: {
    method: 'POST',
    path: '/api/docs/:id/share',
    unversioned: true,
    credential: 'bearer',
    body: JSON_BODY,
    needs: 'owner',
    summary: 'Deprecated: issues a share link, or replaces the share list.',
    exchange: SHARE_LINK_EXCHANGES.share,
    documentParam: 'id',
    checkParams,
    headers: deprecation(null),
  },
  page: {
    method: 'GET',
    path: '/share',
    credential: 'none',
    body: NO_BODY,
    needs: 'nothing',
    summary: 'The page that a share link shows in a browser.',
    exchange: SHARE_LINK_EXCHANGES.page,
  },
} as const satisfies Record<string, RouteDeclaration>

/** What opens a share link: the page of `[share] link_base`, the console at its path, or this relay's own page at `/share`. [SHARE-2] */
export type ShareLinkPlace =
  | { readonly kind: 'elsewhere'; readonly base: string }
  | { readonly kind: 'console'; readonly path: string }
  | { readonly kind: 'page' }

export interface ShareLinkRoutesDeps {
  readonly links: ShareLinks
  readonly documents: Pick<Documents, 'replaceShares'>
  readonly clock: Clock
  readonly opensAt: ShareLinkPlace
  readonly docsUrl: string | null
}

export function shareLinkRoutes(deps: ShareLinkRoutesDeps): readonly Route[] {
  const { links, documents, clock, opensAt } = deps

  async function issue(request: RouteRequest, expiresAt: unknown) {
    const expiresAtMs = readExpiry(expiresAt, clock.nowMs())
    const { link, token } = await links.issue(callerOf(request).access, idOf(request), expiresAtMs)
    const url = linkUrl(opensAt, request.origin, token)
    return { kind: 'json', value: { token, url, expires_at: timeOf(expiresAtMs), id: link.id } } as const
  }

  return [
    {
      ...SHARE_LINK_ROUTES.list,
      async handle(request) {
        const live = await links.list(callerOf(request).access, idOf(request))
        return { kind: 'json', value: { shareLinks: live.map(shownLink) } }
      },
    },
    { ...SHARE_LINK_ROUTES.issue, handle: (request) => issue(request, readMembers(request.json).expires_at) },
    {
      ...SHARE_LINK_ROUTES.revoke,
      async handle(request) {
        await links.revoke(callerOf(request).access, idOf(request), request.params.linkId ?? '')
        return { kind: 'empty' }
      },
    },
    {
      ...SHARE_LINK_ROUTES.redeem,
      async handle(request) {
        const { head, reader } = await links.redeem(callerOf(request).access, readToken(request.json))
        return { kind: 'json', value: documentMetadata(head, reader) }
      },
    },
    {
      ...SHARE_LINK_ROUTES.share,
      headers: deprecation(deps.docsUrl),
      async handle(request) {
        const asked = readShareRequest(request.json)
        if (asked.kind === 'link') return issue(request, asked.expiresAt)
        await documents.replaceShares(callerOf(request).access, idOf(request), asked.shares)
        return { kind: 'json', value: { success: true } }
      },
    },
    {
      ...SHARE_LINK_ROUTES.page,
      handle: () =>
        Promise.resolve({
          kind: 'text',
          text: SHARE_PAGE,
          headers: {
            'Content-Type': 'text/html; charset=utf-8',
            'Content-Security-Policy': "default-src 'none'",
            'Referrer-Policy': 'no-referrer',
          },
        }),
    },
  ]
}

function shownLink({ id, createdAtMs, createdBy, expiresAtMs }: ShareLink) {
  return { id, created_at: timeOf(createdAtMs), created_by: createdBy, expires_at: timeOf(expiresAtMs) }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

function idOf(request: RouteRequest): string {
  return request.params.id ?? ''
}

function linkUrl(opensAt: ShareLinkPlace, origin: string, token: string): string {
  switch (opensAt.kind) {
    case 'elsewhere':
      return `${opensAt.base}#${token}`
    case 'console':
      return `${origin}${opensAt.path}/#share=${token}`
    case 'page':
      return `${origin}/share#${token}`
  }
}
