// `npm run bench:diagram-call`: how much CPU time one call of generate_diagram with 500 nodes and 1,000 edges costs a relay, how soon edits of other
// clients are acknowledged meanwhile, and how much CPU time a cancelled call costs. Prints the table of bench/results/diagram.md; exits 1 when a
// limit is missed.
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { cpus } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { stopwatch } from '@docrelay/server/kernel/testing/patience'
import { platform } from '@docrelay/client/environment'
import { SyncConnection } from '@docrelay/client/sync/sync-connection'
import { jsonFrame, readSync, readSyncAck, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import * as Y from 'yjs'
import { type RunningRelay, startRelayServer } from './relay-server.ts'

const ROUNDS = 7
const WARM_UP = 2
/** Number of calls during which other clients edit; each call has a document of its own. */
const CALLS_BESIDE = 16
/** Number of people who edit the document of the call, and of people who edit one other document each. */
const PEOPLE = 10
const NODES = 500
const EDGES = 1_000
const MAX_CPU_MS = 1_000
const MAX_ACK_MS = 100
/** Pause between two edits of one person: longer than a client gathers edits (`SendPace`), so that each edit is sent at once. */
const EDIT_EVERY_MS = 100
/** For this long edits are measured on an otherwise idle relay, before the call begins. */
const QUIET_MS = 300
/** A call is cancelled this long after it began. */
const CANCELLED_AFTER_MS = 60
const VERSION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
}
const PAGES = [{ id: 'c', name: 'C', shapes: [{ id: 'mine', type: 'rectangle', x: -4000, y: 0, width: 100, height: 80 }] }]
const nodes = Array.from({ length: NODES }, (_, i) => ({ id: `n${i}`, label: `Service number ${i}` }))
const edges = Array.from({ length: EDGES }, (_, i) => ({ from: `n${i % NODES}`, to: `n${(i * 37 + 11) % NODES}` }))

interface Called {
  readonly answer: Promise<string>
  cancel(): void
}

function generate(relay: RunningRelay, docId: string, token: string): Called {
  const params = { name: 'service_generate_diagram', arguments: { docId, pageId: 'c', nodes, edges }, _meta: META }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': 'service_generate_diagram',
  }
  const request = httpRequest(`${relay.baseUrl}/mcp`, { method: 'POST', headers })
  const answer = new Promise<string>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () => resolve(text))
    })
    request.end(body)
  })
  return { answer, cancel: () => void request.destroy() }
}

function expectDrawn(text: string): void {
  if (!text.includes('"serverVersion"') || text.includes('"isError":true')) throw new Error(text.slice(0, 500))
}

/** User and system time of the relay so far, all threads; a tick is 10 ms. */
function cpuMs({ pid }: RunningRelay): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Returns the CPU time in ms of `work` and of all that follows from it, until the relay is idle. */
async function costOf(relay: RunningRelay, work: () => Promise<void>): Promise<number> {
  const before = cpuMs(relay)
  await work()
  for (let last = -1; last !== cpuMs(relay); ) {
    last = cpuMs(relay)
    await pause(200)
  }
  return cpuMs(relay) - before
}

async function put(relay: RunningRelay, id: string, token: string): Promise<void> {
  const answer = await fetch(`${relay.baseUrl}/api/docs/${id}?expectedVersion=0`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id, name: id, pages: PAGES }),
  })
  if (!answer.ok) throw new Error(`PUT of ${id} answered ${answer.status}: ${await answer.text()}`)
}

interface Ack {
  readonly startedMs: number
  readonly wallMs: number
  /** Milliseconds on a clock that runs slower while more threads want to run than there are cores. */
  readonly quietMs: number
}

interface Person {
  /** Drags a shape from `afterMs` on until `stop` is called. `stop` resolves with how soon each edit was durable. */
  drag(afterMs: number): { stop(): Promise<readonly Ack[]> }
  leave(): void
}

/**
 * Joins a document without applying the edits of others. Applying 1,500 shapes to a Y.Doc of this process would delay the measured acknowledgements,
 * and that delay is not a cost of the relay.
 */
