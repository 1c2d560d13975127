import { blobReferencesIn } from '@docrelay/model/blob-references'
import type { DocumentBody } from '@docrelay/model/body'
import type { UndoCalls } from '@docrelay/model/changes/undo-calls'
import { changesBetween } from '@docrelay/model/changes/changes-between'
import type { Counts, RemovedEntry } from '@docrelay/model/changes/tally'
import type { Edited, EditEnvironment } from '@docrelay/model/edit'
import type { CallWrite } from './call-store.port.ts'
import type { DocumentWrite } from './document-store.port.ts'
import type { EditRequest } from './residents.port.ts'

/** What a write did, as members of its answer. [AG-29, AG-30] */
export interface Effects {
  /** How many blocks, shapes, pages, references and fields changed. */
  readonly changed: number
  /** Names the call, for undo; absent when nothing changed, and in a dry run. */
  readonly callId?: string
  readonly removed?: readonly RemovedEntry[]
  /** Present when more was removed than the list names. */
  readonly removedTotal?: number
  /** The record of the call is too large to be kept, so the call cannot be undone. [AG-67] */
  readonly undoable?: false
}

export const NO_EFFECTS: Effects = { changed: 0 }

/** What an edit did to a document. */
export interface CallChanges extends Pick<Counts, 'gone'> {
  readonly effects: Effects
  /** The state before is kept as a recovery point: much was removed, or a page that the caller had not seen was replaced. [AG-26, AG-31] */
  readonly isKept: boolean
  /** The `ChangeSet` of the call as JSON; `null` when it has more than 1 MiB. */
  readonly record: string | null
}

/** A larger record is not stored, and its call cannot be undone. [AG-67] */
const MOST_RECORD_BYTES = 1_048_576
const CALL_ID_CHARACTERS = 12

/** Compares the body before an edit with the one that it made. `args` are those of the call. */
export function callChanges(
  before: DocumentBody,
  { body, isBlind }: Pick<Edited<object>, 'body' | 'isBlind'>,
  args: unknown,
  environment: EditEnvironment,
): CallChanges {
  const { counts, set } = changesBetween(before, body, args)
  const { changed, removed, removedTotal, gone } = counts
  const callId = changed > 0 ? { callId: `call-${environment.random(CALL_ID_CHARACTERS)}` } : {}
  const total = removedTotal > removed.length ? { removedTotal } : {}
  const whole = JSON.stringify(set)
  const record = Buffer.byteLength(whole) > MOST_RECORD_BYTES ? null : whole
  const told = { changed, ...callId, ...(removed.length > 0 && { removed }), ...total }
  const isKept = (isBlind === true && changed > 0) || isLargeRemoval(gone)
  return { effects: record === null ? { ...told, undoable: false } : told, isKept, gone, record }
}

/** Returns the effects that a dry run answers: those of the edit without a call id, since there is no call to undo. [AG-29] */
export function triedEffects(effects: Effects): Effects {
  const { callId: _, ...tried } = effects
  return tried
}

/** A call that removes at least this many of one kind stores the state before it as a recovery point. [AG-31] */
const LARGE = { texts: 5, shapes: 5, pages: 1 } as const

function isLargeRemoval(gone: Counts['gone']): boolean {
  return gone.texts >= LARGE.texts || gone.shapes >= LARGE.shapes || gone.pages >= LARGE.pages
}

/** Returns the member `capture` of a write. [LIFE-18, AG-31] */
export function captureMember(isZeroing: boolean, changes: CallChanges, sub: string): Pick<DocumentWrite, 'capture'> {
  if (isZeroing) return { capture: { reason: 'zeroing' } }
  return changes.isKept ? { capture: { reason: 'removal', sub } } : {}
}

/** Returns the member `call` of the write that an edit is. [AG-66] */
export function callMember(
  { access, agent, caller, edit, args }: Pick<EditRequest, 'access' | 'agent' | 'caller' | 'edit' | 'args'>,
  { effects, record, gone }: CallChanges,
  result: object,
): Pick<DocumentWrite, 'call'> {
  const { changed, callId } = effects
  if (callId === undefined) return {}
  const undo = edit === 'undo' ? (result as { readonly undone: readonly string[] }) : null
  const call: CallWrite = {
    callId,
    tool: edit,
    sub: access.sub,
    client: agent?.name ?? null,
    caller: caller ?? null,
    changed,
    removed: gone.texts + gone.shapes + gone.pages,
    record: record === null ? null : Buffer.from(record),
    blobReferences: record === null ? [] : blobReferencesIn(record),
    undoes: undo?.undone ?? [],
    ...(undo !== null && { targets: targetsOf(args) }),
    answer: undo === null ? null : JSON.stringify({ ...undo, changed, callId }),
  }
  return { call }
}

/** Returns the ids of the calls that an undo was asked to undo. */
function targetsOf(args: unknown): readonly string[] {
  const { targets = [] } = args as UndoCalls
  return targets.map(({ callId }) => callId)
}
