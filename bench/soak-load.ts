import { setTimeout as sleep } from 'node:timers/promises'
import { RelayClient } from '@docrelay/client/rest/relay-client'
import { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import type { RunningRelay } from './relay-server.ts'

const PAGE = 'text'
const STANDING_DOCUMENTS = 10
const STANDING_TYPISTS = 15
const PASSING_DOCUMENTS = 25
const WRITTEN_DOCUMENTS = 20
const LARGE_BYTES = 1024 * 1024
/** Tool calls of one agent before it opens its next session. */
const CALLS_OF_A_SESSION = 19

/** Number of operations so far, by kind. */
export type Counts = Record<
  'edits' | 'joins' | 'reads' | 'writes' | 'blobs' | 'tools' | 'large' | 'restores' | 'links' | 'deletions',
  number
>

/** The mixed work of a small team, its agents and its integrations. `stop` resolves when all of it has ended. */
export interface SoakLoad {
  readonly counts: Readonly<Counts>
  /** Calls that failed, each with why. */
  readonly problems: readonly string[]
  /** For each document, the marks that were typed into it and acknowledged as durable. */
  acknowledged(): ReadonlyMap<string, readonly string[]>
  stop(): Promise<void>
}

/** Starts the work. `random` chooses the documents and the pauses. */
export async function startSoakLoad(relay: RunningRelay, random: () => number): Promise<SoakLoad> {
  const counts: Counts = {
    edits: 0,
    joins: 0,
    reads: 0,
    writes: 0,
    blobs: 0,
    tools: 0,
    large: 0,
    restores: 0,
    links: 0,
    deletions: 0,
  }
  const problems: string[] = []
  let isRunning = true
  const owner = new RelayClient({ baseUrl: relay.baseUrl, token: () => tokenOf(relay, 'owner') })
  const pick = (prefix: string, count: number): string => `${prefix}-${Math.floor(random() * count)}`
  for (let i = 0; i < STANDING_DOCUMENTS; i++) await owner.putDocument(`standing-${i}`, page('<p></p>'))
  for (let i = 0; i < WRITTEN_DOCUMENTS; i++) await owner.putDocument(`written-${i}`, page('<p></p>'))
  for (let i = 0; i < PASSING_DOCUMENTS; i++) await owner.putDocument(`passing-${i}`, page('<p></p>'))

  const agent = new ToolAgent(relay)
  const typists = Array.from({ length: STANDING_TYPISTS }, (_, i) => new Typist(relay, `standing-${i % STANDING_DOCUMENTS}`, i))
  for (const typist of typists) await typist.joined()

  /** Runs `work` about `perMinute` times a minute, one run after the other. */
  const repeatedly = async (perMinute: number, work: (round: number) => Promise<unknown>): Promise<void> => {
    for (let round = 0; isRunning; round++) {
      await sleep((60_000 / perMinute) * (0.5 + random()))
      await work(round).catch((error: unknown) => problems.push(error instanceof Error ? error.message : String(error)))
    }
  }

  const work = [
    ...typists.map((typist) => repeatedly(80, async () => typist.type() && counts.edits++)),
    repeatedly(170, async (round) => {
      const passer = new Typist(relay, pick('passing', PASSING_DOCUMENTS), 100 + (round % 50))
      await passer.joined()
      counts.joins++
      if (passer.type()) counts.edits++
      await passer.leave({ saves: random() < 0.5 })
    }),
    repeatedly(60, async () => {
      await owner.getDocument(pick('passing', PASSING_DOCUMENTS))
      counts.reads++
    }),
    repeatedly(60, async () => {
      await owner.listDocuments()
      counts.reads++
    }),
    repeatedly(60, async (round) => {
      await owner.putDocument(pick('written', WRITTEN_DOCUMENTS), page(`<p>${round} ${'word '.repeat(200)}</p>`))
      counts.writes++
    }),
    repeatedly(10, async (round) => {
      await owner.uploadBlob(new Uint8Array(20_000).fill(round % 251))
      counts.blobs++
    }),
    repeatedly(1, async (round) => {
      const id = `large-${round % 3}`
      await owner.putDocument(id, largePage(round))
      const reader = new Typist(relay, id, 200)
      await reader.joined()
      if (reader.type()) counts.edits++
      await reader.leave({ saves: true })
      counts.large++
    }),
    repeatedly(1, async () => {
      const id = pick('passing', PASSING_DOCUMENTS)
      await owner.captureRecoveryPoint(id)
      const [point] = await owner.recoveryPoints(id)
      if (point === undefined) return
      await owner.getRecoveryPoint(id, point.id)
      counts.restores++
    }),
    repeatedly(5, async () => {
      const id = pick('passing', PASSING_DOCUMENTS)
      await owner.issueShareLink(id, new Date(Date.now() + 3_600_000))
      const [link] = await owner.listShareLinks(id)
      if (link !== undefined) await owner.revokeShareLink(id, link.id)
      counts.links++
    }),
    repeatedly(9, async (round) => {
      await owner.putDocument(`short-${round}`, page('<p>Short.</p>'))
      await owner.deleteDocument(`short-${round}`)
      counts.deletions++
    }),
    repeatedly(60, async () => {
      await agent.call()
      counts.tools++
    }),
  ]

  return {
    counts,
    problems,
    acknowledged() {
      const marks = new Map<string, readonly string[]>()
      for (const { docId, saved } of typists) marks.set(docId, [...(marks.get(docId) ?? []), ...saved])
      return marks
    },
    async stop() {
      isRunning = false
      await Promise.all(work)
      for (const typist of typists) await typist.leave({ saves: true })
    },
  }
}

/** Returns the acknowledged marks that are missing from their documents. */
export async function missingMarks(
  relay: RunningRelay,
  { acknowledged }: Pick<SoakLoad, 'acknowledged'>,
): Promise<readonly string[]> {
  const owner = new RelayClient({ baseUrl: relay.baseUrl, token: () => tokenOf(relay, 'owner') })
  const missing: string[] = []
  for (const [docId, marks] of acknowledged()) {
    const stored = JSON.stringify(await owner.getDocument(docId))
    missing.push(...marks.filter((mark) => !stored.includes(mark)))
  }
  return missing
}

/** A person with an open document, who writes marks that name their author. */
class Typist {
  readonly docId: string
  readonly saved: string[] = []
  readonly #client: SyncClient
  readonly #unsaved: string[] = []
  readonly #index: number
  #text: Y.XmlText | null = null
  #typed = 0

  constructor(relay: RunningRelay, docId: string, index: number) {
    this.docId = docId
    this.#index = index
    const url = `${relay.baseUrl.replace('http', 'ws')}/ws`
    this.#client = new SyncClient({
      url,
      docId,
      doc: new Y.Doc(),
      token: () => tokenOf(relay, `person-${index}`),
      onState: ({ saved }) => {
        if (saved === 'saved') this.saved.push(...this.#unsaved.splice(0))
      },
    })
    this.#client.connect()
  }

  joined(): Promise<void> {
    return until(`a join of ${this.docId}`, () => this.#client.state.synced)
  }

  /** Writes one mark. Returns false when it has to wait until the last mark is durable. */
  type(): boolean {
    if (this.#unsaved.length > 0) return false
    const mark = `[${this.#index}.${this.#typed++}]`
    this.#unsaved.push(mark)
    const text = (this.#text ??= this.#paragraph())
    // Removes the oldest marks of a paragraph, so that a document stays as large as one whose author also deletes.
    if (text.length > 2_000) {
      text.delete(0, 1_000)
      for (const gone of this.saved.splice(0)) if (text.toString().includes(gone)) this.saved.push(gone)
    }
    text.insert(text.length, mark)
    return true
  }

  /** Closes the window: at once, or when everything is saved. */
  async leave({ saves }: { readonly saves: boolean }): Promise<void> {
    if (saves) await until(`${this.docId} to be saved`, () => this.#client.state.saved === 'saved')
    this.#client.destroy()
  }

  #paragraph(): Y.XmlText {
    const text = new Y.XmlText()
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.insert(0, [text])
    const fragment = this.#client.doc.getXmlFragment(`prose:${PAGE}`)
    fragment.insert(fragment.length, [paragraph])
    return text
  }
}

/** An agent that opens a session now and then, and reads and writes with tools. */
class ToolAgent {
  readonly #relay: RunningRelay
  #session: string | null = null
  #calls = 0

  constructor(relay: RunningRelay) {
    this.#relay = relay
  }

  async call(): Promise<void> {
    if (this.#calls++ % CALLS_OF_A_SESSION === 0) await this.#openSession()
    const isWrite = this.#calls % 4 === 0
    const [name, args] = isWrite
      ? [
          'service_set_prose',
          { docId: 'written-0', pageId: PAGE, format: 'html', content: `<p>Call ${this.#calls}</p>`, replace: true },
        ]
      : ['service_get_prose', { docId: `standing-${this.#calls % STANDING_DOCUMENTS}`, pageId: PAGE }]
    const { text } = await this.#post({ id: this.#calls, method: 'tools/call', params: { name, arguments: args } })
    if (!text.includes('structuredContent') || text.includes('"isError":true')) throw new Error(`${name}: ${text.slice(0, 200)}`)
  }

  async #openSession(): Promise<void> {
    this.#session = null
    const client = { name: 'soak', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client }
    const { answer } = await this.#post({ id: 0, method: 'initialize', params })
    this.#session = answer.headers.get('mcp-session-id')
    if (this.#session === null) throw new Error('the relay named no session')
    await this.#post({ method: 'notifications/initialized' })
  }

  async #post(message: object): Promise<{ readonly answer: Response; readonly text: string }> {
    const answer = await fetch(`${this.#relay.baseUrl}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenOf(this.#relay, 'agent')}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(this.#session !== null && { 'mcp-session-id': this.#session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`/mcp answered ${answer.status}: ${text.slice(0, 200)}`)
    return { answer, text }
  }
}

/** Makes a new token for each connection and call, as a browser gets it, so that the relay sees many tokens. */
function tokenOf(relay: RunningRelay, sub: string): string {
  return relay.token({ workspace: 'soak', sub, role: 'owner' })
}

function page(content: string): Record<string, unknown> {
  return { name: 'Soak', pages: [], richTextPages: [{ id: PAGE, name: 'Text', content }] }
}

/** A document whose body has about 1 MB. */
export function largePage(round: number): Record<string, unknown> {
  const paragraph = `<p>${round} ${'The quick brown fox jumps over the lazy dog. '.repeat(22)}</p>`
  return page(paragraph.repeat(Math.ceil(LARGE_BYTES / paragraph.length)))
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 6_000) throw new Error(`waited a minute in vain for ${what}`)
    await sleep(10)
  }
}
