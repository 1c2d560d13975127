import type { DocumentBody } from '@docrelay/model/body'
import { type BodyFacts, bodyFacts } from '@docrelay/model/body-facts'
import { type BodyGrowth, bodyGrowth } from '@docrelay/model/body-growth'
import { stampBody } from '@docrelay/model/body-title'
import { writeSettledBody } from '@docrelay/model/body-write'
import { type Edited, isRefusal, type Refusal } from '@docrelay/model/edit'
import { runEdit } from '@docrelay/model/edits'
import { type BodyDelta, bodyDelta } from '@docrelay/model/seen/body-delta'
import type { DocumentHead, DocumentWrite } from '../../documents/document-store.port.ts'
import { editEnvironment } from '../../documents/edit-body.ts'
import {
  type CallChanges,
  callChanges,
  callMember,
  captureMember,
  type Effects,
  NO_EFFECTS,
  triedEffects,
} from '../../documents/effects.ts'
import {
  contendedEdit,
  editAnswer,
  editNeedsRepair,
  editOverQuota,
  gatingQuota,
  refuseEdit,
  refuseGrownSize,
} from '../../documents/edit-plan.ts'
import { onceMember, repeated } from '../../documents/once.ts'
import { zeroes } from '../../documents/put-plan.ts'
import type { EditRequest } from '../../documents/residents.port.ts'
import { isGivenUp } from '../../kernel/given-up.ts'
import { refuseStaleTitle } from '../binding/binding.ts'
import { reconcile } from '../binding/binding-reconcile.ts'
import { cursorOn } from './agent-cursor.ts'
import type { Written } from './awareness-agents.ts'
import type { Room } from './room.ts'
import { RELAY } from './room-content.ts'
import { isLiveChange } from './room-edit-scope.ts'
import { recordsBy } from './room-log.ts'
import { failed, WRITE_LOST } from './room-outcomes.ts'
import { takeBack } from './room-put.ts'
import type { Base } from './room-body.ts'
import type { RoomSaver } from './room-save.ts'
import type { RoomTask, TaskOutcome } from '../worker-messages.ts'

const ATTEMPTS = 5
/** Others are served after a plan that took this much processor time. */
const LONG_STEP_MS = 8
const GIVEN_UP: TaskOutcome = { kind: 'given-up' }

type EditTask = Extract<RoomTask, { kind: 'edit' }>

/**
 * Runs an edit on the live document and stores its log records together with a new version. [CONC-4..CONC-7, LIFE-13]
 *
 * The body of that version is normally stored by the next materialisation, so the cost depends on the size of the change. When the edit
 * contains something that the live document cannot hold, the body is stored at once. Nothing is broadcast before it is durable. An edit
 * that is refused, or given up by its caller, after it was applied is undone by loading the document again. Must run inside `exclusive`.
 */
export async function editInRoom(room: Room, saver: RoomSaver, task: EditTask): Promise<TaskOutcome> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (isGivenUp(task.givenUp)) return GIVEN_UP
    const base = await currentBase(room, saver)
    if ('kind' in base) return base
    const outcome = await tryEdit(room, saver, task)
    if (outcome !== 'again') return outcome
  }
  const base = await currentBase(room, saver)
  return 'kind' in base ? base : { kind: 'edit', outcome: contendedEdit(base.head.version, ATTEMPTS) }
}

/** The current stored version. When another writer stored one meanwhile, merges it first. */
async function currentBase(room: Room, saver: RoomSaver): Promise<Base | TaskOutcome> {
  const known = await saver.knownBase()
  if (known === null) return { kind: 'gone' }
  const state = await room.host.documents.state(room.ref)
  if (state.kind !== 'document' || state.head.key !== room.key) return { kind: 'gone' }
  if (!room.isReady) return WRITE_LOST
  if (state.head.version === known.head.version) return known
  const merged = await saver.mergeStored(state)
  if (merged !== 'merged') return failed(merged)
  return saver.base ?? WRITE_LOST
}

