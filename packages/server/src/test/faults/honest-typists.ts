// A thread of `hostile.ts`. Simulates people who type into their own documents while others are attacked, and measures the delays that they
// notice.
import { parentPort, workerData } from 'node:worker_threads'
import { SyncClient } from '@docrelay/client/sync/sync-client'
import { HEARTBEAT_FRAME, jsonFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { WebSocket } from 'ws'
import * as Y from 'yjs'

export interface TypistsStart {
  readonly wsUrl: string
  /** The documents; two people type into each. */
  readonly documents: readonly { readonly id: string; readonly token: string }[]
}

/** The worst figures since the last `take`, by document. */
export interface Noticed {
  /** Time from typing to the other person's copy, in ms. */
  readonly pauseMs: readonly number[]
  readonly heartbeatMs: readonly number[]
  /** The lateness of this thread itself, in ms. */
  readonly ownMs: number
  readonly closes: number
}

const EDITS_PER_SECOND = 8
const HEARTBEAT_EVERY_MS = 50
const LOOK_EVERY_MS = 10
const GIVE_UP_MS = 6_000

class Typist {
  readonly client: SyncClient
  readonly text = new Y.XmlText()
  readonly sentAt: number[] = []
  /** Number of characters that have reached the other person. */
  arrived = 0
  worstMs = 0

  constructor(wsUrl: string, docId: string, token: string) {
    this.client = new SyncClient({ url: wsUrl, docId, doc: new Y.Doc(), token: () => token })
    this.client.connect()
  }

  begin(): void {
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.insert(0, [this.text])
    this.client.doc.getXmlFragment('prose:page').insert(0, [paragraph])
  }

  type(): void {
    this.sentAt.push(performance.now())
    this.text.insert(this.text.length, 'x')
  }

  /** Records the characters that arrive at `other`, whose copy of the text is `copy`. */
  follow(copy: Y.XmlText): void {
    const now = performance.now()
    for (; this.arrived < copy.length; this.arrived++)
      this.worstMs = Math.max(this.worstMs, now - (this.sentAt[this.arrived] as number))
  }

  /** Returns the figures, including characters that have not arrived yet. */
  take(): number {
    const waiting = this.sentAt[this.arrived]
    const worst = Math.max(this.worstMs, waiting === undefined ? 0 : performance.now() - waiting)
    this.worstMs = 0
    return worst
  }
}

class Pulse {
  worstMs = 0
  closes = 0
  private sentAt: number | null = null

  constructor(wsUrl: string, token: string) {
    const socket = new WebSocket(wsUrl)
    socket.on('open', () => socket.send(jsonFrame(TAG.auth, token)))
    socket.on('close', () => this.closes++)
    socket.on('error', () => {})
    socket.on('message', (frame: Buffer) => {
      if (frame[0] !== TAG.heartbeat || this.sentAt === null) return
      this.worstMs = Math.max(this.worstMs, performance.now() - this.sentAt)
      this.sentAt = null
    })
    setInterval(() => {
      if (this.sentAt !== null || socket.readyState !== WebSocket.OPEN) return
      this.sentAt = performance.now()
      socket.send(HEARTBEAT_FRAME)
    }, HEARTBEAT_EVERY_MS)
  }

  take(): number {
    const worst = Math.max(this.worstMs, this.sentAt === null ? 0 : performance.now() - this.sentAt)
    this.worstMs = 0
    return worst
  }
}

async function run(port: NonNullable<typeof parentPort>, start: TypistsStart): Promise<void> {
  const pairs = start.documents.map(({ id, token }) => [
    new Typist(start.wsUrl, id, token),
    new Typist(start.wsUrl, id, token),
  ]) as [Typist, Typist][]
  const pulses = start.documents.map(({ token }) => new Pulse(start.wsUrl, token))
  const typists = pairs.flat()
  await until(() => typists.every(({ client }) => client.state.synced))
  for (const pair of pairs)
    for (const [typist, other] of [pair, pair.toReversed()] as [Typist, Typist][]) await introduce(typist, other)
  for (const typist of typists) setInterval(() => typist.type(), 1_000 / EDITS_PER_SECOND)
  let ownMs = 0
  let due = performance.now() + LOOK_EVERY_MS
  setInterval(() => {
    const now = performance.now()
    ownMs = Math.max(ownMs, now - due)
    due = now + LOOK_EVERY_MS
  }, LOOK_EVERY_MS)
  const take = (): Noticed => {
    const pauseMs = pairs.map((pair) => Math.max(...pair.map((typist) => typist.take())))
    const noticed = {
      pauseMs,
      heartbeatMs: pulses.map((pulse) => pulse.take()),
      ownMs,
      closes: pulses.reduce((n, p) => n + p.closes, 0),
    }
    ownMs = 0
    return noticed
  }
  const answer = async (question: 'begin' | 'end'): Promise<void> => {
    const sent = typists.map(({ sentAt }) => sentAt.length)
    if (question === 'end') await until(() => typists.every(({ arrived }, i) => arrived >= (sent[i] as number)), GIVE_UP_MS)
    port.postMessage(take())
  }
  port.on('message', (question: 'begin' | 'end') => void answer(question))
  port.postMessage('ready')
}

/** Starts to observe the other person's copy of a typist's text. */
async function introduce(typist: Typist, other: Typist): Promise<void> {
  const { doc } = other.client
  const known = new Set(texts(doc))
  typist.begin()
  const found = () => texts(doc).find((text) => !known.has(text))
  await until(() => found() !== undefined)
  const copy = found() as Y.XmlText
  doc.on('update', () => typist.follow(copy))
}

function texts(doc: Y.Doc): Y.XmlText[] {
  return doc
    .getXmlFragment('prose:page')
    .toArray()
    .flatMap((block) => (block instanceof Y.XmlElement ? block.toArray() : []))
    .filter((node) => node instanceof Y.XmlText)
}

async function until(holds: () => boolean, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!holds() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
}

if (parentPort !== null) await run(parentPort, workerData as TypistsStart)
