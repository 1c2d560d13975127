import { generator } from '../mixed-load.ts'
import { type RelayUnderTest, saved, until } from '../../relay-under-test.ts'
import { post } from './mcp-post.ts'
import type { Played } from './played.ts'
import { openTypingPerson, type TypingPerson } from './typing-person.ts'
import { differences, freshView, type Looking, type Views, viewsOf } from './views.ts'
import { openWitnesses, type Witnesses } from './witnesses.ts'
import { letters, type TypedCharacter } from './words.ts'
import { openWritingAgent, type ToldCall } from './writing-agent.ts'

const PAGE = {
  id: 'page',
  name: 'Page',
  content: `<h1>The plan</h1><p>The first of all.</p><ul><li><p>The one</p></li><li><p>The other</p></li></ul><blockquote><p>The quote</p></blockquote><table><tr><td><p>The cell</p></td><td><p>The next</p></td></tr></table><pre><code>The code</code></pre>${Array.from({ length: 20 }, (_, i) => `<p id="given-${i}">The usual words.</p>`).join('')}`,
}
/** Nobody waits longer for people to be connected again and in sync. */
const SETTLED_WITHIN_MS = 30_000

export interface TypistsPlan {
  readonly seed: number
  readonly secs: number
  readonly typists: number
  readonly agents: number
  readonly keystrokesPerSec: number
  readonly calls: 'careful' | 'any'
  /** The relay is killed with kill -9 so often and started again on the same data; `null`: never. */
  readonly killEverySecs: number | null
}

/** Lets people type and agents write on a page of a new document, and looks at what became of each typed character. */
export async function play(relay: RelayUnderTest, plan: TypistsPlan, env: Readonly<Record<string, string>>): Promise<Played> {
  const at = { docId: `plan-${plan.seed}`, pageId: PAGE.id }
  await relay.rest().putDocument(at.docId, { name: 'Plan', pages: [], richTextPages: [PAGE] })
  const random = generator(plan.seed)
  const letter = letters()
  const people = Array.from({ length: plan.typists }, (_, number) =>
    openTypingPerson(relay, {
      ...at,
      number,
      keystrokesPerSec: plan.keystrokesPerSec,
      random: generator(plan.seed * 1_000 + number + 1),
      letter,
    }),
  )
  const clients = people.map(({ client }) => client)
  await saved(...clients)
  const witnesses = openWitnesses(plan.calls === 'careful' ? [] : watchersOf(clients, plan), PAGE.id)
  const agents = Array.from({ length: plan.agents }, (_, number) =>
    openWritingAgent(relay, { ...at, number, random, pauseMs: 500, calls: plan.calls }),
  )
  const lag = watchLag(relay)
  let isRunning = true
  const work = [...people.map((one) => one.type(() => isRunning)), ...agents.map((one) => one.work(() => isRunning))]
  const kills = await livingThrough(relay, plan, env)
  isRunning = false
  await Promise.all(work)
  await until('everybody to be saved', () => clients.every(({ state }) => state.saved === 'saved'), SETTLED_WITHIN_MS)
  const worstLagMs = lag.stop()
  const views = await agreed(relay, clients, at)
  const sum = (name: 'done' | 'failed' | 'calls' | 'unanswered') => agents.reduce((total, { tasks }) => total + tasks[name], 0)
  const calls = agents.flatMap((agent) => agent.calls)
  const acknowledged = people.flatMap(({ typed }) => typed.filter(({ isSaved }) => isSaved))
  const missing = missingIn(views, acknowledged)
  const unanswered = sum('unanswered')
  const notTold = plan.calls === 'careful' ? missing : missing.filter(({ text }) => !isTold(calls, text, witnesses))
  const undone = plan.calls === 'careful' ? NOTHING_UNDONE : await undoAll(relay, at.docId, { missing, calls, witnesses })
  const answered = new Set(calls.map(({ callId }) => callId))
  // A call whose answer was lost with the relay can have told nothing; its undo still has to bring everything back.
  const isOwed = ({ text }: TypedCharacter) => answered.has(undone.removedBy.get(text) ?? '')
  const untold = plan.calls === 'any' && unanswered > 0 ? notTold.filter(isOwed) : notTold
  const different = await differencesAtTheEnd(relay, clients, at, env)
  return {
    acknowledged: acknowledged.length,
    missing: missing.length,
    untold,
    notBack: undone.notBack,
    different,
    kills,
    calls: sum('calls'),
    unanswered,
    tasks: { done: sum('done'), failed: sum('failed') },
    ackMs: people.flatMap(({ ackMs }) => ackMs),
    worstLagMs,
    refusals: added(agents.map(({ refusals }) => refusals)),
  }
}

/** One editor sees all that happens. While the relay is down for some, only each person sees what becomes of the own letters. */
function watchersOf(clients: readonly TypingPerson['client'][], { killEverySecs }: TypistsPlan) {
  return killEverySecs === null ? clients.slice(0, 1) : clients
}

/** Lets the time of the plan pass and answers how often the relay was killed meanwhile. */
async function livingThrough(
  relay: RelayUnderTest,
  { secs, killEverySecs }: TypistsPlan,
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const endsAt = performance.now() + secs * 1_000
  const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
  let kills = 0
  while (killEverySecs !== null && performance.now() + killEverySecs * 1_000 < endsAt) {
    await pass(killEverySecs * 1_000)
    await relay.kill()
    await relay.restart(env)
    kills++
  }
  await pass(endsAt - performance.now())
  return kills
}

