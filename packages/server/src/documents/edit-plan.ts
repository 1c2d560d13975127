import type { BodyFacts } from '@docrelay/model/body-facts'
import { type Edited, outdated, type Refusal, refused } from '@docrelay/model/edit'
import { type Access, reaches } from '../access/access.ts'
import { CAS_ATTEMPTS } from '../kernel/retry-cas.ts'
import type { DocumentState, OverQuota } from './document-store.port.ts'
import type { Effects } from './effects.ts'
import { editNotes } from './notes.ts'
import { documentLevel, NEEDS_REPAIR_TEXT } from './put-plan.ts'
import type { EditAnswer, EditRequest } from './residents.port.ts'

/**
 * Returns why an edit may not run on the stored document, checking existence, right and version in this order; `null`
 * when it may. [MCP-25, MCP-27, TOOL-20]
 */
export function refuseEdit(state: DocumentState, request: EditRequest): Refusal | null {
  const { access, accessPolicy, expectedVersion, ref } = request
  if (state.kind !== 'document') return unknownDocument(ref.id, state.kind === 'tombstone')
  const { head } = state
  if (!reaches(documentLevel(access, head, accessPolicy), 'edit')) {
    return refused('ERR_EDIT_FORBIDDEN', `You may not edit document ${ref.id}.`, { docId: ref.id, role: access.role })
  }
  if (expectedVersion === null || expectedVersion === head.version) return null
  return versionConflict(expectedVersion, head.version)
}

/** Returns the refusal of an edit that expects another version than the stored one. [TOOL-20] */
export function versionConflict(expectedVersion: number, serverVersion: number): Refusal {
  const message = `The document is at version ${serverVersion}, not ${expectedVersion}: read again what you change, then send that version.`
  return refused('ERR_VERSION_CONFLICT', message, { expectedVersion, serverVersion })
}

/** Returns the refusal for a document that does not exist; `isDeleted`: this workspace has a tombstone of it. [MCP-27] */
export function unknownDocument(docId: string, isDeleted: boolean): Refusal {
  const message = isDeleted
    ? `Document ${docId} was deleted.`
    : `There is no document with the id ${docId}; service_list_documents has the ids of those that you may read.`
  return refused('ERR_DOC_NOT_FOUND', message, { docId, ...(isDeleted ? { deleted: true } : {}) })
}

/** Returns the refusal of an edit of a document whose log has a gap. [LIFE-5] */
export function editNeedsRepair(docId: string): Refusal {
  return refused('ERR_NEEDS_REPAIR', `${NEEDS_REPAIR_TEXT} Reading document ${docId} works meanwhile.`, { docId })
}

/**
 * Refuses an edit that makes the document larger than the caller's ceiling. Shrinking and equal writes pass. [CONC-9,
 * LIFE-16]
 */
export function refuseGrownSize(sizeBytes: number, grownBytes: number, access: Access): Refusal | null {
  const { maxDocBytes: maxBytes, maxDocBytesSource: source } = access.limits
  if (maxBytes === null || grownBytes <= 0 || sizeBytes <= maxBytes) return null
  const message = `The document would have ${sizeBytes} bytes and max_doc_bytes is ${maxBytes}.`
  return refused('ERR_DOC_TOO_LARGE', message, { sizeBytes, maxBytes, source })
}

/** Returns the quota to check for a write of this growth. [CONC-9] */
export function gatingQuota(grownBytes: number, access: Access): number | null {
  return grownBytes > 0 ? access.limits.quotaBytes : null
}

/** The refusal of a write whose transaction found it over quota. [LIFE-16] */
export function editOverQuota(outcome: OverQuota, access: Access): Refusal {
  const { usedBytes, addedBytes } = outcome
  const { quotaBytes, quotaSource: source } = access.limits
  const message = `The edit adds ${addedBytes} bytes to ${usedBytes} stored or reserved ones; the quota is ${quotaBytes} bytes.`
  return refused('ERR_STORAGE_QUOTA', message, { usedBytes, addedBytes, quotaBytes, source })
}

/** Returns the refusal of an undo that lost against another one. It is `outdated`, so the caller looks the calls up again. [AG-72] */
export function undoneBefore(): Refusal {
  return outdated('A call that is to be undone was undone before, or is not stored any more.')
}

/** The refusal after every attempt lost a race; nothing was written. [CONC-3] */
export function contendedEdit(serverVersion: number): Refusal {
  const message = `Other writers changed the document during all ${CAS_ATTEMPTS} attempts; it is at version ${serverVersion} now.`
  return refused('ERR_VERSION_CONFLICT', message, { serverVersion, attempts: CAS_ATTEMPTS })
}

/** Returns the answer to an edit after which the stored document has these facts. */
export function editAnswer(
  facts: BodyFacts,
  edited: Pick<Edited<object>, 'result' | 'fixes' | 'warnings' | 'links'>,
  effects: Effects,
): EditAnswer {
  const { result, links } = edited
  return { result, effects, notes: editNotes(facts, edited), ...(links && { links }) }
}