async function join(relay: RunningRelay, docId: string, token: string): Promise<Person> {
  const doc = new Y.Doc()
  let sent = 0
  let acked = 0
  let whenAcked: (() => void) | null = null
  const connection = await new Promise<SyncConnection>((resolve) => {
    const joining: SyncConnection = new SyncConnection({
      url: `${relay.baseUrl.replace('http', 'ws')}/ws`,
      token: () => token,
      environment: platform,
      onStatus: () => undefined,
      onOpen: () => joining.send(jsonFrame(TAG.joinDoc, { docId })),
      onFrame(tag, message) {
        if (tag === TAG.sync && readSync(message)?.subType === SYNC.step1) resolve(joining)
        if (tag !== TAG.syncAck) return
        acked = readSyncAck(message) ?? acked
        whenAcked?.()
      },
    })
    joining.connect()
  })
  doc.on('update', (update: Uint8Array) => {
    sent++
    connection.send(syncFrame(SYNC.update, update))
  })
  let step = 0
  const edit = async (): Promise<Ack> => {
    const startedMs = performance.now()
    const took = stopwatch()
    doc.getMap('shapes:c').set('mine', { ...PAGES[0]?.shapes[0], x: -4000 - step++ })
    while (acked < sent) await new Promise<void>((resolve) => (whenAcked = resolve))
    return { startedMs, wallMs: performance.now() - startedMs, quietMs: took() }
  }
  return {
    drag(afterMs) {
      let isStopped = false
      const run = async (): Promise<readonly Ack[]> => {
        const acks: Ack[] = []
        await pause(afterMs)
        while (!isStopped) {
          acks.push(await edit())
          await pause(EDIT_EVERY_MS)
        }
        return acks
      }
      const done = run()
      return {
        stop() {
          isStopped = true
          return done
        },
      }
    },
    leave: () => connection.close(),
  }
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] as number

/** CPU time in ms of all processes of the machine so far; a tick is 10 ms. */
function machineMs(): number {
  const fields = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/ +/).slice(1, 4).map(Number)
  return fields.reduce((sum, ticks) => sum + ticks, 0) * 10
}

const ownMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const rounds = times(ROUNDS + WARM_UP, (i) => i)
const roundsBeside = times(CALLS_BESIDE + WARM_UP, (i) => i)
const otherIds = times(PEOPLE, (i) => `other-${i}`)
const ids = [
  ...rounds.map((i) => `alone-${i}`),
  ...rounds.map((i) => `cancelled-${i}`),
  ...roundsBeside.map((i) => `beside-${i}`),
  ...otherIds,
]
const relay = await startRelayServer({
  docs: ids,
  limits: 'default',
  create: false,
  env: { RELAY_MCP_ENABLED: 'true', RELAY_MCP_EXPOSE: 'public', RELAY_READS_PER_SEC: '0', RELAY_WRITES_PER_SEC: '0' },
})
const missed: string[] = []
try {
  const tokenOf = (id: string): string => relay.tokens[ids.indexOf(id)] as string
  for (const id of ids) await put(relay, id, tokenOf(id))
  const [whole, cancelled]: [number[], number[]] = [[], []]
  for (const round of rounds) {
    const [alone, given] = [`alone-${round}`, `cancelled-${round}`]
    const cost = await costOf(relay, async () => expectDrawn(await generate(relay, alone, tokenOf(alone)).answer))
    const costGiven = await costOf(relay, async () => {
      const call = generate(relay, given, tokenOf(given))
      call.answer.catch(() => undefined)
      await pause(CANCELLED_AFTER_MS)
      call.cancel()
    })
    if (round < WARM_UP) continue
    whole.push(cost)
    cancelled.push(costGiven)
  }
  const [acksThere, acksElsewhere, acksQuiet]: [Ack[], Ack[], Ack[]] = [[], [], []]
  const others = await Promise.all(otherIds.map((id) => join(relay, id, tokenOf(id))))
  const ownDelaysMs: number[] = []
  const [beganMs, machineBegan, relayBegan, ownBegan] = [performance.now(), machineMs(), cpuMs(relay), ownMs()]
  for (const round of roundsBeside) {
    const beside = `beside-${round}`
    const people = await Promise.all(times(PEOPLE, () => join(relay, beside, tokenOf(beside))))
    const startDrags = (all: readonly Person[]) => all.map((person, i) => person.drag((i * EDIT_EVERY_MS) / PEOPLE))
    const drags = [...startDrags(people), ...startDrags(others)]
    await pause(QUIET_MS)
    const calledMs = performance.now()
    const ownDelay = monitorEventLoopDelay({ resolution: 1 })
    ownDelay.enable()
    expectDrawn(await generate(relay, beside, tokenOf(beside)).answer)
    ownDelay.disable()
    const answeredMs = performance.now()
    const acks = await Promise.all(drags.map((drag) => drag.stop()))
    for (const person of people) person.leave()
    if (round < WARM_UP) continue
    ownDelaysMs.push(ownDelay.max / 1e6)
    acksQuiet.push(...acks.flat().filter(({ startedMs, wallMs }) => startedMs + wallMs < calledMs))
    const isMeanwhile = ({ startedMs, wallMs }: Ack): boolean => startedMs + wallMs >= calledMs && startedMs <= answeredMs
    acksThere.push(...acks.slice(0, PEOPLE).flat().filter(isMeanwhile))
    acksElsewhere.push(...acks.slice(PEOPLE).flat().filter(isMeanwhile))
  }
  const besideMs = machineMs() - machineBegan - (cpuMs(relay) - relayBegan) - (ownMs() - ownBegan)
  const besideShare = besideMs / (performance.now() - beganMs) / cpus().length
  for (const person of others) person.leave()
  const row = (...cells: readonly (string | number)[]): void => console.log(`| ${cells.join(' | ')} |`)
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
  console.log(`## A whole call: ${NODES} nodes and ${EDGES} edges through a relay\n`)
  console.log(
    `On ${cpus().length} cores with a load of ${load}, this measurement included. While edits were measured, other processes took`,
    `${(Math.max(0, besideShare) * 100).toFixed(0)} % of the cores, and the measuring thread itself was late by at most ${Math.max(...ownDelaysMs).toFixed(0)} ms`,
    `(median of the calls ${quantile(ownDelaysMs, 0.5).toFixed(0)} ms), which counts as waiting for an ack.\n`,
  )
  row('what', 'median', 'p99', 'worst', 'limit', 'of')
  row('---', '---', '---', '---', '---', '---')
  const one = (values: readonly number[]) => [quantile(values, 0.5).toFixed(0), '', Math.max(...values).toFixed(0)] as const
  row('CPU ms of the relay, all threads, until it rests', ...one(whole), MAX_CPU_MS, `${ROUNDS} calls`)
  row(`the same, cancelled after ${CANCELLED_AFTER_MS} ms`, ...one(cancelled), 'less', `${ROUNDS} calls`)
  for (const [name, acks] of [
    ['ms until an edit is acknowledged while no diagram is drawn', acksQuiet],
    ['the same while one is drawn in another document', acksElsewhere],
    ['the same while one is drawn in this document', acksThere],
  ] as const) {
    const of = (clock: 'wallMs' | 'quietMs') => {
      const values = acks.map((ack) => ack[clock])
      return [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(1))
    }
    row(name, ...of('wallMs'), MAX_ACK_MS, `${acks.length} edits`)
    row('… by a clock that is slower while the machine does other work', ...of('quietMs'), MAX_ACK_MS, '')
  }
  if (quantile(whole, 0.5) > MAX_CPU_MS) missed.push('a call costs more CPU time than it may')
  if (quantile(cancelled, 0.5) >= quantile(whole, 0.5)) missed.push('a cancelled call costs as much as a whole one')
  for (const [where, acks] of Object.entries({ 'in other documents': acksElsewhere, 'in the same document': acksThere }))
    if (
      quantile(
        acks.map(({ quietMs }) => quietMs),
        0.99,
      ) > MAX_ACK_MS
    )
      missed.push(`edits ${where} are acknowledged too late`)
} finally {
  await relay.stop()
}
for (const line of missed) console.error(`missed: ${line}`)
if (missed.length > 0) process.exitCode = 1
