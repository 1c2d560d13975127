import type { Access } from '../access/access.ts'
import { retryCas } from '../kernel/retry-cas.ts'
import type { DocumentHead, DocumentRef, DocumentState, DocumentWrite } from './document-store.port.ts'
import type { Reader } from './metadata.ts'
import { documentLevel, type PlannedPut, planPut, type PutRefusal, quotaRefusal } from './put-plan.ts'
import { notedChanges } from './noted-write.ts'
import { refusedWrite } from './refused-write.ts'
import type { PutOutcome, PutRequest } from './residents.port.ts'
import { auditFields, inTurn, refuseContended, type WritingDeps } from './writing.ts'

/** A PUT as the route read it. */
export interface PutInput extends Pick<PutRequest, 'expectedVersion' | 'precondition' | 'overrideTombstone'> {
  readonly id: string
  /** The body as the client sent it. Its buffer may be transferred to a thread, so the caller must not use it afterwards. */
  readonly bytes: Uint8Array
}

export interface PutResult {
  readonly head: DocumentHead
  readonly created: boolean
  readonly reader: Reader
}

/**
 * Stores a PUT: through the live document when there is one, else by a compare-and-set that is planned anew when it loses. [REST-15, LIFE-13]
 * Throws the refusal as RelayError. The event leaves once the write is durable. [LIFE-2, WS-53]
 */
export async function putDocument(access: Access, input: PutInput, deps: WritingDeps): Promise<PutResult> {
  const ref = { workspaceId: access.workspaceId, id: input.id }
  const seen = await stateFor(ref, deps)
  const { expectedVersion, precondition, overrideTombstone } = input
  const body = await deps.bodies.for(access.workspaceId).prepare(input.bytes, input.id, titleOf(seen.state))
  const request: PutRequest = {
    ref,
    access,
    accessPolicy: deps.accessPolicy,
    body,
    expectedVersion,
    precondition,
    overrideTombstone,
    isRecorded: deps.records?.isHeld(ref) === true,
  }
  const outcome = await inTurn(deps, ref, async () => {
    const stored = await store(request, seen, deps)
    if (stored.kind === 'written' && stored.delta !== undefined)
      deps.records?.note(
        ref,
        { who: { id: access.sub, kind: 'person' }, caller: null },
        notedChanges(stored.delta),
        deps.clock.nowMs(),
        stored.head.version,
      )
    return stored
  })
  if (outcome.kind === 'refused') throw refusedWrite(outcome, deps.metrics)
  announce(outcome, seen.state, request, deps)
  return { head: outcome.head, created: outcome.created, reader: writerOf(access, outcome.head, deps) }
}

/** The state against which a PUT is planned. */
interface Seen {
  state: DocumentState
  /**
   * The state comes from `recentHeads` and may be outdated. A plan against it may be sent to the store, which compares it. A PUT
   * must not be refused because of it.
   */
  isRemembered: boolean
}

async function stateFor(ref: DocumentRef, deps: WritingDeps): Promise<Seen> {
  const head = deps.residents.isResident(ref) ? null : deps.recentHeads.of(ref)
  return head === null
    ? { state: await deps.store.state(ref), isRemembered: false }
    : { state: { kind: 'document', head }, isRemembered: true }
}

/**
 * Stores the body. `seen` is the state when the request arrived, or a remembered one. When an earlier write has outdated `seen`,
 * the first attempt is a conflict, which returns the stored state. Later conflicts come from other processes or the live
 * document. After a cold write `seen` is the state that the accepted plan replaced; after a write of the live document it may be
 * older.
 */
