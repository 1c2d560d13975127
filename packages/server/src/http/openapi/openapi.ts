import { ERRORS, type ErrorCode } from '../../kernel/errors.ts'
import type { ExchangeParameter, ExchangeResponse, JsonSchema, RouteExchange } from '../../kernel/exchange.ts'
import type { RouteDeclaration } from '../route.ts'
import { servedPaths } from '../routing.ts'
import { errorShape } from './error-schemas.ts'
import { UPGRADE } from './upgrade.ts'

type Json = Record<string, unknown>

const REF = '#/components'
const ABOUT = [
  'Every `/api/` route is also served under `/api/v1/`, the canonical spelling. HEAD is answered wherever GET is, OPTIONS as CORS asks.',
  'An unknown route is NOT_FOUND, a known one with another method METHOD_NOT_ALLOWED; a request that is no HTTP is BAD_REQUEST or HEADERS_TOO_LARGE.',
].join('\n\n')

/** Headers of every response. [REST-9, REST-10, REST-11] */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'X-Request-Id': 'The id of this request, in the log too.',
  'X-Content-Type-Options': 'Always `nosniff`.',
  'Access-Control-Allow-Origin': '`*`, or the origin when it is one of those configured.',
  'Access-Control-Expose-Headers': 'Headers that scripts of other origins may read.',
  Vary: '`Origin` when origins are configured; `Authorization, X-Workspace-Id` where the answer is of the caller.',
}
/** Headers that a route may declare for every response of its own, errors included. */
const ROUTE_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': '`no-store`.',
  Deprecation: 'Since when the route is deprecated.',
  Sunset: 'When it will be gone.',
  Link: 'What to read about it, and the route that takes its place.',
}
const ERROR_HEADERS: Readonly<Record<string, string>> = {
  'WWW-Authenticate': '`Bearer`, with `error="invalid_token"` when a token was given.',
  'Retry-After': 'Whole seconds, at least 1.',
  Allow: 'The methods of the path.',
  'Content-Range': 'The size of the blob.',
}

const COMMON_PARAMETERS: Readonly<Record<string, ExchangeParameter>> = {
  'X-Request-Id': {
    description: 'Kept as the id of the request when it has this form.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'X-Workspace-Id': {
    description: 'The workspace of the token to act in; its first usable one when absent.',
    schema: { type: 'string' },
  },
}

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token of the issuer, signed with RS256.',
  },
  'revocation-bearer': { type: 'http', scheme: 'bearer', description: 'The shared secret of the internal routes.' },
} as const

/** The components that paths refer to. `schemas` grows while the paths are made. */
interface Components {
  readonly schemas: Map<string, { readonly source: string; readonly schema: unknown }>
  /** Responses of errors alone, by their codes. Many routes share them, since most statuses have one of few sets of codes. */
  readonly responses: Map<string, Json>
}

