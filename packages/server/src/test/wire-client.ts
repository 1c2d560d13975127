import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { awarenessFrame, jsonFrame, readSync, readSyncAck, syncFrame } from '@docrelay/protocol/codec'
import { Reader, varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { TestClient } from '../sync/testing/test-client.ts'
import { type RelayUnderTest, until } from './relay-under-test.ts'

export interface Presence {
  readonly client: number
  readonly clock: number
  readonly state: unknown
}

/** A client made from the wire specification alone. It sends and reads bytes, and keeps a document beside them. */
export class WireClient extends TestClient {
  readonly doc = new Y.Doc()
  /** Whether the client applies received updates to its document and answers the relay's step1, as every editor does. */
  following = false
  /** Number of messages since the last join that the relay counts, and the newest ordinal that it has acknowledged. [WS-38] */
  #sent = 0
  #acked = 0

  constructor(socket: WebSocket) {
    super(socket)
    socket.on('message', (data: Buffer) => {
      if (data[0] === TAG.syncAck) this.#acked = readSyncAck(data.subarray(1)) ?? 0
      if (this.following) this.#follow(data)
    })
  }

  step1(vector: Uint8Array = Y.encodeStateVector(this.doc)): void {
    this.send(syncFrame(SYNC.step1, vector))
  }

  step2(update: Uint8Array = Uint8Array.of(0, 0)): void {
    this.#sent++
    this.send(syncFrame(SYNC.step2, update))
  }

  update(update: Uint8Array): void {
    this.#sent++
    this.send(syncFrame(SYNC.update, update))
  }

  /** Sends an update. Resolves when it is durable; the ack of an earlier message does not count. */
  write(update: Uint8Array): Promise<void> {
    this.update(update)
    return this.acknowledged()
  }

  /** Resolves when everything sent since the last join is acknowledged. Does not count messages sent in pieces. */
  async acknowledged(): Promise<void> {
    const ordinal = this.#sent
    await until(`the ack of message ${ordinal}`, () => this.#acked >= ordinal)
  }

  override join(docId: string): void {
    this.#joining()
    super.join(docId)
  }

  presence(...states: readonly Presence[]): void {
    this.send(awarenessFrame(encodePresence(states)))
  }

  /** Changes the document and returns the update, without sending it. */
  edit(change: (doc: Y.Doc) => void): Uint8Array {
    const updates: Uint8Array[] = []
    const keep = (update: Uint8Array): void => void updates.push(update)
    this.doc.on('update', keep)
    this.doc.transact(() => change(this.doc))
    this.doc.off('update', keep)
    return updates.length === 1 ? (updates[0] as Uint8Array) : Y.mergeUpdates(updates)
  }

  /** Sets a field and returns the update. Fields with different keys do not overwrite each other. */
  put(key: string, value = key): Uint8Array {
    return this.edit((doc) => void doc.getMap('fields').set(key, { name: key, value }))
  }

  has(key: string): boolean {
    return this.doc.getMap('fields').has(key)
  }

  keys(): string[] {
    return [...this.doc.getMap('fields').keys()].sort()
  }

  acks(): number[] {
    return this.of(TAG.syncAck).map((frame) => readSyncAck(frame.subarray(1)) ?? -1)
  }

  errors(): Record<string, unknown>[] {
    return this.jsonOf(TAG.error)
  }

  /** Returns the sub-types of all SYNC frames so far. */
  syncs(): number[] {
    return this.of(TAG.sync).map((frame) => frame[1] ?? -1)
  }

  present(): Presence[][] {
    return this.of(TAG.awareness).map((frame) => decodePresence(frame))
  }

  /** Sends a JOIN_DOC that names this lineage. */
  joinLineage(docId: string, lineage: unknown): void {
    this.#joining()
    this.send(jsonFrame(TAG.joinDoc, { docId, lineage }))
  }

  /** Authenticates, joins and waits for the sync, so that the client is ready to edit. */
  async enter(token: string, docId: string, features?: readonly string[]): Promise<this> {
    this.following = true
    this.auth(token, features)
    this.join(docId)
    this.step1()
    await this.next(TAG.authResponse)
    for (;;) if ((await this.next(TAG.sync))[1] === SYNC.step2) break
    return this
  }

  #joining(): void {
    this.#sent = 0
    this.#acked = 0
  }

  #follow(data: Buffer): void {
    const sync = data[0] === TAG.sync ? readSync(data.subarray(1)) : null
    if (sync === null) return
    if (sync.subType === SYNC.step1) this.step2(Y.encodeStateAsUpdate(this.doc, sync.payload))
    else Y.applyUpdate(this.doc, sync.payload, 'relay')
  }
}

