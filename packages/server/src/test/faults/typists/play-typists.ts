import { generator } from '../mixed-load.ts'
import { type RelayUnderTest, saved, until } from '../../relay-under-test.ts'
import { openTypingPerson, type TypingPerson } from './typing-person.ts'
import { openWritingAgent, post, type ToldCall, type WritingAgent } from './writing-agent.ts'
import { pageText, type TypedWord, wordsToFind } from './words.ts'

const PAGE = {
  id: 'page',
  name: 'Page',
  content: `<h1>The plan</h1><p>The first of all.</p><ul><li><p>The one</p></li><li><p>The other</p></li></ul><blockquote><p>The quote</p></blockquote><table><tr><td><p>The cell</p></td><td><p>The next</p></td></tr></table><pre><code>The code</code></pre>${Array.from({ length: 20 }, (_, i) => `<p id="given-${i}">The usual words.</p>`).join('')}`,
}
const DOCUMENT = 'plan'

export interface TypistsPlan {
  readonly seed: number
  readonly secs: number
  readonly typists: number
  readonly agents: number
  readonly keystrokesPerSec: number
  readonly calls: 'careful' | 'any'
}

/** Creates the document in which people and agents write. */
export async function createPlan(relay: RelayUnderTest): Promise<void> {
  await relay.rest().putDocument(DOCUMENT, { name: 'Plan', pages: [], richTextPages: [PAGE] })
}

/** Returns whether nothing acknowledged was lost without being told. */
export async function play(relay: RelayUnderTest, plan: TypistsPlan, env: Readonly<Record<string, string>>): Promise<boolean> {
  const at = { docId: DOCUMENT, pageId: PAGE.id }
  const random = generator(plan.seed)
  const people = Array.from({ length: plan.typists }, (_, number) =>
    openTypingPerson(relay, {
      ...at,
      number,
      keystrokesPerSec: plan.keystrokesPerSec,
      random: generator(plan.seed * 1_000 + number + 1),
    }),
  )
  await saved(...people.map(({ client }) => client))
  const agents = Array.from({ length: plan.agents }, (_, number) =>
    openWritingAgent(relay, { ...at, number, random, pauseMs: 500, calls: plan.calls }),
  )
  const lag = watchLag(relay)
  let isRunning = true
  const work = [...people.map((one) => one.type(() => isRunning)), ...agents.map((one) => one.work(() => isRunning))]
  await new Promise((resolve) => setTimeout(resolve, plan.secs * 1_000))
  isRunning = false
  await Promise.all(work)
  await saved(...people.map(({ client }) => client))
  const worstLagMs = lag.stop()
  await until('all clients to agree', () => new Set(people.map(({ client }) => pageText(client, PAGE.id))).size === 1, 20_000)
  const words = wordsToFind(people.flatMap(({ words: typed }) => typed))
  const missing = await missingWords(relay, people, words)
  printFigures({ people, agents, words, missing, worstLagMs })
  const untold = plan.calls === 'careful' ? missing : missing.filter((word) => tellers(agents, word).length === 0)
  for (const { text, typist } of untold) console.log(`MISSING ${text} of ${typist}`)
  const isBack = plan.calls === 'careful' || missing.length === 0 || (await undoAll(relay, missing))
  const isEqual = await sameAfterRestart(relay, people, env)
  return untold.length === 0 && isBack && isEqual
}

/** Calls whose answer tells of a word, or that named the block that it stood in, which their agent had seen. */
function tellers(agents: readonly WritingAgent[], { text, blocks }: TypedWord): readonly string[] {
  const isTold = ({ told, named }: ToldCall): boolean => told.includes(text) || [...blocks].some((id) => named.includes(id))
  return agents.flatMap(({ calls }) => calls.filter(isTold).map(({ callId }) => callId))
}

/** Words that are not in every view: that of an editor, of REST and of a tool. [AG-103] */
async function missingWords(relay: RelayUnderTest, people: readonly TypingPerson[], words: readonly TypedWord[]) {
  const editor = people[0] === undefined ? '' : pageText(people[0].client, PAGE.id)
  const rest = JSON.stringify(await relay.rest().getDocument(DOCUMENT))
  return words.filter(({ text }) => !editor.includes(text) || !rest.includes(text))
}

