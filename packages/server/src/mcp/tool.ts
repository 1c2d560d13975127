import type { Naming } from '@docrelay/model/prose/block-names'
import type { Access, Level } from '../access/access.ts'
import type { ShownPage } from '@docrelay/model/seen/shown'
import type { Once } from '../documents/once.ts'
import type { EndWait } from './streams.ts'
import type { EditWriter } from '../documents/edit.ts'

/** Any JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The groups of tools, in the order in which the interface lists them. [TOOL-10] */
export const TOOLSETS = ['read', 'author', 'prose', 'structure', 'diagram', 'manage', 'citations', 'fields'] as const
export type Toolset = (typeof TOOLSETS)[number]

/**
 * One tool as data: its name, its requirements and the function it runs. A file under `tools/` holds the tools of one subject.
 */
export interface ToolDefinition {
  /** Name without the prefix `service_`. */
  readonly name: string
  readonly title: string
  /** Two sentences: when to use the tool, and what comes back. [TOOL-2] */
  readonly description: string
  readonly inputSchema: JsonObject
  /** For argument names that the tool does not have: a sentence that tells the caller what to use instead. [AG-95] */
  readonly misnamed?: Readonly<Record<string, string>>
  readonly outputSchema: JsonObject
  readonly annotations: ToolAnnotations
  readonly toolset: Toolset
  readonly access: ToolAccess
  /** Whether the tool is beyond the interface, so that a request can leave it out. [AG-90] */
  readonly extra?: boolean
  readonly bucket: RateBucket
  /** Returns how many tokens a call takes. `args` are unchecked. When absent, a call takes one token. [MCP-54] */
  tokens?(args: unknown): number
  /**
   * Returns the problem of arguments that match `inputSchema`, as far as it can be found without reading a document or a right. Absent when
   * there can be none. [MCP-3]
   */
  flaw?(args: JsonObject): ToolFailure | null
  /**
   * Runs the tool. `call.args` match `inputSchema`, and `flaw` found no problem in them. Rejects only on an unexpected error, or with the
   * signal's reason when the call is aborted.
   */
  run(call: ToolCall): Promise<ToolSuccess | ToolFailure>
}

/**
 * The access that a tool requires (column Access of TOOL-27): none, a level on the document `docId`, or a role that may create documents.
 * [MCP-25]
 */
export type ToolAccess = Level | 'create'

/** The bucket of the workspace from which a call takes its tokens. [MCP-54] */
export type RateBucket = 'read' | 'write'

/** All four annotations are always sent. [TOOL-27] */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** The caller and the conditions of its call; the same for tools, resources and prompts. */
export interface McpCaller {
  /** `sub` is the principal: that of the token, or `service:mcp`. [MCP-20] */
  readonly access: Access
  /** True for the static token of this host, whose documents get an owner name of their own. [MCP-20] */
  readonly isStatic: boolean
}

/** Facts about one call besides its arguments. */
export interface CallContext extends McpCaller {
  /** The tools that this request may use. [TOOL-10, TOOL-11] */
  readonly view: ToolView
  /** How answers name blocks and shapes. Absent: with stamps. [AG-15] */
  readonly naming?: Naming
  /** Title or name that the client gave itself, at most 64 characters; `null` without one. [PRES-2] */
  readonly clientName: string | null
  /** Tells callers with the same principal apart; absent when nothing tells them apart. [AG-18] */
  readonly caller?: {
    readonly name: string
    /** The session or address that used the name, when several may use the same name. */
    readonly place: string | null
  }
  /**
   * Aborted when the caller gives up: by `notifications/cancelled` or, on the modern leg, by closing the connection. The relay checks the signal
   * up to the commit and not after it. [MCP-15]
   */
  readonly signal: AbortSignal
  /**
   * Registers a long wait, which counts as an open stream of the principal until the returned function is called. Returns `null` when the principal
   * has as many as allowed. Calls `end` when the wait must end. When absent, the call may not wait. [AG-76]
   */
  wait?(end: EndWait): (() => void) | null
  /**
   * Reports progress to the caller; does nothing when the caller cannot receive it. `progress` rises from call to call.
   * [MCP-16]
   */
  progress(step: { readonly progress: number; readonly total?: number; readonly message?: string }): void
}

/** What the relay knows its caller saw of the document, and what it learns from this call. [AG-17] */
export interface Glance extends EditWriter {
  /** Records the pages that the answer of this read will show. */
  showed(pages: readonly ShownPage[]): void
  /** Up to where the caller was notified of changes; `null` when the relay remembers nothing for this caller and document. */
  readonly told: { readonly version: number; readonly sequence: number; readonly partOf: number } | null
}

export interface ToolCall extends CallContext {
  readonly args: JsonObject
  /** Absent when the call names no document. */
  readonly glance?: Glance
  /**
   * Present when the caller sent a request id. The write is stored under it, so that a repeat is recognised. [TOOL-22]
   */
  readonly once?: Once
}

/** A success. `structured` becomes `structuredContent`, and the text of the result repeats its JSON. [TOOL-7] */
export interface ToolSuccess {
  readonly kind: 'success'
  readonly structured: JsonObject
  /** PNG images that follow the text. [TOOL-7, AG-109] */
  readonly pictures?: readonly Uint8Array[]
}

/** A failure with a code of TOOL-28. `message` is the sentence without the code. [TOOL-8] */
export interface ToolFailure {
  readonly kind: 'failure'
  readonly code: string
  readonly message: string
  readonly facts: JsonObject
}

/** The tools that one request may see and call. */
export interface ToolView {
  /** `null`: all toolsets. */
  readonly toolsets: readonly Toolset[] | null
  readonly readonly: boolean
  /** Whether tools beyond the interface are seen. [AG-90] */
  readonly extra: boolean
}

/** The tools as the endpoint sees them: every tool is listed and called through this interface. */
export interface ToolServer {
  /** The toolsets that have a tool. [TOOL-10] */
  readonly toolsets: readonly Toolset[]
  /**
   * Returns the members of `tools/list`, with the prefix in their names. `isViewer`: the token's role is viewer.
   * [TOOL-1, TOOL-10, TOOL-11]
   */
  list(view: ToolView & { readonly isViewer: boolean }): readonly JsonObject[]
  /**
   * Finds a tool by its full name, also when the request may not see it. `args` are unchecked and decide the price of a call. `nearest` is always
   * a tool that the request sees. [AG-96]
   */
  find(name: string, args?: unknown, view?: Pick<ToolView, 'extra'>): FoundTool
  /**
   * Runs a tool and returns the result of `tools/call`: `content`, `structuredContent`, `isError`. Every failure is such a result, also for a tool
   * outside the view; rejects only with the signal's reason. `name` must be one that `find` found. Counts the call. [OPS-4, MCP-53,
   * TOOL-6..TOOL-9]
   */
  call(name: string, args: JsonObject, context: CallContext): Promise<JsonObject>
}

export type FoundTool =
  | { readonly kind: 'known'; readonly bucket: RateBucket; readonly tokens: number }
  /** `nearest`: a known name that is similar. */
  | { readonly kind: 'unknown'; readonly nearest: string | null }
