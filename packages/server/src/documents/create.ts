import { blankBody } from '@docrelay/model/body-blank'
import { bodyFacts } from '@docrelay/model/body-facts'
import { writeSettledBody } from '@docrelay/model/body-write'
import type { Refusal } from '@docrelay/model/edit'
import { type Access, requireWriter } from '../access/access.ts'
import { retryCas } from '../kernel/retry-cas.ts'
import type { CallWrite } from './call-store.port.ts'
import type { DocumentHead, DocumentRef, StoredBody } from './document-store.port.ts'
import { type Once, onceMember, onlyOnce, type Repeated, repeated } from './once.ts'
import { quotaRefusal, refuseSize } from './put-plan.ts'
import { refusedWrite } from './refused-write.ts'
import { auditFields, inTurn, refuseContended, type WritingDeps } from './writing.ts'

/** The number of pages of a new document. [AG-29] */
export const NEW_PAGES = 2

/** A blank document to create for a caller. */
export interface Creation {
  readonly title: string
  readonly ownerName: string
  /** Form of the body. [CFG-2] */
  readonly form: 'list' | 'keyed'
  /** Makes an id that is not in use. [TOOL-12] */
  mint(kind: 'doc' | 'page' | 'call'): string
  /** Checks everything and stores nothing. [TOOL-21, AG-81] */
  readonly dryRun?: boolean
  readonly once?: Once
  /** Aborted when the caller gives up. An abort before the commit prevents the commit; a commit stands. [MCP-15] */
  readonly signal?: AbortSignal
}

export interface NewIds {
  readonly id: string
  readonly canvasPageId: string
  readonly prosePageId: string
  /** Id of the call; absent in an answer that an older release stored. [AG-29] */
  readonly callId?: string
}

export interface Created extends NewIds {
  readonly kind: 'created'
  readonly version: number
}

/** The refusal: the request id was used for another call. */
export type CreateOutcome = Created | Repeated<NewIds> | Refusal

/**
 * Stores a blank document of the caller. Durable when it resolves, and the event was sent. Throws refusals as
 * RelayError, except the one for a used request id. [LIFE-2, BODY-12, WS-53]
 */
export async function createDocument(access: Access, creation: Creation, deps: WritingDeps): Promise<CreateOutcome> {
  requireWriter(access)
  return onlyOnce<NewIds, CreateOutcome>(creation.once, access.workspaceId, deps, () => create(access, creation, deps))
}

function create(access: Access, creation: Creation, deps: WritingDeps): Promise<CreateOutcome> {
  return retryCas<CreateOutcome>(async () => {
    const ids = {
      id: creation.mint('doc'),
      canvasPageId: creation.mint('page'),
      prosePageId: creation.mint('page'),
      callId: creation.mint('call'),
    }
    if (creation.dryRun === true) return tryOut(access, { ...creation, ...ids }, deps)
    const ref = { workspaceId: access.workspaceId, id: ids.id }
    const outcome = await inTurn(deps, ref, () => store(access, ref, { ...creation, ...ids }, deps))
    if (outcome === null) return 'again'
    if ('kind' in outcome) return outcome
    deps.events.publish({ kind: 'created', head: outcome, actor: access.sub })
    deps.log.info('document.created', 'a document was created', { ...auditFields(access, ids.id), version: outcome.version })
    return { kind: 'created', version: outcome.version, ...ids }
  }, refuseContended)
}

/** Returns `null` when the id is taken. */
async function store(
  access: Access,
  ref: DocumentRef,
  blank: Omit<Creation, 'mint'> & NewIds,
  deps: WritingDeps,
): Promise<DocumentHead | Exclude<CreateOutcome, Created> | null> {
  const { id, canvasPageId, prosePageId, callId, once } = blank
  const { nowMs, body } = fittingBlank(access, blank, deps)
  blank.signal?.throwIfAborted()
  const outcome = await deps.store.write({
    ref,
    expect: { kind: 'absent' },
    set: { ownerId: access.sub, ownerName: blank.ownerName, titleChangedAtMs: nowMs, body },
    bump: true,
    nowMs,
    quotaBytes: access.limits.quotaBytes,
    log: { kind: 'cold' },
    told: { actor: access.sub },
    ...(callId !== undefined && { call: creationCall(access, callId) }),
    ...onceMember(once, nowMs, () => ({ id, canvasPageId, prosePageId, callId }) satisfies NewIds),
  })
  if (outcome.kind === 'written') return outcome.head
  if (outcome.kind === 'repeated' && once !== undefined) return repeated(outcome.first, once)
  if (outcome.kind !== 'over-quota') return null
  throw refusedWrite(quotaRefusal(outcome, access), deps.metrics)
}

/** Returns the answer, or throws the error, that the creation would give. Stores nothing. */
async function tryOut(access: Access, blank: Omit<Creation, 'mint'> & NewIds, deps: WritingDeps): Promise<Created> {
  const { nowMs, body } = fittingBlank(access, blank, deps)
  const overQuota = await deps.store.overQuota({
    workspaceId: access.workspaceId,
    grownBytes: body.bytes.byteLength,
    blobReferences: [],
    quotaBytes: access.limits.quotaBytes,
    nowMs,
  })
  if (overQuota !== null) throw refusedWrite(quotaRefusal(overQuota, access), deps.metrics)
  const { id, canvasPageId, prosePageId } = blank
  return { kind: 'created', version: 1, id, canvasPageId, prosePageId }
}

/** Returns a blank body. Throws DOC_TOO_LARGE when it is larger than the caller may store. */
function fittingBlank(access: Access, blank: Omit<Creation, 'mint'> & NewIds, { clock, metrics }: WritingDeps) {
  const nowMs = clock.nowMs()
  const body = storedBlank({ ...blank, nowMs })
  const tooLarge = refuseSize(body.bytes.byteLength, access)
  if (tooLarge !== null) throw refusedWrite(tooLarge, metrics)
  return { nowMs, body }
}

/** Makes the stored call of a creation, which is listed with the calls of its document and cannot be undone. [AG-72] */
function creationCall({ sub }: Access, callId: string): CallWrite {
  const kept = { record: null, blobReferences: [], undoes: [], answer: null }
  return { callId, tool: 'create_document', sub, client: null, caller: null, changed: NEW_PAGES, removed: 0, ...kept }
}

function storedBlank(blank: Parameters<typeof blankBody>[0]): StoredBody {
  const { body, bytes, blobReferences } = writeSettledBody(blankBody(blank), false)
  return { bytes, facts: bodyFacts(body), blobReferences }
}
