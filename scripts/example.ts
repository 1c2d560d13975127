// `npm run example`: two WebSocket clients type into one sample document at human speed, and an agent edits it too. They all see each
// other, and at the end the document is compared with REST.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as Y from 'yjs'
import { type TypingStep, typingTrace } from '../examples/typing-trace.ts'
import { RelayClient } from '../packages/client/src/rest/relay-client.ts'
import { SyncClient } from '../packages/client/src/sync/sync-client.ts'
import { startAgent } from './example-agent.ts'
import { cursorAt, indexOf } from './example-cursor.ts'
import { failureText } from '../packages/docrelay/src/try-out/start-text.ts'
import { textOfHtml, textOfNode } from './example-text.ts'

const ROOT = join(import.meta.dirname, '..')
const STATE = process.env['DOCRELAY_DEV_DIR'] ?? join(ROOT, '.dev')
const DOCUMENT = 'meeting-minutes'
const PAGE = 'scratch'
const SECONDS = Number(process.env['EXAMPLE_SECONDS'] ?? 12)
/** About 80 words a minute. */
const KEYS_PER_SECOND = 7
const AGENT_EVERY_MS = 3_000
const COLORS: Readonly<Record<string, string>> = { ann: '#8250df', ben: '#0969da' }

interface Session {
  readonly baseUrl: string
  /** `null`: the MCP endpoint is off. */
  readonly mcpUrl: string | null
  readonly tokens: Readonly<Record<string, string>>
}

interface Typist {
  readonly name: string
  readonly client: SyncClient
  readonly steps: readonly TypingStep[]
  /** Time from an edit to the state `saved`, in ms, for each edit. */
  readonly ackMs: number[]
}

async function main(): Promise<void> {
  const session = await readSession()
  const words = (await readFile(join(ROOT, 'examples', 'words.txt'), 'utf8')).split(/\s+/).filter((word) => word !== '')
  const typists = [
    typist('ann', session, typingTrace({ steps: SECONDS * KEYS_PER_SECOND, seed: 7, words }).steps),
    typist('ben', session, typingTrace({ steps: SECONDS * KEYS_PER_SECOND, seed: 11, words }).steps),
  ]
  // Fails with a reason. A live client would instead try to connect again and again.
  await new RelayClient({ baseUrl: session.baseUrl, token: () => session.tokens['ann'] as string }).getDocument(DOCUMENT)
  for (const { client } of typists) client.connect()
  await until('both clients to be in sync', () =>
    typists.every(({ client }) => client.state.synced && client.state.saved === 'saved'),
  )
  console.log(`Two clients joined «${DOCUMENT}» at ${session.baseUrl}; each types for ${SECONDS} s.\n`)

  const progress = setInterval(() => report(typists), 2_000)
  await Promise.all([...typists.map(type), agentBeside(typists, session)])
  clearInterval(progress)

  await until('every edit to be saved', () => typists.every(({ client }) => client.state.saved === 'saved'))
  await until('the clients to agree', () => same(typists))
  report(typists)
  console.log(
    `\nConverged: both clients hold the same document, ${shownText(typists[0] as Typist).length} characters of text on the page.`,
  )
  for (const { name, ackMs } of typists) console.log(`${name}: ${ackMs.length} saves, edit to saved ${summary(ackMs)}`)
  await compareWithRest(session, typists[0] as Typist)
  for (const { client } of typists) client.destroy()
}

/** Runs an agent that writes over MCP while the typists type. */
async function agentBeside(typists: readonly Typist[], { mcpUrl, tokens }: Session): Promise<void> {
  if (mcpUrl === null) return console.log('No agent: the MCP endpoint is off.')
  const agent = await startAgent({ url: mcpUrl, bearer: tokens['ben'] as string, docId: DOCUMENT, pageId: PAGE })
  for (let left = SECONDS * 1_000; left > 0; left -= AGENT_EVERY_MS) {
    const { sentence, serverVersion } = await agent.count()
    await until('the words of the agent', () => typists.every((each) => pageText(each).includes(sentence)))
    console.log(`agent: wrote «${sentence}» as version ${serverVersion}, and both editors have it`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, AGENT_EVERY_MS)))
  }
  await agent.close()
}

async function readSession(): Promise<Session> {
  try {
    return JSON.parse(await readFile(join(STATE, 'session.json'), 'utf8'))
  } catch {
    throw new Error('no running relay found: start it with `npm start` in another terminal first')
  }
}

