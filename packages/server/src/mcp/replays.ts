import { createHash } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { failure } from './results.ts'
import type { JsonObject, ToolFailure, ToolSuccess } from './tool.ts'

const REMEMBERED_MS = 600_000
const MAX_REMEMBERED = 10_000

export interface RepeatableCall {
  readonly workspaceId: string
  readonly sub: string
  readonly tool: string
  readonly requestId: string
  readonly args: JsonObject
}

/** Lets a caller repeat a write whose answer it did not get. [TOOL-22] */
export interface Replays {
  /** The outcome of `run`, or the first success under the same request id again. A repeat waits for the first while that runs. */
  once(call: RepeatableCall, run: () => Promise<ToolSuccess | ToolFailure>): Promise<ToolSuccess | ToolFailure>
}

interface Remembered {
  readonly digest: string
  readonly outcome: Promise<ToolSuccess | ToolFailure>
  readonly untilMs: number
}

export function createReplays(clock: Clock): Replays {
  const remembered = new Map<string, Remembered>()

  function forgetOld(nowMs: number): void {
    for (const [key, { untilMs }] of remembered) {
      if (untilMs > nowMs && remembered.size < MAX_REMEMBERED) return
      remembered.delete(key)
    }
  }

  return {
    async once(call, run) {
      const nowMs = clock.monotonicMs()
      const { requestId, args } = call
      const key = [call.workspaceId, call.sub, call.tool, requestId].join('\0')
      const digest = createHash('sha256').update(stableText(args)).digest('base64')
      const first = remembered.get(key)
      if (first !== undefined && first.untilMs > nowMs) {
        if (first.digest !== digest) return reused(requestId)
        const outcome = await first.outcome
        // What failed was not written, so that a repeat is another try.
        if (outcome.kind === 'success') return { kind: 'success', structured: { ...outcome.structured, replayed: true } }
        return this.once(call, run)
      }
      forgetOld(nowMs)
      const outcome = run()
      const mine = { digest, outcome, untilMs: nowMs + REMEMBERED_MS }
      remembered.delete(key)
      remembered.set(key, mine)
      const forget = (): void => {
        if (remembered.get(key) === mine) remembered.delete(key)
      }
      outcome.then(({ kind }) => kind === 'failure' && forget(), forget)
      return outcome
    },
  }
}

function reused(requestId: string): ToolFailure {
  const sentence = `requestId ${JSON.stringify(requestId)} was used with other arguments; give each call an id of its own.`
  return failure('ERR_REQUEST_ID_REUSED', sentence, { requestId })
}

/** JSON with members in one order, so that equal arguments are equal texts. */
function stableText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
