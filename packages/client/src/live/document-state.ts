import type { ErrorFrame } from '@docrelay/protocol/frames'
import { RelayError } from '../errors.ts'
import type { Closed } from '../sync/sync-connection.ts'
import type { SyncState } from '../sync/sync-client.ts'
import type { LocalCopyState } from './local-copy.ts'

/** The state of the connection and of the edits. The two are independent: a document may be saved without a connection. */
export interface DocumentState {
  /**
   * - `connecting`: the client connects to the relay, or waits for the content.
   * - `live`: the document is in sync.
   * - `waiting`: there is no connection; the client tries again by itself. `error` says why.
   * - `stopped`: the client does not try again by itself. `error` says why.
   */
  readonly link: 'connecting' | 'live' | 'waiting' | 'stopped'
  /**
   * - `saved`: every edit is durable on the relay.
   * - `saving`: edits are on their way.
   * - `local`: edits are only here, and there is no connection.
   * - `refused`: the relay refuses an edit, or the document is not there for this person (any more).
   */
  readonly saved: 'saved' | 'saving' | 'local' | 'refused'
  /** Since when (ms since 1970) something is not saved; `null` when everything is. */
  readonly unsavedSince: number | null
  readonly error: RelayError | null
  /** The person's level; `null` before the relay has sent it. */
  readonly level: 'view' | 'edit' | 'owner' | null
  readonly localCopy: LocalCopyState
}

/** Refusals that leave the connection bound to no document. */
const ENDED = ['ERR_UNKNOWN_DOC', 'ERR_DELETED', 'ERR_VIEW_FORBIDDEN', 'ERR_LINEAGE']

/** How a document ended for this person. */
export type GoneReason = 'deleted' | 'restored' | 'forbidden'

/** Returns what a new refusal means to an application. `known`: the document existed before, live or as a copy. */
export function meaningOf(
  { refusal, successor }: Pick<SyncState, 'refusal' | 'successor'>,
  known: boolean,
): { readonly kind: 'gone'; readonly reason: GoneReason } | { readonly kind: 'diverged' } | { readonly kind: 'error' } {
  if (refusal === 'ERR_DELETED') return { kind: 'gone', reason: successor === null ? 'deleted' : 'restored' }
  if (refusal === 'ERR_VIEW_FORBIDDEN') return { kind: 'gone', reason: 'forbidden' }
  // Nobody says that the document was deleted: an older backup of the store may be in use, the token may be for another workspace, or the
  // tombstone may have expired. The content of this client may be the only one that is left.
  if (refusal === 'ERR_UNKNOWN_DOC') return { kind: known ? 'diverged' : 'error' }
  return refusal === null ? { kind: 'error' } : { kind: 'diverged' }
}

export function linkOf({
  connection,
  synced,
  refusal,
}: Pick<SyncState, 'connection' | 'synced' | 'refusal'>): DocumentState['link'] {
  if (refusal !== null && ENDED.includes(refusal)) return 'stopped'
  if (connection === 'stopped' || connection === 'waiting') return connection
  return connection === 'authenticated' && synced ? 'live' : 'connecting'
}

export function savedOf({ saved }: Pick<SyncState, 'saved'>): DocumentState['saved'] {
  return saved === 'unsaved' ? 'local' : saved
}

/** Returns the error behind a state: the refusal of the document or of an edit, or the reason why there is no connection. */
export function errorOf(state: Pick<SyncState, 'refusal' | 'closed'>, frame: ErrorFrame | null): RelayError | null {
  const { refusal, closed } = state
  if (refusal === null) return closed === null ? null : closeError(closed)
  const { error = refusal, ...members } = frame?.code === refusal ? frame : {}
  const { code: _, requestId: __, ...details } = members as Partial<ErrorFrame>
  return new RelayError(refusal, error, { details })
}

/** Returns the error that a close of the socket stands for. [WS-58] */
export function closeError({ code, reason, error }: Closed): RelayError {
  if (error !== undefined) return error
  const facts = { details: { code, reason } }
  if (code === 4401) return new RelayError(reason.startsWith('token-revoked') ? 'TOKEN_REVOKED' : 'TOKEN_INVALID', reason, facts)
  if (code === 4403) return new RelayError('FORBIDDEN', 'the token is not for this workspace or region', facts)
  if (code === 4409)
    return reason.startsWith('editor-limit')
      ? new RelayError(
          'ERR_EDITOR_LIMIT',
          'the workspace has as many editors as it may have; the client tries again in a minute',
          facts,
        )
      : new RelayError(
          'ERR_WORKSPACE_CONNECTION_LIMIT',
          'the workspace has as many connections as it may have; the client tries again in a minute',
          facts,
        )
  if (code === 1012 || code === 1013) return new RelayError('UNAVAILABLE', `the relay is not available: ${reason}`, facts)
  return new RelayError('NETWORK', reason === '' ? 'there is no connection to the relay' : reason, facts)
}

export function isSameState(a: DocumentState, b: DocumentState): boolean {
  const same = (['link', 'saved', 'unsavedSince', 'level', 'localCopy'] as const).every((member) => a[member] === b[member])
  return same && a.error?.code === b.error?.code && a.error?.message === b.error?.message
}
