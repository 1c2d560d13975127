import { RelayError } from '@docrelay/client/errors'
import type { RelayClient } from '@docrelay/client/rest/relay-client'
import type { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { type RelayUnderTest, until } from '../relay-under-test.ts'
import { addLosses, type Losses, NO_LOSSES, tally } from './losses.ts'
import { type Confirmed, confirmedNow, holds, openRegister, type Register, setRegister } from './registers.ts'
import { AGENT_PAGE, checkTools, openToolAgent, type ToolAgent, type ToolsTold, toldNow } from './tool-agents.ts'

const LIVE_DOCUMENTS = 10
const TYPISTS_PER_DOCUMENT = 2
const EDITS_PER_SECOND = 20
/** Number of marks that are typed before checking that they are saved. */
const BURST = 10
const REST_WRITERS = 4
/** Number of live documents that agents edit together with the typists. */
const LIVE_AGENTS = 4
/** Number of documents that agents edit while nobody has them open. The last of them is opened and left once in the meantime. */
const COLD_AGENTS = 4

/** Limits that would stop the load and are not under test. */
export const OPEN_LIMITS = { RELAY_WRITES_PER_SEC: '0', RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '1000', RELAY_LOG_LEVEL: 'error' }

interface Typist {
  readonly name: string
  readonly document: string
  readonly client: SyncClient
  /** The typed marks, and how many of them the client reported as saved. */
  readonly typed: string[]
  saved: number
}

/** Everything that the relay had acknowledged at one moment. */
export interface Acknowledged {
  readonly marks: ReadonlyMap<string, readonly string[]>
  /** Documents that are PUT and deleted, by id. */
  readonly writers: readonly Confirmed[]
  readonly agents: readonly ToolsTold[]
}

/** Typists on live documents, writers over REST and agents with tools. They work from `start` until `stop`. [D-1] */
export interface MixedLoad {
  acknowledged(): Acknowledged
  /** Stops typing and writing and closes the clients. */
  stop(): Promise<void>
}

export async function createDocuments(relay: RelayUnderTest, others: number): Promise<void> {
  const page = { pages: [], richTextPages: [{ id: 'text', name: 'Text', content: '<p></p>' }, AGENT_PAGE] }
  for (let i = 0; i < LIVE_DOCUMENTS; i++) await relay.rest().putDocument(live(i), { ...page, name: live(i) })
  for (let i = 0; i < COLD_AGENTS; i++) await relay.rest().putDocument(cold(i), { ...page, name: cold(i) })
  for (let i = 0; i < others; i += 50)
    await Promise.all(Array.from({ length: 50 }, (_, j) => relay.rest().putDocument(`other-${i + j}`, { name: 'Other' })))
}

export interface LoadPlan {
  /** A part of the names of the marks. */
  readonly round: number
  /** The random numbers that choose the actions of the agents. */
  readonly random: () => number
  readonly agentPauseMs?: number
}

/** Starts the load. Resolves when all typists have joined and are typing. */
export async function startMixedLoad(relay: RelayUnderTest, { round, random, agentPauseMs = 20 }: LoadPlan): Promise<MixedLoad> {
  let running = true
  const isRunning = () => running
  const typists = Array.from({ length: LIVE_DOCUMENTS * TYPISTS_PER_DOCUMENT }, (_, i) => openTypist(relay, round, i))
  const writers = await Promise.all(Array.from({ length: REST_WRITERS }, (_, i) => openWriter(relay, `rest-${i}`)))
  await until(
    'the typists to join',
    () => typists.every(({ client }) => client.state.synced && client.state.saved === 'saved'),
    20_000,
  )
  const agents: ToolAgent[] = []
  for (const [i, docId] of agentDocuments().entries())
    agents.push(await openToolAgent(relay, { docId, mark: `tool ${round}.${i}`, random, pauseMs: agentPauseMs }))
  const work = [
    ...typists.map((typist) => type(typist, isRunning)),
    ...writers.map((writer) => write(relay.rest(), writer, round, isRunning)),
    ...agents.map((agent) => agent.work(isRunning)),
    visit(relay, cold(COLD_AGENTS - 1), isRunning),
  ]
  return {
    acknowledged: () => ({
      marks: marksByDocument(typists),
      writers: writers.map(confirmedNow),
      agents: agents.map(toldNow),
    }),
    async stop() {
      running = false
      await Promise.all(work)
      for (const { client } of typists) client.destroy()
    },
  }
}

function live(i: number): string {
  return `live-${i}`
}

function cold(i: number): string {
  return `cold-${i}`
}

function agentDocuments(): readonly string[] {
  return [...Array.from({ length: LIVE_AGENTS }, (_, i) => live(i)), ...Array.from({ length: COLD_AGENTS }, (_, i) => cold(i))]
}

/** Joins a document while others edit it, and leaves it again. */
async function visit(relay: RelayUnderTest, id: string, running: () => boolean): Promise<void> {
  while (running()) {
    await new Promise((resolve) => setTimeout(resolve, 300))
    const visitor = relay.sync(id, { sub: 'visitor' })
    await new Promise((resolve) => setTimeout(resolve, 300))
    visitor.destroy()
  }
}

function openTypist(relay: RelayUnderTest, round: number, i: number): Typist {
  const typist = { name: `${round}.${i}`, document: live(i % LIVE_DOCUMENTS), typed: [] as string[], saved: 0 }
  const noteSaved = (state: SyncClient['state']): void => {
    if (state.saved === 'saved') typist.saved = typist.typed.length
  }
  return Object.assign(typist, { client: relay.sync(typist.document, { sub: `typist-${i}` }, { onState: noteSaved }) })
}

async function type(typist: Typist, running: () => boolean): Promise<void> {
  const page = typist.client.doc.getXmlFragment('prose:text')
  const text = new Y.XmlText()
  const paragraph = new Y.XmlElement('paragraph')
  paragraph.insert(0, [text])
  page.insert(page.length, [paragraph])
  while (running()) {
    const mark = `[${typist.name}.${typist.typed.length}]`
    typist.typed.push(mark)
    text.insert(text.length, mark)
    await new Promise((resolve) => setTimeout(resolve, 1_000 / EDITS_PER_SECOND))
    // Only after each burst, because a client that types faster than a slow relay acknowledges would never report everything as saved.
    if (typist.typed.length % BURST === 0)
      while (running() && typist.saved < typist.typed.length) await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function marksByDocument(typists: readonly Typist[]): Map<string, string[]> {
  const marks = new Map<string, string[]>()
  for (const { document, typed, saved } of typists)
    marks.set(document, [...(marks.get(document) ?? []), ...typed.slice(0, saved)])
  return marks
}

async function openWriter(relay: RelayUnderTest, id: string): Promise<Register> {
  return openRegister(id, await contentOf(relay.rest(), id))
}

/** PUTs one version after another, and sometimes deletes the document and creates it again. Records only answered calls. */
async function write(client: RelayClient, writer: Register, round: number, running: () => boolean): Promise<void> {
  const { name: id, sent } = writer
  for (let i = 0; running(); i++) {
    const content = sent.at(-1) !== null && i % 17 === 16 ? null : `<p>${round}.${i}</p>`
    const body = { name: id, richTextPages: [{ id: 'text', name: 'Text', content }] }
    try {
      await setRegister(writer, content, async () =>
        content === null ? client.deleteDocument(id) : client.putDocument(id, body, { overrideTombstone: true }),
      )
    } catch (error) {
      // A refusal would be a bug of this script. A call without an answer may or may not have taken effect.
      if (error instanceof RelayError && error.status !== null && error.status < 500) throw error
      return
    }
  }
}

/** Compares what a relay returns over WebSocket and REST with what was acknowledged. Later writes may be present or not. */
export async function findLosses(relay: RelayUnderTest, { marks, writers, agents }: Acknowledged): Promise<Losses> {
  const agentOf = (document: string) => agents.find(({ docId }) => docId === document)
  const found = await Promise.all([
    ...[...marks].map(([document, expected]) => checkLive(relay, document, expected, agentOf(document))),
    ...writers.map((writer) => checkWriter(relay, writer)),
    ...agents.filter(({ docId }) => !marks.has(docId)).map((told) => checkTools(relay, told, null)),
  ])
  return found.reduce(addLosses, NO_LOSSES)
}

async function checkLive(
  relay: RelayUnderTest,
  document: string,
  expected: readonly string[],
  told: ToolsTold | undefined,
): Promise<Losses> {
  const reader = relay.sync(document, { sub: 'reader' })
  try {
    await until('a fresh client', () => reader.state.synced)
    const overSocket = reader.doc.getXmlFragment('prose:text').toString()
    const overRest = (await contentOf(relay.rest(), document)) ?? ''
    const missing = expected.filter((mark) => !overSocket.includes(mark) || !overRest.includes(mark)).length
    const typed = tally('typed', expected.length, missing)
    if (told === undefined) return typed
    return addLosses(typed, await checkTools(relay, told, reader.doc.getXmlFragment(`prose:${AGENT_PAGE.id}`).toString()))
  } catch (error) {
    console.log(`${document}: ${error instanceof Error ? error.message : error}`)
    return { ...NO_LOSSES, unloadable: 1 }
  } finally {
    reader.destroy()
  }
}

async function checkWriter(relay: RelayUnderTest, confirmed: Confirmed): Promise<Losses> {
  const stored = await contentOf(relay.rest(), confirmed.register.name)
  return tally('saved', 1, holds(confirmed, stored) ? 0 : 1)
}

/** Returns the prose of a document; `null` when the document does not exist. */
async function contentOf(client: RelayClient, id: string): Promise<string | null> {
  try {
    const body = (await client.getDocument(id)) as { richTextPages: { content: string }[] }
    return body.richTextPages[0]?.content ?? ''
  } catch (error) {
    if (error instanceof RelayError && error.status === 404) return null
    throw error
  }
}

/** Returns a xorshift32 random number generator. */
export function generator(seed: number): () => number {
  let state = seed | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
