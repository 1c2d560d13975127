import type { Fix } from '@docrelay/model/edit'
import { likelyMeant } from '@docrelay/model/nearest'
import { quote } from '@docrelay/model/quote'
import type { Clock } from '../kernel/clock.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { isDocumentId } from '../documents/document-id.ts'
import { type ArgumentsSchema, badArgument, checkArguments } from './arguments.ts'
import { type GlanceDeps, openGlance } from './memory/glance.ts'
import { BEYOND_INTERFACE, namingKnownTools } from './named-tools.ts'
import { createReplays } from './replays.ts'
import { type Successor, withSuccessor } from './restored-document.ts'
import { callResult, failure, withFixes } from './results.ts'
import { storeFailure } from './store-failure.ts'
import {
  TOOLSETS,
  type CallContext,
  type JsonObject,
  type ToolCall,
  type ToolDefinition,
  type ToolFailure,
  type ToolServer,
  type ToolSuccess,
  type ToolView,
} from './tool.ts'

const PREFIX = 'service_'

export interface RegistryDeps {
  /** In the order of `tools/list`. */
  readonly tools: readonly ToolDefinition[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add'>
  /** Memory of what callers saw. When absent, nothing is remembered. [AG-17] */
  readonly glances?: GlanceDeps
  /** Finds the document that took the place of a deleted one. When absent, no failure names it. */
  readonly successorOf?: Successor
}

/**
 * Lists and calls tools: decides which tools a request may see, checks arguments by their schema, checks rights that
 * need no document, answers repeats by request id, and turns every failure into a result with a code. Throws when two
 * tools have the same name. [TOOL-1..TOOL-11, TOOL-22, MCP-26]
 */
export function createToolServer(deps: RegistryDeps): ToolServer {
  const byName = new Map<string, ToolDefinition>()
  for (const tool of deps.tools) {
    if (byName.has(tool.name)) throw new Error(`the tool ${tool.name} is defined twice`)
    byName.set(tool.name, tool)
  }
  const listed = new Map(deps.tools.map((tool) => [tool, listedTool(tool)]))
  const replays = createReplays(deps.clock)

  async function run(tool: ToolDefinition, call: ToolCall): Promise<ToolSuccess | ToolFailure> {
    call.signal.throwIfAborted()
    try {
      const outcome = await tool.run(call)
      if (outcome.kind === 'success' || deps.successorOf === undefined) return outcome
      return await withSuccessor(outcome, call.access, deps.successorOf)
    } catch (error) {
      if (call.signal.aborted && error === call.signal.reason) throw error
      return storeFailure(error, call) ?? unexpected(tool, call, error)
    }
  }

  function unexpected(tool: ToolDefinition, call: ToolCall, error: unknown): ToolFailure {
    const incident = newId('inc-', 12, deps.random)
    const detail = error instanceof Error ? error.stack : String(error)
    deps.log.error('mcp.tool_failed', 'a tool failed unexpectedly', {
      incident,
      tool: tool.name,
      workspace: call.access.workspaceId,
      detail,
    })
    deps.metrics.add('relay_handler_panics_total', 1)
    return failure('ERR_INTERNAL', `The call failed unexpectedly; the operator finds it as ${incident}.`, { incident })
  }

  async function outcomeOf(tool: ToolDefinition, args: JsonObject, context: CallContext): Promise<ToolSuccess | ToolFailure> {
    const hidden = outsideView(tool, context.view)
    if (hidden !== null) return hidden
    const schema = tool.inputSchema as unknown as ArgumentsSchema
    const given = withoutNeedlessDocId(tool, schema, args)
    const checked = checkArguments(schema, given.args, tool)
    if (checked.kind === 'failure') return checked
    const { requestId, ...rest } = checked.args
    const refused = badIds(checked.args) ?? tool.flaw?.(rest) ?? refusedRole(tool, context, rest)
    if (refused !== null) return refused
    const glance = deps.glances === undefined ? null : openGlance(deps.glances, { ...context, args: rest })
    try {
      const outcome = await answered(tool, requestId, { ...context, args: rest, ...(glance && { glance }) })
      return withFixes(glance === null ? outcome : await glance.renew(outcome), [...given.fixes, ...checked.fixes])
    } finally {
      // An aborted call has no answer, and its glance is disposed of as well. [AG-20, MCP-15]
      glance?.[Symbol.dispose]()
    }
  }

  function answered(tool: ToolDefinition, requestId: unknown, call: ToolCall): Promise<ToolSuccess | ToolFailure> {
    const { access, isStatic, args } = call
    if (typeof requestId !== 'string' || args['dryRun'] === true) return run(tool, call)
    const caller = JSON.stringify([isStatic, access.workspaceId, access.sub])
    return replays.once({ caller, tool: tool.name, requestId, args }, (once) => run(tool, { ...call, once }))
  }

  return {
    toolsets: TOOLSETS.filter((name) => deps.tools.some(({ toolset }) => toolset === name)),
    list: (view) => deps.tools.filter((tool) => isListed(tool, view)).map((tool) => listed.get(tool) as JsonObject),
    find(name, args, view) {
      const tool = toolOf(byName, name)
      if (tool !== undefined) return { kind: 'known', bucket: tool.bucket, tokens: tool.tokens?.(args) ?? 1 }
      const nearest = likelyMeant(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name, seenNames(byName, view))
      return { kind: 'unknown', nearest: nearest === null ? null : PREFIX + nearest }
    },
    async call(name, args, context) {
      const tool = toolOf(byName, name)
      if (tool === undefined) throw new Error(`there is no tool ${name}`)
      const isThere = (named: string): boolean => !BEYOND_INTERFACE.has(named) || (byName.has(named) && context.view.extra)
      const outcome = namingKnownTools(await outcomeOf(tool, args, context), isThere)
      deps.metrics.add('relay_mcp_calls_total', 1, { tool: name, outcome: outcome.kind === 'success' ? 'ok' : 'error' })
      return callResult(outcome)
    },
  }
}

const MAX_REQUEST_ID_CHARACTERS = 128

/** Checks the lengths of `docId` and `requestId`. No schema states them, because they are equal for every tool. [TOOL-12, TOOL-22] */
function badIds({ docId, requestId }: JsonObject): ToolFailure | null {
  if (typeof docId === 'string' && !isDocumentId(docId)) {
    const expected = '1 to 256 bytes without "..", "/", "\\" or control characters'
    const got = quote(docId)
    return badArgument('docId', `docId "${got}" is no id of a document; expected ${expected}.`, { expected, got })
  }
  if (typeof requestId !== 'string') return null
  const { length } = Array.from(requestId.slice(0, 2 * MAX_REQUEST_ID_CHARACTERS + 1))
  if (length >= 1 && length <= MAX_REQUEST_ID_CHARACTERS) return null
  const expected = `1 to ${MAX_REQUEST_ID_CHARACTERS} characters`
  const got = `${requestId.length} characters`
  return badArgument('requestId', `requestId has ${got}; expected ${expected}.`, { expected, got })
}

function toolOf(byName: ReadonlyMap<string, ToolDefinition>, name: string): ToolDefinition | undefined {
  return name.startsWith(PREFIX) ? byName.get(name.slice(PREFIX.length)) : undefined
}

function seenNames(byName: ReadonlyMap<string, ToolDefinition>, view?: Pick<ToolView, 'extra'>): readonly string[] {
  return [...byName.values()].filter(({ extra }) => extra !== true || view?.extra !== false).map(({ name }) => name)
}

function listedTool({ name, title, description, inputSchema, outputSchema, annotations }: ToolDefinition): JsonObject {
  return { name: PREFIX + name, title, description, inputSchema, outputSchema, annotations }
}

function isListed(tool: ToolDefinition, view: ToolView & { readonly isViewer: boolean }): boolean {
  return outsideView(tool, view) === null && (tool.bucket === 'read' || !view.isViewer)
}

/**
 * Refuses a tool that is outside the view: a write tool in a read-only request, a tool of another toolset, or one beyond
 * the interface in a request for the interface alone. [AG-90, TOOL-10, TOOL-11]
 */
function outsideView({ name, toolset, bucket, extra }: ToolDefinition, view: ToolView): ToolFailure | null {
  const isWrite = bucket === 'write'
  if (view.readonly && isWrite) {
    return failure('ERR_TOOL_DISABLED', `${PREFIX}${name} writes, and this request is read-only.`, {
      tool: PREFIX + name,
      toolset,
    })
  }
  if (extra === true && !view.extra) {
    return failure(
      'ERR_TOOL_DISABLED',
      `${PREFIX}${name} is beyond the interface, and this request asks for the interface alone.`,
      {
        tool: PREFIX + name,
        toolset,
      },
    )
  }
  if (view.toolsets === null || view.toolsets.includes(toolset)) return null
  const sentence = `${PREFIX}${name} belongs to the toolset ${toolset}, which this request leaves out.`
  return failure('ERR_TOOL_DISABLED', sentence, { tool: PREFIX + name, toolset })
}

/** Refuses a write by the role viewer, before any document is read. [MCP-26] */
function refusedRole({ name, bucket }: ToolDefinition, { access }: CallContext, args: JsonObject): ToolFailure | null {
  if (bucket === 'read' || access.role !== 'viewer') return null
  const deletes = name === 'delete_document'
  const { docId } = args
  const document = docId === undefined ? '' : `, document ${String(docId)} included`
  const sentence = `The role viewer may ${deletes ? 'delete' : 'write'} nothing in this workspace${document}.`
  const facts = { ...(docId !== undefined && { docId }), role: access.role }
  return failure(deletes ? 'ERR_DELETE_FORBIDDEN' : 'ERR_EDIT_FORBIDDEN', sentence, facts)
}

/**
 * Drops a `docId` sent to a read tool without such an argument. A write tool refuses it, as an unknown argument there
 * may mean that the caller wants something else. [TOOL-6, AG-33]
 */
function withoutNeedlessDocId(
  { annotations }: ToolDefinition,
  { properties }: ArgumentsSchema,
  args: JsonObject,
): { readonly args: JsonObject; readonly fixes: readonly Fix[] } {
  if (!annotations.readOnlyHint || Object.hasOwn(properties, 'docId') || !Object.hasOwn(args, 'docId')) return { args, fixes: [] }
  const { docId: _, ...others } = args
  const reason = 'this tool is about no single document'
  return { args: others, fixes: [{ action: 'dropped_unknown', field: 'docId', reason }] }
}
