import type { DocumentHead, DocumentWrite, WriteOutcome } from '../../documents/document-store.port.ts'
import type { Telling, Told } from './feed-writing.ts'

/** Notifies other nodes of a write, when it took place and concerns them. `before`: the document before the write; `null` for a creation. */
export function tellWritten(tell: Telling, write: DocumentWrite, before: DocumentHead | null, outcome: WriteOutcome): void {
  if (tell === null || outcome.kind !== 'written') return
  const told = toldOf(write, before, outcome.head)
  if (told !== null) tell(told)
}

/** Returns the change that other nodes are notified of for a write that took place. [FEED-2, WS-52] */
export function toldOf(
  { told, bump, set }: Pick<DocumentWrite, 'told' | 'bump' | 'set'>,
  before: DocumentHead | null,
  head: DocumentHead,
): Told | null {
  if (told === undefined) return null
  const { actor, isMaterialisation } = told
  const isSharingChanged = before !== null && !hasSameSharing(before, head)
  // A materialisation without a new version was announced with the edit that brought its version.
  if (isMaterialisation === true) return bump ? { kind: 'edited', head, actor, isSharingChanged } : null
  const isBeside = set.body === undefined && set.collectionId === undefined && set.titleChangedAtMs === undefined
  const kind = before === null ? 'created' : isSharingChanged && isBeside ? 'shared' : 'updated'
  return { kind, head, actor, isSharingChanged }
}

function hasSameSharing(a: DocumentHead, b: DocumentHead): boolean {
  return a.ownerId === b.ownerId && JSON.stringify(a.sharedWith) === JSON.stringify(b.sharedWith)
}
