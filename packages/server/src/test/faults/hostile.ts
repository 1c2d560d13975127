// `npm run faults:hostile [-- --seed 1 --only Y5 --homes light]`: runs every attack class of the design against a running relay,
// as single messages and in chunks, while simulated people type into other documents. Fails when a refused attack changed its
// document, when other people were delayed more than the design allows, when the attacker got another answer than the rules
// require, or when the relay ended.
import { randomBytes } from 'node:crypto'
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { chunkFrames, readAwareness, readSyncAck, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { TestClient } from '../../sync/testing/test-client.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import type { Noticed, TypistsStart } from './honest-typists.ts'
import { ATTACKS, type Attack } from './hostile-attacks.ts'

const HONEST_DOCUMENTS = 4
const MAX_PAYLOAD = 262_144
/** Longest allowed delay in ms: for people whose document is in another worker, and for those in the worker that the attack blocks or ends. */
const OTHER_WORKER_MS = 250
const SAME_WORKER_MS = 2_500
/**
 * The limits assume an otherwise idle machine. A fault is measured again when the machine was busy or the measuring thread was this late.
 */
const OWN_LATENESS_MS = 60
const MEASUREMENTS = 4

interface Case {
  readonly attack: Attack
  readonly size: number
  readonly chunked: boolean
}

interface Answer {
  readonly codes: readonly string[]
  readonly close: number | null
}

interface Outcome {
  readonly answer: string
  readonly otherMs: number
  readonly sameMs: number
  readonly heartbeatMs: number
  readonly workerEnds: number
  readonly measurable: boolean
  readonly faults: readonly string[]
  readonly repeated: number
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      only: { type: 'string', default: '' },
      /** `light` or `heavy`: the home of all rooms, whatever their documents. */
      homes: { type: 'string', default: 'auto' },
    },
  })
  const seed = Number(values.seed)
  const homes = { RELAY_TEST_HOOKS: '1', RELAY_TEST_HOMES: values.homes }
  await using relay = await startRelayUnderTest({ env: { RELAY_TENANCY_MODE: 'shared', RELAY_LOG_LEVEL: 'debug', ...homes } })
  const range = new HostileRange(relay)
  await range.open()
  const cases = shuffled(
    ATTACKS.filter(({ name }) => name.startsWith(values.only)).flatMap((attack) =>
      attack.sizes.flatMap((size) => [false, true].map((chunked): Case => ({ attack, size, chunked }))),
    ),
    seed,
  )
  console.log(
    `Hostile clients: ${cases.length} attacks in an order of seed ${seed}; 8 people type 8 edits/s into 4 other documents\n`,
  )
  const quiet = await range.quiet()
  const outcomes = new Map<Case, Outcome>()
  for (const one of cases) {
    const outcome = await range.play(one)
    outcomes.set(one, outcome)
    console.error(`${outcomes.size}/${cases.length} ${title(one)}: ${outcome.answer} ${outcome.faults.join('; ')}`)
    if (outcome.repeated > 0) console.error(`  measured again ${outcome.repeated} times: the machine was busy`)
    if (outcome.faults.length > 0) for (const line of range.newWarnings()) console.error(`  ${line}`)
  }
  report(outcomes, quiet)
  const repeated = [...outcomes.values()].reduce((sum, outcome) => sum + outcome.repeated, 0)
  if (repeated > 0) console.log(`${repeated} measurements were repeated because the machine was busy with other work.`)
  const faults = [...outcomes].flatMap(([one, { faults: found }]) => found.map((fault) => `${title(one)}: ${fault}`))
  for (const fault of faults) console.log(`FAILED ${fault}`)
  console.log(faults.length === 0 ? 'All as ruled.' : `${faults.length} faults.`)
  process.exitCode = faults.length === 0 && cases.length > 0 ? 0 : 1
}

class HostileRange {
  private readonly relay: RelayUnderTest
  private readonly pid: number
  private readonly typists: Worker[] = []
  private attackers = 0
  private seenLines = 0

  constructor(relay: RelayUnderTest) {
    this.relay = relay
    this.pid = relay.pid
  }

  async open(): Promise<void> {
    const documents: TypistsStart['documents'][number][] = []
    for (let i = 0; i < HONEST_DOCUMENTS; i++) {
      await this.create(`honest-${i}`, `honest-${i}`)
      documents.push({ id: `honest-${i}`, token: this.token(`honest-${i}`) })
    }
    const typists = new Worker(new URL('./honest-typists.ts', import.meta.url), {
      workerData: { wsUrl: this.relay.wsUrl, documents } satisfies TypistsStart,
    })
    this.typists.push(typists)
    typists.unref()
    await new Promise((resolve) => typists.once('message', resolve))
  }

