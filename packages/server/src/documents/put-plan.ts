import type { BodyFacts } from '@docrelay/model/body-facts'
import {
  type AccessPolicy,
  type Access,
  decideLevel,
  type Level,
  mayCreate,
  mayOverrideTombstone,
  reaches,
  refuse,
} from '../access/access.ts'
import { readShares } from '../access/shares.ts'
import type { ErrorCode, RelayError } from '../kernel/errors.ts'
import {
  type DocumentHead,
  type DocumentState,
  type DocumentWrite,
  type Tombstone,
  type WriteExpectation,
  type WriteOutcome,
  sharedBytes,
} from './document-store.port.ts'
import type { PutOutcome, PutRequest } from './residents.port.ts'

export type PutRefusal = Extract<PutOutcome, { kind: 'refused' }>

/** The effect of an accepted PUT; the writer adds time, body bytes and the part of the log. */
export interface PlannedPut {
  readonly kind: 'planned'
  readonly created: boolean
  readonly expect: WriteExpectation
  readonly set: Pick<DocumentWrite['set'], 'ownerId' | 'ownerName' | 'collectionId' | 'sharedWith'>
  /** True when the title differs from the stored one, and for a new document. [YDOC-7] */
  readonly titleChanged: boolean
  /** Present when the write is a suspicious zeroing of what is stored. [LIFE-18] */
  readonly capture?: { readonly reason: 'zeroing' }
  readonly quotaBytes: number | null
}

/**
 * Decides a PUT against the stored document. Checks, in this order: tombstone and override right, level, version,
 * max_doc_bytes. The quota is checked in the transaction of the write, which knows the sum. [REST-15, REST-16, REST-18,
 * REST-19, PERM-5, PERM-6]
 *
 * The plan is valid for exactly `state`: its `expect` turns a write that lost a race into a conflict, and the caller
 * plans again.
 */
export function planPut(state: DocumentState, request: PutRequest): PutRefusal | PlannedPut {
  const planned = plan(state, request)
  return (
    refuseRight(state, request) ??
    refuseVersion(state, request) ??
    refuseSize(request.body.bytes.byteLength + plannedSharedBytes(state, planned), request.access) ??
    planned
  )
}

/** Returns the bytes of the share list after a planned PUT. [BODY-14] */
export function plannedSharedBytes(state: DocumentState, { set }: PlannedPut): number {
  return sharedBytes(set.sharedWith ?? (state.kind === 'document' ? state.head.sharedWith : []))
}

/** Makes the refusal of a write whose transaction found the growth over quota. [LIFE-16, interface Limits rule 4] */
export function quotaRefusal(outcome: Extract<WriteOutcome, { kind: 'over-quota' }>, access: Access): PutRefusal {
  const { usedBytes, addedBytes } = outcome
  const { quotaBytes, quotaSource: source } = access.limits
  return refusal(
    'STORAGE_QUOTA',
    `The save adds ${addedBytes} bytes to ${usedBytes} stored or reserved ones; the quota is ${quotaBytes} bytes.`,
    {
      usedBytes,
      addedBytes,
      quotaBytes,
      source,
    },
  )
}

/** Makes the refusal of a write to a document whose log has a gap. [LIFE-5] */
export function needsRepair(docId: string): PutRefusal {
  return refusal('NEEDS_REPAIR', `${NEEDS_REPAIR_TEXT} Document ${docId} cannot be written before that.`, { docId })
}

export const NEEDS_REPAIR_TEXT =
  'The log of the document lacks an edit that later ones build on: a client that still has it must connect, or the operator runs `relay repair`.'

/**
 * Whether a write is a suspicious zeroing: all shapes vanish, or two or more prose pages lose their content. [LIFE-18]
 */
export function zeroes(before: BodyFacts, after: BodyFacts): boolean {
  return (before.shapeCount > 0 && after.shapeCount === 0) || before.filledProsePageCount - after.filledProsePageCount >= 2
}

/** Returns the level of a caller on a stored document. [PERM-1] */
export function documentLevel(access: Access, head: DocumentHead, accessPolicy: AccessPolicy): Level {
  return decideLevel(access, { ownerId: head.ownerId, shares: readShares(head.sharedWith) }, accessPolicy)
}

