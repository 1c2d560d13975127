import type { DocumentBody } from '@docrelay/model/body'
import { bodyFacts } from '@docrelay/model/body-facts'
import { shownTitle, stampBody } from '@docrelay/model/body-title'
import { writeSettledBody } from '@docrelay/model/body-write'
import { type Edited, isRefusal, type Refusal } from '@docrelay/model/edit'
import { canRefit } from '@docrelay/model/edits'
import { type BodyDelta, bodyDelta } from '@docrelay/model/seen/body-delta'
import type { DocumentHead, DocumentWrite } from '../../documents/document-store.port.ts'
import { callMember, captureMember, type Effects, NO_EFFECTS, triedEffects } from '../../documents/effects.ts'
import { contendedEdit, editAnswer, editOverQuota, gatingQuota, undoneBefore } from '../../documents/edit-plan.ts'
import { onceMember, repeated } from '../../documents/once.ts'
import { zeroes } from '../../documents/put-plan.ts'
import type { EditRequest } from '../../documents/residents.port.ts'
import { isGivenUp } from '../../kernel/given-up.ts'
import { retryCas } from '../../kernel/retry-cas.ts'
import { refuseStaleTitle } from '../binding/binding.ts'
import { encodeAdded } from '../binding/binding-encoded.ts'
import { reconcile } from '../binding/binding-reconcile.ts'
import { cursorOn } from './agent-cursor.ts'
import type { Written } from './awareness-agents.ts'
import type { Room } from './room.ts'
import { RELAY } from './room-content.ts'
import { type Change, type Lost, planEdit, refitChange } from './room-edit-plan.ts'
import { isLiveChange } from './room-edit-scope.ts'
import { epochMember } from './room-fence.ts'
import { recordsBy } from './room-log.ts'
import { failed, MOVED, WRITE_LOST } from './room-outcomes.ts'
import { takeBack } from './room-put.ts'
import type { Base } from './room-body.ts'
import type { RoomSaver } from './room-save.ts'
import type { RoomTask, TaskOutcome } from '../worker-messages.ts'

const GIVEN_UP: TaskOutcome = { kind: 'given-up' }

type EditTask = Extract<RoomTask, { kind: 'edit' }>

/**
 * Runs an edit on the live document and stores its log records together with a new version. [CONC-4..CONC-7, LIFE-13]
 *
 * The body of that version is normally stored by the next materialisation, so the cost depends on the size of the change. When the edit
 * contains something that the live document cannot hold, the body is stored at once. The edit is broadcast only after it is durable. When an
 * edit is refused or given up after it was applied, the document is loaded again without it. Must run inside `exclusive`.
 */
export function editInRoom(room: Room, saver: RoomSaver, task: EditTask): Promise<TaskOutcome> {
  const editCurrent = async (): Promise<Lost> => {
    if (isGivenUp(task.givenUp)) return GIVEN_UP
    const base = await currentBase(room, saver)
    return 'kind' in base ? base : tryEdit(room, saver, task)
  }
  return retryCas<TaskOutcome>(editCurrent, async () => {
    const base = await currentBase(room, saver)
    return 'kind' in base ? base : { kind: 'edit', outcome: contendedEdit(base.head.version) }
  })
}

/** Returns the head and the body of the stored version. First merges a version that another writer has stored meanwhile. */
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

