import { nameOfClient } from './client-name.ts'
import type { McpContent } from './content.ts'
import { isObject, own, type RpcId, type RpcRequest, RpcError } from './json-rpc.ts'
import { type McpParts, type Method, SHARED_METHODS } from './methods.ts'
import { LOG_LEVELS, type LogLevel } from './sessions.ts'
import type { Listening } from './streams.ts'
import type { JsonObject, McpCaller } from './tool.ts'

export const MODERN_VERSION = '2026-07-28'
const META = 'io.modelcontextprotocol'
const VERSION_KEY = `${META}/protocolVersion`
const SUBSCRIPTION_KEY = `${META}/subscriptionId`
const MAX_LISTENED = 100
const MINUTES_5 = 300_000
const HOUR = 3_600_000

/** For each method, the parameter that the header `Mcp-Name` must repeat. [MCP-42] */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['resources/read', 'uri'],
  ['prompts/get', 'name'],
])

type HeaderOf = (name: string) => string | undefined

/** Whether a request belongs to the modern leg. [MCP-29, MCP-40] */
export function isModern({ method, params }: Pick<RpcRequest, 'method' | 'params'>, header: HeaderOf): boolean {
  const meta = own(params, '_meta')
  if (isObject(meta) && Object.hasOwn(meta, VERSION_KEY)) return true
  if (method === 'initialize') return false
  return (
    trimmed(header('mcp-protocol-version')) === MODERN_VERSION ||
    method === 'server/discover' ||
    method === 'subscriptions/listen'
  )
}

/**
 * Checks that `_meta` is complete, then the headers that repeat the body, then the version; throws the first failure.
 * [MCP-41..MCP-44]
 */
export function checkModern({ method, params }: Pick<RpcRequest, 'method' | 'params'>, header: HeaderOf): void {
  const meta = own(params, '_meta')
  const version = isObject(meta) ? own(meta, VERSION_KEY) : undefined
  if (!isObject(meta) || typeof version !== 'string' || !isObject(own(meta, `${META}/clientCapabilities`))) {
    throw new RpcError('meta', `The member _meta must hold ${VERSION_KEY} and ${META}/clientCapabilities.`)
  }
  checkHeader('MCP-Protocol-Version', trimmed(header('mcp-protocol-version')), version)
  checkHeader('Mcp-Method', trimmed(header('mcp-method')), method)
  const naming = NAMED_BY.get(method)
  if (naming !== undefined) checkHeader('Mcp-Name', decodedName(header('mcp-name')), own(params, naming))
  if (version === MODERN_VERSION) return
  const data = { supported: [MODERN_VERSION], requested: version.slice(0, 120) }
  throw new RpcError('version', `The protocol version is not served; ${MODERN_VERSION} is.`, data)
}

function checkHeader(name: string, value: string | undefined, expected: unknown): void {
  if (value === undefined) throw new RpcError('headers', `The header ${name} is required.`)
  if (value !== expected) throw new RpcError('headers', `The header ${name} differs from the body.`)
}

function trimmed(value: string | undefined): string | undefined {
  return value?.replace(/^[ \t]+|[ \t]+$/g, '')
}

/** Decodes a name; names beyond ASCII come as `=?base64?…?=`. [MCP-43] */
function decodedName(value: string | undefined): string | undefined {
  const name = trimmed(value)
  const encoded = name === undefined ? undefined : /^=\?base64\?(.*)\?=$/.exec(name)?.[1]
  if (encoded === undefined) return name
  const bytes = Buffer.from(encoded, 'base64')
  try {
    if (bytes.toString('base64') === encoded) return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Bytes that are not UTF-8 are refused like any other invalid value.
  }
  throw new RpcError('headers', 'The header Mcp-Name is not valid Base64 of UTF-8.')
}

