import { isRefusal, type Refusal } from '@docrelay/model/edit'
import type { Seen } from '@docrelay/model/seen/seen'
import type { Access } from '../access/access.ts'
import { retryCas } from '../kernel/retry-cas.ts'
import { type DocumentRecord, type DocumentRef, type StoredBody, bodyBytes, sharedBytes } from './document-store.port.ts'
import type { EditedBody } from './edit-body.ts'
import { type CallChanges, callMember, captureMember, NO_EFFECTS, triedEffects } from './effects.ts'
import { contendedEdit, editAnswer, editOverQuota, gatingQuota, refuseEdit, refuseGrownSize, undoneBefore } from './edit-plan.ts'
import type { Author } from './change-record.ts'
import { notedChanges } from './noted-write.ts'
import { onceMember, onlyOnce, repeated } from './once.ts'
import { zeroes } from './put-plan.ts'
import type { EditAnswer, EditOutcome, EditRequest } from './residents.port.ts'
import { inTurn, type WritingDeps } from './writing.ts'

/** An edit as a tool requests it. */
export interface EditInput
  extends Pick<EditRequest, 'edit' | 'args' | 'expectedVersion' | 'dryRun' | 'agent' | 'caller' | 'once'> {
  readonly id: string
  /** Aborted when the caller gave up. An abort before the commit prevents the commit; a commit stands. [MCP-15] */
  readonly signal?: AbortSignal
  /** Who makes the edit. Without a writer the edit does not know what its caller saw. */
  readonly writer?: EditWriter
  /** Who makes an edit without `writer`; an agent of the principal when absent. [AG-20] */
  readonly author?: Author
}

/** The caller of an edit. `seen` is read when the edit's turn comes, after all earlier writes of the document. [AG-17, AG-20] */
export interface EditWriter {
  readonly author: Author
  readonly seen: Seen
  /** Called when the edit is stored, before its changes are recorded. */
  noting?(): void
  wrote(outcome: EditOutcome): void
}

/**
 * Runs an edit: on the live document when there is one, otherwise on the stored body by a compare-and-set that is
 * decided again when it loses. When it resolves, the change is durable and the event was sent. Rejects only with
 * UNAVAILABLE or NOT_PERSISTED, or with the reason of the signal when nothing was written. [CONC-3..CONC-6, CONC-12]
 */
export async function editDocument(access: Access, input: EditInput, deps: WritingDeps): Promise<EditOutcome> {
  const { id, signal, writer, author, ...asked } = input
  const ref = { workspaceId: access.workspaceId, id }
  const isRecorded = deps.records?.isHeld(ref) === true
  const request: EditRequest = { ...asked, ref, access, accessPolicy: deps.accessPolicy, isRecorded }
  const write = async (): Promise<EditOutcome> => {
    const outcome = await store({ ...request, ...(writer && { seen: writer.seen }) }, signal, deps)
    writer?.noting?.()
    // The changes are recorded before the next write of the document, which reads the record.
    if (outcome.kind === 'edited' && outcome.changed && outcome.delta !== undefined && !request.dryRun)
      deps.records?.note(
        ref,
        writer?.author ?? author ?? unnamed(access),
        notedChanges(outcome.delta),
        deps.clock.nowMs(),
        outcome.head.version,
      )
    writer?.wrote(outcome)
    return outcome
  }
  const outcome = await onlyOnce<EditAnswer, EditOutcome>(request.once, ref.workspaceId, deps, () => inTurn(deps, ref, write))
  if (isRefusal(outcome)) countRefusal(outcome, deps)
  else if (outcome.kind === 'edited' && outcome.changed && !request.dryRun)
    deps.events.publish({ kind: 'updated', head: outcome.head, actor: access.sub })
  return outcome
}

function unnamed({ sub }: Access): Author {
  return { who: { id: sub, kind: 'agent' }, caller: null }
}

function store(request: EditRequest, signal: AbortSignal | undefined, deps: WritingDeps): Promise<EditOutcome> {
  const { ref } = request
  const tryEdit = async (): Promise<EditOutcome | 'again'> => {
    signal?.throwIfAborted()
    if (deps.residents.isResident(ref)) {
      const outcome = await deps.residents.edit(request, signal)
      if (outcome !== 'not-resident') return outcome
    }
    return tryCold(request, signal, deps)
  }
  return retryCas<EditOutcome>(tryEdit, async () => {
    const state = await deps.store.state(ref)
    return refuseEdit(state, request) ?? contendedEdit(state.kind === 'document' ? state.head.version : 0)
  })
}

