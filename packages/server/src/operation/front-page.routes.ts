import { NO_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { FRONT_PAGE_POLICY, type FrontPageFacts, frontPage } from './front-page.ts'
import { OPERATION_EXCHANGES } from './operation.exchanges.ts'

/** Declaration of the route of the front page at `/`. [REST-30] */
export const FRONT_PAGE_ROUTES = {
  frontPage: {
    method: 'GET',
    path: '/',
    credential: 'none',
    body: NO_BODY,
    needs: 'none',
    summary: 'A page with links for people who open the address in a browser.',
    exchange: OPERATION_EXCHANGES.frontPage,
    whileDraining: true,
  },
} as const satisfies Record<string, RouteDeclaration>

export function frontPageRoutes(facts: FrontPageFacts): readonly Route[] {
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': FRONT_PAGE_POLICY,
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-cache',
  }
  return [{ ...FRONT_PAGE_ROUTES.frontPage, handle: async () => ({ kind: 'text', text: frontPage(facts), headers }) }]
}