/** Makes the OpenAPI 3.1 document of these routes. Throws when a route is not described completely. [REST-36] */
export function openApiDocument(routes: readonly RouteDeclaration[], version: string): Readonly<Json> {
  const components: Components = { schemas: new Map(), responses: new Map() }
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    for (const path of servedPaths(route)) {
      const item = (paths[template(path)] ??= {})
      item[route.method.toLowerCase()] = operation(route, route.method, path, components)
      if (route.method === 'GET') item.head = operation(route, 'HEAD', path, components)
    }
  }
  paths['/ws'] = { get: upgradeOperation(components) }
  for (const code of Object.keys(ERRORS) as ErrorCode[]) errorResponse([code], components)
  return {
    openapi: '3.1.1',
    info: { title: 'Docrelay', version, description: ABOUT, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    tags: [...new Set(Object.keys(paths).map(tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries([...components.schemas].map(([name, { schema }]) => [name, schema])),
      responses: Object.fromEntries(components.responses),
      headers: headerObjects({ ...COMMON_HEADERS, ...ERROR_HEADERS }),
      parameters: Object.fromEntries(
        Object.entries(COMMON_PARAMETERS).map(([name, parameter]) => [
          name,
          parameterObject('header', name, parameter, components),
        ]),
      ),
      securitySchemes: SECURITY,
    },
  }
}

/** Turns `/api/docs/:id` into `/api/docs/{id}`. */
function template(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

/** Returns the error codes of a route: those that follow from its declaration, and those it names itself. */
export function errorsOf(route: RouteDeclaration): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(['BAD_REQUEST', 'HEADERS_TOO_LARGE', 'INTERNAL', 'UNAVAILABLE'])
  if (route.path.includes(':')) codes.add('BAD_ID')
  if (route.credential !== 'none') codes.add('UNAUTHENTICATED')
  if (route.credential === 'bearer') {
    const refusals = [
      'TOKEN_MALFORMED',
      'TOKEN_INVALID',
      'TOKEN_REVOKED',
      'JWKS_UNAVAILABLE',
      'FORBIDDEN',
      'FORBIDDEN_PLAIN',
    ] as const
    for (const code of refusals) codes.add(code)
  }
  if (route.body.kind === 'json' || route.body.kind === 'document') {
    for (const code of ['BAD_JSON', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) codes.add(code)
  }
  if (route.body.kind === 'document') codes.add('DOC_TOO_LARGE')
  for (const code of route.exchange.errors) codes.add(code)
  return [...codes]
}

function operation(route: RouteDeclaration, method: string, path: string, components: Components): Json {
  const { exchange } = route
  return {
    operationId: `${method.toLowerCase()}${path.replace(/(?<=.)\/$/, '/page').replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase())}`,
    tags: [tag(path)],
    summary: route.summary,
    description: `Needs: ${route.needs}.`,
    ...(exchange.isDeprecated && { deprecated: true }),
    security: route.credential === 'none' ? [] : [{ [route.credential]: [] }],
    parameters: parameters(route, path, exchange, components),
    ...(exchange.request && { requestBody: requestBody(exchange.request, components) }),
    responses: responses(exchange.responses, errorsOf(route), {
      hasBody: method !== 'HEAD',
      headers: ownHeaders(route),
      components,
    }),
  }
}

/** Returns the names of the headers that every response of the route has. */
function ownHeaders(route: RouteDeclaration): readonly string[] {
  const names = Object.keys(route.headers?.({ params: {}, origin: '' }) ?? {})
  for (const name of names) if (ROUTE_HEADERS[name] === undefined) throw new Error(`nothing tells what the header ${name} says`)
  return names
}

function tag(path: string): string {
  const [first = '', ...rest] = path.split('/').filter((part) => part !== '' && part !== 'api' && part !== 'v1')
  return rest.includes('recovery') ? 'recovery' : rest.includes('share-links') || first === 'share-links' ? 'share links' : first
}

function parameters(route: RouteDeclaration, path: string, exchange: RouteExchange, components: Components): readonly Json[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const parameter = exchange.path?.[name]
    if (parameter === undefined) throw new Error(`route ${route.method} ${route.path} does not say what :${name} is`)
    return parameterObject('path', name, parameter, components)
  })
  const common = Object.keys(COMMON_PARAMETERS).filter((name) => name !== 'X-Workspace-Id' || route.credential === 'bearer')
  const of = (place: 'query' | 'header', given: RouteExchange['query']) =>
    Object.entries(given ?? {}).map(([name, parameter]) => parameterObject(place, name, parameter, components))
  return [
    ...inPath,
    ...of('query', exchange.query),
    ...of('header', exchange.requestHeaders),
    ...common.map((name) => ({ $ref: `${REF}/parameters/${name}` })),
  ]
}

function parameterObject(
  place: 'path' | 'query' | 'header',
  name: string,
  given: ExchangeParameter,
  components: Components,
): Json {
  const schema = hoisted(given.schema, components)
  return { name, in: place, required: place === 'path', description: given.description, schema }
}

function requestBody(request: NonNullable<RouteExchange['request']>, components: Components): Json {
  return {
    required: request.isOptional !== true,
    content: { [request.mediaType]: mediaObject(request.schema, components) },
  }
}

function responses(declared: RouteExchange['responses'], codes: readonly ErrorCode[], rendering: Rendering): Json {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status as number)
  const statuses = [...new Set([...Object.keys(declared).map(Number), ...byStatus.keys()])].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => {
      const errors = byStatus.get(status) ?? []
      const shape = declared[status]
      if (shape === undefined && rendering.headers.length === 0)
        return [String(status), errorResponse(errors, rendering.components)]
      return [String(status), response(shape ?? describedBy(errors), errors, rendering)]
    }),
  )
}