/** Returns the lowest level of log messages that a request wants; `null` when it wants none. */
export function logLevelOf(params: JsonObject): LogLevel | null {
  const meta = own(params, '_meta')
  const level = isObject(meta) ? own(meta, `${META}/logLevel`) : undefined
  return LOG_LEVELS.find((known) => known === level) ?? null
}

/** Whether the client declares the capability `name` in this request. [MCP-58] */
export function declaredCapability(params: JsonObject, name: string): boolean {
  const meta = own(params, '_meta')
  const declared = isObject(meta) ? own(meta, `${META}/clientCapabilities`) : undefined
  return isObject(declared) && isObject(own(declared, name))
}

/** Returns the name that the client gives in this request. [PRES-2] */
export function clientOf(params: JsonObject): string | null {
  const meta = own(params, '_meta')
  return isObject(meta) ? nameOfClient(own(meta, `${META}/clientInfo`)) : null
}

/** The methods of the modern leg, except `subscriptions/listen`, which answers with a stream. [MCP-45] */
export const MODERN_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ...SHARED_METHODS,
  [
    'server/discover',
    (_params, { view }, { instructions }) => ({
      supportedVersions: [MODERN_VERSION],
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true }, prompts: {}, completions: {} },
      instructions: instructions(view),
    }),
  ],
])

/** Adds the members that every result has. A result marked as incomplete must not be cached. [MCP-47, MCP-49] */
export function modernResult(result: JsonObject, hints: JsonObject, { serverInfo }: Pick<McpParts, 'serverInfo'>): JsonObject {
  const given = own(result, '_meta')
  const _meta = {
    ...(isObject(given) && given),
    [`${META}/serverInfo`]: { name: serverInfo.name, version: serverInfo.version },
  }
  const kind = Object.hasOwn(result, 'resultType') ? {} : { resultType: 'complete', ...hints }
  return { ...kind, ...result, _meta }
}

/** Returns how long a result may be cached, and by whom. [MCP-49] */
export function cacheHints({ method, params }: Pick<RpcRequest, 'method' | 'params'>, { resources }: McpContent): JsonObject {
  switch (method) {
    case 'server/discover':
    case 'prompts/list':
    case 'resources/templates/list':
      return { ttlMs: MINUTES_5, cacheScope: 'public' }
    case 'tools/list':
      return { ttlMs: MINUTES_5, cacheScope: 'private' }
    case 'resources/list':
      return { ttlMs: 0, cacheScope: 'private' }
    case 'resources/read':
      return resources.isPublic(String(own(params, 'uri')))
        ? { ttlMs: HOUR, cacheScope: 'public' }
        : { ttlMs: 0, cacheScope: 'private' }
    default:
      return {}
  }
}

/**
 * Returns the part of a `subscriptions/listen` filter that the relay serves. Tools and prompts never change while the relay runs, so
 * filters for them are not served. [MCP-50, MCP-51]
 */
export async function honour(
  request: { readonly id: RpcId; readonly params: JsonObject },
  caller: McpCaller,
  parts: Pick<McpParts, 'content' | 'serverInfo'>,
): Promise<Listening> {
  const filter = own(request.params, 'notifications') ?? {}
  if (!isObject(filter)) throw new RpcError('params', 'The parameter notifications must be an object.')
  const meta = { [SUBSCRIPTION_KEY]: request.id }
  const { resources } = parts.content
  const named = own(filter, 'resourceSubscriptions')
  const uris = Array.isArray(named) ? [...new Set(named.filter((uri) => typeof uri === 'string'))].slice(0, MAX_LISTENED) : []
  const readable = await resources.readable(caller, uris)
  const honoured = {
    ...(own(filter, 'resourcesListChanged') === true && { resourcesListChanged: true as const }),
    ...(Array.isArray(named) && { resourceSubscriptions: uris.filter((uri) => readable.has(uri)) }),
  }
  return { honoured, meta, answer: { jsonrpc: '2.0', id: request.id, result: modernResult({ _meta: meta }, {}, parts) } }
}