/** A planned edit that may be stored: the bodies before and after, and how much it adds. */
interface Change {
  readonly base: Base
  readonly before: DocumentBody
  readonly edited: Edited<object>
  /** `null` when nothing changed. */
  readonly changes: CallChanges | null
  readonly growth: BodyGrowth
  /** Growth in bytes compared with the stored body. Includes what people changed since that body was stored. */
  readonly sinceStored: number
  readonly facts: BodyFacts
  readonly nowMs: number
  /** Processor time that planning took. */
  readonly planningMs: number
}

async function tryEdit(room: Room, saver: RoomSaver, task: EditTask): Promise<TaskOutcome | 'again'> {
  const { host, log, sync } = room
  const { request } = task
  host.turn(() => sync.pause())
  let isApplied = false
  let show: Change | null = null
  try {
    const planned = await planStanding(room, saver, request)
    if (planned === 'again' || 'kind' in planned) return planned
    const { base, edited } = planned
    if (planned.changes === null) return { kind: 'edit', outcome: editedOutcome(edited, NO_EFFECTS, base.head, false) }
    if (request.dryRun) {
      const refusal = await overQuota(room, planned, request)
      return {
        kind: 'edit',
        outcome: refusal ?? editedOutcome(edited, triedEffects(effectsOf(planned)), base.head, true, changed(planned, request)),
      }
    }
    if (planned.planningMs > LONG_STEP_MS) {
      const lost = await letOthers(room, saver)
      if (lost !== null) return lost
    }
    if (isGivenUp(task.givenUp)) return GIVEN_UP
    isApplied = true
    const stored = await applyEdit(room, saver, planned, task)
    if (stored !== 'again' && stored.kind === 'edit' && stored.outcome.kind === 'edited') show = planned
    return stored
  } catch (error) {
    // It is unknown whether the write was stored, or the document contains an edit that will not be stored: only the log is reliable now.
    if (isApplied) host.turn(() => room.reset())
    throw error
  } finally {
    if (room.isReady) {
      host.turn(() => {
        if (show !== null && request.agent !== null) room.agents.show(request.access.sub, request.agent, writtenBy(room, show))
        log.release()
        sync.resume()
      })
    }
  }
}

/**
 * Plans the edit of a document that stands still. An edit that empties the document or removes much is kept as a recovery point, which is a
 * copy of the stored body: the body is saved first, and nobody writes between that and the edit, however fast people type. [LIFE-18, AG-31]
 */
async function planStanding(room: Room, saver: RoomSaver, request: EditRequest): Promise<Change | TaskOutcome | 'again'> {
  for (let isSaved = false; ; isSaved = true) {
    const ready = await standStill(room, saver, request)
    if (ready !== null) return ready
    const planned = planEdit(room, saver, saver.base as Base, request)
    if (isRefusal(planned)) return { kind: 'edit', outcome: planned }
    const { changes } = planned
    const isKept = changes !== null && !request.dryRun && (isZeroing(planned) || changes.isKept)
    if (!isKept || !saver.isBehind()) return planned
    if (isSaved) return 'again'
    const saved = await saver.save()
    if (saved !== 'saved') return failed(saved)
  }
}

/**
 * Makes the document stand still: every gathered update is applied and durable and, when the request expects a version, the stored version
 * matches the live document exactly. Returns `null` on success. [CONC-7]
 */
async function standStill(room: Room, saver: RoomSaver, request: EditRequest): Promise<TaskOutcome | 'again' | null> {
  const { host, log } = room
  if (!room.isReady || saver.base === null) return WRITE_LOST
  const { head, body } = saver.base
  if (!request.dryRun) host.turn(() => refuseStaleTitle(room.live().doc, body, head.titleChangedAtMs, RELAY))
  if (request.expectedVersion !== null && !saver.isVersionCurrent()) {
    const saved = await saver.save()
    if (saved !== 'saved') return failed(saved)
  }
  if (!(await log.hold()) || !(await log.reach(log.emitted)) || !room.isReady) return WRITE_LOST
  return saver.base === null ? 'again' : null
}

