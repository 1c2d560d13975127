import type { Access } from '../access/access.ts'
import { RelayError } from '../kernel/errors.ts'
import type { DocumentHead, DocumentState } from './document-store.port.ts'
import { readerOf } from './reader.ts'
import { type DocumentsDeps, unknownDocument } from './writing.ts'

type Deps = Pick<DocumentsDeps, 'accessPolicy'> & { readonly store: Pick<DocumentsDeps['store'], 'state'> }

/** At most this many restores are followed from one document to the next. */
const MOST_RESTORES = 32

/**
 * Returns the document with which a restore replaced a deleted one, following later restores; `null` when there is none or the
 * caller may not read it. [LIFE-22, X6]
 */
export async function successorOf(access: Access, deleted: DocumentState, deps: Deps): Promise<DocumentHead | null> {
  let state = deleted
  for (let restores = 0; restores < MOST_RESTORES && state.kind === 'tombstone'; restores++) {
    const id = state.tombstone.successor
    if (id === undefined) return null
    state = await deps.store.state({ workspaceId: access.workspaceId, id })
  }
  return state.kind === 'document' && readerOf(access, state.head, deps) !== null ? state.head : null
}

/** Throws the error for an id that names no document now. After a restore the error names the successor. [REST-6, LIFE-22] */
export async function noDocument(access: Access, state: DocumentState, deps: Deps): Promise<never> {
  const successor = await successorOf(access, state, deps)
  if (successor === null) return unknownDocument()
  throw new RelayError('NOT_FOUND', 'The document was restored from a recovery point, as another one.', {
    resource: 'document',
    successor: successor.id,
  })
}
