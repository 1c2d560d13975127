// `npm run faults:kill [-- --rounds 30 --seed 1 --sabotage ack-before-commit]`: kill -9 under mixed load; nothing acknowledged may be missing.
// With `--sabotage` the relay acknowledges before it commits, and the run succeeds only when that is found out.
import { parseArgs } from 'node:util'
import { RelayRequestError } from '@docrelay/protocol/client/relay-client'
import type { SyncClient } from '@docrelay/protocol/client/sync-client'
import * as Y from 'yjs'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'

const LIVE_DOCUMENTS = 10
const TYPISTS_PER_DOCUMENT = 2
const EDITS_PER_SECOND = 20
const REST_WRITERS = 4

interface Typist {
  readonly name: string
  readonly document: string
  readonly client: SyncClient
  /** Marks typed, and how many of them the client said were saved. */
  readonly typed: string[]
  saved: number
}

interface RestWriter {
  readonly id: string
  /** Content of the newest acknowledged version; `null` before the first and after an acknowledged delete. */
  acknowledged: string | null
  /** What the call that got no answer would have left: a content, `null` for a delete; `undefined` when every call was answered. */
  unanswered: string | null | undefined
}

interface Losses {
  missing: number
  unloadable: number
  checked: number
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      sabotage: { type: 'string' },
    },
  })
  const random = generator(Number(values.seed))
  const sabotaged = values.sabotage !== undefined
  console.log(`kill -9, ${values.rounds} rounds, seed ${values.seed}${sabotaged ? `, sabotage ${values.sabotage}` : ''}`)
  await using relay = await startRelayUnderTest({
    env: {
      RELAY_WRITES_PER_SEC: '0',
      RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '1000',
      RELAY_LOG_LEVEL: 'error',
      ...(sabotaged ? { RELAY_TEST_HOOKS: '1', RELAY_TEST_ACK_BEFORE_COMMIT: '1', RELAY_COMMIT_DELAY_MS: '50' } : {}),
    },
  })
  await createDocuments(relay)
  const total: Losses = { missing: 0, unloadable: 0, checked: 0 }
  const writers = Array.from(
    { length: REST_WRITERS },
    (_, i): RestWriter => ({ id: `rest-${i}`, acknowledged: null, unanswered: undefined }),
  )
  for (let round = 1; round <= Number(values.rounds); round++) {
    const losses = await playRound(relay, round, writers, 300 + random() * 1_700)
    total.missing += losses.missing
    total.unloadable += losses.unloadable
    total.checked += losses.checked
    if (losses.missing + losses.unloadable > 0 || round % 5 === 0) console.log(`round ${round}: ${describe(losses)}`)
  }
  console.log(`total: ${describe(total)}`)
  const lost = total.missing + total.unloadable > 0
  if (sabotaged) console.log(lost ? 'The sabotage was found out, so this check can fail.' : 'The sabotage was NOT found out.')
  process.exitCode = lost === sabotaged && total.checked > 0 ? 0 : 1
}

async function createDocuments(relay: RelayUnderTest): Promise<void> {
  for (let i = 0; i < LIVE_DOCUMENTS; i++)
    await relay.rest().putDocument(`live-${i}`, {
      name: `Live ${i}`,
      pages: [],
      richTextPages: [{ id: 'text', name: 'Text', content: '<p></p>' }],
    })
}

async function playRound(relay: RelayUnderTest, round: number, writers: RestWriter[], untilKillMs: number): Promise<Losses> {
  const typists = startTypists(relay, round)
  await until('the typists to join', () => typists.every(({ client }) => client.state.saved === 'saved'), 20_000)
  let running = true
  const typing = typists.map((typist) => type(typist, () => running))
  const writing = writers.map((writer) => write(relay, writer, round, () => running))
  await new Promise((resolve) => setTimeout(resolve, untilKillMs))
  await relay.kill()
  running = false
  await Promise.all([...typing, ...writing])
  for (const { client } of typists) client.destroy()
  await relay.restart()
  const losses: Losses = { missing: 0, unloadable: 0, checked: 0 }
  await checkLive(relay, typists, losses)
  for (const writer of writers) await checkWriter(relay, writer, losses)
  return losses
}

function startTypists(relay: RelayUnderTest, round: number): Typist[] {
  return Array.from({ length: LIVE_DOCUMENTS * TYPISTS_PER_DOCUMENT }, (_, i) => {
    const name = `${round}.${i}`
    const document = `live-${i % LIVE_DOCUMENTS}`
    const typist = { name, document, typed: [] as string[], saved: 0 }
    const client = relay.sync(
      document,
      { sub: `typist-${i}` },
      {
        onState: (state) => {
          if (state.saved === 'saved') typist.saved = typist.typed.length
        },
      },
    )
    return Object.assign(typist, { client })
  })
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

/** PUTs versions one after the other, and now and then deletes and creates anew; notes only what was answered. */
async function write(relay: RelayUnderTest, writer: RestWriter, round: number, running: () => boolean): Promise<void> {
  const client = relay.rest()
  for (let i = 0; running(); i++) {
    const content = writer.acknowledged !== null && i % 17 === 16 ? null : `<p>${round}.${i}</p>`
    writer.unanswered = content
    try {
      if (content === null) await client.deleteDocument(writer.id)
      else {
        const body = { name: writer.id, richTextPages: [{ id: 'text', name: 'Text', content }] }
        await client.putDocument(writer.id, body, { overrideTombstone: true })
      }
      writer.acknowledged = content
      writer.unanswered = undefined
    } catch (error) {
      // An answered refusal would be a fault of this script; an unanswered call may or may not have happened.
      if (error instanceof RelayRequestError && error.status < 500) throw error
      return
    }
  }
}

async function checkLive(relay: RelayUnderTest, typists: readonly Typist[], losses: Losses): Promise<void> {
  for (let i = 0; i < LIVE_DOCUMENTS; i++) {
    const document = `live-${i}`
    const reader = relay.sync(document, { sub: 'reader' })
    try {
      await until('a fresh client', () => reader.state.synced)
      const live = reader.doc.getXmlFragment('prose:text').toString()
      const body = (await relay.rest().getDocument(document)) as { richTextPages: { content: string }[] }
      const rest = body.richTextPages[0]?.content ?? ''
      for (const typist of typists.filter((candidate) => candidate.document === document)) {
        for (const mark of typist.typed.slice(0, typist.saved)) {
          losses.checked++
          if (!live.includes(mark) || !rest.includes(mark)) losses.missing++
        }
      }
    } catch (error) {
      losses.unloadable++
      console.log(`${document}: ${error instanceof Error ? error.message : error}`)
    } finally {
      reader.destroy()
    }
  }
}

/** What is stored is what was acknowledged last, or what the one unanswered call would have left. */
async function checkWriter(relay: RelayUnderTest, writer: RestWriter, losses: Losses): Promise<void> {
  losses.checked++
  const body = (await relay
    .rest()
    .getDocument(writer.id)
    .catch((error: unknown) => {
      if (error instanceof RelayRequestError && error.status === 404) return null
      throw error
    })) as { richTextPages: { content: string }[] } | null
  const stored = body?.richTextPages[0]?.content ?? null
  if (stored !== writer.acknowledged && stored !== writer.unanswered) losses.missing++
  writer.acknowledged = stored
  writer.unanswered = undefined
}

function describe({ checked, missing, unloadable }: Losses): string {
  return `${checked} acknowledged edits and saves checked, ${missing} missing, ${unloadable} documents unloadable`
}

/** xorshift32 */
function generator(seed: number): () => number {
  let state = seed | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

await main()
