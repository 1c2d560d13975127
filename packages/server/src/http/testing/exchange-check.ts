import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { ERRORS } from '../../kernel/errors.ts'
import type { JsonSchema } from '../../kernel/exchange.ts'
import type { Route, RouteDeclaration } from '../route.ts'
import { openApiDocument } from '../openapi/openapi.ts'

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A response, or a reference to one of the components. */
interface ResponseObject {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>
}
type Responses = Readonly<Record<string, ResponseObject>>

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>
  readonly components: { readonly responses: Responses }
}

/** Headers of the connection and of the encoding of the body, which routes do not declare. */
const TRANSPORT = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'])
const PREFLIGHT = new Set(['access-control-allow-methods', 'access-control-allow-headers', 'access-control-max-age'])

/** Throws when OpenAPI does not declare the status, error code, media type, a header or a member of an answer. [REST-36] */
export type ExchangeCheck = (method: string, path: string, answer: Answered) => void

/** The declarations of a set of routes. Schemas are compiled when they are first needed. */
interface Contract {
  readonly document: Description
  readonly validators: (pointer: readonly string[]) => ValidateFunction
  /** Paths in the order of the router: fixed segments before parameters. */
  readonly paths: readonly (readonly [RegExp, string])[]
}

/** Contracts by the declarations of their routes. Most relays of a test file share one, and compiling schemas takes long. */
const contracts = new Map<string, Contract>()
const exchangeNumbers = new Map<unknown, number>()

function contractOf(told: readonly RouteDeclaration[]): Contract {
  const key = JSON.stringify(told, (name, value: unknown) => (name === 'exchange' ? numberOf(value) : value))
  const known = contracts.get(key)
  if (known !== undefined) return known
  const document = openApiDocument(told, '0.0.0') as unknown as Description
  const templates = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length)
  const paths = templates.map((template) => [matcher(template), template] as const)
  const contract = { document, validators: schemaValidators(document), paths }
  contracts.set(key, contract)
  return contract
}

/** Returns a number for an exchange. Exchanges are constants, so the same object always has the same content. */
function numberOf(exchange: unknown): number {
  const number = exchangeNumbers.get(exchange) ?? exchangeNumbers.size
  exchangeNumbers.set(exchange, number)
  return number
}

/** Makes the check for these routes. A route without an exchange, which only tests have, is not checked. */
export function createExchangeCheck(routes: readonly (Route | RouteDeclaration)[]): ExchangeCheck {
  const told = routes.filter((route): route is RouteDeclaration => route.exchange !== undefined)
  const silent = routes
    .filter((route) => route.exchange === undefined)
    .map((route) => matcher(route.path.replaceAll(/:(\w+)/g, '{$1}')))
  const { document, validators, paths } = contractOf(told)

  return (method, target, answer) => {
    const path = (target.split('?')[0] ?? '').replace('/api/v1/', '/api/')
    const versioned = target.split('?')[0] ?? ''
    if (silent.some((matches) => matches.test(path) || matches.test(versioned))) return
    const template = paths.find(([matches]) => matches.test(versioned))?.[1]
    const item = template === undefined ? undefined : document.paths[template]
    if (method === 'OPTIONS' && answer.status === 204)
      return checkHeaders(answer, [...PREFLIGHT, 'allow', ...commonHeaders(document)])
    const where = `${method} ${target}: ${answer.status}`
    const verb = method.toLowerCase()
    const responses = item?.[verb]?.responses
    // An answer of no route at all is found by its error code.
    const code = codeOf(answer)
    const shared = responses === undefined ? code : responses[String(answer.status)]?.$ref?.split('/').at(-1)
    const pointer =
      shared === undefined
        ? ['paths', template as string, verb, 'responses', String(answer.status)]
        : ['components', 'responses', shared]
    const response = shared === undefined ? responses?.[String(answer.status)] : document.components.responses[shared]
    if (response === undefined) throw new Error(`${where} ${code} is not a response that OpenAPI tells of`)
    checkHeaders(answer, [...Object.keys(response.headers ?? {}), ...(responses === undefined ? headersOf(item) : [])], where)
    checkContent(answer, response, { pointer, where, isHead: method === 'HEAD', validators })
  }
}

/** Makes a `fetch` that rejects when OpenAPI does not declare the answer of the relay. */
export function checkedFetch(
  check: ExchangeCheck,
  isOurs: (url: string) => boolean = () => true,
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, init)
    // The target of a redirect is not a route of the relay.
    if (response.redirected || !isOurs(url)) return response
    const { pathname, search } = new URL(url)
    const { status, headers } = response
    check(init.method ?? 'GET', pathname + search, { status, headers, text: await response.clone().text() })
    return response
  }
}

function checkHeaders(answer: Answered, declared: readonly string[], where = 'preflight'): void {
  const known = new Set(declared.map((name) => name.toLowerCase()))
  for (const name of answer.headers.keys()) {
    if (!known.has(name) && !TRANSPORT.has(name))
      throw new Error(`${where} has the header ${name}, which OpenAPI does not tell of`)
  }
}

function checkContent(
  answer: Answered,
  response: ResponseObject,
  at: {
    readonly pointer: readonly string[]
    readonly where: string
    readonly isHead: boolean
    readonly validators: (pointer: readonly string[]) => ValidateFunction
  },
): void {
  const types = Object.keys(response.content ?? {})
  if (at.isHead || types.length === 0) {
    if (answer.text !== '') throw new Error(`${at.where} has a body, which OpenAPI does not tell of`)
    return
  }
  const given = (answer.headers.get('content-type') ?? '').split(';')[0] ?? ''
  const type = types.find((each) => each === given) ?? types.find((each) => each === '*/*')
  if (type === undefined) throw new Error(`${at.where} is ${given}, which OpenAPI does not tell of`)
  if (response.content?.[type]?.schema === undefined) return
  const validate = at.validators([...at.pointer, 'content', type, 'schema'])
  if (validate(given === 'application/json' ? JSON.parse(answer.text) : answer.text)) return
  throw new Error(`${at.where} is not as OpenAPI tells: ${JSON.stringify(validate.errors)} in ${answer.text.slice(0, 1_000)}`)
}

/** Compiles a schema at its first use. Members that a schema does not list are refused unless it allows them. */
function schemaValidators(document: Description): (pointer: readonly string[]) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  formats.default(ajv)
  ajv.addSchema(closed(document) as object, 'openapi')
  const compiled = new Map<string, ValidateFunction>()
  return (pointer) => {
    const ref = `openapi#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
    const known = compiled.get(ref) ?? ajv.compile({ $ref: ref })
    compiled.set(ref, known)
    return known
  }
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]))
  const isOpen = members.type !== 'object' || members.properties === undefined || members.additionalProperties !== undefined
  return isOpen ? members : { ...members, additionalProperties: false }
}

function matcher(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** Returns the headers of all routes of a path: an answer to a method without a route has them too. */
function headersOf(item: Description['paths'][string] | undefined): readonly string[] {
  return Object.values(item ?? {}).flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)),
  )
}

function commonHeaders(document: Description): readonly string[] {
  return Object.keys(document.components.responses['NOT_FOUND']?.headers ?? {})
}

/** Returns the error code of an answer. Without a body, as for HEAD, returns the first code with its status. */
function codeOf({ status, text }: Answered): string {
  try {
    return String((JSON.parse(text) as { errorCode?: unknown }).errorCode)
  } catch {
    return Object.entries(ERRORS).find(([, row]) => row.status === status)?.[0] ?? text
  }
}
