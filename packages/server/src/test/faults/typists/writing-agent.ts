import type { RelayUnderTest } from '../../relay-under-test.ts'
import { agentTasks, type Attempt } from './agent-tasks.ts'
import { type Answer, type Members, post, UNANSWERED } from './mcp-post.ts'

/** One call that changed something, with all texts of its answer. */
export interface ToldCall {
  readonly tool: string
  /** `null` for a call that was not answered. */
  readonly callId: string | null
  /** The version that the call made, if it was answered. */
  readonly version: unknown
  /** The `removed`, `warnings` and `deleted` of the answer, as JSON. [AG-98] */
  readonly told: string
  /** The `kept` of an undo, as JSON. [AG-70] */
  readonly kept: string
  /** The arguments as JSON. For a write of a whole page also the page as the agent had read it, because everything in it was replaced on purpose. */
  readonly named: string
  /** Whether the answer counts more blocks with removed text than it lists. [AG-26, AG-30] */
  readonly isCut: boolean
}

/** An agent that writes on a page beside people. It does one task after another, and repeats each at most twice after a refusal. */
export interface WritingAgent {
  readonly calls: readonly ToldCall[]
  /** The codes of refusals, counted. */
  readonly refusals: ReadonlyMap<string, number>
  readonly tasks: { done: number; failed: number; calls: number; unanswered: number }
  work(running: () => boolean): Promise<void>
}

export interface AgentPlan {
  readonly docId: string
  readonly pageId: string
  readonly number: number
  readonly random: () => number
  readonly pauseMs: number
  /** `careful`: only calls that carry what the agent has seen. [AG-97] `any`: blind, stale and destructive calls too. [AG-98] */
  readonly calls: 'careful' | 'any'
}

const TRIES = 3
/** Matches the last warning of a write over many blocks that its caller had not seen, because the relay that showed them was killed. */
const MORE_UNSEEN = /\d+ more blocks that you had not seen/

export function openWritingAgent(relay: RelayUnderTest, plan: AgentPlan): WritingAgent {
  const { docId, pageId, number, random, pauseMs } = plan
  const bearer = relay.token({ sub: `agent-${number}`, role: 'owner' })
  const calls: ToldCall[] = []
  const refusals = new Map<string, number>()
  const tasks = { done: 0, failed: 0, calls: 0, unanswered: 0 }
  let words = 0
  let pageRead = ''

  async function call(tool: string, args: Members): Promise<Answer> {
    tasks.calls++
    const answer = await post({ url: () => relay.mcpUrl, bearer, tool, args: { docId, ...args } })
    const { callId, removed, removedTotal, warnings, deleted, kept, code } = answer.result
    if (tool === 'get_prose') pageRead = JSON.stringify(answer.result)
    if (answer === UNANSWERED) tasks.unanswered++
    else if (answer.isError) refusals.set(String(code), (refusals.get(String(code)) ?? 0) + 1)
    if (typeof callId === 'string' || kept !== undefined || answer === UNANSWERED)
      calls.push({
        tool,
        version: answer.result['serverVersion'],
        callId: typeof callId === 'string' ? callId : null,
        told: JSON.stringify([removed, warnings, deleted]),
        kept: JSON.stringify(kept ?? []),
        named: JSON.stringify(args) + (tool === 'set_prose' && args['id'] === undefined ? pageRead : ''),
        isCut: removedTotal !== undefined || MORE_UNSEEN.test(JSON.stringify(warnings ?? [])),
      })
    return answer
  }
  const { careful, blind } = agentTasks({ pageId, random, call, word: () => `a${number}n${(words++).toString(36)}q` })

  async function play(attempt: Attempt): Promise<void> {
    let refusal: Members | null = null
    for (let tries = 0; tries < TRIES; ) {
      const answer = await attempt(refusal)
      if (answer === null) return
      if (!answer.isError) {
        tasks.done++
        return
      }
      // A call without an answer was not refused, so it does not count as a try.
      if (answer !== UNANSWERED) tries++
      refusal = answer === UNANSWERED ? null : answer.result
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    tasks.failed++
  }

  return {
    calls,
    refusals,
    tasks,
    async work(running) {
      const choices = plan.calls === 'any' ? [...careful, ...blind] : careful
      while (running()) {
        const task = choices[Math.floor(random() * choices.length)]
        if (task !== undefined) await play(task())
        await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + random())))
      }
    },
  }
}
