import type { RelayUnderTest } from '../../relay-under-test.ts'

type Members = Readonly<Record<string, unknown>>

/** One call that changed something, with all that its answer says of text. */
export interface ToldCall {
  readonly callId: string
  /** The `removed`, `warnings` and `deleted` of the answer, as JSON. [AG-98] */
  readonly told: string
  /** The arguments, as JSON: what they name was removed or replaced on purpose. */
  readonly named: string
}

/** An agent that writes on a page beside people: one task after another, each repeated at most twice after a refusal. */
export interface WritingAgent {
  readonly calls: readonly ToldCall[]
  /** Codes of refusals, counted. */
  readonly refusals: ReadonlyMap<string, number>
  readonly tasks: { done: number; failed: number; calls: number }
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

/** `null`: there is nothing to do the task on. */
type Attempt = (refusal: Members | null) => Promise<Answer | null>

interface Answer {
  readonly isError: boolean
  readonly result: Members
}

const TRIES = 3
const PARAGRAPH = /<!-- ([\w.:@-]+#[0-9a-z]{4}) -->\n((?:w|a|The )[^\n]*)(?=\n|$)/g

export function openWritingAgent(relay: RelayUnderTest, plan: AgentPlan): WritingAgent {
  const { docId, pageId, number, random, pauseMs } = plan
  const bearer = relay.token({ sub: `agent-${number}`, role: 'owner' })
  const calls: ToldCall[] = []
  const refusals = new Map<string, number>()
  const tasks = { done: 0, failed: 0, calls: 0 }
  const own: string[] = []
  let count = 0
  let stalePage = ''

  const next = (): string => `a${number}n${(count++).toString(36)}q`
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)]
  async function call(tool: string, args: Members): Promise<Answer> {
    tasks.calls++
    const answer = await post(relay.mcpUrl, bearer, tool, { docId, ...args })
    const { callId, removed, warnings, deleted, code } = answer.result
    if (typeof callId === 'string')
      calls.push({ callId, told: JSON.stringify([removed, warnings, deleted]), named: JSON.stringify(args) })
    if (answer.isError) refusals.set(String(code), (refusals.get(String(code)) ?? 0) + 1)
    return answer
  }
  async function pageWithIds(): Promise<string> {
    const { result } = await call('get_prose', { pageId, ids: true, format: 'markdown', limit: 1000 })
    const pages = result['page'] ?? (result['pages'] as readonly unknown[] | undefined)?.[0]
    return String((pages as Members | undefined)?.['content'] ?? '')
  }
  const paragraphs = (page: string) => [...page.matchAll(PARAGRAPH)].map(([, id = '', text = '']) => ({ id, text }))
  const anyParagraph = async () => pick(paragraphs(await pageWithIds()))

  /** The block as the refusal shows it, else one that is read anew. */
  async function seen(refusal: Members | null): Promise<{ id: string; text: string } | undefined> {
    const current = refusal?.['current'] as Members | undefined
    if (typeof current?.['id'] === 'string' && current['type'] === 'paragraph')
      return { id: current['id'], text: String(current['content']).replace(/<!--.*?-->\n?/g, '') }
    return anyParagraph()
  }

  const careful: readonly (() => Attempt)[] = [
    () => async (refusal) => {
      const block = await seen(refusal)
      if (block === undefined) return null
      const word = next()
      const answer = await call('set_prose', { pageId, id: block.id, content: `${block.text} ${word}`, format: 'markdown' })
      if (!answer.isError) own.push(word)
      return answer
    },
    () => {
      const find = pick(own)
      const replace = next()
      return async () => {
        if (find === undefined) return null
        const answer = await call('edit_text', { pageId, edits: [{ find, replace }] })
        if (!answer.isError) own[own.indexOf(find)] = replace
        return answer
      }
    },
    () => {
      const type = pick(['heading', 'paragraph'])
      return async (refusal) => {
        const block = await seen(refusal)
        if (block === undefined) return null
        return call('set_block', { pageId, id: block.id, type, ...(type === 'heading' && { level: 2 }) })
      }
    },
    () => async (refusal) => {
      const block = await seen(refusal)
      if (block === undefined) return null
      return call('insert_block', { pageId, id: block.id, content: `The ${next()} here.`, format: 'markdown' })
    },
    () => async () => {
      const page = await pageWithIds()
      const block = pick(paragraphs(page))
      if (block === undefined) return null
      const content = page.replace(`<!-- ${block.id} -->\n${block.text}`, (found) => `${found} ${next()}`)
      return call('set_prose', { pageId, content, format: 'markdown' })
    },
  ]
  const blind: readonly (() => Attempt)[] = [
    () => async () => {
      const block = await anyParagraph()
      return block === undefined ? null : call('set_prose', { pageId, id: bare(block.id), content: `The ${next()}.` })
    },
    () => async () => {
      const block = await anyParagraph()
      return block === undefined ? null : call('delete_block', { pageId, id: bare(block.id) })
    },
    () => async () => {
      const [block, target] = [await anyParagraph(), await anyParagraph()]
      if (block === undefined || target === undefined || block.id === target.id) return null
      return call('move_block', { pageId, id: bare(block.id), targetId: bare(target.id) })
    },
    () => async () => {
      const content = stalePage
      stalePage = (await pageWithIds()).replace(/<!--.*?-->\n?/g, '')
      return content === '' ? null : call('set_prose', { pageId, content, format: 'markdown', replace: random() < 0.5 })
    },
    () => async () => call('undo', { last: 1 }),
  ]

  async function play(attempt: Attempt): Promise<void> {
    let refusal: Members | null = null
    for (let i = 0; i < TRIES; i++) {
      const answer = await attempt(refusal)
      if (answer === null) return
      if (!answer.isError) {
        tasks.done++
        return
      }
      refusal = answer.result
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    tasks.failed++
  }

  return {
    calls,
    refusals,
    tasks,
    async work(running) {
      while (running()) {
        const choices = plan.calls === 'any' ? [...careful, ...blind] : careful
        const task = pick(choices)
        if (task !== undefined) await play(task())
        await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + random())))
      }
    },
  }
}

function bare(id: string): string {
  return id.slice(0, id.lastIndexOf('#'))
}

/** Calls a tool; a rate limit is waited for. Rejects when there is no answer. */
export async function post(url: string, bearer: string, tool: string, args: Members): Promise<Answer> {
  for (;;) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: `service_${tool}`, arguments: args } }),
    })
    const text = await response.text()
    if (response.status === 429) {
      await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(response.headers.get('retry-after') ?? 1)))
      continue
    }
    const { result } = JSON.parse(text) as {
      readonly result?: { readonly isError?: boolean; readonly structuredContent: Members }
    }
    if (result === undefined) throw new Error(`${tool} was answered ${text.slice(0, 400)}`)
    return { isError: result.isError === true, result: result.structuredContent }
  }
}