function store(first: PutRequest, seen: Seen, deps: WritingDeps): Promise<PutOutcome> {
  let request = first
  const read = async (): Promise<void> => {
    seen.state = await deps.store.state(request.ref)
    seen.isRemembered = false
  }
  const plan = async (): Promise<PutRefusal | PlannedPut> => {
    request = { ...request, body: await deps.bodies.for(request.ref.workspaceId).resettle(request.body, titleOf(seen.state)) }
    return planPut(seen.state, request)
  }
  return retryCas<PutOutcome>(async () => {
    if (deps.residents.isResident(request.ref)) {
      if (seen.isRemembered) await read()
      const outcome = await deps.residents.put(request)
      if (outcome !== 'not-resident') return outcome
      await read()
    }
    let planned = await plan()
    if (planned.kind === 'refused' && seen.isRemembered) {
      await read()
      planned = await plan()
    }
    if (planned.kind === 'refused') return planned
    const replaced = request.isRecorded === true ? await deps.store.read(request.ref) : null
    const outcome = await deps.store.write(coldWrite(request, planned, deps.clock.nowMs()))
    switch (outcome.kind) {
      case 'written': {
        const { head } = outcome
        deps.recentHeads.note(head)
        deps.residents.bodyChanged(request.ref, head.version)
        // The write is done. When the comparison fails, the outcome only lacks `delta`.
        const told =
          replaced &&
          deps.bodies
            .for(head.workspaceId)
            .delta(replaced.body, request.body.bytes)
            .catch(() => null)
        const delta = await told
        return { kind: 'written', head, created: planned.created, sharedBefore: sharesOf(seen.state), ...(delta && { delta }) }
      }
      case 'over-quota':
        return quotaRefusal(outcome, request.access)
      // Settling opens a document that another node owns, and the next attempt goes to that node.
      case 'unsettled':
      case 'owned':
        await deps.residents.settle(request.ref)
        await read()
        break
      case 'conflict':
        seen.state = outcome.current
        seen.isRemembered = false
        break
    }
    return 'again'
  }, refuseContended)
}

function coldWrite(request: PutRequest, plan: PlannedPut, nowMs: number): DocumentWrite {
  const { bytes, facts, blobReferences } = request.body
  return {
    ref: request.ref,
    expect: plan.expect,
    set: { ...plan.set, ...(plan.titleChanged && { titleChangedAtMs: nowMs }), body: { bytes, facts, blobReferences } },
    bump: true,
    nowMs,
    quotaBytes: plan.quotaBytes,
    log: { kind: 'cold' },
    told: { actor: request.access.sub },
    ...(plan.capture && { capture: plan.capture }),
  }
}

function sharesOf(state: DocumentState): DocumentHead['sharedWith'] {
  return state.kind === 'document' ? state.head.sharedWith : []
}

function titleOf(state: DocumentState): string | null {
  return state.kind === 'document' ? state.head.facts.title : null
}

/** Tells clients, live joins and the audit log of a durable PUT. [WS-52, WS-54, OPS-7] */
function announce(
  outcome: Extract<PutOutcome, { kind: 'written' }>,
  state: DocumentState,
  request: PutRequest,
  deps: WritingDeps,
): void {
  const { head, created } = outcome
  const { access } = request
  deps.events.publish({ kind: created ? 'created' : 'updated', head, actor: access.sub })
  // Rights are decided again after every PUT with a share list, also when the list stays as it was.
  if (!created && request.body.sharedWith !== undefined) deps.residents.sharingChanged(head)
  const fields = { ...auditFields(access, head.id), version: head.version }
  if (created && state.kind === 'tombstone') deps.log.info('document.override', 'a deleted document was put back', fields)
  else if (created) deps.log.info('document.created', 'a document was created', fields)
  if (JSON.stringify(outcome.sharedBefore ?? sharesOf(state)) !== JSON.stringify(head.sharedWith))
    deps.log.info('document.shared', 'the share list of a document changed', fields)
}

/** Returns the caller as a reader after its own write. A caller that removed its own share still gets the answer, at level view. */
function writerOf(access: Access, head: DocumentHead, deps: WritingDeps): Reader {
  const level = documentLevel(access, head, deps.accessPolicy)
  return { sub: access.sub, level: level === 'none' ? 'view' : level }
}
