import { jsonFrame, readJson } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { WebSocket } from 'ws'
import { patienceClock } from '../../kernel/testing/patience.ts'

export interface Closed {
  readonly code: number
  readonly reason: string
}

const WAIT_MS = 5_000
/** The time between two checks whether to give up waiting. */
const LOOK_MS = 200

/** A raw client. It sends bytes, keeps every frame that it gets, and waits for the next frame of a kind. */
export class TestClient {
  readonly socket: WebSocket
  readonly frames: Buffer[] = []
  readonly closed: Promise<Closed>
  pings = 0
  #taken = 0
  #wake: (() => void)[] = []

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer) => {
      this.frames.push(data)
      for (const wake of this.#wake.splice(0)) wake()
    })
    socket.on('ping', () => this.pings++)
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })))
  }

  send(...parts: (Uint8Array | number)[]): void {
    this.socket.send(Buffer.concat(parts.map((part) => (typeof part === 'number' ? Uint8Array.of(part) : part))))
  }

  auth(token: string, features?: readonly string[]): void {
    this.send(jsonFrame(TAG.auth, features ? { token, features } : token))
  }

  /** Sends one piece of a chunked message. The id of the message is 16 times the byte `id`. */
  sendChunk(id: number, seq: number, total: number, payload: Uint8Array): void {
    const header = Buffer.alloc(24, id)
    header.writeUInt32BE(seq, 16)
    header.writeUInt32BE(total, 20)
    this.send(TAG.syncChunk, header, payload)
  }

  join(docId: string): void {
    this.send(jsonFrame(TAG.joinDoc, { docId }))
  }

  /**
   * Returns the next frame with this tag that was not returned yet, and skips frames with other tags before it. Gives up after `waitMs` on an
   * idle machine, and later on a busy one.
   */
  async next(tag: number, waitMs = WAIT_MS): Promise<Buffer> {
    const givenUp = patienceClock(waitMs)
    for (;;) {
      while (this.#taken < this.frames.length) {
        const frame = this.frames[this.#taken++]
        if (frame?.[0] === tag) return frame
      }
      if (givenUp()) throw new Error(`no frame with tag ${tag} within ${waitMs} ms; got ${this.tags().join(',')}`)
      await new Promise<void>((resolve) => {
        const looking = setTimeout(resolve, LOOK_MS)
        this.#wake.push(() => {
          clearTimeout(looking)
          resolve()
        })
      })
    }
  }

  async nextJson(tag: number): Promise<Record<string, unknown>> {
    return readJson((await this.next(tag)).subarray(1)) as Record<string, unknown>
  }

  /**
   * Waits until the relay has received all frames sent before: sends a heartbeat and waits for its echo. Asynchronous work on these
   * frames may still go on.
   */
  async settled(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 15))
    this.send(TAG.heartbeat)
    await this.next(TAG.heartbeat)
  }

  tags(): number[] {
    return this.frames.map((frame) => frame[0] ?? -1)
  }

  of(tag: number): Buffer[] {
    return this.frames.filter((frame) => frame[0] === tag)
  }

  jsonOf(tag: number): Record<string, unknown>[] {
    return this.of(tag).map((frame) => readJson(frame.subarray(1)) as Record<string, unknown>)
  }
}