function describedBy(codes: readonly ErrorCode[]): ExchangeResponse {
  return { description: codes.map((code) => `${code}: ${ERRORS[code].when}`).join('; ') }
}

/** Returns a reference to the shared response of these error codes. */
function errorResponse(codes: readonly ErrorCode[], components: Components): Json {
  const name = codes.join('.')
  if (!components.responses.has(name)) {
    components.responses.set(name, response(describedBy(codes), codes, { hasBody: true, headers: [], components }))
  }
  return { $ref: `${REF}/responses/${name}` }
}

interface Rendering {
  readonly hasBody: boolean
  /** Names of the headers that every response of the route has. */
  readonly headers: readonly string[]
  readonly components: Components
}

/** Makes one response from the declared one and the errors with the same status. */
function response(shape: ExchangeResponse, codes: readonly ErrorCode[], { hasBody, headers, components }: Rendering): Json {
  const errors = codes.map(errorShape)
  const content = new Map<string, JsonSchema[]>(Object.entries(shape.content ?? {}).map(([type, schema]) => [type, [schema]]))
  for (const { mediaType, schema } of errors) content.set(mediaType, [...(content.get(mediaType) ?? []), schema])
  const known = [...Object.keys(COMMON_HEADERS), ...new Set(errors.flatMap(({ headers }) => headers))]
  const media = [...content].map(([type, schemas]) => {
    const [only = {}] = schemas
    return [type, mediaObject(schemas.length === 1 ? only : { anyOf: schemas }, components)] as const
  })
  return {
    description: shape.description,
    headers: {
      ...Object.fromEntries(known.map((name) => [name, { $ref: `${REF}/headers/${name}` }])),
      ...headerObjects(Object.fromEntries(headers.map((name) => [name, ROUTE_HEADERS[name] ?? '']))),
      ...headerObjects(shape.headers ?? {}),
    },
    ...(hasBody && media.length > 0 && { content: Object.fromEntries(media) }),
  }
}

function mediaObject(schema: JsonSchema, components: Components): Json {
  return Object.keys(schema).length === 0 ? {} : { schema: hoisted(schema, components) }
}

function headerObjects(headers: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )
}

function upgradeOperation(components: Components): Json {
  const { query, errors, ...rest } = UPGRADE
  const parameters = Object.entries(query).map(([name, parameter]) => parameterObject('query', name, parameter, components))
  return { ...rest, parameters, responses: responses(UPGRADE.responses, errors, { hasBody: true, headers: [], components }) }
}

/** Returns the schema with every titled schema inside it moved to the components. Throws when two different schemas have one title. */
function hoisted(schema: unknown, components: Components): unknown {
  if (Array.isArray(schema)) return schema.map((each) => hoisted(each, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, hoisted(value, components)]))
  if (typeof members.title !== 'string') return members
  const source = JSON.stringify(schema)
  const known = components.schemas.get(members.title)
  if (known !== undefined && known.source !== source) throw new Error(`two schemas are named ${members.title}`)
  components.schemas.set(members.title, { source, schema: members })
  return { $ref: `${REF}/schemas/${members.title}` }
}
