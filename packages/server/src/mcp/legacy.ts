import { nameOfClient } from './client-name.ts'
import type { EndpointCaller } from './credentials.ts'
import { own, requiredText, RpcError } from './json-rpc.ts'
import { type McpParts, type Method, noResource, SHARED_METHODS } from './methods.ts'
import { MODERN_VERSION } from './modern.ts'
import type { Subscribing } from './session-facts.port.ts'
import { LOG_LEVELS, type LogLevel, type Session, type SessionOwner, type Sessions } from './sessions.ts'
import type { JsonObject, ToolView } from './tool.ts'

/** The versions of the legacy leg, oldest first. [MCP-1] */
export const LEGACY_VERSIONS = ['2025-03-26', '2025-06-18', '2025-11-25'] as const
const NEWEST = '2025-11-25'
const ALL_VERSIONS = [...LEGACY_VERSIONS, MODERN_VERSION]
const MAX_SUBSCRIPTIONS = 100

const CAPABILITIES = {
  tools: {},
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  completions: {},
  logging: {},
} as const

/** Agrees on a version and opens the session. [MCP-29, MCP-30, MCP-31] */
export function initialize(
  params: JsonObject,
  caller: EndpointCaller,
  view: Pick<ToolView, 'extra'>,
  sessions: Sessions,
  { serverInfo, instructions }: Pick<McpParts, 'serverInfo' | 'instructions'>,
): { readonly result: JsonObject; readonly session: Session } {
  const asked = own(params, 'protocolVersion')
  const protocolVersion = LEGACY_VERSIONS.find((version) => version === asked) ?? NEWEST
  const clientName = nameOfClient(own(params, 'clientInfo'))
  const session = sessions.open(ownerOf(caller), { version: protocolVersion, clientName })
  return { session, result: { protocolVersion, capabilities: CAPABILITIES, serverInfo, instructions: instructions(view) } }
}

/** Returns the owner of a caller's sessions. */
export function ownerOf({ key, principalKey, access }: EndpointCaller): SessionOwner {
  return { key, principalKey, workspaceId: access.workspaceId }
}

/** Throws when the endpoint does not know the protocol version; the error names the known ones. [MCP-35] */
export function checkLegacyVersion(header: string | undefined): void {
  if (header === undefined || LEGACY_VERSIONS.some((version) => version === header)) return
  const message = 'The header MCP-Protocol-Version names no version that is served here.'
  throw new RpcError('version', message, { supported: ALL_VERSIONS, requested: header.slice(0, 120) })
}

const setLevel: Method = async (params, { session }) => {
  const level = requiredText(params, 'level')
  if (!(LOG_LEVELS as readonly string[]).includes(level)) {
    throw new RpcError('params', `The parameter level must be one of ${LOG_LEVELS.join(', ')}.`)
  }
  if (session) session.logLevel = level as LogLevel
  await session?.shared?.setLogLevel(level as LogLevel)
  return {}
}

/** Subscribes the session to changes of a resource. [MCP-38] */
const subscribe: Method = async (params, context, { content }) => {
  const uri = requiredText(params, 'uri')
  const { session } = context
  if (session === null) throw new RpcError('params', 'Subscribing needs a session: send initialize and its Mcp-Session-Id first.')
  if (!(await content.resources.readable(context, [uri])).has(uri)) throw noResource(uri, context.era)
  const outcome = await addSubscription(session, uri)
  if (outcome === null) throw new RpcError('params', 'The session cannot keep subscriptions at the moment; try again later.')
  if (outcome === 'had') return {}
  if (outcome === 'full') {
    throw new RpcError('limit', `A session may subscribe to at most ${MAX_SUBSCRIPTIONS} resources.`, {
      limit: MAX_SUBSCRIPTIONS,
    })
  }
  // Another node may have added this subscription meanwhile.
  if (session.subscriptions.has(uri)) return {}
  session.subscriptions.add(uri)
  session.stream?.watch.add(uri)
  return {}
}

function addSubscription({ subscriptions, shared }: Session, uri: string): Subscribing | Promise<Subscribing | null> {
  if (shared !== null) return shared.subscribe(uri, MAX_SUBSCRIPTIONS)
  if (subscriptions.has(uri)) return 'had'
  return subscriptions.size >= MAX_SUBSCRIPTIONS ? 'full' : 'added'
}

const unsubscribe: Method = async (params, { session }) => {
  const uri = requiredText(params, 'uri')
  await session?.shared?.unsubscribe(uri)
  if (session?.subscriptions.delete(uri) === true) session.stream?.watch.remove(uri)
  return {}
}

/** The methods of the legacy leg, except `initialize`, which makes a session. [MCP-36] */
export const LEGACY_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ...SHARED_METHODS,
  ['ping', () => ({})],
  ['logging/setLevel', setLevel],
  ['resources/subscribe', subscribe],
  ['resources/unsubscribe', unsubscribe],
])