/** Undoes every call, the newest first; whether the missing words are there afterwards or named as kept. [AG-98] */
async function undoAll(relay: RelayUnderTest, missing: readonly TypedWord[]): Promise<boolean> {
  const bearer = relay.token({ sub: 'undoer', role: 'owner' })
  const newestFirst = await callsOf(relay)
  let [kept, isCut] = ['', false]
  for (const callId of newestFirst) {
    const { result } = await post(relay.mcpUrl, bearer, 'undo', { docId: DOCUMENT, callId })
    if (typeof result['code'] === 'string')
      console.log(`NOT UNDONE ${callId}: ${result['code']} ${JSON.stringify(result['reason'] ?? '')}`)
    // A list that is cut says only how much more there is.
    if (result['keptTotal'] !== undefined) isCut = true
    kept += JSON.stringify(result['kept'] ?? '')
  }
  const rest = JSON.stringify(await relay.rest().getDocument(DOCUMENT))
  const gone = missing.filter(({ text, blocks }) => !rest.includes(text) && ![...blocks].some((id) => kept.includes(`"${id}"`)))
  for (const { text, blocks } of gone)
    console.log(`NOT BACK ${text} of ${[...blocks].join()} after undoing ${newestFirst.length} calls, ${kept.length} bytes kept`)
  if (isCut) console.log('some undos kept more than they list, so words that are not back may be among that')
  return gone.length === 0 || isCut
}

/** Ids of all calls whose work is still there, the newest first: neither undone calls nor the undos of them. [AG-73] */
async function callsOf(relay: RelayUnderTest): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await relay.fetch(`/api/v1/docs/${DOCUMENT}/calls?limit=100${query}`, {
      headers: { authorization: `Bearer ${relay.token({ sub: 'undoer', role: 'owner' })}` },
    })
    const page = (await answer.json()) as { calls: { callId: string; tool: string; undoneBy?: string }[]; nextCursor?: string }
    ids.push(...page.calls.filter(({ tool, undoneBy }) => tool !== 'undo' && undoneBy === undefined).map(({ callId }) => callId))
    if (page.nextCursor === undefined) return ids
    cursor = page.nextCursor
  }
}

/** Whether a fresh load after a restart shows what the editors had at the end. [AG-103] */
async function sameAfterRestart(relay: RelayUnderTest, people: readonly TypingPerson[], env: Readonly<Record<string, string>>) {
  const before = JSON.stringify(await relay.rest().getDocument(DOCUMENT))
  for (const { client } of people) client.destroy()
  await relay.stop()
  await relay.restart(env)
  const { richTextPages: after } = (await relay.rest().getDocument(DOCUMENT)) as { richTextPages: unknown }
  const { richTextPages } = JSON.parse(before) as { richTextPages: unknown }
  const isEqual = JSON.stringify(after) === JSON.stringify(richTextPages)
  if (!isEqual) console.log('DIFFERENT after a restart')
  return isEqual
}

/** Samples the longest delay of the relay's main loop once a second. [AG-97] */
function watchLag(relay: RelayUnderTest): { stop(): number } {
  let worstSecs = 0
  const timer = setInterval(() => {
    void relay
      .fetch('/metrics')
      .then((answer) => answer.text())
      .then((text) => {
        const [, secs = '0'] = /^nodejs_eventloop_lag_seconds ([\d.e-]+)$/m.exec(text) ?? []
        worstSecs = Math.max(worstSecs, Number(secs))
      })
      .catch(() => {})
  }, 1_000)
  return {
    stop() {
      clearInterval(timer)
      return worstSecs * 1_000
    },
  }
}

function printFigures(told: {
  readonly people: readonly TypingPerson[]
  readonly agents: readonly WritingAgent[]
  readonly words: readonly TypedWord[]
  readonly missing: readonly TypedWord[]
  readonly worstLagMs: number
}): void {
  const { people, agents, words, missing, worstLagMs } = told
  const acks = people.flatMap(({ ackMs }) => ackMs).toSorted((a, b) => a - b)
  const at = (share: number): string => (acks[Math.min(acks.length - 1, Math.floor(acks.length * share))] ?? 0).toFixed(1)
  const sum = (name: 'done' | 'failed' | 'calls'): number => agents.reduce((total, { tasks }) => total + tasks[name], 0)
  const refusals = new Map<string, number>()
  for (const agent of agents) for (const [code, n] of agent.refusals) refusals.set(code, (refusals.get(code) ?? 0) + n)
  const [done, failed] = [sum('done'), sum('failed')]
  console.log(
    [
      `${words.length} acknowledged words, ${missing.length} missing`,
      `${sum('calls')} calls of tools, ${done} of ${done + failed} tasks done within three tries (${((100 * done) / Math.max(1, done + failed)).toFixed(1)} %)`,
      `acknowledgements p50 ${at(0.5)} p99 ${at(0.99)} worst ${at(1)} ms of ${acks.length}; main loop late by ${worstLagMs.toFixed(0)} ms at most`,
      `refusals: ${[...refusals].map(([code, n]) => `${code} ${n}`).join(', ') || 'none'}`,
    ].join('\n'),
  )
}
