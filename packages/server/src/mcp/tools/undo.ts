import { isRefusal, type Refusal } from '@docrelay/model/edit'
import type { CallStore } from '../../documents/call-store.port.ts'
import { lastTargets, namedTarget, type Undoing } from '../../documents/undo-targets.ts'
import type { Clock } from '../../kernel/clock.ts'
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

/** [TOOL-undo] */
export function undoTool(deps: UndoDeps): ToolRow {
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
      return { ...found, ...(await waysOf('undo', { ...call, args: { ...call.args, ...found } }, attempt, deps)) }
    },
  })
  return {
    ...row,
    async run(call) {
      const answer = await row.run(call)
      if (!mayBeLate(answer)) return answer
      const { refusal: undone } = await targets(call, deps)
      return undone === undefined ? answer : refusal(undone as Refusal)
    },
  }
}

/**
 * Whether another undo of the call may have been faster: then everything looks as if somebody had changed it since, or other writes came
 * first in every attempt. [AG-72]
 */
function mayBeLate(answer: ToolSuccess | ToolFailure): boolean {
  if (answer.kind === 'success') return answer.structured['changed'] === 0 && !('replayed' in answer.structured)
  return answer.code === 'ERR_VERSION_CONFLICT' && 'attempts' in answer.facts
}

/** A refusal goes along: a repeat of an undo gets its first answer although the call cannot be undone any more. */
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
