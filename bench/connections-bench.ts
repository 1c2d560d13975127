// `npm run bench:connections [-- --clients 12000 --documents 2400 --spare 100 --addresses 4 --rest 125]`: a relay with many joined clients, up to
// and above its cap of connections. Prints how long each step took. Exits 1 when a client was disconnected, an edit did not arrive, or a connection
// above the cap was not answered as rule H11 demands.
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { dialects } from './dialects.ts'
import { EditStream, scanUpdate } from './edit-stream.ts'
import { LatencyHistogram } from './histogram.ts'
import { RawSocket } from './raw-socket.ts'
import { type RunningRelay, startRelayServer } from './relay-server.ts'
import { freePort } from './servers.ts'

/** Number of joins at a time. While many sockets wait for their AUTH, the relay lets at most 16 of them come from one address. */
const JOINING = 32
const IDLE_SECONDS = 10
/** Connections that are attempted above the cap. The relay answers at most 500 refused connections of one address in a second. */
const REFUSED = 400
const LONGEST_WAIT_MS = 120_000

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '12000' },
    documents: { type: 'string', default: '2400' },
    /** The cap is this many connections above the number of joined clients. */
    spare: { type: 'string', default: '100' },
    /** Clients connect from 127.0.0.1, 127.0.0.2 and so on. */
    addresses: { type: 'string', default: '4' },
    /** Seconds between the last join and the measurement at rest. The relay closes a search index 60 to 120 s after its last change. */
    rest: { type: 'string', default: '125' },
  },
})
const CLIENTS = Number(values.clients)
const DOCUMENTS = Number(values.documents)
const CAP = CLIENTS + Number(values.spare)
const ADDRESSES = Number(values.addresses)
const REST_SECONDS = Number(values.rest)

const problems: string[] = []
const dialect = dialects.relay

/** A client that has joined a document; it builds no Y.Doc and counts what it gets. */
class Joined {
  readonly stream: EditStream
  readonly #socket: RawSocket
  readonly #doc: string
  /** How the connection ended, `null` while it is open. */
  end: string | null = null
  /** Characters received from other clients. */
  received = 0
  acknowledged = 0
  #isOpened = false

  private constructor(index: number, doc: string, socket: RawSocket) {
    this.stream = new EditStream(1_000 + index)
    this.#doc = doc
    this.#socket = socket
    socket.onClose = (reason) => (this.end ??= reason)
  }

  static async join(index: number, port: number, doc: string, token: string): Promise<Joined> {
    const localAddress = `127.0.0.${1 + (index % ADDRESSES)}`
    const socket = await RawSocket.open({ host: '127.0.0.1', port, path: dialect.path(doc), localAddress })
    const client = new Joined(index, doc, socket)
    const incoming = { kind: 'other' as 'step1' | 'step2' | 'update' | 'ack' | 'other', from: 0, to: 0, ordinal: 0 }
    const inSync = new Promise<void>((resolve) => {
      socket.onMessage = (bytes, from, to) => {
        dialect.read(bytes, from, to, incoming)
        if (incoming.kind === 'ack') client.acknowledged = incoming.ordinal
        if (incoming.kind === 'step2') resolve()
        if (incoming.kind === 'update')
          scanUpdate(bytes, incoming.from, incoming.to, (_, __, length) => (client.received += length))
      }
    })
    socket.send(...dialect.hello(doc, token))
    await inSync
    return client
  }

  /** Sends an edit of one character. The first one also opens the paragraph of this client. */
  edit(): void {
    const update = this.#isOpened ? this.stream.next() : this.stream.opening
    this.#isOpened = true
    this.#socket.send(dialect.update(this.#doc, update))
  }

  close(): void {
    this.#socket.close()
  }
}

async function joinAll(relay: RunningRelay, docs: readonly string[]): Promise<readonly Joined[]> {
  // Client `i` has joined document `i % docs.length`.
  const clients = Array.from<Joined>({ length: CLIENTS })
  const took = new LatencyHistogram()
  const startedAt = performance.now()
  let next = 0
  const joiner = async () => {
    while (next < CLIENTS) {
      const index = next++
      const at = performance.now()
      const doc = index % docs.length
      clients[index] = await Joined.join(index, relay.port, docs[doc] as string, relay.tokens[doc] as string)
      took.add(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: JOINING }, joiner))
  const { p50, p99 } = took.summary()
  const secs = (performance.now() - startedAt) / 1_000
  say(`${CLIENTS} clients joined in ${secs.toFixed(1)} s; a join took ${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99)`)
  return clients
}

/** Sends one edit at a time, each from another client, to an otherwise idle relay. */
async function loneEdits(clients: readonly Joined[]): Promise<void> {
  const took = new LatencyHistogram()
  for (let i = 0; i < 50; i++) {
    const client = clients[Math.floor((i * clients.length) / 50)] as Joined
    const acknowledged = client.acknowledged
    const at = performance.now()
    client.edit()
    await until(`edit ${i} to be acknowledged`, () => client.acknowledged > acknowledged)
    took.add(performance.now() - at)
    await sleep(50)
  }
  const { p50, p99 } = took.summary()
  say(`50 lone edits were durable and acknowledged after ${p50.toFixed(1)} ms (p50), ${p99.toFixed(1)} ms (p99)`)
}

