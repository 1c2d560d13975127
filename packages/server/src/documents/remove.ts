import { type Access, reaches, refuse } from '../access/access.ts'
import { RelayError } from '../kernel/errors.ts'
import { retryCas } from '../kernel/retry-cas.ts'
import type { DocumentHead, DocumentRef, Tombstone } from './document-store.port.ts'
import { documentLevel } from './put-plan.ts'
import { noDocument } from './successor.ts'
import { auditFields, inTurn, refuseContended, unknownDocument, type WritingDeps } from './writing.ts'

/** Conditions of a deletion. */
export interface Removal {
  /** The version that the document must have after every earlier edit was stored; otherwise the deletion is refused. [TOOL-20, REST-22] */
  readonly expectedVersion?: number | undefined
  /** The error code for a version that differs; default VERSION_CONFLICT. [REST-19] */
  readonly mismatch?: 'VERSION_CONFLICT' | 'PRECONDITION_FAILED' | undefined
  /** Checks everything and deletes nothing. [TOOL-21] */
  readonly dryRun?: boolean | undefined
  /** Aborted when the caller gives up. An abort before the deletion prevents it; a deletion stands. [MCP-15] */
  readonly signal?: AbortSignal | undefined
}

/** A live document accepts no edits for at most this long, between the check of its version and its deletion. */
const QUIET_MS = 1_000

/**
 * Deletes a document and leaves a tombstone. Throws the refusal as RelayError. When it resolves, the deletion is durable and the event was
 * sent. [LIFE-23, WS-53]
 */
export function removeDocument(access: Access, id: string, removal: Removal, deps: WritingDeps): Promise<void> {
  const ref = { workspaceId: access.workspaceId, id }
  return inTurn(deps, ref, () => remove(access, ref, removal, deps))
}

async function remove(
  access: Access,
  ref: DocumentRef,
  { expectedVersion, mismatch = 'VERSION_CONFLICT', dryRun, signal }: Removal,
  deps: WritingDeps,
): Promise<void> {
  let before = await owned(access, ref, deps)
  const removeOnce = async (): Promise<Tombstone | null | 'again'> => {
    if (expectedVersion !== undefined) {
      if (deps.residents.isResident(ref) || before.coveredSeq < before.lastSeq) {
        await deps.residents.settle(ref, QUIET_MS)
        before = await owned(access, ref, deps)
      }
      if (before.version !== expectedVersion) throw otherVersion(mismatch, before.version, expectedVersion)
    }
    if (dryRun === true) return null
    signal?.throwIfAborted()
    const only = expectedVersion === undefined ? undefined : { version: before.version, lastSeq: before.lastSeq }
    const outcome = await deps.store.remove(ref, before.key, deps.clock.nowMs(), access.sub, only)
    if (outcome.kind === 'removed') return outcome.tombstone
    if (outcome.kind === 'gone') return unknownDocument()
    before = await owned(access, ref, deps)
    return 'again'
  }
  const tombstone = await retryCas(removeOnce, refuseContended)
  if (tombstone === null) return
  deps.log.info('document.deleted', 'a document was deleted', {
    ...auditFields(access, ref.id),
    version: tombstone.lastServerVersion,
  })
  // The deletion is durable, so a failure to drop the live copy is logged and not thrown.
  await deps.residents.drop(ref).catch((error: unknown) => {
    deps.log.error('document.drop_failed', 'the live copy of a deleted document could not be dropped', {
      docId: ref.id,
      detail: String(error),
    })
  })
  deps.events.publish({ kind: 'deleted', ref, before, tombstone, actor: access.sub })
}

/** Returns the head of a document that the caller may delete; otherwise throws the refusal. */
async function owned(access: Access, ref: DocumentRef, { store, accessPolicy }: WritingDeps): Promise<DocumentHead> {
  const state = await store.state(ref)
  if (state.kind !== 'document') return noDocument(access, state, { store, accessPolicy })
  const level = documentLevel(access, state.head, accessPolicy)
  if (reaches(level, 'owner')) return state.head
  throw refuse({ role: access.role, level, needed: 'owner', deletes: true, docId: ref.id })
}

function otherVersion(code: NonNullable<Removal['mismatch']>, currentVersion: number, expectedVersion: number): RelayError {
  const asked = Number.isSafeInteger(expectedVersion) ? String(expectedVersion) : 'the one that was sent'
  return new RelayError(code, `The stored version is ${currentVersion}, not ${asked}.`, { currentVersion })
}
