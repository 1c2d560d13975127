import { type Refusal, refused } from '@docrelay/model/edit'
import type { UndoTarget } from '@docrelay/model/changes/undo-calls'
import { quote } from '@docrelay/model/quote'
import type { CallHead, CallStore, StoredCall } from './call-store.port.ts'

/** How long a call can be undone. [AG-67] */
export const UNDOABLE_MS = 7 * 86_400_000
const ALL_CALLS = 500
const SHOWN_CALLS = 5

/** An undo: its caller, the document, and the time. */
export interface Undoing {
  readonly calls: Pick<CallStore, 'list' | 'read'>
  readonly key: number
  readonly sub: string
  /** The name of the agent's client program. */
  readonly client: string
  /** The digest of the caller, as in the records of its calls. */
  readonly caller: string
  readonly nowMs: number
}

/** Why a call cannot be undone; `null` when it can. [AG-72] */
export function notUndoableBecause(call: CallHead, nowMs: number): 'undone' | 'expired' | 'tool' | 'too-large' | null {
  if (call.undoneBy !== null) return 'undone'
  if (nowMs - call.atMs > UNDOABLE_MS) return 'expired'
  if (call.hasRecord) return null
  return call.tool === 'create_document' ? 'tool' : 'too-large'
}

/** Finds one call of any principal. [AG-68, AG-72] */
export async function namedTarget(undoing: Undoing, callId: string): Promise<UndoTarget | Refusal> {
  const [call] = await undoing.calls.read(undoing.key, [callId])
  if (call === undefined) return callNotFound(undoing, callId)
  return undoTargetOf(call, undoing.nowMs)
}

/** Returns a call as the target of an undo, or the refusal when it cannot be undone. [AG-72] */
export function undoTargetOf(call: StoredCall, nowMs: number): UndoTarget | Refusal {
  const reason = notUndoableBecause(call, nowMs)
  return reason === null ? targetOf(call) : notUndoable(call, reason)
}

/** Finds the last calls of the caller that can still be undone, newest first. Undos are named by their call id only. [AG-68] */
export async function lastTargets(undoing: Undoing, count: number): Promise<readonly UndoTarget[] | Refusal> {
  const { calls, key, nowMs } = undoing
  const own = await ownCalls(undoing)
  const chosen = own.filter((call) => call.tool !== 'undo' && notUndoableBecause(call, nowMs) === null).slice(0, count)
  if (chosen.length === 0) return callNotFound(undoing, null)
  const stored = await calls.read(
    key,
    chosen.map(({ callId }) => callId),
  )
  return stored.flatMap((call) => (call.record === null ? [] : [targetOf(call)]))
}

async function ownCalls(undoing: Undoing): Promise<readonly CallHead[]> {
  const all = await undoing.calls.list(undoing.key, { beforeVersion: null, limit: ALL_CALLS })
  return all.filter((call) => isOwn(call, undoing))
}

/** Whether the caller made the call. A call of an older release has no caller: everyone with its principal and client name may own it. [AG-68] */
function isOwn(call: CallHead, { sub, client, caller }: Undoing): boolean {
  return call.sub === sub && (call.caller === null ? call.client === client : call.caller === caller)
}

function targetOf({ callId, record }: StoredCall): UndoTarget {
  return { callId, record: new TextDecoder().decode(record ?? undefined) }
}

async function callNotFound(undoing: Undoing, callId: string | null): Promise<Refusal> {
  const own = (await ownCalls(undoing)).slice(0, SHOWN_CALLS)
  const calls = own.map((call) => ({ callId: call.callId, tool: call.tool, at: call.atMs }))
  const what =
    callId === null
      ? 'You have no call on this document that can be undone; last counts calls of this session or caller name only. Undo any other by its callId'
      : `The document has no call ${quote(callId)}`
  const known = own.length === 0 ? '' : ` Your newest calls: ${own.map((call) => call.callId).join(', ')}.`
  return refused('ERR_CALL_NOT_FOUND', `${what}.${known}`, { callId: callId === null ? null : quote(callId), calls })
}

const WHY = {
  undone: 'it was undone before',
  expired: 'it is older than 7 days',
  tool: 'a call of its tool cannot be undone',
  'too-large': 'it changed more than is kept',
} as const

function notUndoable({ callId, undoneBy }: CallHead, reason: keyof typeof WHY): Refusal {
  const by = undoneBy === null ? '' : `, by ${undoneBy}; undo that call to have it again`
  const facts = { callId, reason, ...(undoneBy !== null && { undoneBy }) }
  return refused('ERR_NOT_UNDOABLE', `The call ${callId} cannot be undone: ${WHY[reason]}${by}.`, facts)
}