async function tryEdit(room: Room, saver: RoomSaver, task: EditTask): Promise<Lost> {
  const { host, log, sync } = room
  const { request } = task
  const ahead = await planAhead(room, saver, request)
  if (isGivenUp(task.givenUp)) return GIVEN_UP
  if (!room.isReady) return WRITE_LOST
  host.turn(() => sync.pause())
  let isApplied = false
  let show: Change | null = null
  try {
    const standing = await planStanding(room, saver, request, ahead)
    if (standing === 'again' || 'kind' in standing) return standing
    const { planned } = standing
    const { base, edited } = planned
    if (planned.changes === null) return { kind: 'edit', outcome: editedOutcome(edited, NO_EFFECTS, base.head, false) }
    if (request.dryRun) {
      const refusal = await overQuota(room, planned, request)
      return {
        kind: 'edit',
        outcome: refusal ?? editedOutcome(edited, triedEffects(effectsOf(planned)), base.head, true, changed(planned, request)),
      }
    }
    if (isGivenUp(task.givenUp)) return GIVEN_UP
    isApplied = true
    const stored = await applyEdit(room, saver, standing, task)
    if (stored !== 'again' && stored.kind === 'edit' && stored.outcome.kind === 'edited') show = planned
    return stored
  } catch (error) {
    // Either it is unknown whether the write was stored, or the document contains an edit that will not be stored. Only the log is reliable.
    if (isApplied) host.turn(() => room.reset())
    throw error
  } finally {
    if (room.isReady) {
      host.turn(() => {
        if (show !== null && request.agent !== null) room.agents.show(request.access.sub, request.agent, writtenBy(room, show))
        log.release()
        sync.answers.held.trust()
        sync.resume()
      })
    }
  }
}

/** A planned edit that fits its document, which does not change until the edit is applied. */
interface Standing {
  readonly planned: Change
  /** Resolves to true once every update that was applied before the edit is durable. */
  readonly isStored: Promise<boolean>
}

/**
 * Plans an edit while people go on changing the document. Returns `null` for an edit that cannot be fitted to a newer document, for a dry
 * run, and when planning was refused or interrupted: then the edit is planned while the document stands still. [CONC-14]
 */
async function planAhead(room: Room, saver: RoomSaver, request: EditRequest): Promise<Change | null> {
  if (request.dryRun || !canRefit(request.edit) || !room.isReady) return null
  const { doc } = room.live()
  const letPeople = async () => {
    await room.host.letOthers()
    return room.isReady && room.live().doc === doc ? null : 'again'
  }
  const planned = await planEdit(room, saver, request, letPeople)
  if (planned === 'again' || 'kind' in planned) return null
  const encoded = room.watched(() => encodeAdded(planned.before, planned.edited.body))
  return (await letPeople()) === null ? { ...planned, encoded } : null
}

/**
 * Plans the edit of a document that stands still, or fits the plan `ahead` to it. [LIFE-18, AG-31]
 *
 * An edit that empties the document or removes much needs a recovery point, which is a copy of the stored body. So a body that lacks edits
 * is saved first. Nobody can write between that save and the edit, however fast people type.
 */
async function planStanding(room: Room, saver: RoomSaver, request: EditRequest, ahead: Change | null): Promise<Standing | Lost> {
  for (let isSaved = false; ; isSaved = true) {
    const ready = await standStill(room, saver, request)
    if (ready !== null) return ready
    const refit = ahead === null ? null : refitChange(room, saver, ahead, request)
    // No other edit is applied from here on. So this edit can be planned, and even applied, while earlier edits are being stored.
    const isStored = storeApplied(room)
    const planned = refit ?? (await planNow(room, saver, request, isStored))
    if (planned === 'again') return planned
    if ('kind' in planned) return isRefusal(planned) ? { kind: 'edit', outcome: planned } : planned
    const { changes } = planned
    const isKept = changes !== null && !request.dryRun && (isZeroing(planned) || changes.isKept)
    if ((isKept || changes === null) && !(await isStored)) return WRITE_LOST
    if (!isKept || !saver.isBehind()) return { planned, isStored }
    if (isSaved) return 'again'
    const saved = await saver.save()
    if (saved !== 'saved') return failed(saved)
  }
}

async function planNow(
  room: Room,
  saver: RoomSaver,
  request: EditRequest,
  isStored: Promise<boolean>,
): Promise<Change | Refusal | Lost> {
  const fits = standOf(room, saver)
  const planned = await planEdit(room, saver, request, () => letOthers(room, saver))
  if (!(await isStored)) return WRITE_LOST
  return fits() ?? planned
}

/**
 * Prepares a paused document for the edit. When the request expects a version, the stored version matches the live document exactly
 * afterwards. Returns `null` on success. [CONC-7]
 */
