import type { CallContext, JsonObject, McpCaller, ToolView } from './tool.ts'

/** Resources, prompts and completion, as the endpoint uses them. */
export interface McpContent {
  readonly resources: McpResources
  readonly prompts: McpPrompts
  /**
   * Returns the member `completion` of the result; `null` when the reference names nothing that can be completed.
   * [RES-9]
   */
  complete(caller: McpCaller, request: CompletionRequest): Promise<JsonObject | null>
}

export interface McpResources {
  /** Returns one page, newest first; `null` when `cursor` is not a cursor of this relay. [RES-7] */
  list(caller: McpCaller, cursor: string | null): Promise<ResourcePage | null>
  readonly templates: readonly JsonObject[]
  /** Returns the member `contents`, never empty; `null` when this caller has no such resource. Texts name only tools of the view. [RES-8, AG-96] */
  read(reader: ResourceReader, uri: string, view: Pick<ToolView, 'extra'>): Promise<readonly JsonObject[] | null>
  /** Returns the URIs that `read` would find. Opens each document once, and renders nothing. [MCP-51] */
  readable(caller: McpCaller, uris: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Whether the resource is the same for every caller and changes only with a release, so that any cache may keep it for an hour. [MCP-49]
   */
  isPublic(uri: string): boolean
  /**
   * Notifies `sink` of changes to added URIs until the watch is closed. Changes are merged, and the right to read is checked at each
   * notification. A change made before its URI was added causes no notification. [RES-10..RES-12]
   */
  watch(caller: McpCaller, sink: ResourceSink): ResourceWatch
}

/** The reader of a resource, and how the content names blocks. [AG-15] */
export type ResourceReader = McpCaller & Pick<CallContext, 'naming'>

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
  /** `refused` says in one sentence which prompt or argument does not exist. [SKILL-5] */
  get(
    name: string,
    args: JsonObject,
    caller: McpCaller & { readonly view: Pick<ToolView, 'extra'> },
  ): { readonly kind: 'found'; readonly result: JsonObject } | { readonly kind: 'refused'; readonly message: string }
}

export interface CompletionRequest {
  readonly ref: JsonObject
  readonly argument: { readonly name: string; readonly value: string }
  /** Values of other arguments that the user has already filled in. */
  readonly known: JsonObject
}
