import type { JsonObject, McpCaller } from './tool.ts'

/** Resources, prompts and completion as the endpoint sees them. */
export interface McpContent {
  readonly resources: McpResources
  readonly prompts: McpPrompts
  /** The member `completion` of the result; `null` when the reference names nothing that can be completed. [RES-9] */
  complete(caller: McpCaller, request: CompletionRequest): Promise<JsonObject | null>
}

export interface McpResources {
  /** One page, newest first; `null` when `cursor` is not one of ours. [RES-7] */
  list(caller: McpCaller, cursor: string | null): Promise<ResourcePage | null>
  readonly templates: readonly JsonObject[]
  /** The member `contents`, never empty; `null` when there is no such resource for this caller. [RES-8] */
  read(caller: McpCaller, uri: string): Promise<readonly JsonObject[] | null>
  /** Whether `read` would find it, without reading. */
  mayRead(caller: McpCaller, uri: string): Promise<boolean>
  /** The same for everyone and changing only with a release, so that anybody may keep it for an hour. [MCP-49] */
  isPublic(uri: string): boolean
  /**
   * Tells `sink` of changes until the watch is closed: merged, and with the right to read checked at each one. [RES-10..RES-12]
   * Nothing is told of a URI before it was added.
   */
  watch(caller: McpCaller, sink: ResourceSink): ResourceWatch
}

export interface ResourcePage {
  readonly resources: readonly JsonObject[]
  readonly nextCursor: string | null
}

export interface ResourceSink {
  updated(uri: string): void
  listChanged(): void
}

export interface ResourceWatch {
  add(uri: string): void
  remove(uri: string): void
  close(): void
}

export interface McpPrompts {
  list(): readonly JsonObject[]
  /** `refused` says in one sentence which prompt or argument is not there. [SKILL-5] */
  get(
    name: string,
    args: JsonObject,
    caller: McpCaller,
  ): { readonly kind: 'found'; readonly result: JsonObject } | { readonly kind: 'refused'; readonly message: string }
}

export interface CompletionRequest {
  readonly ref: JsonObject
  readonly argument: { readonly name: string; readonly value: string }
  /** The arguments that are already known. */
  readonly known: JsonObject
}
