import type { Naming } from '@docrelay/model/prose/block-names'
import { quote } from '@docrelay/model/quote'
import type { CompletionRequest, McpContent } from './content.ts'
import { type Era, isObject, own, requiredText, RpcError } from './json-rpc.ts'
import type { LogLevel, Session } from './sessions.ts'
import { type CallContext, type JsonObject, type Toolset, TOOLSETS, type ToolServer, type ToolView } from './tool.ts'

/** The parts that the methods use. */
export interface McpParts {
  readonly tools: ToolServer
  readonly content: McpContent
  /** Returns the text about the endpoint that a client shows its model. [MCP-60] */
  instructions(view: Pick<ToolView, 'extra'>): string
  readonly serverInfo: { readonly name: string; readonly title: string; readonly version: string }
}

/** Facts about one request in addition to its parameters. */
export interface RequestContext extends CallContext {
  readonly era: Era
  /** `null` on the modern leg, and when the caller has no live session. */
  readonly session: Session | null
  /** The parameters as received. Test tools read members that no tool of the relay has. */
  readonly params: JsonObject
  /** Sends a log message to a client that asked for this level. */
  log(level: LogLevel, data: unknown): void
  /** Sends the client a request during its own call. Rejects when the client cannot be asked or refuses. [MCP-58] */
  ask(method: string, params: JsonObject): Promise<JsonObject>
}

/** Handles one JSON-RPC method: returns its result, or throws RpcError. */
export type Method = (params: JsonObject, context: RequestContext, parts: McpParts) => Promise<JsonObject> | JsonObject

/** The methods of both legs. [MCP-36, MCP-45] */
export const SHARED_METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['tools/list', listTools],
  ['tools/call', callTool],
  ['resources/list', listResources],
  ['resources/templates/list', listTemplates],
  ['resources/read', readResource],
  ['prompts/list', listPrompts],
  ['prompts/get', getPrompt],
  ['completion/complete', complete],
])

function listTools(params: JsonObject, { view, access }: RequestContext, { tools }: McpParts): JsonObject {
  onlyPage(params)
  return { tools: tools.list({ ...view, isViewer: access.role === 'viewer' }) }
}

async function callTool(params: JsonObject, context: RequestContext, { tools }: McpParts): Promise<JsonObject> {
  const name = requiredText(params, 'name')
  const args = own(params, 'arguments') ?? {}
  if (!isObject(args)) throw new RpcError('params', 'The parameter arguments must be an object.')
  const found = tools.find(name, args, context.view)
  if (found.kind === 'unknown') {
    const hint = found.nearest === null ? '' : ` Did you mean ${found.nearest}?`
    throw new RpcError('params', `There is no tool ${quoted(name)}.${hint}`)
  }
  return tools.call(name, args, context)
}

async function listResources(params: JsonObject, context: RequestContext, { content }: McpParts): Promise<JsonObject> {
  const page = await content.resources.list(context, cursorOf(params))
  if (page === null) throw badCursor()
  return { resources: page.resources, ...(page.nextCursor !== null && { nextCursor: page.nextCursor }) }
}

function listTemplates(params: JsonObject, _: RequestContext, { content }: McpParts): JsonObject {
  onlyPage(params)
  return { resourceTemplates: content.resources.templates }
}

async function readResource(params: JsonObject, context: RequestContext, { content }: McpParts): Promise<JsonObject> {
  const uri = requiredText(params, 'uri')
  const contents = await content.resources.read(context, uri, context.view)
  if (contents === null) throw noResource(uri, context.era)
  return { contents }
}

function listPrompts(params: JsonObject, _: RequestContext, { content }: McpParts): JsonObject {
  onlyPage(params)
  return { prompts: content.prompts.list() }
}

function getPrompt(params: JsonObject, context: RequestContext, { content }: McpParts): JsonObject {
  const name = requiredText(params, 'name')
  const args = own(params, 'arguments') ?? {}
  if (!isObject(args)) throw new RpcError('params', 'The parameter arguments must be an object.')
  const prompt = content.prompts.get(name, args, context)
  if (prompt.kind === 'refused') throw new RpcError('params', prompt.message)
  return prompt.result
}