  /** Measures the delays that people notice without an attack. */
  async quiet(): Promise<Noticed> {
    await this.ask('begin')
    await sleep(3_000)
    return this.ask('end')
  }

  /** Runs one attack; repeats it while this process itself was too late to measure. */
  async play(one: Case): Promise<Outcome> {
    for (let measurement = 1; ; measurement++) {
      const outcome = await this.playOnce(one).catch((error: unknown) => failedOutcome(String(error)))
      if (outcome.faults.length === 0 || outcome.measurable || measurement === MEASUREMENTS)
        return { ...outcome, repeated: measurement - 1 }
    }
  }

  /** Returns what the relay has logged at level warning or above since the last call. */
  newWarnings(): readonly string[] {
    const { logLines } = this.relay
    const lines = logLines.slice(this.seenLines).filter((line) => !/"level":(?:"debug"|"info"|20|30)/.test(line))
    this.seenLines = logLines.length
    return lines.slice(-20).map((line) => line.slice(0, 400))
  }

  private async playOnce(one: Case): Promise<Omit<Outcome, 'repeated'>> {
    const name = `attacked-${++this.attackers}`
    await this.create(name, name)
    const { before } = one.attack
    if (before !== undefined) await this.write(name, before)
    const state = await this.state(name)
    const body = await this.body(name)
    const workers = await this.workersOf([name, ...Array.from({ length: HONEST_DOCUMENTS }, (_, i) => `honest-${i}`)])
    const endsBefore = this.count('worker.ended')
    await this.ask('begin')
    const observer = await this.connect(name)
    const answer = await this.attack(name, one)
    const faults = judge(one, answer, idsShown(observer))
    observer.socket.terminate()
    const noticed = await this.ask('end')
    await this.checkDocument(name, one, answer, state, body, faults)
    const ends = this.count('worker.ended') - endsBefore
    const same = workers.slice(1).map((worker) => worker !== null && worker === workers[0])
    const otherMs = worst(noticed.pauseMs.filter((_, i) => !same[i]))
    const sameMs = worst(noticed.pauseMs.filter((_, i) => same[i]))
    const heartbeatMs = worst(noticed.heartbeatMs)
    if (otherMs > OTHER_WORKER_MS) faults.push(`people in the other worker waited ${otherMs.toFixed(0)} ms`)
    if (sameMs > SAME_WORKER_MS) faults.push(`people in the same worker waited ${sameMs.toFixed(0)} ms`)
    if (heartbeatMs > OTHER_WORKER_MS) faults.push(`a heartbeat took ${heartbeatMs.toFixed(0)} ms`)
    if (noticed.closes > 0) faults.push(`${noticed.closes} honest sockets were closed`)
    if (this.relay.pid !== this.pid || !(await fetch(`${this.relay.baseUrl}/livez`)).ok) faults.push('the relay ended')
    const measurable = noticed.ownMs <= OWN_LATENESS_MS && (loadavg()[0] as number) <= availableParallelism()
    return { answer: describe(answer), otherMs, sameMs, heartbeatMs, workerEnds: ends, measurable, faults }
  }

  private async attack(name: string, { attack, size, chunked }: Case): Promise<Answer> {
    const attacker = await this.connect(name)
    const frames = attack.frames(size)
    const writes = frames.filter((frame) => frame[0] === TAG.sync && frame[1] !== SYNC.step1).length
    const answersDue = frames.filter((frame) => frame[0] === TAG.sync && frame[1] === SYNC.step1).length
    const answersSeen = attacker.of(TAG.sync).length
    for (const frame of frames) {
      const pieces = chunked ? chunkFrames(frame, randomBytes(16), Math.min(MAX_PAYLOAD, Math.ceil(frame.length / 3))) : [frame]
      for (const piece of pieces) if (attacker.socket.readyState === WebSocket.OPEN) attacker.send(piece)
    }
    let close: number | null = null
    void attacker.closed.then(({ code }) => (close = code))
    const acked = () => Math.max(0, ...attacker.of(TAG.syncAck).map((frame) => readSyncAck(frame.subarray(1)) ?? 0))
    const answered = () => attacker.of(TAG.sync).length - answersSeen
    const whole = () => (chunked && frames[0]?.[0] !== TAG.sync ? attacker.jsonOf(TAG.error).length > 0 : true)
    await until(
      'the answer to an attack',
      () => close !== null || (acked() >= writes && answered() >= answersDue && whole()),
      20_000,
    )
    // Waits for the close after the last refusal, or long enough to see that nothing happens.
    await sleep(150)
    const answer = { codes: attacker.jsonOf(TAG.error).map((error) => String(error['code'])), close }
    attacker.socket.terminate()
    return answer
  }

