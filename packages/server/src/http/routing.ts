import { RelayError } from '../kernel/errors.ts'
import type { Route } from './route.ts'

/** Every route of one path. */
export interface RouteGroup {
  /** The path as it is served: `/api/docs/:id` and `/api/v1/docs/:id` are two groups. */
  readonly pattern: string
  readonly routes: ReadonlyMap<string, Route>
  /** Methods for `Allow` and preflight: those of the routes, HEAD where there is GET, and OPTIONS. */
  readonly methods: readonly string[]
}

/**
 * Groups routes by path and adds the canonical `/api/v1/` spelling of each `/api/` route. [REST-4] Fixed segments match
 * before parameters, whatever the order of the table. Throws on a route without credential or body policy (default
 * deny, X15) and on a duplicate.
 */
export function groupRoutes(routes: readonly Route[]): readonly RouteGroup[] {
  const groups = new Map<string, Map<string, Route>>()
  for (const route of routes) {
    // The types require the policy, but a table that was cast or built by hand might lack it.
    if (!(['none', 'bearer', 'revocation-bearer'] as readonly unknown[]).includes(route.credential) || !route.body?.kind) {
      throw new Error(`route ${route.method} ${route.path} has no policy`)
    }
    for (const pattern of servedPaths(route)) {
      const group = groups.get(pattern) ?? new Map<string, Route>()
      if (group.has(route.method)) throw new Error(`route ${route.method} ${pattern} is declared twice`)
      groups.set(pattern, group.set(route.method, route))
    }
  }
  return [...groups]
    .sort(([a], [b]) => parametersOf(a) - parametersOf(b))
    .map(([pattern, group]) => ({ pattern, routes: group, methods: allowedMethods([...group.keys()]) }))
}

/** The paths a route answers on. */
export function servedPaths(route: Pick<Route, 'path' | 'unversioned'>): readonly string[] {
  const isShort = route.unversioned !== true && route.path.startsWith('/api/') && !route.path.startsWith('/api/v1/')
  return isShort ? [route.path, `/api/v1/${route.path.slice('/api/'.length)}`] : [route.path]
}

function parametersOf(pattern: string): number {
  return pattern.split(':').length - 1
}

function allowedMethods(methods: readonly string[]): readonly string[] {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
}

/**
 * Returns the parameters of a path that matched `pattern`, each percent-decoded exactly once. Throws BAD_ID on a bad
 * escape. [BODY-11, X16]
 */
export function rawParams(pattern: string, path: string): Readonly<Record<string, string>> {
  return paramsOf(pattern, path, (name) => {
    throw new RelayError('BAD_ID', `The path parameter ${name} is not valid percent-encoded UTF-8.`, { field: name })
  })
}

/** Returns the parameters of a path without throwing, for use before the request is checked. A segment that cannot be decoded is returned as sent. */
export function lenientParams(pattern: string, path: string): Readonly<Record<string, string>> {
  return paramsOf(pattern, path, (_, segment) => segment)
}

function paramsOf(
  pattern: string,
  path: string,
  undecodable: (name: string, segment: string) => string,
): Readonly<Record<string, string>> {
  const segments = path.split('/')
  const params: Record<string, string> = {}
  for (const [at, part] of pattern.split('/').entries()) {
    if (!part.startsWith(':')) continue
    const name = part.slice(1)
    const segment = segments[at] ?? ''
    try {
      params[name] = decodeURIComponent(segment)
    } catch {
      params[name] = undecodable(name, segment)
    }
  }
  return params
}
