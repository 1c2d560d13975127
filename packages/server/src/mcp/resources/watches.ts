import type { DocumentChanges } from '../../documents/document-changes.ts'
import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { McpResources } from '../content.ts'
import { readUri } from './uris.ts'
import { type WatchDeps, type WatchedDocument, type WatchedUri, watchDocument } from './watched-document.ts'
import { type ListDeps, type WatchedList, watchList } from './watched-list.ts'

export interface WatchesDeps extends WatchDeps, ListDeps {
  readonly changes: Pick<DocumentChanges, 'listen'>
  /** Starts to report changes of a workspace early, until the returned function is called. */
  readonly follow?: (workspaceId: string) => () => void
}

/** Notifies watchers of changes. [RES-10..RES-12] */
export function createWatches(deps: WatchesDeps): McpResources['watch'] {
  const documents = new Map<string, WatchedDocument>()
  const lists = new Map<string, WatchedList>()
  const followed = new Map<string, () => void>()
  const keyOf = ({ workspaceId, id }: DocumentRef): string => JSON.stringify([workspaceId, id])

  deps.changes.listen({
    edited(ref) {
      documents.get(keyOf(ref))?.changed()
      lists.get(ref.workspaceId)?.edited(ref)
    },
    published(event) {
      const ref = event.kind === 'deleted' ? event.ref : event.head
      documents.get(keyOf(ref))?.changed(event)
      lists.get(ref.workspaceId)?.published(event)
    },
  })

  return (caller, sink) => {
    const { workspaceId } = caller.access
    const list = lists.get(workspaceId) ?? watchList(workspaceId, deps)
    if (!lists.has(workspaceId) && deps.follow !== undefined) followed.set(workspaceId, deps.follow(workspaceId))
    lists.set(workspaceId, list)
    const leaveList = list.add(caller, sink)
    const own = new Map<string, WatchedUri>()

    const remove = (uri: string): void => {
      const watched = own.get(uri)
      if (watched === undefined) return
      own.delete(uri)
      const key = keyOf({ workspaceId, id: watched.name.id })
      const document = documents.get(key)
      document?.remove(watched)
      if (document?.isIdle) documents.delete(key)
    }

    return {
      add(uri) {
        const name = readUri(uri)
        // Resources that belong to no document change only with a release.
        if (own.has(uri) || name === null || name.kind === 'icons' || name.kind === 'skill') return
        const ref = { workspaceId, id: name.id }
        const document = documents.get(keyOf(ref)) ?? watchDocument(ref, deps)
        documents.set(keyOf(ref), document)
        const watched = { uri, name, caller, sink }
        own.set(uri, watched)
        document.add(watched)
      },
      remove,
      close() {
        for (const uri of [...own.keys()]) remove(uri)
        leaveList()
        if (!list.isIdle || lists.get(workspaceId) !== list) return
        lists.delete(workspaceId)
        followed.get(workspaceId)?.()
        followed.delete(workspaceId)
      },
    }
  }
}