/**
 * Lets the worker serve other documents between planning an edit and applying it. The document stands still meanwhile, so the plan fits
 * afterwards unless the document was closed or loaded again. Returns `null` when it fits. [DIAG-17]
 */
async function letOthers(room: Room, saver: RoomSaver): Promise<TaskOutcome | 'again' | null> {
  const [{ base }, { emitted }, { doc }] = [saver, room.log, room.live()]
  await room.host.letOthers()
  if (!room.isReady) return WRITE_LOST
  return saver.base === base && room.log.emitted === emitted && room.live().doc === doc ? null : 'again'
}

/** What awareness shows of the edit: page, selected ids and cursor. [PRES-1] */
function writtenBy(room: Room, { edited, changes }: Change): Written {
  const { writtenPage: page, writtenBlocks: blocks = [], selection } = edited
  const [first] = blocks
  const cursor = page === undefined || first === undefined ? null : cursorOn(room.live().doc, page, first)
  return { page, selection: selection ?? blocks, cursor, callId: changes?.effects.callId }
}

function planEdit(room: Room, saver: RoomSaver, base: Base, request: EditRequest): Change | Refusal {
  const { access, edit, args } = request
  const refusal = refuseEdit({ kind: 'document', head: base.head }, request)
  if (refusal !== null) return refusal
  if (room.hasGap) return editNeedsRepair(room.ref.id)
  const startedMs = room.host.processorMs()
  const before = saver.project(base.body)
  const nowMs = room.host.clock.nowMs()
  const environment = editEnvironment(nowMs, room.host.random, room.changes.seenAlso(request.seen))
  const edited = room.watched(() => runEdit(edit, before, args, environment))
  if (isRefusal(edited)) return edited
  const growth = bodyGrowth(before, edited.body)
  const sinceStored = bodyGrowth(base.body, before).bytes + growth.bytes
  const facts = bodyFacts(edited.body, base.head.facts.clientVersion)
  const isChanged = edited.body !== before
  const changes = isChanged ? room.watched(() => callChanges(before, edited, args, environment)) : null
  const planningMs = room.host.processorMs() - startedMs
  const change = { base, before, edited, changes, growth, sinceStored, facts, nowMs, planningMs }
  return refuseGrownSize(base.head.sizeBytes + sinceStored, growth.bytes, access) ?? change
}

/** The refusal that writing the change would get from the quota; used by dry runs. [TOOL-21] */
async function overQuota(room: Room, change: Change, { access }: EditRequest): Promise<Refusal | null> {
  const { edited, growth, sinceStored, nowMs } = change
  const outcome = await room.host.documents.overQuota({
    workspaceId: access.workspaceId,
    grownBytes: sinceStored,
    blobReferences: bodyMayFollow(change) ? [] : writeSettledBody(edited.body, false).blobReferences,
    quotaBytes: gatingQuota(growth.bytes, access),
    nowMs,
  })
  return outcome && editOverQuota(outcome, access)
}

