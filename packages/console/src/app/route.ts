/** A place in the console, as the part of the address behind `#`. */
export type Route =
  | { readonly view: 'documents' }
  | { readonly view: 'usage' }
  /** A share link that somebody followed. The token is a secret: it appears in no log, and only in the request that redeems it. */
  | { readonly view: 'share'; readonly token: string }
  | { readonly view: 'document'; readonly id: string; readonly pageId: string | null; readonly panel: Panel | null }

export const PANELS = ['history', 'sharing', 'files', 'people', 'outline'] as const
export type Panel = (typeof PANELS)[number]

/** `#share=<token>`, or `#<token>` when the `link_base` of the relay has no fragment. [SHARE-2] */
const SHARE_LINK = /^#?(?:share=([^&?]*)|([A-Za-z0-9_-]{43}))$/

/** Returns the route of an address; an unknown address is the list of documents. */
export function parseRoute(hash: string): Route {
  const link = SHARE_LINK.exec(hash)
  if (link !== null) return { view: 'share', token: decoded(link[1] ?? link[2] ?? '') }
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  const [view, id, pageId] = path.split('/').map(decoded)
  if (view === 'usage') return { view }
  if (view !== 'doc' || id === undefined || id === '') return { view: 'documents' }
  const asked = new URLSearchParams(query).get('panel')
  return { view: 'document', id, pageId: pageId ?? null, panel: PANELS.find((panel) => panel === asked) ?? null }
}

export function formatRoute(route: Route): string {
  if (route.view === 'share') return `#share=${encodeURIComponent(route.token)}`
  if (route.view !== 'document') return `#${route.view}`
  const page = route.pageId === null ? '' : `/${encodeURIComponent(route.pageId)}`
  const panel = route.panel === null ? '' : `?panel=${route.panel}`
  return `#doc/${encodeURIComponent(route.id)}${page}${panel}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