  /** Checks that a refused attack left no trace, and that the document can be joined and read in any case. */
  private async checkDocument(
    name: string,
    one: Case,
    answer: Answer,
    state: Y.Doc,
    body: string,
    faults: string[],
  ): Promise<void> {
    const after = await this.state(name)
    const changed = !Buffer.from(Y.encodeStateAsUpdate(after)).equals(Buffer.from(Y.encodeStateAsUpdate(state)))
    const bodyAfter = await this.body(name)
    // Of several messages, those before the one that ended the connection may have been accepted.
    const someTaken = answer.close === null || one.attack.frames(one.size).length > 1
    const mayChange = one.attack.verdict === 'accepted' || (one.attack.verdict === 'ended' && someTaken)
    if (changed && !mayChange) faults.push('the Y state of the attacked document changed')
    if (bodyAfter !== body && !mayChange) faults.push('the body of the attacked document changed')
    if (!changed && one.attack.verdict === 'accepted') {
      if (!tooLargePlain(one)) faults.push('a lawful update was not kept')
    }
    if (bodyAfter.includes('<script')) faults.push('the body has live markup')
    if (after.store.pendingStructs !== null || after.store.pendingDs !== null) faults.push('the state has pending content')
  }

  private token(workspace: string): string {
    return this.relay.token(memberOf(workspace))
  }

  private async create(workspace: string, id: string): Promise<void> {
    const richTextPages = [{ id: 'page', name: 'Page', content: '<p>before</p>' }]
    await this.relay.rest(memberOf(workspace)).putDocument(id, { name: id, pages: [], richTextPages })
  }

  private async body(name: string): Promise<string> {
    return JSON.stringify(await this.relay.rest(memberOf(name)).getDocument(name))
  }

  /** Returns the document as a new client receives it. */
  private async state(name: string): Promise<Y.Doc> {
    const client = this.relay.sync(name, memberOf(name))
    await until('a fresh client to be in sync', () => client.state.synced, 15_000)
    client.destroy()
    return client.doc
  }

  private async write(name: string, update: Uint8Array): Promise<void> {
    const client = await this.connect(name)
    for (const piece of chunkFrames(syncFrame(SYNC.update, update), randomBytes(16))) client.send(piece)
    await client.next(TAG.syncAck, 15_000)
    client.socket.terminate()
  }

  /** Opens a joined connection that counts its messages and receives acks. */
  private async connect(name: string): Promise<TestClient> {
    const socket = new WebSocket(this.relay.wsUrl)
    const client = new TestClient(socket)
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    client.auth(this.token(name), ['ack'])
    client.join(name)
    client.send(syncFrame(SYNC.step1, Uint8Array.of(0)))
    await client.next(TAG.sync, 15_000)
    await until('a join', () => client.of(TAG.sync).some((frame) => frame[1] === SYNC.step2), 15_000)
    return client
  }

  /**
   * Finds the worker of each document by sending each one refused update, for which the log names the worker. `null`: the document is on the main
   * loop, where nobody may wait longer than people with documents in other workers.
   */
  private async workersOf(names: readonly string[]): Promise<(number | null)[]> {
    return Promise.all(
      names.map(async (name) => {
        const from = this.relay.logLines.length
        const probe = await this.connect(name)
        probe.send(syncFrame(SYNC.update, Uint8Array.of(255)))
        const line = () => this.relay.logLines.slice(from).find((text) => text.includes(`"${memberOf(name).sub}"`))
        await until('a log line that names the worker', () => line() !== undefined)
        probe.socket.terminate()
        return (JSON.parse(line() as string) as { worker?: number }).worker ?? null
      }),
    )
  }

  private count(event: string): number {
    return this.relay.logLines.filter((line) => line.includes(`"${event}"`)).length
  }

