import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generator } from '../mixed-load.ts'
import { type RelayUnderTest, saved, until } from '../../relay-under-test.ts'
import { openDistantPeople } from './distant-people.ts'
import { post } from './mcp-post.ts'
import type { Played } from './played.ts'
import { watchLag } from './relay-lag.ts'
import { openTypingPerson, type TypingPerson } from './typing-person.ts'
import { type Losing, undoAll, type Undone } from './undoing.ts'
import { differences, freshView, type Looking, type Views, viewsOf } from './views.ts'
import { openWitnesses, type Witnesses } from './witnesses.ts'
import { letters, type TypedCharacter } from './words.ts'
import { openWritingAgent, type ToldCall } from './writing-agent.ts'

const PAGE = {
  id: 'page',
  name: 'Page',
  content: `<h1>The plan</h1><p>The first of all.</p><ul><li><p>The one</p></li><li><p>The other</p></li></ul><blockquote><p>The quote</p></blockquote><table><tr><td><p>The cell</p></td><td><p>The next</p></td></tr></table><pre><code>The code</code></pre>${Array.from({ length: 20 }, (_, i) => `<p id="given-${i}">The usual words.</p>`).join('')}`,
}
/** Longest wait until people are connected again and in sync. */
const SETTLED_WITHIN_MS = 30_000
const MOST_ROUND_SECS = 15

export interface TypistsPlan {
  readonly seed: number
  readonly secs: number
  readonly typists: number
  readonly agents: number
  readonly keystrokesPerSec: number
  readonly calls: 'careful' | 'any'
  /** Interval in seconds of kill -9 and a new start on the same data; `null`: never. */
  readonly killEverySecs: number | null
}

