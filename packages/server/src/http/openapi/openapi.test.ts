import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERRORS } from '../../kernel/errors.ts'
import type { Route, RouteDeclaration } from '../route.ts'
import { routeTable } from '../../compose/route-table.ts'
import { groupRoutes } from '../routing.ts'
import { createExchangeCheck } from '../testing/exchange-check.ts'
import { type RestRelay, startRestRelay } from '../testing/rest-relay.ts'
import { errorsOf, openApiDocument } from './openapi.ts'

interface Operation {
  readonly operationId: string
  readonly deprecated?: boolean
  readonly security: readonly Record<string, unknown>[]
  readonly parameters: readonly { readonly name?: string; readonly in?: string; readonly $ref?: string }[]
  readonly responses: Readonly<Record<string, { readonly headers: object; readonly content?: object }>>
}
interface Described {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const document = openApiDocument(routeTable(), '1.2.3') as unknown as Described
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
)
const of = (method: string, path: string): Operation => {
  const operation = document.paths[path]?.[method]
  if (operation === undefined) throw new Error(`${method} ${path} is not described`)
  return operation
}

/** Returns a response object, following its `$ref`. */
const resolved = (response: object): { readonly headers: object } => {
  const name = '$ref' in response ? String(response.$ref).split('/').at(-1) : undefined
  return (name === undefined ? response : document.components['responses']?.[name]) as { headers: object }
}

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

describe('OpenAPI', () => {
  it('[REST-36] the OpenAPI description is valid 3.1, and every reference resolves', async () => {
    const validator = new Validator()
    const result = await validator.validate(structuredClone(document) as never)
    expect(result).toMatchObject({ valid: true })
    expect(document.openapi).toBe('3.1.1')
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)
    for (const [, kind = '', name = ''] of references) expect(document.components[kind], `${kind}/${name}`).toHaveProperty([name])
  })

  it('[REST-36] [REST-4] the OpenAPI description has every method of every path that the router serves, and nothing else', () => {
    const run = routeTable().map((route) => ({ ...route, handle: () => Promise.reject(new Error('unused')) }))
    const served = groupRoutes(run).flatMap(({ pattern, methods }) =>
      methods
        .filter((method) => method !== 'OPTIONS')
        .map((method) => `${method.toLowerCase()} ${pattern.replaceAll(/:(\w+)/g, '{$1}')}`),
    )
    const described = operations.map(({ path, method }) => `${method} ${path}`)
    // The gateway answers the WebSocket upgrade, so the router does not list it.
    expect(described.sort()).toEqual([...served, 'get /ws'].sort())
  })

  it('[REST-36] [REST-14] every error code is described, and every code of a route under its status', () => {
    for (const code of Object.keys(ERRORS)) expect(document.components['responses']).toHaveProperty([code])
    for (const route of routeTable()) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
      const { responses } = of(route.method.toLowerCase(), path)
      for (const code of errorsOf(route)) expect(Object.keys(responses)).toContain(String(ERRORS[code].status))
    }
    const inUse = new Set(routeTable().flatMap((route) => [...errorsOf(route)]))
    const unused = Object.keys(ERRORS).filter((code) => !inUse.has(code as keyof typeof ERRORS))
    expect(unused).toEqual(NO_ROUTE_ANSWERS)
  })

  it('[REST-36] [REST-9] [REST-10] [REST-11] every response has the common headers, a 401 its challenge, a 503 its Retry-After', () => {
    for (const { operation } of operations) {
      for (const [status, given] of Object.entries(operation.responses)) {
        const response = resolved(given)
        expect(response.headers).toHaveProperty('X-Request-Id')
        expect(response.headers).toHaveProperty('X-Content-Type-Options')
        expect(response.headers).toHaveProperty('Access-Control-Allow-Origin')
        if (status === '401') expect(response.headers).toHaveProperty('WWW-Authenticate')
        if (status === '503' || status === '429') expect(response.headers).toHaveProperty('Retry-After')
      }
    }
  })

  it('[REST-36] [REST-37] deprecated routes are marked, and every response of them has the deprecation headers', () => {
    const deprecated = operations.filter(({ operation }) => operation.deprecated === true)
    expect(deprecated.map(({ method, path }) => `${method} ${path}`)).toEqual(['post /api/docs/{id}/share'])
    for (const response of Object.values(deprecated[0]?.operation.responses ?? {})) {
      for (const name of ['Deprecation', 'Sunset', 'Link']) expect(resolved(response).headers).toHaveProperty(name)
    }
  })

  it('[REST-36] internal routes are described with their own credential, and every operation has its own name', () => {
    expect(of('post', '/api/v1/internal/revoke').security).toEqual([{ 'revocation-bearer': [] }])
    expect(of('get', '/api/docs').security).toEqual([{ bearer: [] }])
    expect(of('get', '/health').security).toEqual([])
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('[REST-36] [REST-30] the relay serves the OpenAPI description without a credential', async () => {
    const answer = await relay.call('GET', '/api/v1/openapi.json')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(answer.json).toEqual(JSON.parse(JSON.stringify(openApiDocument(routeTable(), '0.0.0'))))
  })
})

