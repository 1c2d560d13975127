import type { Access, Level } from '../access/access.ts'
import type { Once } from '../documents/once.ts'

/** Any JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The interface's groups of tools, in its order. [TOOL-10] */
export const TOOLSETS = ['read', 'author', 'prose', 'structure', 'diagram', 'manage', 'citations', 'fields'] as const
export type Toolset = (typeof TOOLSETS)[number]

/** One tool as data: what it is called, what it needs, what it runs. A file under `tools/` holds those of one subject. */
export interface ToolDefinition {
  /** Without the prefix `service_`. */
  readonly name: string
  readonly title: string
  /** Two sentences: when to use it, and what comes back. [TOOL-2] */
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
  readonly annotations: ToolAnnotations
  readonly toolset: Toolset
  readonly access: ToolAccess
  readonly bucket: RateBucket
  /** What is wrong with arguments that fit `inputSchema`, as far as it shows without a document or a right; absent: nothing can be. [MCP-3] */
  flaw?(args: JsonObject): ToolFailure | null
  /** `call.args` fit `inputSchema` and have no flaw. Rejects only when something unexpected happens, and with the signal's reason when that is aborted. */
  run(call: ToolCall): Promise<ToolSuccess | ToolFailure>
}

/** The column Access of section 2.3: nothing, a level on the document `docId`, or a workspace role that may create. [MCP-25] */
export type ToolAccess = Level | 'create'

/** The bucket of the workspace that a call takes one token of. [MCP-54] */
export type RateBucket = 'read' | 'write'

/** All four are always sent. [section 2.3] */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** Who calls and under which conditions: the same for a tool, a resource and a prompt. */
export interface McpCaller {
  /** `sub` is the principal: of the token, or `service:mcp`. [MCP-20] */
  readonly access: Access
  /** The static token of this host: owns what it creates under a name of its own. [MCP-20] */
  readonly isStatic: boolean
}

/** What one call knows besides its arguments. */
export interface CallContext extends McpCaller {
  /** What this request may see of the tools. [TOOL-10, TOOL-11] */
  readonly view: ToolView
  /** Title or name that the client gave itself, at most 64 characters; `null` without one. [PRES-2] */
  readonly clientName: string | null
  /**
   * Aborted when the caller gave up, by `notifications/cancelled` or, on the modern leg, by closing the connection. It is looked at up to the
   * commit and not afterwards. [MCP-15]
   */
  readonly signal: AbortSignal
  /** Tells the caller how far the call is; does nothing when the caller cannot be told. `progress` rises from call to call. [MCP-16] */
  progress(step: { readonly progress: number; readonly total?: number; readonly message?: string }): void
}

export interface ToolCall extends CallContext {
  readonly args: JsonObject
  /** Given when the caller gave a request id: a write is remembered under it and says when it is a repeat. [TOOL-22] */
  readonly once?: Once
}

/** `structured` is the `structuredContent`; the text is made of it. [TOOL-7] */
export interface ToolSuccess {
  readonly kind: 'success'
  readonly structured: JsonObject
}

/** A row of section 2.4. `message` is the sentence without the code. [TOOL-8] */
export interface ToolFailure {
  readonly kind: 'failure'
  readonly code: string
  readonly message: string
  readonly facts: JsonObject
}

/** The part of the tools that one request asks for. */
export interface ToolView {
  /** `null`: all of them. */
  readonly toolsets: readonly Toolset[] | null
  readonly readonly: boolean
}

/** The tools as the endpoint sees them: whatever stands behind, all of them are listed and called through this. */
export interface ToolServer {
  /** The members of `tools/list`, with the prefix in their names. `isViewer`: the token's role is viewer. [TOOL-1, TOOL-10, TOOL-11] */
  list(view: ToolView & { readonly isViewer: boolean }): readonly JsonObject[]
  /** Looks a tool up by its whole name, whether the request may see it or not. */
  find(name: string): FoundTool
  /**
   * The result of `tools/call`: `content`, `structuredContent`, `isError`. Everything that can go wrong with a known tool is such a result, a
   * tool outside the view included; rejects only with the signal's reason. `name` was found. Counts the call. [OPS-4, MCP-53, TOOL-6..TOOL-9]
   */
  call(name: string, args: JsonObject, context: CallContext): Promise<JsonObject>
}

export type FoundTool =
  | { readonly kind: 'known'; readonly bucket: RateBucket }
  /** `nearest`: the name that was perhaps meant. */
  | { readonly kind: 'unknown'; readonly nearest: string | null }