function refuseRight(state: DocumentState, request: PutRequest): PutRefusal | null {
  const { access, accessPolicy } = request
  const asked = { role: access.role, needed: 'edit', docId: request.ref.id } as const
  switch (state.kind) {
    case 'absent':
      return mayCreate(access.role) ? null : asRefusal(refuse({ ...asked, level: 'view' }))
    case 'tombstone': {
      const { ownerId } = state.tombstone
      if (!request.overrideTombstone) return tombstoned(state.tombstone)
      if (mayOverrideTombstone(access, ownerId)) return null
      // A tombstone has no share list, so only the recorded owner decides the level.
      const level = decideLevel(access, { ownerId, shares: [] }, accessPolicy)
      return asRefusal(refuse({ ...asked, needed: 'owner', level }))
    }
    case 'document': {
      const level = documentLevel(access, state.head, accessPolicy)
      return reaches(level, 'edit') ? null : asRefusal(refuse({ ...asked, level }))
    }
  }
}

/** Checks the expected version. An id that does not exist has version 0; a tombstone matches 0 and its last version. [REST-16, REST-18] */
function refuseVersion(state: DocumentState, request: PutRequest): PutRefusal | null {
  const { precondition, expectedVersion } = request
  const exists = state.kind === 'document'
  const currentVersion =
    state.kind === 'document' ? state.head.version : state.kind === 'tombstone' ? state.tombstone.lastServerVersion : 0
  if (precondition === 'must-exist' && !exists)
    return refusal('PRECONDITION_FAILED', 'The document does not exist.', { currentVersion })
  if (precondition === 'must-not-exist' && exists)
    return refusal('PRECONDITION_FAILED', 'The document exists already.', { currentVersion })
  if (expectedVersion === null || expectedVersion === currentVersion || (!exists && expectedVersion === 0)) return null
  const code = precondition === 'if-match' ? 'PRECONDITION_FAILED' : 'VERSION_CONFLICT'
  const asked = Number.isSafeInteger(expectedVersion) ? String(expectedVersion) : 'the one that was sent'
  return refusal(code, `The stored version is ${currentVersion}, not ${asked}.`, { currentVersion })
}

/** Returns the refusal of a document above `max_doc_bytes` of the writing caller; `null` when the size is allowed. [LIFE-16, BODY-14] */
export function refuseSize(sizeBytes: number, access: Access): PutRefusal | null {
  const { maxDocBytes: maxBytes, maxDocBytesSource: source } = access.limits
  if (maxBytes === null || sizeBytes <= maxBytes) return null
  return refusal('DOC_TOO_LARGE', `The document has ${sizeBytes} bytes and max_doc_bytes is ${maxBytes}.`, {
    sizeBytes,
    maxBytes,
    source,
  })
}

function plan(state: DocumentState, request: PutRequest): PlannedPut {
  const { body, access } = request
  const { collectionId, sharedWith } = body
  const quotaBytes = access.limits.quotaBytes
  const sharing = { ...(collectionId !== undefined && { collectionId }), ...(sharedWith !== undefined && { sharedWith }) }
  switch (state.kind) {
    case 'absent': {
      const set = { ownerId: access.sub, ownerName: access.sub, ...sharing }
      return { kind: 'planned', created: true, expect: { kind: 'absent' }, set, titleChanged: true, quotaBytes }
    }
    case 'tombstone': {
      const { ownerId: recorded, lastServerVersion } = state.tombstone
      const ownerId = access.role === 'owner' ? recorded : access.sub
      const set = { ownerId, ownerName: ownerId, ...sharing }
      return {
        kind: 'planned',
        created: true,
        expect: { kind: 'tombstone', lastServerVersion },
        set,
        titleChanged: true,
        quotaBytes,
      }
    }
    case 'document': {
      const { head } = state
      const isOwner = documentLevel(access, head, request.accessPolicy) === 'owner'
      return {
        kind: 'planned',
        created: false,
        expect: { kind: 'document', key: head.key, version: head.version },
        set: { ...(collectionId !== undefined && { collectionId }), ...(isOwner && sharedWith !== undefined && { sharedWith }) },
        titleChanged: head.facts.title !== body.facts.title,
        ...(zeroes(head.facts, body.facts) && { capture: { reason: 'zeroing' } as const }),
        quotaBytes,
      }
    }
  }
}

/** Makes the refusal of a write to a deleted document. [REST-15] */
export function tombstoned({ deletedAtMs, lastServerVersion }: Tombstone): PutRefusal {
  return refusal('TOMBSTONED', 'The document was deleted.', { deletedAt: deletedAtMs, lastServerVersion })
}

function asRefusal(error: RelayError): PutRefusal {
  return refusal(error.code, error.message, error.details)
}

function refusal(code: ErrorCode, message: string, details: Readonly<Record<string, unknown>>): PutRefusal {
  return { kind: 'refused', code, message, details }
}
