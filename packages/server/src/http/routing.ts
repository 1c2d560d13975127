import { RelayError } from '../kernel/errors.ts'
import type { Route } from './route.ts'

/** Every route of one path. */
export interface RouteGroup {
  /** The path as it is served: `/api/docs/:id` and `/api/v1/docs/:id` are two groups. */
  readonly pattern: string
  readonly routes: ReadonlyMap<string, Route>
  /** Methods for `Allow` and preflight: those of the routes, HEAD if there is GET, and OPTIONS. */
  readonly methods: readonly string[]
  /** Parameters with the index of their segment; index 0 is the empty segment before the first slash. */
  readonly parameters: readonly (readonly [name: string, segment: number])[]
  /** True when a route of the path declares headers. */
  readonly declaresHeaders: boolean
}

/** Returns the group that a path belongs to; its parameters match any segment that is not empty. */
export type FindGroup = (path: string) => RouteGroup | undefined

/**
 * Groups routes by path and adds the canonical `/api/v1/` spelling of each `/api/` route. [REST-4] Fixed segments match
 * before parameters, whatever the order of the table. Throws on a route without credential or body policy (default
 * deny, X15) and on a duplicate.
 */
export function groupRoutes(routes: readonly Route[]): readonly RouteGroup[] {
  const groups = new Map<string, Map<string, Route>>()
  for (const route of routes) {
    // The types require credential and body policy, but a table that was cast or built by hand may lack them.
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
    .map(([pattern, group]) => ({
      pattern,
      routes: group,
      methods: allowedMethods([...group.keys()]),
      parameters: segmentsOf(pattern).flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), at] as const] : [])),
      declaresHeaders: [...group.values()].some((route) => route.headers !== undefined),
    }))
}

/** Makes the look-up. `groups` must be ordered by `groupRoutes`: of two matching groups the one with fewer parameters comes first. */
export function createFindGroup(groups: readonly RouteGroup[]): FindGroup {
  const exact = new Map<string, RouteGroup>()
  const byLength = new Map<number, { readonly group: RouteGroup; readonly parts: readonly string[] }[]>()
  for (const group of groups) {
    const parts = segmentsOf(group.pattern)
    if (group.parameters.length === 0) exact.set(group.pattern, group)
    else byLength.set(parts.length, [...(byLength.get(parts.length) ?? []), { group, parts }])
  }
  return (path) => {
    const found = exact.get(path)
    if (found !== undefined) return found
    const segments = segmentsOf(path)
    const matches = (parts: readonly string[]): boolean =>
      parts.every((part, at) => (part.startsWith(':') ? segments[at] !== '' : part === segments[at]))
    return byLength.get(segments.length)?.find(({ parts }) => matches(parts))?.group
  }
}

const segmentsOf = (path: string): readonly string[] => path.split('/')

/** Returns the paths under which a route is served. */
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
 * Returns the parameters of a path of the group, each percent-decoded exactly once. Throws BAD_ID on a bad escape.
 * [BODY-11, X16]
 */
export function rawParams(group: RouteGroup, path: string): Readonly<Record<string, string>> {
  return paramsOf(group, path, (name) => {
    throw new RelayError('BAD_ID', `The path parameter ${name} is not valid percent-encoded UTF-8.`, { field: name })
  })
}

/** Returns the parameters of a path without throwing, for use before the request is checked. A segment that cannot be decoded is returned as sent. */
export function lenientParams(group: RouteGroup, path: string): Readonly<Record<string, string>> {
  return paramsOf(group, path, (_, segment) => segment)
}

function paramsOf(
  { parameters }: RouteGroup,
  path: string,
  undecodable: (name: string, segment: string) => string,
): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  if (parameters.length === 0) return params
  const segments = segmentsOf(path)
  for (const [name, at] of parameters) {
    const segment = segments[at] ?? ''
    try {
      params[name] = decodeURIComponent(segment)
    } catch {
      params[name] = undecodable(name, segment)
    }
  }
  return params
}
