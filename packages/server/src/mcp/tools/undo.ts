import { isRefusal, type Refusal } from '@docrelay/model/edit'
import type { UndoTarget } from '@docrelay/model/changes/undo-calls'
import type { CallStore } from '../../documents/call-store.port.ts'
import { contendedEdit } from '../../documents/edit-plan.ts'
import { lastTargets, namedTarget, type Undoing } from '../../documents/undo-targets.ts'
import type { Clock } from '../../kernel/clock.ts'
import { retryCas } from '../../kernel/retry-cas.ts'
import { callerDigest } from '../memory/callers.ts'
import { refusal } from '../results.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { agentOf, editTool } from './edit-tool.ts'
import { DOCUMENT, input, REPEATABLE, TEXT, VERSIONED } from './schema.ts'
import type { ToolRow } from './tool-row.ts'
import { type WaysDeps, waysOf } from './ways.ts'

export interface UndoDeps extends WaysDeps {
  readonly calls: Pick<CallStore, 'list' | 'read'>
  readonly clock: Pick<Clock, 'nowMs'>
}

/** The tool `undo`. [TOOL-undo] */
export function undoTool(deps: UndoDeps): ToolRow {
  /** By tool call: the ids of the calls that its latest attempt tried to take back. */
  const tried = new WeakMap<ToolCall, readonly string[]>()
  const row = editTool(deps.documents, {
    name: 'undo',
    place: 50,
    title: 'Undo',
    description: 'Take back your calls, but for what others changed since. Returns what stays.',
    toolset: 'manage',
    input: input(DOCUMENT, { callId: TEXT, last: { type: 'integer', minimum: 1, maximum: 20 }, ...VERSIONED, ...REPEATABLE }),
    result: ['undone', 'blocks'],
    more: ['kept'],
    hints: ['DE'],
    errors: { ERR_CALL_NOT_FOUND: { callId: 'call-000000000000' }, ERR_NOT_UNDOABLE: null },
    examples: [],
    needless: { last: { refused: { callId: 'call-000000000000', last: 1 } } },
    prepare: async (call, attempt) => {
      const found = await targets(call, deps)
      if (found['refusal'] !== undefined) return found
      tried.set(call, idsOf(found))
      return { ...found, ...(await waysOf('undo', { ...call, args: { ...call.args, ...found } }, attempt, deps)) }
    },
  })
  return {
    ...row,
    run(call) {
      const once = async (): Promise<ToolSuccess | ToolFailure | 'again'> => {
        const answer = await row.run(call)
        if (!mayBeLate(answer)) return answer
        const found = await targets(call, deps)
        if (found['refusal'] !== undefined) return refusal(found['refusal'] as Refusal)
        return answer.kind === 'success' && (await isOvertaken(call, tried.get(call) ?? [], deps)) ? 'again' : answer
      }
      return retryCas(once, async () => {
        const { version } = await deps.documents.require(call.access, call.args['docId'] as string, 'edit')
        return refusal(contendedEdit(version))
      })
    },
  }
}

/**
 * Whether another undo took back one of these calls in the meantime. If so, `last` means the calls before them; the caller must not be told
 * that others changed everything since. [AG-68]
 */
async function isOvertaken(call: ToolCall, callIds: readonly string[], { documents, calls }: UndoDeps): Promise<boolean> {
  const { key } = await documents.require(call.access, call.args['docId'] as string, 'edit')
  return (await calls.read(key, callIds)).some(({ undoneBy }) => undoneBy !== null)
}

function idsOf({ targets: found }: JsonObject): readonly string[] {
  return (found as unknown as readonly UndoTarget[]).map(({ callId }) => callId)
}

/**
 * Whether a faster undo of the same call may explain the answer: nothing was left to take back, or every attempt lost to another write.
 * [AG-72]
 */
function mayBeLate(answer: ToolSuccess | ToolFailure): boolean {
  if (answer.kind === 'success') return answer.structured['changed'] === 0 && !('replayed' in answer.structured)
  return answer.code === 'ERR_VERSION_CONFLICT' && 'attempts' in answer.facts
}

/** Finds the calls to take back. Passes a refusal on to the edit: a repeated undo gets its first answer, though nothing is undoable now. */
async function targets(call: ToolCall, { documents, calls, clock }: UndoDeps): Promise<JsonObject> {
  const { docId, callId, last } = call.args as { readonly docId: string; readonly callId?: string; readonly last?: number }
  const { key } = await documents.require(call.access, docId, 'edit')
  const undoing: Undoing = {
    calls,
    key,
    sub: call.access.sub,
    client: agentOf(call).name,
    caller: callerDigest(call),
    nowMs: clock.nowMs(),
  }
  const found = callId === undefined ? await lastTargets(undoing, last ?? 1) : await namedTarget(undoing, callId)
  if (isRefusal(found)) return { refusal: found }
  return { targets: callId === undefined ? found : [found] }
}
