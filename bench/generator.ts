// The load generator, run as a separate process. Reads one JSON `Load` from stdin and prints one JSON `Measured` on stdout.
import { readFileSync } from 'node:fs'
import { mapAtOnce } from './at-once.ts'
import { dialects, type Dialect } from './dialects.ts'
import { EditStream, scanUpdate } from './edit-stream.ts'
import { LatencyHistogram } from './histogram.ts'
import { cpuSec, familyCpuSec } from './processor-time.ts'
import { frameOf, RawSocket } from './raw-socket.ts'

export interface Load {
  readonly dialect: keyof typeof dialects
  /** Servers of the same documents; the CPU time of each is measured. */
  readonly servers: readonly { readonly port: number; readonly pid: number }[]
  /** Processes that the servers use, by name: process id. The CPU time of each process and its children is measured separately. */
  readonly beside: Readonly<Record<string, number>>
  /** `at`: for each client the index of its server in `servers`. Without `at`, all clients connect to the first server. */
  readonly docs: readonly { readonly id: string; readonly token: string; readonly at?: readonly number[] }[]
  readonly clientsPerDoc: number
  /** The first `editorsPerDoc` clients of each document edit; all clients edit when absent. */
  readonly editorsPerDoc?: number
  /** Edits per second of each client. With `saturate`, each client keeps `window` of its own edits undelivered. */
  readonly rate: number | 'saturate'
  readonly window: number
  readonly warmUpSec: number
  readonly measureSec: number
}

export interface Measured {
  readonly deliveries: number
  readonly edits: number
  readonly frames: number
  readonly seconds: number
  readonly serverCpuSec: number
  /** The CPU time of each server. */
  readonly serversCpuSec: readonly number[]
  readonly besideCpuSec: Readonly<Record<string, number>>
  readonly generatorCpuSec: number
  readonly serverRssMb: number
  readonly deliveryMs: { readonly p50: number; readonly p99: number }
  readonly ackMs: { readonly p50: number; readonly p99: number } | null
  /** Number of edits that some client of the document never received. */
  readonly missing: number
}

const FIRST_Y_CLIENT = 1_000
/** The generator forgets the time of edits older than this. */
const REMEMBERED_SECONDS = 120
const SATURATED_RING = 1 << 14
const DOCUMENTS_AT_ONCE = 8
/**
 * The generator looks for new deliveries every half second and stops waiting after this many looks without any. While deliveries are missing, it
 * waits for more looks, because a server that waits for the processor delivers the rest much later.
 */
const QUIET_LOOKS = 4
const QUIET_LOOKS_WHILE_MISSING = 20

/** Returns for how many edits of a client the time is remembered: a power of two. */
function ringOf({ rate }: Load): number {
  return rate === 'saturate' ? SATURATED_RING : 2 ** Math.ceil(Math.log2(Math.max(64, rate * REMEMBERED_SECONDS)))
}

class Client {
  readonly stream: EditStream
  readonly socket: RawSocket
  readonly index: number
  readonly doc: number
  /** When each character was sent, at the index `clock` modulo the length. */
  readonly sentAt: Float64Array
  /** Number of own edits that the next client of the document has not received yet. */
  undelivered = 0
  /** Characters received from other clients, including openings. */
  received = 0
  dueAt = 0
  /** Clock of the newest own character that the server acknowledged. */
  ackedClock = 1

  constructor(index: number, doc: number, socket: RawSocket, ring: number) {
    this.sentAt = new Float64Array(ring)
    this.index = index
    this.doc = doc
    this.socket = socket
    this.stream = new EditStream(FIRST_Y_CLIENT + index)
  }
}