  private ask(question: 'begin' | 'end'): Promise<Noticed> {
    const [typists] = this.typists as [Worker]
    return new Promise((resolve) => {
      typists.once('message', resolve)
      typists.postMessage(question)
    })
  }
}

function memberOf(workspace: string): { readonly workspace: string; readonly role: 'member'; readonly sub: string } {
  return { workspace, role: 'member', sub: `member-of-${workspace}` }
}

function judge(one: Case, answer: Answer, foreignIds: number): string[] {
  const { codes, close } = answer
  const got = describe(answer)
  const { verdict } = one.attack
  // A message above the payload limit is refused unread. [WS-13]
  if (tooLargePlain(one)) return close === 1009 ? [] : [`answered ${got} instead of 1009`]
  if (foreignIds > 4) return [`${foreignIds} ids of awareness reached others`]
  const all = (code: string) => codes.length > 0 && codes.every((one) => one === code)
  switch (verdict) {
    case 'refused':
      return all('ERR_BAD_UPDATE') && codes.length === 3 && close === 1003 ? [] : [`answered ${got}`]
    case 'gap':
      return all('ERR_SYNC_GAP') && close === null ? [] : [`answered ${got}`]
    case 'accepted':
      return codes.length === 0 && close === null ? [] : [`answered ${got}`]
    case 'nothing':
      // A chunked message must be SYNC. [WS-35]
      if (one.chunked && one.attack.frames(one.size)[0]?.[0] !== TAG.sync) return all('ERR_BAD_FRAME') ? [] : [`answered ${got}`]
      return codes.length === 0 && close === null ? [] : [`answered ${got}`]
    case 'ended': {
      // The update is charged to the connection by its processor time. [G9]
      const taken = close === null && codes.every((one) => one === 'ERR_RATE_LIMIT')
      return taken || close === 1003 ? [] : [`answered ${got}`]
    }
  }
}

function tooLargePlain({ attack, size, chunked }: Case): boolean {
  return !chunked && attack.frames(size).some((frame) => frame.length > MAX_PAYLOAD)
}

/** Returns the number of client ids in the received awareness frames. */
function idsShown(observer: TestClient): number {
  return observer.of(TAG.awareness).reduce((most, frame) => Math.max(most, readAwareness(frame.subarray(1))?.[0] ?? 0), 0)
}

function describe({ codes, close }: Answer): string {
  const counted = [...new Set(codes)].map((code) => {
    const count = codes.filter((one) => one === code).length
    return count === 1 ? code : `${count} × ${code}`
  })
  return [...counted, ...(close === null ? [] : [String(close)])].join(', ') || 'no error'
}

function failedOutcome(fault: string): Omit<Outcome, 'repeated'> {
  return { answer: 'failed', otherMs: 0, sameMs: 0, heartbeatMs: 0, workerEnds: 0, measurable: true, faults: [fault] }
}

function report(outcomes: ReadonlyMap<Case, Outcome>, quiet: Noticed): void {
  console.log('| attack | sizes | answers | pause in the other worker ms | in the same worker ms | heartbeat ms | worker ends |')
  console.log('|---|---|---|---|---|---|---|')
  const none = `| nobody attacks | – | – | ${worst(quiet.pauseMs).toFixed(0)} | ${worst(quiet.pauseMs).toFixed(0)} |`
  console.log(`${none} ${worst(quiet.heartbeatMs).toFixed(0)} | 0 |`)
  for (const attack of ATTACKS) {
    const played = [...outcomes].filter(([one]) => one.attack === attack).map(([, outcome]) => outcome)
    if (played.length === 0) continue
    const most = (pick: (outcome: Outcome) => number) => worst(played.map(pick)).toFixed(0)
    const answers = [...new Set(played.map(({ answer }) => answer))].join('; ')
    const ends = played.reduce((sum, { workerEnds }) => sum + workerEnds, 0)
    const sizes = attack.sizes.map((size) => size.toLocaleString('en')).join(' / ')
    const figures = `${most((o) => o.otherMs)} | ${most((o) => o.sameMs)} | ${most((o) => o.heartbeatMs)} | ${ends}`
    console.log(`| ${attack.name} | ${sizes} | ${answers} | ${figures} |`)
  }
  console.log('')
}

function title({ attack, size, chunked }: Case): string {
  return `${attack.name}, ${size.toLocaleString('en')}, ${chunked ? 'chunked' : 'plain'}`
}

function worst(values: readonly number[]): number {
  return Math.max(0, ...values)
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed | 0 || 1
  const random = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

await main()
