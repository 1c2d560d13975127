import type { McpContent } from '../content.ts'
import { type CompletionDeps, createCompletion } from './completion.ts'
import { createPrompts } from './prompts.ts'
import { createResources, type ResourcesDeps } from './resources.ts'
import { createWatches, type WatchesDeps } from './watches.ts'

export interface ContentDeps extends ResourcesDeps, CompletionDeps, WatchesDeps {
  readonly documents: ResourcesDeps['documents']
}

/** Makes the resources, prompts and completion of the endpoint. */
export function createContent(deps: ContentDeps): McpContent {
  return {
    resources: { ...createResources(deps), watch: createWatches(deps) },
    prompts: createPrompts(deps.skills),
    complete: createCompletion(deps),
  }
}
