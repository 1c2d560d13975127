import { type RelayClient, RelayRequestError } from '@docrelay/protocol/client/relay-client'
import type { SyncClient } from '@docrelay/protocol/client/sync-client'
import * as Y from 'yjs'
import { type RelayUnderTest, until } from '../relay-under-test.ts'

const LIVE_DOCUMENTS = 10
const TYPISTS_PER_DOCUMENT = 2
const EDITS_PER_SECOND = 20
const REST_WRITERS = 4

/** Limits that would end the load and are not what is tested. */
export const OPEN_LIMITS = { RELAY_WRITES_PER_SEC: '0', RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '1000', RELAY_LOG_LEVEL: 'error' }

interface Typist {
  readonly name: string
  readonly document: string
  readonly client: SyncClient
  /** Marks typed, and how many of them the client said were saved. */
  readonly typed: string[]
  saved: number
}

/** PUTs and deletes one document, one call after the other. */
interface RestWriter {
  readonly id: string
  /** Every content that was sent, `null` for a delete; the first is what was there before. */
  readonly sent: (string | null)[]
  /** How many of them the relay has confirmed. */
  answered: number
}

/** What the relay had acknowledged at one moment. */
export interface Acknowledged {
  readonly marks: ReadonlyMap<string, readonly string[]>
  readonly writers: readonly { readonly writer: RestWriter; readonly answered: number }[]
}

export interface Losses {
  readonly checked: number
  readonly missing: number
  readonly unloadable: number
}

/** Typists on live documents and writers over REST, from `start` until `stop`. [D-1] */
export interface MixedLoad {
  acknowledged(): Acknowledged
  /** Ends typing and writing and lets go of the clients. */
  stop(): Promise<void>
}

export async function createDocuments(relay: RelayUnderTest, others: number): Promise<void> {
  const content = '<p></p>'
  for (let i = 0; i < LIVE_DOCUMENTS; i++)
    await relay.rest().putDocument(live(i), { name: live(i), pages: [], richTextPages: [{ id: 'text', name: 'Text', content }] })
  for (let i = 0; i < others; i += 50)
    await Promise.all(Array.from({ length: 50 }, (_, j) => relay.rest().putDocument(`other-${i + j}`, { name: 'Other' })))
}

/** Resolves when all have joined and type. `round` names the marks. */
export async function startMixedLoad(relay: RelayUnderTest, round: number): Promise<MixedLoad> {
  let running = true
  const isRunning = () => running
  const typists = Array.from({ length: LIVE_DOCUMENTS * TYPISTS_PER_DOCUMENT }, (_, i) => openTypist(relay, round, i))
  const writers = await Promise.all(Array.from({ length: REST_WRITERS }, (_, i) => openWriter(relay, `rest-${i}`)))
  await until('the typists to join', () => typists.every(({ client }) => client.state.saved === 'saved'), 20_000)
  const work = [
    ...typists.map((typist) => type(typist, isRunning)),
    ...writers.map((writer) => write(relay.rest(), writer, round, isRunning)),
  ]
  return {
    acknowledged: () => ({
      marks: marksByDocument(typists),
      writers: writers.map((writer) => ({ writer, answered: writer.answered })),
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
  }
}

function marksByDocument(typists: readonly Typist[]): Map<string, string[]> {
  const marks = new Map<string, string[]>()
  for (const { document, typed, saved } of typists)
    marks.set(document, [...(marks.get(document) ?? []), ...typed.slice(0, saved)])
  return marks
}

async function openWriter(relay: RelayUnderTest, id: string): Promise<RestWriter> {
  return { id, sent: [await contentOf(relay.rest(), id)], answered: 1 }
}

/** PUTs versions one after the other, and now and then deletes and creates anew; notes only what was answered. */
async function write(client: RelayClient, writer: RestWriter, round: number, running: () => boolean): Promise<void> {
  for (let i = 0; running(); i++) {
    const content = writer.sent.at(-1) !== null && i % 17 === 16 ? null : `<p>${round}.${i}</p>`
    writer.sent.push(content)
    try {
      if (content === null) await client.deleteDocument(writer.id)
      else {
        const body = { name: writer.id, richTextPages: [{ id: 'text', name: 'Text', content }] }
        await client.putDocument(writer.id, body, { overrideTombstone: true })
      }
      writer.answered = writer.sent.length
    } catch (error) {
      // An answered refusal would be a fault of this script; an unanswered call may or may not have happened.
      if (error instanceof RelayRequestError && error.status < 500) throw error
      return
    }
  }
}

/** Compares what a relay shows, over WebSocket and REST, with what was acknowledged. What came after that moment may be there or not. */
export async function findLosses(relay: RelayUnderTest, { marks, writers }: Acknowledged): Promise<Losses> {
  const found = await Promise.all([
    ...[...marks].map(([document, expected]) => checkLive(relay, document, expected)),
    ...writers.map(({ writer, answered }) => checkWriter(relay, writer, answered)),
  ])
  return found.reduce(addLosses, NO_LOSSES)
}

export const NO_LOSSES: Losses = { checked: 0, missing: 0, unloadable: 0 }

export function addLosses(a: Losses, b: Losses): Losses {
  return { checked: a.checked + b.checked, missing: a.missing + b.missing, unloadable: a.unloadable + b.unloadable }
}

async function checkLive(relay: RelayUnderTest, document: string, expected: readonly string[]): Promise<Losses> {
  const reader = relay.sync(document, { sub: 'reader' })
  try {
    await until('a fresh client', () => reader.state.synced)
    const overSocket = reader.doc.getXmlFragment('prose:text').toString()
    const overRest = (await contentOf(relay.rest(), document)) ?? ''
    const missing = expected.filter((mark) => !overSocket.includes(mark) || !overRest.includes(mark)).length
    return { checked: expected.length, missing, unloadable: 0 }
  } catch (error) {
    console.log(`${document}: ${error instanceof Error ? error.message : error}`)
    return { checked: 0, missing: 0, unloadable: 1 }
  } finally {
    reader.destroy()
  }
}

/** What is stored is what was acknowledged last, or what a later call would have left. */
async function checkWriter(relay: RelayUnderTest, { id, sent }: RestWriter, answered: number): Promise<Losses> {
  const stored = await contentOf(relay.rest(), id)
  return { checked: 1, missing: sent.slice(answered - 1).includes(stored) ? 0 : 1, unloadable: 0 }
}

/** The prose of a document, `null` when there is none. */
async function contentOf(client: RelayClient, id: string): Promise<string | null> {
  try {
    const body = (await client.getDocument(id)) as { richTextPages: { content: string }[] }
    return body.richTextPages[0]?.content ?? ''
  } catch (error) {
    if (error instanceof RelayRequestError && error.status === 404) return null
    throw error
  }
}

export function describeLosses({ checked, missing, unloadable }: Losses): string {
  return `${checked} acknowledged edits and saves checked, ${missing} missing, ${unloadable} documents unloadable`
}

/** Says what came of a run, and gives its exit code: 0 when nothing is lost, or with a sabotage when something is. */
export function exitCodeOf(total: Losses, sabotaged: boolean): 0 | 1 {
  const lost = total.missing + total.unloadable > 0
  if (sabotaged) console.log(lost ? 'The sabotage was found out, so this check can fail.' : 'The sabotage was NOT found out.')
  return lost === sabotaged && total.checked > 0 ? 0 : 1
}

/** xorshift32 */
export function generator(seed: number): () => number {
  let state = seed | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