function typist(name: string, session: Session, steps: readonly TypingStep[]): Typist {
  const ackMs: number[] = []
  let unsavedSince: number | null = null
  const client = new SyncClient({
    url: `${session.baseUrl.replace('http', 'ws')}/ws`,
    docId: DOCUMENT,
    doc: new Y.Doc(),
    token: () => session.tokens[name] as string,
    onState(state) {
      if (state.saved === 'saving') unsavedSince ??= performance.now()
      if (state.saved !== 'saved' || unsavedSince === null) return
      if (state.synced) ackMs.push(performance.now() - unsavedSince)
      unsavedSince = null
    },
    onError: (error) => console.log(`${name}: ${error.error}`),
  })
  client.awareness.setLocalState({ user: userOf(name) })
  return { name, client, steps, ackMs }
}

/** Types into a separate paragraph, so that the texts of two typists do not interleave. */
async function type({ name, client, steps }: Typist): Promise<void> {
  const page = client.doc.getXmlFragment(`prose:${PAGE}`)
  const text = new Y.XmlText()
  const paragraph = new Y.XmlElement('paragraph')
  client.doc.transact(() => {
    paragraph.insert(0, [text])
    page.insert(page.length, [paragraph])
  })
  for (const step of steps) {
    client.doc.transact(() => {
      if (step.removed > 0) text.delete(step.position, step.removed)
      if (step.inserted !== '') text.insert(step.position, step.inserted)
    })
    client.awareness.setLocalState({ user: userOf(name), cursor: cursorAt(text, step.position + step.inserted.length) })
    await new Promise((resolve) => setTimeout(resolve, 1_000 / KEYS_PER_SECOND))
  }
}

function userOf(name: string): { readonly name: string; readonly color: string } {
  return { name, color: COLORS[name] ?? '#57606a' }
}

function report(typists: readonly Typist[]): void {
  const line = typists.map(({ name, client }) => {
    const others = [...client.awareness.getStates().entries()].filter(([id]) => id !== client.awareness.clientID)
    const seen = others.map(([, state]) => {
      const { user, cursor } = state as { user?: { name?: string; kind?: string }; cursor?: { head?: unknown } }
      const at = indexOf(cursor, client.doc)
      return `${user?.name}${user?.kind === 'agent' ? ' (agent)' : ''}${at === null ? '' : ` at ${at}`}`
    })
    return `${name}: ${client.state.saved}, sees ${seen.join(', ') || 'nobody'}`
  })
  console.log(line.join('   |   '))
}

function pageText({ client }: Typist): string {
  return client.doc.getXmlFragment(`prose:${PAGE}`).toString()
}

function shownText({ client }: Typist): string {
  return textOfNode(client.doc.getXmlFragment(`prose:${PAGE}`))
}

function same([first, second]: readonly Typist[]): boolean {
  if (!first || !second || pageText(first) !== pageText(second)) return false
  return Buffer.from(Y.encodeStateVector(first.client.doc)).equals(Buffer.from(Y.encodeStateVector(second.client.doc)))
}

async function compareWithRest(session: Session, typist: Typist): Promise<void> {
  const rest = new RelayClient({
    baseUrl: session.baseUrl,
    token: () => session.tokens['cleo'] ?? (session.tokens['ann'] as string),
  })
  const asOwner = new RelayClient({ baseUrl: session.baseUrl, token: () => session.tokens['ann'] as string })
  const body = (await asOwner.getDocument(DOCUMENT)) as {
    serverVersion: number
    richTextPages: { id: string; content: string }[]
  }
  const text = textOfHtml(body.richTextPages.find((page) => page.id === PAGE)?.content ?? '')
  const inRest = text === shownText(typist)
  console.log(
    `REST answers version ${body.serverVersion} with ${inRest ? 'the same' : 'ANOTHER TEXT of'} ${text.length} characters of text on the page.`,
  )
  await rest.getDocument(DOCUMENT).then(
    () => console.log('The viewer without a share can read it: `[permissions] enforce_private_docs` is false, or this is a bug.'),
    (error: unknown) => console.log(`The viewer without a share is refused: ${error instanceof Error ? error.message : error}`),
  )
  if (!inRest) process.exitCode = 1
}

function summary(values: readonly number[]): string {
  if (values.length === 0) return 'never measured'
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited 20 s in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

main().then(
  () => process.exit(process.exitCode ?? 0),
  async (error: unknown) => {
    const session = await readSession().catch(() => null)
    console.error(failureText(error, session?.baseUrl ?? 'an unknown address', STATE))
    process.exit(1)
  },
)
