// A thread of `noisy.ts`: an honest workspace that edits, reads, writes, joins and calls tools, and sometimes sends a burst within its rate
// limits.
import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { readSyncAck, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { TestClient } from '../../sync/testing/test-client.ts'
import { type Experience, KINDS, type Kind } from './noisy-figures.ts'

export interface HonestStart {
  readonly baseUrl: string
  readonly wsUrl: string
  readonly mcpUrl: string
  readonly token: string
}

/** Time between two operations of the same kind. */
const EVERY_MS: Readonly<Record<Kind, number>> = { ack: 100, get: 80, put: 80, mcp: 80, join: 150, preview: 250 }
/** 30 edits at once every 2 s, together with 10 per second, stay within 40 per second and a burst of 80. */
const BURST_EVERY_MS = 2_000
const BURST_EDITS = 30
const BURST_REQUESTS = 10

class Honest {
  private samplesMs = noSamples()
  private refusals: string[] = []
  private readonly start: HonestStart
  private readonly agent = new Agent({ keepAlive: true })

  constructor(start: HonestStart) {
    this.start = start
  }

  take(): Experience {
    const experience = { samplesMs: this.samplesMs, refusals: this.refusals }
    this.samplesMs = noSamples()
    this.refusals = []
    return experience
  }

  async open(): Promise<void> {
    const shapes = [{ id: 'a', type: 'rectangle', x: 0, y: 0, width: 100, height: 80, label: 'one' }]
    for (const id of ['live', 'read', 'written']) await this.put(id, { name: id, pages: [{ id: 'p', shapes }] })
    const editor = await Editor.join(this.start, (what) => this.refusals.push(what))
    const repeat = (kind: Kind, run: () => Promise<unknown>): void => void this.repeat(kind, run)
    repeat('ack', () => editor.edit())
    repeat('get', () => this.send('GET', '/api/docs/read'))
    repeat('put', () => this.put('written', { name: 'written', at: performance.now() }))
    repeat('mcp', () => this.callTool())
    repeat('join', () => this.join())
    repeat('preview', () => this.send('GET', '/api/v1/docs/read/preview.svg'))
    setInterval(() => void this.burst(editor), BURST_EVERY_MS)
  }

  /** Runs an operation repeatedly, one run after the other. When an answer takes longer than the interval, missed runs are not made up for. */
  private async repeat(kind: Kind, run: () => Promise<unknown>): Promise<never> {
    for (;;) {
      const startedMs = performance.now()
      await run().catch((error: unknown) => this.refusals.push(`${kind}: ${String(error)}`))
      const tookMs = performance.now() - startedMs
      this.samplesMs[kind].push(tookMs)
      await sleep(Math.max(0, EVERY_MS[kind] - tookMs))
    }
  }

  private async burst(editor: Editor): Promise<void> {
    const edits = Array.from({ length: BURST_EDITS }, () => editor.edit())
    const requests = Array.from({ length: BURST_REQUESTS }, (_, i) =>
      i % 2 === 0 ? this.put(`burst-${i}`, { name: 'burst' }) : this.send('GET', '/api/docs'),
    )
    await Promise.all([...edits, ...requests]).catch((error: unknown) => this.refusals.push(`burst: ${String(error)}`))
  }

  private put(id: string, body: unknown): Promise<string> {
    return this.send('PUT', `/api/docs/${id}`, JSON.stringify(body))
  }

  private async callTool(): Promise<void> {
    const params = { name: 'service_list_documents', arguments: {} }
    const text = await this.send(
      'POST',
      new URL(this.start.mcpUrl).pathname,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    )
    if (!text.includes('"structuredContent"')) throw new Error(text.slice(0, 200))
  }

  private async join(): Promise<void> {
    const client = await signedIn(this.start)
    client.join('live')
    await client.next(TAG.sync, 60_000)
    const errors = client.jsonOf(TAG.error)
    client.socket.terminate()
    if (errors.length > 0) throw new Error(JSON.stringify(errors[0]))
  }

  private send(method: string, path: string, body?: string): Promise<string> {
    const headers = {
      authorization: `Bearer ${this.start.token}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    }
    return new Promise((resolve, reject) => {
      const sent = request(this.start.baseUrl + path, { method, headers, agent: this.agent }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => void (text += part))
        response.once('error', reject)
        response.once('end', () => {
          const status = response.statusCode ?? 0
          if (status === 200 || status === 204) resolve(text)
          else reject(new Error(`${method} ${path} was answered ${status} ${text.slice(0, 200)}`))
        })
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }
}

/** A joined editor that waits for the acknowledgement of every edit. */
class Editor {
  private readonly doc = new Y.Doc()
  private readonly client: TestClient
  private readonly waiting = new Map<number, () => void>()
  private sent = 0

  private constructor(client: TestClient, refused: (what: string) => void) {
    this.client = client
    client.socket.on('message', (frame: Buffer) => this.received(frame, refused))
    void client.closed.then(({ code, reason }) => refused(`the editor was closed ${code} ${reason}`))
  }

  static async join(start: HonestStart, refused: (what: string) => void): Promise<Editor> {
    const client = await signedIn(start)
    client.join('live')
    await client.next(TAG.sync)
    return new Editor(client, refused)
  }

  /** Resolves when the edit is durable. */
  edit(): Promise<void> {
    const updates: Uint8Array[] = []
    const keep = (update: Uint8Array): void => void updates.push(update)
    this.doc.on('update', keep)
    this.doc.getMap('fields').set(`k${this.sent % 50}`, { name: 'k', value: String(this.sent) })
    this.doc.off('update', keep)
    const ordinal = ++this.sent
    return new Promise((resolve) => {
      this.waiting.set(ordinal, resolve)
      for (const update of updates) this.client.send(syncFrame(SYNC.update, update))
    })
  }

  private received(frame: Buffer, refused: (what: string) => void): void {
    this.client.frames.length = 0
    if (frame[0] === TAG.error) refused(frame.subarray(1).toString())
    if (frame[0] !== TAG.syncAck) return
    const acked = readSyncAck(frame.subarray(1)) ?? 0
    for (const [ordinal, resolve] of this.waiting) {
      if (ordinal > acked) break
      this.waiting.delete(ordinal)
      resolve()
    }
  }
}

/** Authenticates as a browser does, with the token in the first frame. */
async function signedIn({ wsUrl, token }: HonestStart): Promise<TestClient> {
  const socket = new WebSocket(wsUrl)
  const client = new TestClient(socket)
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  client.auth(token, ['ack'])
  await client.next(TAG.authResponse, 60_000)
  return client
}

function noSamples(): Record<Kind, number[]> {
  return Object.fromEntries(KINDS.map((kind) => [kind, []])) as unknown as Record<Kind, number[]>
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

if (parentPort !== null) {
  const port = parentPort
  const honest = new Honest(workerData as HonestStart)
  await honest.open()
  port.on('message', () => port.postMessage(honest.take()))
  port.postMessage('ready')
}
