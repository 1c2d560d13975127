import { afterEach } from 'vitest'
import { type BlobWorkspace, type BlobWorkspaceOptions, openBlobWorkspace } from './blob-workspace.ts'

/** Returns a function that opens workspaces for the tests of a file. Each workspace is closed after its test. */
export function blobWorkspaces(): (options?: BlobWorkspaceOptions) => Promise<BlobWorkspace> {
  const opened: BlobWorkspace[] = []
  afterEach(async () => {
    for (const workspace of opened.splice(0)) await workspace[Symbol.asyncDispose]()
  })
  return async (options) => {
    const workspace = await openBlobWorkspace(options)
    opened.push(workspace)
    return workspace
  }
}
