import { isOutdated, isRefusal, type Refusal } from '@docrelay/model/edit'
import type { CallsUndone, UndoTarget } from '@docrelay/model/changes/undo-calls'
import type { Access } from '../access/access.ts'
import type { CallHead, CallStore } from '../documents/call-store.port.ts'
import type { DocumentHead, DocumentStore } from '../documents/document-store.port.ts'
import type { Documents } from '../documents/documents.ts'
import { tombstoned } from '../documents/put-plan.ts'
import { notUndoableBecause, undoTargetOf } from '../documents/undo-targets.ts'
import { auditFields, contended } from '../documents/writing.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'

export interface CallsDeps {
  readonly documents: Pick<Documents, 'edit' | 'require'>
  readonly store: Pick<DocumentStore, 'state'>
  readonly calls: Pick<CallStore, 'list' | 'read'>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Pick<Logger, 'info'>
}

/** A call, and whether it can be undone now. */
export interface ListedCall extends CallHead {
  readonly isUndoable: boolean
}

export interface CallPage {
  readonly calls: readonly ListedCall[]
  /** The version below which the next page begins; `null` on the last page. */
  readonly next: number | null
}

export interface UndoRequest {
  readonly id: string
  readonly callId: string
  /** `null`: any stored version. */
  readonly expectedVersion: number | null
}

export interface Undone extends Pick<CallsUndone, 'kept' | 'keptTotal'> {
  readonly changed: number
  readonly version: number
  /** Id of the undo; absent when nothing was changed. */
  readonly callId?: string
}

/** The calls that wrote a document, for people. Every verb decides rights itself and throws RelayError. [AG-73] */
export interface Calls {
  /** Returns the calls of a document, newest first. */
  list(access: Access, id: string, page: { readonly before: number | null; readonly limit: number }): Promise<CallPage>
  /** Takes one call back. A person who has already undone the call gets the first answer again. */
  undo(access: Access, request: UndoRequest): Promise<Undone>
}

export function createCalls(deps: CallsDeps): Calls {
  const { documents, store, calls, clock, log } = deps

  async function list(access: Access, id: string, { before, limit }: Parameters<Calls['list']>[2]): Promise<CallPage> {
    const { key } = await documents.require(access, id, 'view')
    const found = await calls.list(key, { beforeVersion: before, limit: limit + 1 })
    const shown = found.slice(0, limit)
    const nowMs = clock.nowMs()
    log.info('document.calls_listed', 'the calls of a document were listed', auditFields(access, id))
    return {
      calls: shown.map((call) => ({ ...call, isUndoable: notUndoableBecause(call, nowMs) === null })),
      next: found.length > shown.length ? (shown.at(-1)?.version ?? null) : null,
    }
  }

  async function undo(access: Access, request: UndoRequest): Promise<Undone> {
    const { id, callId, expectedVersion } = request
    const { key } = await writable(access, id)
    const found = await find(access, key, callId)
    if ('version' in found) return found
    // No routes are prepared, so connectors that take longer to route than a live document may wait are drawn directly. [CONC-13]
    const args = { docId: id, callId, targets: [found], ways: [] }
    const author = { who: { id: access.sub, kind: 'person' }, caller: null } as const
    const outcome = await documents.edit(access, { id, edit: 'undo', args, expectedVersion, dryRun: false, agent: null, author })
    if (isRefusal(outcome) || outcome.kind === 'repeated' || !outcome.changed) {
      // Another undo of this call may have been faster: then the version differs, or everything looks changed by others.
      const now = await find(access, (await writable(access, id)).key, callId)
      if ('version' in now) return now
    }
    if (isRefusal(outcome)) throw refusedUndo(outcome, expectedVersion)
    if (outcome.kind === 'repeated') throw new Error('an undo without a request id was repeated')
    const { head, result, effects } = outcome
    const fields = { ...auditFields(access, id), undid: callId, changed: effects.changed, version: head.version }
    log.info('document.call_undone', 'a call was undone', { ...fields, ...(effects.callId && { callId: effects.callId }) })
    return undoneOf({ ...(result as CallsUndone), ...effects }, head.version)
  }

  /** Returns the call to take back, or the first answer if this person has already undone it. Throws when it cannot be undone. */
  async function find(access: Access, key: number, callId: string): Promise<UndoTarget | Undone> {
    const [call] = await calls.read(key, [callId])
    if (call === undefined) throw new RelayError('NOT_FOUND', 'The document has no such call.', { resource: 'call' })
    const [earlier] = call.undoneBy === null ? [] : await calls.read(key, [call.undoneBy])
    if (earlier?.sub === access.sub && earlier.answer !== null)
      return undoneOf(JSON.parse(earlier.answer) as StoredAnswer, earlier.version)
    const target = undoTargetOf(call, clock.nowMs())
    if (isRefusal(target)) throw new RelayError('NOT_UNDOABLE', target.message, { callId, reason: target.facts['reason'] })
    return target
  }

  /** Returns the head of a document that the caller may write. As for PUT, a deleted document has its own error. [REST-15] */
  async function writable(access: Access, id: string): Promise<DocumentHead> {
    const state = await store.state({ workspaceId: access.workspaceId, id })
    if (state.kind === 'tombstone') {
      const { code, message, details } = tombstoned(state.tombstone)
      throw new RelayError(code, message, details)
    }
    return documents.require(access, id, 'edit')
  }

  return { list, undo }
}

type StoredAnswer = Omit<Undone, 'version'>

function undoneOf({ changed, kept, keptTotal, callId }: StoredAnswer, version: number): Undone {
  return { changed, version, ...(kept && { kept }), ...(keptTotal !== undefined && { keptTotal }), ...(callId && { callId }) }
}

/** Makes the error for a refusal that remains although the caller may still write the document. [REST-14] */
function refusedUndo(refusal: Refusal, expectedVersion: number | null): RelayError {
  // A faster undo is itself not stored any more, so it cannot be named.
  if (isOutdated(refusal)) return contended()
  const { code, message, facts } = refusal
  switch (code) {
    case 'ERR_VERSION_CONFLICT': {
      const currentVersion = facts['serverVersion']
      if (expectedVersion === null) return contended()
      return new RelayError('VERSION_CONFLICT', `The stored version is ${String(currentVersion)}, not ${expectedVersion}.`, {
        currentVersion,
      })
    }
    case 'ERR_DOC_TOO_LARGE':
      return new RelayError('DOC_TOO_LARGE', message, facts)
    case 'ERR_STORAGE_QUOTA':
      return new RelayError('STORAGE_QUOTA', message, facts)
    case 'ERR_NEEDS_REPAIR':
      return new RelayError('NEEDS_REPAIR', message, facts)
    case 'ERR_DOC_NOT_FOUND':
    case 'ERR_EDIT_FORBIDDEN':
      // `writable` has found the document and the right to edit it after this refusal, so a repeated undo can succeed.
      return contended()
    default:
      throw new Error(`an undo was refused with ${code}`)
  }
}