async function run(load: Load): Promise<Measured> {
  const dialect = dialects[load.dialect]
  const clients = await openClients(load, dialect)
  const { editorsPerDoc = load.clientsPerDoc } = load
  const editors = clients.filter(({ index }) => index % load.clientsPerDoc < editorsPerDoc)
  const ring = ringOf(load)
  const count = { deliveries: 0, edits: 0, frames: 0 }
  const delivery = new LatencyHistogram()
  const ack = new LatencyHistogram()
  const incoming = { kind: 'other' as 'step1' | 'step2' | 'update' | 'ack' | 'other', from: 0, to: 0, ordinal: 0 }
  let measuring = false

  for (const client of clients) {
    client.socket.onClose = (reason) => {
      throw new Error(`client ${client.index} lost its connection: ${reason}`)
    }
    client.socket.onMessage = (bytes, from, to) => {
      dialect.read(bytes, from, to, incoming)
      if (incoming.kind === 'ack') {
        // Ordinal 1 is the opening, which ends at clock 2; ordinal 2 is the first single character.
        const upTo = incoming.ordinal > 0 ? incoming.ordinal + 1 : client.ackedClock + 1
        const now = performance.now()
        for (let clock = client.ackedClock + 1; clock <= upTo; clock++) {
          const sent = client.sentAt[clock % ring] as number
          if (measuring && sent > 0) ack.add(now - sent)
        }
        client.ackedClock = upTo
        return
      }
      if (incoming.kind !== 'update' && incoming.kind !== 'step2') return
      if (measuring) count.frames++
      const now = performance.now()
      const known = scanUpdate(bytes, incoming.from, incoming.to, (yClient, clock, length) => {
        const author = clients[yClient - FIRST_Y_CLIENT] as Client
        // Some servers send an author its own edit again inside a merged update. Such an echo is no delivery.
        if (author === client) return
        client.received += length
        if (nextInDoc(load, clients, author) === client) author.undelivered -= length
        if (!measuring) return
        count.deliveries += length
        for (let i = 0; i < length; i++) {
          const sent = author.sentAt[(clock + i) % ring] as number
          if (sent > 0) delivery.add(now - sent)
        }
      })
      if (!known) throw new Error('an update of another shape than was sent')
    }
  }

  for (const client of editors) client.socket.send(dialect.update(docOf(load, client), client.stream.opening))
  await sleep(700)

  const edit = (client: Client, edits: number, now: number) => {
    const frames: Buffer[] = []
    for (let i = 0; i < edits; i++) {
      client.sentAt[client.stream.clock % ring] = now
      frames.push(frameOf(dialect.update(docOf(load, client), client.stream.next())))
    }
    client.undelivered += edits
    if (measuring) count.edits += edits
    client.socket.sendFrames(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames))
  }
  const stop = load.rate === 'saturate' ? saturate(load, editors, edit) : pace(load.rate, editors, edit)
  await sleep(load.warmUpSec * 1_000)
  const used = usedBy(load)
  const before = { own: process.cpuUsage(), at: performance.now() }
  measuring = true
  await sleep(load.measureSec * 1_000)
  measuring = false
  const seconds = (performance.now() - before.at) / 1_000
  const { serversCpuSec, besideCpuSec } = used()
  const own = process.cpuUsage(before.own)
  stop()
  const serverRssMb = load.servers.reduce((sum, { pid }) => sum + rssMb(pid), 0)
  const missing = await settle(load, clients, editors)
  for (const client of clients) client.socket.close()
  return {
    ...count,
    seconds,
    serverCpuSec: serversCpuSec.reduce((sum, each) => sum + each, 0),
    serversCpuSec,
    besideCpuSec,
    generatorCpuSec: (own.user + own.system) / 1e6,
    serverRssMb,
    deliveryMs: delivery.summary(),
    ackMs: dialect.acknowledges ? ack.summary() : null,
    missing,
  }
}

/** The first client of a document joins before its others. */
async function openClients(load: Load, dialect: Dialect): Promise<Client[]> {
  const ofDocuments = await mapAtOnce(load.docs, DOCUMENTS_AT_ONCE, async (_, docIndex) => {
    const clients: Client[] = []
    for (let i = 0; i < load.clientsPerDoc; i++) clients.push(await openClient(load, dialect, docIndex, i))
    return clients
  })
  return ofDocuments.flat()
}