async function standStill(room: Room, saver: RoomSaver, request: EditRequest): Promise<Lost | null> {
  const { host } = room
  if (!room.isReady || saver.base === null) return WRITE_LOST
  const { head, body } = saver.base
  if (!request.dryRun) host.turn(() => refuseStaleTitle(room.live().doc, body, head.titleChangedAtMs, RELAY))
  if (request.expectedVersion !== null && !saver.isVersionCurrent()) {
    const saved = await saver.save()
    if (saved !== 'saved') return failed(saved)
  }
  return saver.base === null ? 'again' : null
}

/** Resolves to true once every applied update is durable. Holds later updates back, so that the write of the edit can store them. */
async function storeApplied({ log }: Room): Promise<boolean> {
  const { emitted } = log
  return (await log.hold()) && (await log.reach(emitted))
}

/**
 * Returns a check for a plan that is made now. The check returns `null` while the plan fits, that is, until the document is closed, loaded
 * again or written.
 */
function standOf(room: Room, saver: RoomSaver): () => Lost | null {
  const [{ base }, { emitted }, { doc }] = [saver, room.log, room.live()]
  return () => {
    if (!room.isReady) return WRITE_LOST
    return saver.base === base && room.log.emitted === emitted && room.live().doc === doc ? null : 'again'
  }
}

/**
 * Lets the worker serve other documents between the steps of a plan and before the plan is applied. The document stands still meanwhile.
 * Returns `null` when the plan still fits. [DIAG-17]
 */
async function letOthers(room: Room, saver: RoomSaver): Promise<Lost | null> {
  const fits = standOf(room, saver)
  await room.host.letOthers()
  return fits()
}

/** Returns what awareness shows of the edit: page, selected ids, cursor and call id. [PRES-1] */
function writtenBy(room: Room, { edited, changes }: Change): Written {
  const { writtenPage: page, writtenBlocks: blocks = [], selection } = edited
  const [first] = blocks
  const cursor = page === undefined || first === undefined ? null : cursorOn(room.live().doc, page, first)
  return { page, selection: selection ?? blocks, cursor, callId: changes?.effects.callId }
}

/** Returns the quota refusal that storing the change would get, `null` when it fits. Used by dry runs. [TOOL-21] */
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

async function applyEdit(room: Room, saver: RoomSaver, { planned: change, isStored }: Standing, task: EditTask): Promise<Lost> {
  const { host, log } = room
  const { base, before, edited, growth, sinceStored, nowMs } = change
  const { access, once } = task.request
  const lastSeq = log.emitted
  const isRetitled = shownTitle(edited.body) !== shownTitle(before)
  const { doc } = room.live()
  const hints = saver.hints({ moved: new Set(edited.writtenBlocks), words: edited.textChanges ?? [], encoded: change.encoded })
  const bytes = base.head.sizeBytes + Math.max(0, growth.bytes)
  room.sync.answers.held.doubt()
  room.watched(() => reconcile(doc, before, edited.body, RELAY, isRetitled ? nowMs : undefined, hints), bytes)
  const taken = log.takeHeld()
  const stored = storedNow(saver, change, taken.length, access.sub)
  if (!(await isStored)) return WRITE_LOST
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
    told: { actor: access.sub },
    log: {
      kind: 'live',
      lastSeq,
      append: recordsBy(access.sub, taken),
      ...epochMember(room.epoch),
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
    case 'not-undoable':
      await takeBack(room, saver, taken)
      return { kind: 'edit', outcome: undoneBefore() }
    case 'fenced':
      host.turn(() => room.fenced())
      return MOVED
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
 * Whether the body may be stored later than the version. The body must be stored at once in three cases: the live document cannot hold the
 * edit; the edit adds blobs, whose references are stored with the body; or the edit empties the document, so that the state before the edit
 * becomes a recovery point. [BLOB-2, LIFE-18]
 */
function bodyMayFollow(change: Change): boolean {
  const { before, edited, growth } = change
  return isLiveChange(before, edited.body) && !growth.addsBlobs && !isZeroing(change)
}

/** Returns the body to store together with the edit; `null` when the body may be stored later. */
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