/** Tries the edit on the stored body. `again`: another writer was faster, or the document must be opened first. */
async function tryCold(request: EditRequest, signal: AbortSignal | undefined, deps: WritingDeps): Promise<EditOutcome | 'again'> {
  const { ref, access } = request
  const record = await deps.store.read(ref)
  if (record === null) return refuseEdit(await deps.store.state(ref), request) ?? 'again'
  if (record.head.lastSeq > record.head.coveredSeq) return settled(ref, deps)
  const refusal = refuseEdit({ kind: 'document', head: record.head }, request)
  if (refusal !== null) return refusal
  const nowMs = deps.clock.nowMs()
  const { edit, args, isRecorded = false, seen } = request
  const edited = await deps.bodies
    .for(access.workspaceId)
    .edit({ bytes: record.body, facts: record.head.facts, edit, args, nowMs, sub: access.sub, isRecorded, ...(seen && { seen }) })
  if (isRefusal(edited)) return edited
  if (edited.stored === null || edited.changes === null) return told(record, edited)
  const sizeBytes = edited.stored.bytes.byteLength + sharedBytes(record.head.sharedWith)
  const tooLarge = refuseGrownSize(sizeBytes, edited.grownBytes, access)
  if (tooLarge !== null) return tooLarge
  signal?.throwIfAborted()
  const changed = { ...edited, stored: edited.stored, changes: edited.changes }
  return request.dryRun ? tryOut(request, record, changed, nowMs, deps) : writeCold(request, record, changed, nowMs, deps)
}

type ChangedBody = EditedBody & { readonly stored: StoredBody; readonly changes: CallChanges }

/** Returns the answer that the write would have. [TOOL-21] */
async function tryOut(
  { access }: EditRequest,
  record: DocumentRecord,
  edited: ChangedBody,
  nowMs: number,
  deps: WritingDeps,
): Promise<EditOutcome> {
  const { bytes, blobReferences } = edited.stored
  const refusal = await deps.store.overQuota({
    workspaceId: access.workspaceId,
    grownBytes: bytes.byteLength - bodyBytes(record.head),
    blobReferences,
    quotaBytes: gatingQuota(edited.grownBytes, access),
    nowMs,
  })
  return refusal === null
    ? told(record, { ...edited, changes: { ...edited.changes, effects: triedEffects(edited.changes.effects) } })
    : editOverQuota(refusal, access)
}

async function writeCold(
  request: EditRequest,
  { head }: DocumentRecord,
  edited: ChangedBody,
  nowMs: number,
  deps: WritingDeps,
): Promise<EditOutcome | 'again'> {
  const { ref, access, once } = request
  const { stored, grownBytes, changes } = edited
  const outcome = await deps.store.write({
    ref,
    expect: { kind: 'document', key: head.key, version: head.version },
    set: { body: stored, ...(stored.facts.title !== head.facts.title && { titleChangedAtMs: nowMs }) },
    bump: true,
    nowMs,
    quotaBytes: gatingQuota(grownBytes, access),
    log: { kind: 'cold' },
    told: { actor: access.sub },
    ...captureMember(zeroes(head.facts, stored.facts), changes, access.sub),
    ...callMember(request, changes, edited.result),
    ...onceMember(once, nowMs, () => editAnswer(stored.facts, edited, changes.effects)),
  })
  switch (outcome.kind) {
    case 'written':
      deps.residents.bodyChanged(ref, outcome.head.version)
      return told({ head: outcome.head }, edited)
    case 'over-quota':
      return editOverQuota(outcome, access)
    case 'repeated':
      return once === undefined ? 'again' : repeated(outcome.first, once)
    case 'not-undoable':
      return undoneBefore()
    case 'unsettled':
    case 'owned':
      return settled(ref, deps)
    case 'conflict':
    case 'fenced':
      return 'again'
  }
}

/**
 * Stores the live edits, so that the next attempt sees everything in the log. When another node owns the document, settling also
 * makes it resident here, so the next attempt goes to the live document. [CONC-7, LIFE-25]
 */
async function settled(ref: DocumentRef, deps: WritingDeps): Promise<'again'> {
  await deps.residents.settle(ref)
  return 'again'
}

function told({ head }: Pick<DocumentRecord, 'head'>, edited: EditedBody): EditOutcome {
  const { result, changes, fixes, warnings, stored, delta, shown, links } = edited
  const effects = changes?.effects ?? NO_EFFECTS
  const told = { ...(delta && { delta }), ...(shown && { shown }), ...(links && { links }) }
  return { kind: 'edited', head, changed: stored !== null, result, effects, fixes, warnings, ...told }
}

function countRefusal({ code }: Refusal, { metrics }: WritingDeps): void {
  if (code === 'ERR_STORAGE_QUOTA') metrics.add('relay_quota_rejections_total', 1, { kind: 'storage' })
  if (code === 'ERR_DOC_TOO_LARGE') metrics.add('relay_quota_rejections_total', 1, { kind: 'doc_size' })
}
