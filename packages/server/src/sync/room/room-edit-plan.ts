import type { DocumentBody } from '@docrelay/model/body'
import { type BodyFacts, bodyFacts } from '@docrelay/model/body-facts'
import { type BodyGrowth, bodyGrowth, growthLike } from '@docrelay/model/body-growth'
import { type Edited, isRefusal, type Refusal } from '@docrelay/model/edit'
import { refitEdit, runEdit } from '@docrelay/model/edits'
import { editEnvironment } from '../../documents/edit-body.ts'
import { type CallChanges, callChanges } from '../../documents/effects.ts'
import { editNeedsRepair, refuseEdit, refuseGrownSize } from '../../documents/edit-plan.ts'
import type { EditRequest } from '../../documents/residents.port.ts'
import type { EncodedValues } from '../binding/binding-encoded.ts'
import type { TaskOutcome } from '../worker-messages.ts'
import type { Room } from './room.ts'
import type { Base } from './room-body.ts'
import type { RoomSaver } from './room-save.ts'

/** After a step of a plan that took more processor time than this, other documents are served. */
const LONG_STEP_MS = 8

/** A planned edit that may be stored: the bodies before and after the edit, and how much the edit adds. */
export interface Change {
  readonly base: Base
  readonly before: DocumentBody
  readonly edited: Edited<object>
  /** `null` when nothing changed. */
  readonly changes: CallChanges | null
  readonly growth: BodyGrowth
  /** Growth in bytes compared with the stored body. Includes the changes that people made since that body was stored. */
  readonly sinceStored: number
  readonly facts: BodyFacts
  readonly nowMs: number
  /** Values that the edit adds. They were encoded before the transaction that applies the edit. */
  readonly encoded?: EncodedValues
}

/** Why a plan was not finished or cannot be carried out. `again`: the edit has to be planned anew. */
export type Lost = TaskOutcome | 'again'

/**
 * Plans an edit in steps, and serves other documents after each long step. [DIAG-17]
 *
 * @param letOthers serves other documents; resolves to `null` when the plan still fits the document afterwards
 */
export async function planEdit(
  room: Room,
  saver: RoomSaver,
  request: EditRequest,
  letOthers: () => Promise<Lost | null>,
): Promise<Change | Refusal | Lost> {
  const base = saver.base as Base
  const { access, edit, args } = request
  const refusal = refuseEdit({ kind: 'document', head: base.head }, request)
  if (refusal !== null) return refusal
  if (room.hasGap) return editNeedsRepair(room.ref.id)
  let startedMs = room.host.processorMs()
  const endStep = async (): Promise<Lost | null> => {
    if (room.host.processorMs() - startedMs <= LONG_STEP_MS) return null
    const lost = await letOthers()
    startedMs = room.host.processorMs()
    return lost
  }
  const before = saver.project(base.body)
  const nowMs = room.host.clock.nowMs()
  const environment = environmentOf(room, request, nowMs)
  const edited = room.watched(() => runEdit(edit, before, args, environment))
  if (isRefusal(edited)) return edited
  let lost = await endStep()
  if (lost !== null) return lost
  const isChanged = edited.body !== before
  const changes = isChanged ? room.watched(() => callChanges(before, edited, args, environment)) : null
  lost = await endStep()
  if (lost !== null) return lost
  const growth = bodyGrowth(before, edited.body)
  const sinceStored = bodyGrowth(base.body, before).bytes + growth.bytes
  const facts = bodyFacts(edited.body, base.head.facts.clientVersion)
  lost = await endStep()
  if (lost !== null) return lost
  const tooLarge = refuseGrownSize(base.head.sizeBytes + sinceStored, growth.bytes, access)
  return tooLarge ?? { base, before, edited, changes, growth, sinceStored, facts, nowMs }
}

/**
 * Fits a plan to a document that people have changed since. Returns `null` when the edit has to be planned anew. The time depends on the
 * changes of people and not on the size of the edit, because only the changes of people are compared and counted again. [CONC-14]
 */
export function refitChange(room: Room, saver: RoomSaver, planned: Change, request: EditRequest): Change | null {
  const base = saver.base as Base
  const { access, edit, args } = request
  if (refuseEdit({ kind: 'document', head: base.head }, request) !== null || room.hasGap) return null
  const before = saver.project(base.body)
  const nowMs = room.host.clock.nowMs()
  const edited = room.watched(() => refitEdit(edit, planned, before, args, environmentOf(room, request, nowMs)))
  if (edited === null) return null
  const growth = growthLike({ ...planned, after: planned.edited.body }, before, edited.body)
  const unsaved = bodyGrowth(base.body, before).bytes
  const sinceStored = unsaved + growth.bytes
  if (refuseGrownSize(base.head.sizeBytes + sinceStored, growth.bytes, access) !== null) return null
  const facts = bodyFacts(edited.body, base.head.facts.clientVersion)
  return { ...planned, base, before, edited, growth, sinceStored, facts, nowMs }
}

function environmentOf({ host, changes }: Room, { seen }: EditRequest, nowMs: number) {
  return editEnvironment(nowMs, host.random, changes.seenAlso(seen))
}