/** The views of everybody, once those of the editors are the same. */
async function agreed(relay: RelayUnderTest, clients: readonly TypingPerson['client'][], at: Looking): Promise<Views> {
  const nodes = () => clients.map(({ doc }) => doc.getXmlFragment(`prose:${at.pageId}`).toString())
  await until('all editors to agree', () => new Set(nodes()).size <= 1, SETTLED_WITHIN_MS)
  return viewsOf(relay, clients, at)
}

function missingIn({ editors, rest }: Views, characters: readonly TypedCharacter[]): readonly TypedCharacter[] {
  const seen = [new Set(editors[0]?.html), new Set(rest)]
  return characters.filter(({ text }) => !seen.every((all) => all.has(text)))
}

/** Whether a call told of a letter, named it or the block in which it stood, or told only how much more it removed. [AG-30, AG-98] */
function isTold(calls: readonly ToldCall[], letter: string, witnesses: Witnesses): boolean {
  const blocks = [...witnesses.lastSeenIn(letter)].map((id) => JSON.stringify(id))
  return calls.some(
    ({ told, named, isCut }) =>
      isCut || told.includes(letter) || named.includes(letter) || blocks.some((id) => named.includes(id) || told.includes(id)),
  )
}

interface Losing {
  readonly missing: readonly TypedCharacter[]
  readonly calls: readonly ToldCall[]
  readonly witnesses: Witnesses
}

interface Undone {
  /** What is neither there afterwards nor named as kept. */
  readonly notBack: readonly TypedCharacter[]
  /** For each letter that came back, the call whose undo brought it. */
  readonly removedBy: ReadonlyMap<string, string>
}

const NOTHING_UNDONE: Undone = { notBack: [], removedBy: new Map() }

/** Undoes every call, the newest first. [AG-98] */
async function undoAll(relay: RelayUnderTest, docId: string, { missing, calls, witnesses }: Losing): Promise<Undone> {
  if (missing.length === 0) return NOTHING_UNDONE
  const bearer = relay.token({ sub: 'undoer', role: 'owner' })
  // Agents undid calls too. What these undos kept stays, as nothing can be undone twice.
  let kept = calls.map((call) => call.kept).join('')
  let isCut = false
  const removedBy = new Map<string, string>()
  const stored = async () => JSON.stringify(await relay.rest().getDocument(docId))
  for (const callId of await undoableCalls(relay, docId)) {
    const { result } = await post({ url: () => relay.mcpUrl, bearer, tool: 'undo', args: { docId, callId } })
    if (typeof result['code'] === 'string') console.log(`${callId} was not undone: ${result['code']}`)
    isCut ||= result['keptTotal'] !== undefined
    kept += JSON.stringify(result['kept'] ?? '')
    const now = await stored()
    for (const { text } of missing) if (!removedBy.has(text) && now.includes(text)) removedBy.set(text, callId)
  }
  const rest = await stored()
  const isKept = (letter: string) =>
    kept.includes(letter) || [...witnesses.lastSeenIn(letter)].some((id) => kept.includes(JSON.stringify(id)))
  const notBack = missing.filter(({ text }) => !rest.includes(text) && !isKept(text))
  // A list that is cut says only how much more there is.
  if (isCut && notBack.length > 0) console.log(`${notBack.length} letters are not judged: an undo kept more than it lists`)
  return { notBack: isCut ? [] : notBack, removedBy }
}

/** Ids of all calls whose work is still there, the newest first: neither undone calls nor the undos of them. [AG-73] */
async function undoableCalls(relay: RelayUnderTest, docId: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await relay.fetch(`/api/v1/docs/${docId}/calls?limit=100${query}`, {
      headers: { authorization: `Bearer ${relay.token({ sub: 'undoer', role: 'owner' })}` },
    })
    const page = (await answer.json()) as { calls: { callId: string; tool: string; undoneBy?: string }[]; nextCursor?: string }
    ids.push(...page.calls.filter(({ tool, undoneBy }) => tool !== 'undo' && undoneBy === undefined).map(({ callId }) => callId))
    if (page.nextCursor === undefined) return ids
    cursor = page.nextCursor
  }
}

/** What differs among the views at the end, and between these and a fresh load after a restart. [AG-103] */
async function differencesAtTheEnd(
  relay: RelayUnderTest,
  clients: readonly TypingPerson['client'][],
  at: Looking,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const before = await agreed(relay, clients, at)
  for (const client of clients) client.destroy()
  await relay.stop()
  await relay.restart(env)
  const after = await freshView(relay, at)
  const isSame = after.rest === before.rest && after.editors[0]?.nodes === before.editors[0]?.nodes
  return [...differences(before), ...differences(after), ...(isSame ? [] : ['a fresh load after a restart differs'])]
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
      // The relay may just be killed.
      .catch(() => {})
  }, 1_000)
  return {
    stop() {
      clearInterval(timer)
      return worstSecs * 1_000
    },
  }
}

function added(counts: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>()
  for (const each of counts) for (const [name, n] of each) all.set(name, (all.get(name) ?? 0) + n)
  return all
}