async function complete(params: JsonObject, context: RequestContext, { content }: McpParts): Promise<JsonObject> {
  const completion = await content.complete(context, completionRequest(params))
  if (completion === null) throw new RpcError('params', 'The parameter ref names nothing that can be completed.')
  return { completion }
}

function completionRequest(params: JsonObject): CompletionRequest {
  const ref = own(params, 'ref')
  const argument = own(params, 'argument')
  if (!isObject(ref) || !isObject(argument)) throw new RpcError('params', 'The parameters ref and argument must be objects.')
  const given = own(params, 'context')
  const known = isObject(given) ? own(given, 'arguments') : undefined
  return {
    ref,
    argument: { name: requiredText(argument, 'name'), value: requiredText(argument, 'value') },
    known: isObject(known) ? known : {},
  }
}

/** Makes the error for a missing resource, which is the same for one that the caller may not read. [RES-8] */
export function noResource(uri: string, era: Era): RpcError {
  const kind = era === 'legacy' ? 'no-resource' : 'no-resource-modern'
  return new RpcError(kind, `There is no resource ${quoted(uri)}.`, { uri: uri.slice(0, 1_024).toWellFormed() })
}

function cursorOf(params: JsonObject): string | null {
  const cursor = own(params, 'cursor') ?? null
  if (cursor !== null && typeof cursor !== 'string') throw badCursor()
  return cursor
}

/** Throws for any cursor, because a list with a single page never hands one out. */
function onlyPage(params: JsonObject): void {
  if (cursorOf(params) !== null) throw badCursor()
}

function badCursor(): RpcError {
  return new RpcError('params', 'The parameter cursor is not one that this list has given.')
}

/**
 * Reads which tools the request may see, from `?toolsets=` (else `X-MCP-Toolsets`), `?readonly=1` and `?extra=0`. A toolset that is unknown
 * or empty in this relay is an error: otherwise the request would get an empty list without a reason. [AG-90, TOOL-10, TOOL-11]
 */
export function readView(query: URLSearchParams, header: string | undefined, present: readonly Toolset[]): ToolView {
  const readonly = switches(query, 'readonly').includes(true)
  const extra = readsExtra(query)
  const named = namesIn(query.getAll('toolsets').find((names) => namesIn(names).length > 0) ?? header ?? '')
  const missing = named.find((name) => !(present as readonly string[]).includes(name))
  if (missing !== undefined) {
    const isKnown = (TOOLSETS as readonly string[]).includes(missing)
    const problem = isKnown ? `The toolset ${missing} has no tool in this relay` : `There is no toolset ${quoted(missing)}`
    throw new RpcError('params', `${problem}; those with tools are ${present.join(', ')}.`)
  }
  return { readonly, extra, toolsets: named.length === 0 ? null : (named as Toolset[]) }
}

function namesIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Whether the request sees tools beyond the interface; only `?extra=0` or `?extra=false` hides them. [AG-90] */
export function readsExtra(query: URLSearchParams): boolean {
  return !switches(query, 'extra').includes(false)
}

const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
])

/**
 * Reads the values of the switch `name` in the address, one for each occurrence. Throws for any other word, because its sender believes that
 * the request is restricted. [TOOL-11]
 */
function switches(query: URLSearchParams, name: string): readonly boolean[] {
  return query.getAll(name).map((given) => {
    const said = SWITCHES.get(given.trim().toLowerCase())
    if (said !== undefined) return said
    throw new RpcError('params', `The address says ${name}=${quoted(given)}; ${name} is 1, true, 0 or false.`)
  })
}

/** Reads from `?ids=`, else `X-MCP-Ids`, how the answers of the request name blocks and shapes; absent means stamped. [AG-15] */
export function readNaming(query: URLSearchParams, header: string | undefined): Naming {
  const asked = (query.getAll('ids').find((ids) => ids.trim() !== '') ?? header ?? '').trim()
  const naming = asked === '' ? 'stamped' : asked.toLowerCase()
  if (naming === 'bare' || naming === 'stamped') return naming
  throw new RpcError('params', `There are no ids of the form ${quoted(asked)}; bare leaves out the stamps.`)
}

/** Returns the sent text, cut to a length that an error may quote. */
export function quoted(text: string): string {
  return JSON.stringify(quote(text))
}