/** Sends one edit in every document at once, and waits until all other clients of the documents have received them. */
async function editEverywhere(clients: readonly Joined[]): Promise<void> {
  const before = sum(clients, (client) => client.received)
  const at = performance.now()
  for (const client of clients.slice(0, DOCUMENTS)) client.edit()
  const others = clients.length - DOCUMENTS
  const arrived = () => sum(clients, (client) => client.received) - before
  await until('the edits to arrive', () => arrived() >= others)
  say(`one edit in each of ${DOCUMENTS} documents reached ${others} others in ${(performance.now() - at).toFixed(0)} ms`)
  if (arrived() !== others) problems.push(`${arrived()} characters arrived instead of ${others}`)
}

/** Sends a request on a connection of its own; resolves with the status, or `closed` when there was no answer. */
function ask(port: number, text: string, keepOpen = false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let received = ''
    socket.on('data', (data) => {
      received += data.toString('latin1')
      if (keepOpen) resolve(received.slice(9, 12))
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(received === '' ? 'closed' : received.slice(9, 12)))
    socket.write(text)
  })
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: h\r\n${headers}\r\n`
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

async function fillAndExceed(relay: RunningRelay): Promise<void> {
  for (let i = 0; i < Number(values.spare); i++) await ask(relay.port, get('/health'), true)
  const at = performance.now()
  const answers = await Promise.all(
    Array.from({ length: REFUSED }, (_, i) => ask(relay.port, i % 2 === 0 ? get('/api/docs') : get('/ws', UPGRADE))),
  )
  const ms = performance.now() - at
  const refused = answers.filter((answer) => answer === '503').length
  say(`${refused} of ${REFUSED} connections above the cap were answered 503, in ${ms.toFixed(0)} ms`)
  if (refused !== REFUSED) problems.push('not every connection above the cap was answered 503')
  for (const path of ['/health', '/livez', '/readyz']) {
    const status = await ask(relay.port, get(path))
    if (status !== '200') problems.push(`${path} of a full relay answered ${status}`)
  }
}

async function main(): Promise<number> {
  const docs = Array.from({ length: DOCUMENTS }, (_, i) => `bench-${i}`)
  const metricsPort = await freePort()
  const env = {
    RELAY_MAX_CONNECTIONS: String(CAP),
    RELAY_METRICS_EXPOSE: 'local',
    RELAY_METRICS_PORT: String(metricsPort),
    RELAY_LOG_LEVEL: 'warn',
  }
  await using stack = new AsyncDisposableStack()
  const relay = stack.adopt(await startRelayServer({ docs, limits: 'raised', env }), (running) => running.stop())
  const clients = await run(relay, docs, metricsPort)
  const at = performance.now()
  await stack.disposeAsync()
  const told = clients.filter(({ end }) => end?.startsWith('close 1012')).length
  say(
    `the relay stopped after ${((performance.now() - at) / 1_000).toFixed(1)} s and told ${told} clients that it restarts (1012)`,
  )
  for (const client of clients) client.close()
  for (const problem of problems) say(`PROBLEM: ${problem}`)
  return problems.length === 0 ? 0 : 1
}

async function run(relay: RunningRelay, docs: readonly string[], metricsPort: number): Promise<readonly Joined[]> {
  say(`relay with ${DOCUMENTS} documents and a cap of ${CAP} connections: ${memory(relay.pid)}`)
  const clients = await joinAll(relay, docs)
  say(`after the joins: ${memory(relay.pid)}`)
  await sleep(REST_SECONDS * 1_000)
  const cpu = cpuSec(relay.pid)
  await sleep(IDLE_SECONDS * 1_000)
  const share = (cpuSec(relay.pid) - cpu) / IDLE_SECONDS
  say(
    `idle for ${IDLE_SECONDS} s, ${REST_SECONDS} s after the joins: ${(share * 100).toFixed(1)} % of a core, ${memory(relay.pid)}`,
  )
  await loneEdits(clients)
  await editEverywhere(clients)
  await fillAndExceed(relay)
  await loneEdits(clients)
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  for (const [line] of metrics.matchAll(/^relay_(?:connections_refused_total|ws_connections|active_docs_total).*$/gm)) say(line)
  const lost = clients.filter(({ end }) => end !== null)
  if (lost.length > 0) problems.push(`${lost.length} clients lost their connection, the first by "${lost[0]?.end}"`)
  say(`after all that: ${clients.length - lost.length} of ${CLIENTS} clients connected, ${memory(relay.pid)}`)
  return clients
}

function memory(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const rssMb = Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024)
  return `RSS ${rssMb} MB, ${readdirSync(`/proc/${pid}/fd`).length} file descriptors`
}

function cpuSec(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') as string[]
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const startedAt = performance.now()
  while (!holds()) {
    if (performance.now() - startedAt > LONGEST_WAIT_MS) throw new Error(`waited in vain for ${what}`)
    await sleep(1)
  }
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

function say(text: string): void {
  console.log(text)
}

process.exitCode = await main()
