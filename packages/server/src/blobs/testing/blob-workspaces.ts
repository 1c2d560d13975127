import { afterEach } from 'vitest'
import { type BlobWorkspace, type BlobWorkspaceOptions, openBlobWorkspace } from './blob-workspace.ts'

/** Opens workspaces for the tests of a file; each ends with the test that opened it. */
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