export interface OpenOptions {
  readonly query?: string
  readonly protocols?: string[]
  readonly headers?: Readonly<Record<string, string>>
}

export async function openWire(
  relay: Pick<RelayUnderTest, 'wsUrl'>,
  { query = '', protocols = [], headers = {} }: OpenOptions = {},
) {
  const socket = new WebSocket(`${relay.wsUrl}${query}`, protocols, { headers })
  const client = new WireClient(socket)
  const opened = once(socket, 'open')
  await opened
  return client
}

export interface UpgradeAnswer {
  readonly line: string
  readonly status: number
  /** The headers, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends an upgrade by hand and returns the parsed answer. Resolves at the end of the head for a 101. */
export function rawUpgrade(relay: Pick<RelayUnderTest, 'baseUrl'>, path: string, headers: Readonly<Record<string, string>> = {}) {
  const { hostname, port } = new URL(relay.baseUrl)
  const given = {
    Host: `${hostname}:${port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  }
  const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}`)
  return new Promise<UpgradeAnswer>((resolve, reject) => {
    const socket = connectTcp(Number(port), hostname)
    let text = ''
    const answer = (): UpgradeAnswer => {
      const [head = '', body = ''] = splitAt(text, '\r\n\r\n')
      const [line = '', ...fields] = head.split('\r\n')
      const entries = fields.map((field) => splitAt(field, ': ')).map(([name = '', value = '']) => [name.toLowerCase(), value])
      return { line, status: Number(line.split(' ')[1]), headers: Object.fromEntries(entries), body }
    }
    socket.on('data', (data) => {
      text += data.toString('latin1')
      if (text.startsWith('HTTP/1.1 101') && text.includes('\r\n\r\n')) {
        resolve(answer())
        socket.destroy()
      }
    })
    socket.on('end', () => resolve(answer()))
    socket.on('error', reject)
    socket.write([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
  })
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)]
}

export function encodePresence(states: readonly Presence[]): Uint8Array {
  const entries = states.map(({ client, clock, state }) => ({ client, clock, json: Buffer.from(JSON.stringify(state)) }))
  let length = varUintLength(entries.length)
  for (const { client, clock, json } of entries)
    length += varUintLength(client) + varUintLength(clock) + varUintLength(json.length) + json.length
  const bytes = new Uint8Array(length)
  let at = writeVarUint(bytes, 0, entries.length)
  for (const { client, clock, json } of entries) {
    at = writeVarUint(bytes, writeVarUint(bytes, writeVarUint(bytes, at, client), clock), json.length)
    bytes.set(json, at)
    at += json.length
  }
  return bytes
}

/** Returns the states of one AWARENESS frame; throws when the bytes are not exactly one. */
export function decodePresence(frame: Uint8Array): Presence[] {
  const outer = new Reader(frame.subarray(1))
  const reader = new Reader(outer.varBytes())
  const states: Presence[] = []
  for (let left = reader.varUint(); left > 0; left--) {
    const client = reader.varUint()
    const clock = reader.varUint()
    states.push({ client, clock, state: JSON.parse(Buffer.from(reader.varBytes()).toString()) })
  }
  if (outer.failed || reader.failed || outer.remaining > 0 || reader.remaining > 0) throw new Error('not an AWARENESS frame')
  return states
}

/** Returns one sample of /metrics; 0 when it is missing. */
export async function metric(
  relay: Pick<RelayUnderTest, 'baseUrl'>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const text = await (await fetch(`${relay.baseUrl}/metrics`)).text()
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  for (const line of text.split('\n')) {
    const match = /^([a-z_]+)(\{[^}]*\})? ([^ ]+)/.exec(line)
    if (match?.[1] === name && wanted.every((label) => match[2]?.includes(label))) return Number(match[3])
  }
  return 0
}

/** Returns the fields of a document from REST. */
export async function storedKeys(relay: Pick<RelayUnderTest, 'rest'>, docId: string, workspace = 'default'): Promise<string[]> {
  const body = (await relay.rest({ workspace }).getDocument(docId)) as { fields?: { fields: object } }
  return Object.keys(body.fields?.fields ?? {}).sort()
}

/** Puts documents under new ids, with `body` and a name. */
export function documentsOf(
  relay: () => Pick<RelayUnderTest, 'rest'>,
): (body?: Readonly<Record<string, unknown>>, sub?: string) => Promise<string> {
  let made = 0
  return async (body = {}, sub = 'ann') => {
    const id = `doc-${++made}`
    await relay()
      .rest({ sub })
      .putDocument(id, { name: id, ...body })
    return id
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