/** Opens the client at the place `i` of its document; resolves when the client has the state, where the server sends one. */
async function openClient(load: Load, dialect: Dialect, docIndex: number, i: number): Promise<Client> {
  const doc = load.docs[docIndex] as Load['docs'][number]
  const { port } = load.servers[doc.at?.[i] ?? 0] as Load['servers'][number]
  const socket = await RawSocket.open({ host: '127.0.0.1', port, path: dialect.path(doc.id) })
  const client = new Client(docIndex * load.clientsPerDoc + i, docIndex, socket, ringOf(load))
  const inSync = new Promise<void>((resolve) => {
    if (!dialect.sendsState) return resolve()
    const incoming = { kind: 'other' as 'step1' | 'step2' | 'update' | 'ack' | 'other', from: 0, to: 0, ordinal: 0 }
    socket.onMessage = (bytes, from, to) => {
      dialect.read(bytes, from, to, incoming)
      if (incoming.kind === 'step2') resolve()
    }
  })
  const hello = dialect.hello(doc.id, doc.token)
  if (hello.length > 0) socket.send(...hello)
  await inSync
  return client
}

function docOf(load: Load, client: Client): string {
  return (load.docs[client.doc] as { id: string }).id
}

function nextInDoc(load: Load, clients: readonly Client[], author: Client): Client | undefined {
  const first = author.doc * load.clientsPerDoc
  return clients[first + ((author.index - first + 1) % load.clientsPerDoc)]
}

/** Makes every client edit at the given rate. The clients are spread evenly over the gap between two edits. */
function pace(rate: number, clients: readonly Client[], edit: (client: Client, edits: number, now: number) => void): () => void {
  const gapMs = 1_000 / rate
  const start = performance.now()
  for (const client of clients) client.dueAt = start + gapMs * ((client.index * 0.618_034) % 1)
  const timer = setInterval(() => {
    const now = performance.now()
    for (const client of clients) {
      if (client.dueAt > now) continue
      client.dueAt += gapMs
      edit(client, 1, now)
    }
  }, 2)
  return () => clearInterval(timer)
}

/** Makes every client refill its window as soon as half of it has been delivered. */
function saturate(
  load: Load,
  clients: readonly Client[],
  edit: (client: Client, edits: number, now: number) => void,
): () => void {
  let running = true
  const refill = () => {
    if (!running) return
    const now = performance.now()
    for (const client of clients) {
      const free = load.window - client.undelivered
      if (free >= load.window / 2) edit(client, free, now)
    }
    setImmediate(refill)
  }
  refill()
  return () => {
    running = false
  }
}

/** Waits until nothing arrives any more. Returns how many characters did not reach every client. */
async function settle(load: Load, clients: readonly Client[], editors: readonly Client[]): Promise<number> {
  let expected = 0
  for (const author of editors) expected += (author.stream.clock - 2) * (load.clientsPerDoc - 1)
  let before = -1
  for (let quiet = 0; quiet < (before === expected ? QUIET_LOOKS : QUIET_LOOKS_WHILE_MISSING); ) {
    const received = clients.reduce((sum, client) => sum + client.received, 0)
    quiet = received === before ? quiet + 1 : 0
    before = received
    await sleep(500)
  }
  return expected - before
}

/** Starts measuring CPU time. The returned function returns the CPU seconds used since then. */
function usedBy({ servers, beside }: Load): () => Pick<Measured, 'serversCpuSec' | 'besideCpuSec'> {
  const ofServers = () => servers.map(({ pid }) => cpuSec(pid))
  const ofOthers = () => Object.entries(beside).map(([name, pid]) => [name, familyCpuSec(pid)] as const)
  const [serversBefore, othersBefore] = [ofServers(), new Map(ofOthers())]
  return () => ({
    serversCpuSec: ofServers().map((sec, i) => sec - (serversBefore[i] ?? 0)),
    besideCpuSec: Object.fromEntries(ofOthers().map(([name, sec]) => [name, sec - (othersBefore.get(name) ?? 0)])),
  })
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(readFileSync(0, 'utf8')) as Load)))