describe('checking answers in tests', () => {
  const declared = {
    method: 'GET',
    path: '/api/things/:id',
    credential: 'none',
    body: { kind: 'none' },
    needs: 'none',
    summary: 'A thing.',
    exchange: {
      path: { id: { description: 'It.', schema: { type: 'string' } } },
      responses: {
        200: {
          description: 'It.',
          content: { 'application/json': { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
          headers: { ETag: 'Of it.' },
        },
      },
      errors: ['NOT_FOUND'],
    },
  } as const satisfies RouteDeclaration
  const route: Route = { ...declared, handle: () => Promise.reject(new Error('unused')) }
  const check = createExchangeCheck([route])
  const JSON_TYPE = { 'content-type': 'application/json' }
  const answer =
    (status: number, value: unknown, headers: Record<string, string> = JSON_TYPE) =>
    () =>
      check('GET', '/api/things/a', {
        status,
        headers: new Headers(headers),
        text: typeof value === 'string' ? value : JSON.stringify(value),
      })

  it('[REST-36] a declared answer passes, under both spellings of the path and for HEAD', () => {
    expect(answer(200, { id: 'a' }, { ...JSON_TYPE, ETag: '"1"', 'X-Request-Id': 'r' })).not.toThrow()
    expect(answer(404, { error: 'No.', errorCode: 'NOT_FOUND', resource: 'thing' })).not.toThrow()
    const headers = new Headers(JSON_TYPE)
    expect(() => check('GET', '/api/v1/things/a?x=1', { status: 200, headers, text: '{"id":"a"}' })).not.toThrow()
    expect(() => check('HEAD', '/api/things/a', { status: 200, headers, text: '' })).not.toThrow()
  })

  it.each([
    ['an undeclared status', answer(202, { id: 'a' })],
    ['an undeclared code', answer(404, { error: 'No.', errorCode: 'OBJECT_NOT_UPLOADED' })],
    ['an undeclared status of an error', answer(409, { error: 'No.', errorCode: 'VERSION_CONFLICT' })],
    ['another media type', answer(200, 'text', { 'content-type': 'text/plain' })],
    ['a missing member', answer(200, {})],
    ['an additional member', answer(200, { id: 'a', secret: 1 })],
    ['a detail that the code does not have', answer(404, { error: 'No.', errorCode: 'NOT_FOUND', path: '/root' })],
    ['a member of another type', answer(200, { id: 1 })],
    ['an undeclared header', answer(200, { id: 'a' }, { ...JSON_TYPE, 'X-Powered-By': 'x' })],
  ])('[REST-36] %s fails the test', (_, judge) => {
    expect(judge).toThrow()
  })

  it('[REST-36] an incomplete route description and two schemas with one name are refused', () => {
    const { path: _, ...pathless } = declared.exchange
    expect(() => openApiDocument([{ ...declared, exchange: pathless }], '1')).toThrow('does not say what :id is')
    const named = (type: string) => ({
      ...declared,
      path: `/api/${type}`,
      exchange: { responses: { 200: { description: '', content: { 'application/json': { title: 'Same', type } } } }, errors: [] },
    })
    expect(() => openApiDocument([named('string'), named('object')], '1')).toThrow('two schemas are named Same')
    expect(() => openApiDocument([{ ...declared, headers: () => ({ 'X-New': '1' }) }], '1')).toThrow('X-New')
  })
})

/** Error codes answered for a path without a route, or by the WebSocket upgrade. */
const NO_ROUTE_ANSWERS = ['METHOD_NOT_ALLOWED', 'PROTOCOL_VERSION_MISMATCH']