async function applyEdit(room: Room, saver: RoomSaver, change: Change, task: EditTask): Promise<TaskOutcome | 'again'> {
  const { host, log } = room
  const { base, before, edited, growth, sinceStored, nowMs } = change
  const { access, once } = task.request
  const lastSeq = log.emitted
  const isRetitled = change.facts.title !== bodyFacts(before).title
  const { doc } = room.live()
  const hints = saver.hints({ moved: new Set(edited.writtenBlocks), words: edited.textChanges ?? [] })
  const bytes = base.head.sizeBytes + Math.max(0, growth.bytes)
  room.watched(() => reconcile(doc, before, edited.body, RELAY, isRetitled ? nowMs : undefined, hints), bytes)
  const taken = log.takeHeld()
  const stored = storedNow(saver, change, taken.length, access.sub)
  if (isGivenUp(task.givenUp)) {
    await takeBack(room, saver, taken)
    return GIVEN_UP
  }
  const outcome = await host.documents.write({
    ref: room.ref,
    expect: { kind: 'document', key: room.key, version: base.head.version },
    set: { ...(stored === null ? {} : { body: stored.body }), ...(isRetitled ? { titleChangedAtMs: nowMs } : {}) },
    bump: true,
    nowMs,
    quotaBytes: gatingQuota(growth.bytes, access),
    log: {
      kind: 'live',
      lastSeq,
      append: recordsBy(access.sub, taken),
      ...(stored === null ? { bodyLater: { grownBytes: sinceStored } } : {}),
    },
    ...(change.changes === null
      ? {}
      : {
          ...captureMember(isZeroing(change), change.changes, access.sub),
          ...callMember(task.request, change.changes, edited.result),
        }),
    ...onceMember(once, nowMs, () => editAnswer(stored?.body.facts ?? base.head.facts, edited, effectsOf(change))),
  })
  switch (outcome.kind) {
    case 'written':
      if (stored === null) saver.wroteVersion(base, outcome.head, taken.length)
      else saver.wrote(outcome.head, stored.settled, log.emitted, taken.length)
      saver.lastWriter = { sub: access.sub, maxDocBytes: access.limits.maxDocBytes }
      return {
        kind: 'edit',
        outcome: editedOutcome(edited, effectsOf(change), outcome.head, true, changed(change, task.request)),
      }
    case 'over-quota':
      await takeBack(room, saver, taken)
      return { kind: 'edit', outcome: editOverQuota(outcome, access) }
    case 'repeated':
      await takeBack(room, saver, taken)
      return once === undefined ? 'again' : { kind: 'edit', outcome: repeated(outcome.first, once) }
    default:
      await takeBack(room, saver, taken)
      return 'again'
  }
}

function isZeroing({ before, facts }: Change): boolean {
  return zeroes(bodyFacts(before), facts)
}

interface Stored {
  readonly settled: DocumentBody
  readonly body: NonNullable<DocumentWrite['set']['body']>
}

/**
 * Whether the body may be stored later than the version. It may not when the live document cannot hold the edit, when the body adds blobs
 * that it must hold references to, or when the edit empties the document, because the state before it must be the stored one. [BLOB-2,
 * LIFE-18]
 */
function bodyMayFollow(change: Change): boolean {
  const { before, edited, growth } = change
  return isLiveChange(before, edited.body) && !growth.addsBlobs && !isZeroing(change)
}

/** The body to store together with the edit; `null` when it may be stored later. */
function storedNow(saver: RoomSaver, change: Change, records: number, sub: string): Stored | null {
  const { base, edited, nowMs } = change
  if (records > 0 && bodyMayFollow(change)) return null
  const { body: settled, bytes, blobReferences } = writeSettledBody(stampBody(saver.project(edited.body), nowMs, sub), false)
  return { settled, body: { bytes, facts: bodyFacts(settled, base.head.facts.clientVersion), blobReferences } }
}

function effectsOf({ changes }: Change): Effects {
  return changes?.effects ?? NO_EFFECTS
}

function editedOutcome(
  { result, fixes, warnings, shown, links }: Edited<object>,
  effects: Effects,
  head: DocumentHead,
  changed: boolean,
  delta: { readonly delta?: BodyDelta } = {},
) {
  const told = { ...(shown && { shown }), ...(links && { links }), ...delta }
  return { kind: 'edited', head, changed, result, effects, fixes, warnings, ...told } as const
}

function changed({ before, edited }: Change, { isRecorded }: EditRequest): { readonly delta?: BodyDelta } {
  return isRecorded === true ? { delta: bodyDelta(before, edited.body) } : {}
}