/** Lets people type and agents write on a page of a new document, and reports what became of each typed character. */
export async function play(relay: RelayUnderTest, plan: TypistsPlan, env: Readonly<Record<string, string>>): Promise<Played> {
  const at = { docId: `plan-${plan.seed}`, pageId: PAGE.id }
  await relay.rest().putDocument(at.docId, { name: 'Plan', pages: [], richTextPages: [PAGE] })
  const random = generator(plan.seed)
  const letter = letters()
  const distant = await openDistantPeople(relay, {
    ...at,
    keystrokesPerSec: plan.keystrokesPerSec,
    people: Array.from({ length: distantOf(plan) }, (_, i) => ({
      number: plan.typists - 1 - i,
      seed: plan.seed * 1_000 + plan.typists - i,
    })),
  })
  const people = Array.from({ length: plan.typists - distantOf(plan) }, (_, number) =>
    openTypingPerson({
      connect: (onState) => relay.sync(at.docId, { sub: `typist-${number}` }, { onState }),
      pageId: at.pageId,
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
  const life = livingRelay(relay, plan, env)
  const allMissing = new Set<string>()
  const gone = new Set<string>()
  const typed = (): readonly TypedCharacter[] => [...people.flatMap((one) => one.typed), ...distant.typed]
  const undoneBefore = new Set<string>()
  const losses: Losses[] = []
  for (const secs of roundsOf(plan)) {
    const told = agents.map((agent) => agent.calls.length)
    let isRunning = true
    await lag.begin()
    distant.type()
    const work = [...people.map((one) => one.type(() => isRunning)), ...agents.map((one) => one.work(() => isRunning))]
    await life.pass(secs)
    isRunning = false
    await Promise.all(work)
    await distant.stop()
    await lag.end()
    await until('everybody to be saved', () => clients.every(({ state }) => state.saved === 'saved'), SETTLED_WITHIN_MS)
    const expected = typed().filter(({ isSaved, text }) => isSaved && !gone.has(text))
    const views = await agreed(relay, clients, at)
    const missing = missingIn(views, expected)
    const calls = agents.flatMap((agent, number) => agent.calls.slice(told[number]))
    const lost = await lossesOf(relay, at.docId, plan, missing, { expected, calls, witnesses, undoneBefore })
    if (plan.calls === 'any') undoneBefore.add(await putBack(relay, at, views.rest))
    for (const { text } of missing) allMissing.add(text)
    for (const { text } of [...missing, ...lost.gone]) gone.add(text)
    losses.push(lost)
  }
  await distant.close()
  const sum = (name: 'done' | 'failed' | 'calls' | 'unanswered') => agents.reduce((total, { tasks }) => total + tasks[name], 0)
  const different = await differencesAtTheEnd(relay, clients, at, env)
  return {
    acknowledged: typed().filter(({ isSaved }) => isSaved).length,
    missing: allMissing.size,
    untold: losses.flatMap(({ untold }) => untold),
    notBack: losses.flatMap(({ notBack }) => notBack),
    notJudged: losses.reduce((total, { notJudged }) => total + notJudged.length, 0),
    different,
    kills: life.kills(),
    calls: sum('calls'),
    unanswered: sum('unanswered'),
    tasks: { done: sum('done'), failed: sum('failed') },
    ackMs: distantOf(plan) > 0 ? distant.ackMs : people.flatMap(({ ackMs }) => ackMs),
    worstLagMs: lag.worstMs,
    refusals: added(agents.map(({ refusals }) => refusals)),
  }
}

/**
 * Returns the seconds of each round. With calls of any kind, each round ends with undos, because a document keeps the records of only its newest
 * 500 calls, and an undo lists only 20 kept blocks. [AG-67, AG-70]
 */
function roundsOf({ secs, calls }: TypistsPlan): readonly number[] {
  const round = calls === 'careful' ? secs : MOST_ROUND_SECS
  return Array.from({ length: Math.ceil(secs / round) }, (_, i) => Math.min(round, secs - i * round))
}

/**
 * Restores the page as it was before the undos of a round. Otherwise the page would grow with each round by everything that was ever removed.
 * Returns the id of the call, which is not undone.
 */
async function putBack(relay: RelayUnderTest, { docId, pageId }: Looking, content: string): Promise<string> {
  const bearer = relay.token({ sub: 'undoer', role: 'owner' })
  const args = { docId, pageId, content, replace: true }
  const { result } = await post({ url: () => relay.mcpUrl, bearer, tool: 'set_prose', args })
  if (typeof result['code'] === 'string') throw new Error(`the page was not put back: ${result['code']}`)
  return String(result['callId'])
}

interface Losses extends Omit<Undone, 'removedBy' | 'undos'> {
  readonly untold: readonly TypedCharacter[]
}

/** Returns what counts as lost after a round. `missing`: letters that are in no view before the calls of the round are undone. */
async function lossesOf(
  relay: RelayUnderTest,
  docId: string,
  { calls: kind }: TypistsPlan,
  missing: readonly TypedCharacter[],
  losing: Losing,
): Promise<Losses> {
  const { calls, witnesses } = losing
  if (kind === 'careful') return { untold: missing, gone: missing, notBack: [], notJudged: [] }
  const notTold = missing.filter(({ text }) => !isTold(calls, text, witnesses))
  const { removedBy, undos, notJudged, ...undone } = await undoAll(relay, docId, losing)
  const answered = new Set(calls.map(({ callId }) => callId))
  const cut = new Set(calls.flatMap(({ callId, isCut }) => (isCut ? callId : [])))
  const hasUnanswered = answered.has(null)
  // A call whose answer was lost with the relay could not report anything. Its undo must still restore everything.
  const isOwed = ({ text }: TypedCharacter) => !hasUnanswered || answered.has(removedBy.get(text) ?? '')
  // An answer lists 20 blocks and counts the others, so letters in the others cannot be checked.
  const isInCut = ({ text }: TypedCharacter) => {
    const callId = removedBy.get(text)
    return callId === undefined ? cut.size > 0 : cut.has(callId)
  }
  const untold = notTold.filter((one) => isOwed(one) && !isInCut(one))
  if (untold.length + undone.notBack.length > 0) keepTrace(docId, { untold, notBack: undone.notBack, undos, calls, witnesses })
  return { untold, ...undone, notJudged: [...new Set([...notJudged, ...notTold.filter(isInCut)])] }
}

/** Writes everything known about lost letters to a file, since no run can be repeated exactly. */
function keepTrace(
  docId: string,
  {
    untold,
    notBack,
    undos,
    calls,
    witnesses,
  }: Omit<Losing, 'expected' | 'undoneBefore'> & Pick<Losses, 'untold' | 'notBack'> & Pick<Undone, 'undos'>,
): void {
  const file = join(tmpdir(), `typists-${docId}-${process.pid}-${Math.round(performance.now())}.json`)
  const lost = [...untold, ...notBack].map((each) => ({ ...each, seenIn: [...witnesses.lastSeenIn(each.text)] }))
  writeFileSync(file, JSON.stringify({ untold: untold.length, lost, calls, undos }))
  console.log(`what is known of lost letters: ${file}`)
}

/** Returns how many people type in the other thread. None do in runs with kills, because then each person's editor must watch its own letters. */
function distantOf({ typists, killEverySecs }: TypistsPlan): number {
  return killEverySecs === null ? Math.floor(typists / 10) : 0
}

/**
 * Returns the editors that watch for vanished letters. One editor sees everything, except in runs with kills, where each person must watch its
 * own letters while the relay is down.
 */
function watchersOf(clients: readonly TypingPerson['client'][], { killEverySecs }: TypistsPlan) {
  return killEverySecs === null ? clients.slice(0, 1) : clients
}

interface LivingRelay {
  /** Waits for `secs` of the relay running. Kills and restarts it in between as often as the plan says. */
  pass(secs: number): Promise<void>
  kills(): number
}

function livingRelay(relay: RelayUnderTest, { killEverySecs }: TypistsPlan, env: Readonly<Record<string, string>>): LivingRelay {
  const sleep = (secs: number) => new Promise((resolve) => setTimeout(resolve, secs * 1_000))
  let untilKillSecs = killEverySecs ?? Number.POSITIVE_INFINITY
  let kills = 0
  return {
    kills: () => kills,
    async pass(secs) {
      let leftSecs = secs
      while (killEverySecs !== null && untilKillSecs < leftSecs) {
        await sleep(untilKillSecs)
        leftSecs -= untilKillSecs
        await relay.kill()
        await relay.restart(env)
        kills++
        untilKillSecs = killEverySecs
      }
      await sleep(leftSecs)
      untilKillSecs -= leftSecs
    },
  }
}

/** Waits until all editors have the same content, and returns all views. */
async function agreed(relay: RelayUnderTest, clients: readonly TypingPerson['client'][], at: Looking): Promise<Views> {
  const nodes = () => clients.map(({ doc }) => doc.getXmlFragment(`prose:${at.pageId}`).toString())
  await until('all editors to agree', () => new Set(nodes()).size <= 1, SETTLED_WITHIN_MS)
  return viewsOf(relay, clients, at)
}

function missingIn({ editors, rest }: Views, characters: readonly TypedCharacter[]): readonly TypedCharacter[] {
  const seen = [new Set(editors[0]?.html), new Set(rest)]
  return characters.filter(({ text }) => !seen.every((all) => all.has(text)))
}

/** Whether a call reported a letter, or named the letter or its block. [AG-98] */
function isTold(calls: readonly ToldCall[], letter: string, witnesses: Witnesses): boolean {
  const blocks = [...witnesses.lastSeenIn(letter)].map((id) => JSON.stringify(id))
  return calls.some(
    ({ told, named }) =>
      told.includes(letter) || named.includes(letter) || blocks.some((id) => named.includes(id) || told.includes(id)),
  )
}

/** Returns the differences among the views at the end, and between these and a fresh load after a restart. [AG-103] */
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

function added(counts: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>()
  for (const each of counts) for (const [name, n] of each) all.set(name, (all.get(name) ?? 0) + n)
  return all
}
